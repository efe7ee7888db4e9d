/* The inner loops for AVX2 with F16C. */
#include "loops/begin.h"

#if defined(__x86_64__)

#pragma GCC target("avx2,f16c")
#define VNPU_PATH avx2
#define VNPU_PATH_NAME "avx2"
#define VNPU_VECTOR_BYTES 32
#include "loops/all.h"

const vnpu::Loops *vnpu::avx2_loops() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") ? &avx2::kLoops : nullptr; }

#else

const vnpu::Loops *vnpu::avx2_loops() { return nullptr; }

#endif
