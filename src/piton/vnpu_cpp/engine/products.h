/*
 * The inner loops of Mmad, in the best instruction set that the processor has; loops/products.h has their body.
 *
 * Problem: an executable built for one machine must run on the next, and the loops want its widest vectors.
 * Approach: one unit per instruction set (product_*.cpp) compiles the body for it; the first call asks the processor.
 * Limits: x86-64 has three, others the one of the base instruction set.
 */
#pragma once

#include <cstdint>

namespace vnpu {

// sums[row][16] += a[row][k] * b[k][16], in the order of loops/products.h. `pitch`: values from row to row of a.
template <class Value>
struct ProductJob {
    const Value *a;
    const Value *b;
    Value *sums;
    uint32_t rows, pitch, k, depth;
};

struct ProductLoops {
    void (*floats)(const ProductJob<float> &job);
    void (*integers)(const ProductJob<int32_t> &job);  // wraps around: the caller keeps k so small that it cannot
    void (*widen_halves)(const uint16_t *from, float *to, uint32_t count);
};

// By instruction set; null where this build or this processor has none.
const ProductLoops *portable_products();
const ProductLoops *avx2_products();
const ProductLoops *avx512_products();

const ProductLoops &product_loops();

}  // namespace vnpu
