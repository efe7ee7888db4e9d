/* The inner loops for AVX-512 (F, BW, DQ, VL), 64 bytes at a time. */
#include "loops/begin.h"

#if defined(__x86_64__)

#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c,prefer-vector-width=512")
#define VNPU_PATH avx512
#define VNPU_PATH_NAME "avx512"
#define VNPU_VECTOR_BYTES 64
#include "loops/all.h"

namespace {

bool has_all() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("f16c");
}

}  // namespace

const vnpu::Loops *vnpu::avx512_loops() { return has_all() ? &avx512::kLoops : nullptr; }

#else

const vnpu::Loops *vnpu::avx512_loops() { return nullptr; }

#endif
