/* The products of Mmad for AVX512. */
#include <cstdint>

#include "half.h"
#include "products.h"

#if defined(__x86_64__)

#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,prefer-vector-width=512")
#define VNPU_PATH avx512
#define VNPU_VECTOR_BYTES 64
#include "loops/products.h"

const vnpu::ProductLoops *vnpu::avx512_products() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
               ? &avx512::kProductLoops
               : nullptr;
}

#else

const vnpu::ProductLoops *vnpu::avx512_products() { return nullptr; }

#endif
