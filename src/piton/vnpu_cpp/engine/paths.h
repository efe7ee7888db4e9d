/*
 * Which instruction set the inner loops use, chosen while running.
 *
 * Problem: the loops over elements want AVX-512 or AVX2 where the processor has them; an executable built for one machine must run on the next, and no bit
 * of a result may depend on which it is.
 * Approach: the bodies in loops/ are plain C++ in a namespace named by the macro VNPU_PATH. One unit per path (path_portable.cpp, path_avx2.cpp,
 * path_avx512.cpp) switches the instruction set on with a pragma, includes every body, and fills a table of functions; the first call asks the processor and
 * takes the best table, or the one that the environment variable VNPU_PATH names. Nothing fuses a multiplication with an addition (-ffp-contract=off).
 * Limits: the portable path is what the compiler makes of the base instruction set (SSE2, NEON). Functions of the standard library are not to be
 * instantiated in a body: the linker keeps one copy of each for the whole program, which might be the one for AVX-512.
 */
#pragma once

#include <cstdint>

#include "vector_kernels.h"

namespace vnpu {

// sums[row][16] += a[row][k] * b[k][16], in the order of loops/products.h. `pitch`: values from row to row of a.
template <class Value>
struct ProductJob {
    const Value *a;
    const Value *b;
    Value *sums;
    uint32_t rows, pitch, k, depth;
};

enum CompareMode : uint32_t { kLess, kGreater, kEqual, kLessEqual, kGreaterEqual, kNotEqual, kCompareModes };  // AscendC::CMPMODE

struct CompareJob {
    uint8_t dtype;
    uint32_t mode, count;  // a multiple of 8, at most those of a repeat
};
struct SelectJob {
    uint32_t bytes;       // of an element
    const uint8_t *bits;  // 1 takes the first one's
    uint32_t count;       // a multiple of 8
};

struct Loops {
    const char *name;
    VectorKernel (*vector)(uint16_t opcode, uint8_t dst_dtype, uint8_t src_dtype, uint32_t round_mode);
    VectorKernel (*cast)(uint8_t from, uint8_t to, uint32_t round_mode);
    void (*halves_to_floats)(const uint16_t *from, float *to, uint32_t count);
    void (*floats_to_halves)(const float *from, uint16_t *to, uint32_t count);
    void (*float_products)(const ProductJob<float> &job);
    void (*integer_products)(const ProductJob<int32_t> &job);  // wraps around: the caller keeps k so small that it cannot
    void (*compare)(const CompareJob &job, const void *a, const void *b, uint8_t *bits);
    void (*select)(const SelectJob &job, const void *a, const void *b, void *to);
    float (*sum)(const float *values, uint32_t count, bool is_half);  // a power of two, at most 128; neighbours first, then pairs of pairs
};

// By path; null where this build or this processor has none.
const Loops *portable_loops();
const Loops *avx2_loops();
const Loops *avx512_loops();

// By name: portable, avx2, avx512. Null when this machine has none of it.
const Loops *find_path(const char *name);

// The table in use.
const Loops &loops();

// Take the path of this name from now on; false, and nothing changes, when this machine has none of it. Not while a launch runs.
bool use_path(const char *name);

}  // namespace vnpu
