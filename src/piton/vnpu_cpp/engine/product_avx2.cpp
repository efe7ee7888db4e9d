/* The products of Mmad for AVX2. */
#include <cstdint>

#include "half.h"
#include "products.h"

#if defined(__x86_64__)

#pragma GCC target("avx2,f16c")
#define VNPU_PATH avx2
#define VNPU_VECTOR_BYTES 32
#include "loops/products.h"

const vnpu::ProductLoops *vnpu::avx2_products() { return __builtin_cpu_supports("avx2") ? &avx2::kProductLoops : nullptr; }

#else

const vnpu::ProductLoops *vnpu::avx2_products() { return nullptr; }

#endif
