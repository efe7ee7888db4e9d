// A program of the CPU debug interface: global memory is what GmAlloc gives, and the host reads and writes it.
#include <cstdio>
#include <cstdlib>

#include "scale_tiling.h"
#ifndef ASCENDC_CPU_DEBUG
#error "this program knows the CPU debug interface only"
#else
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR z, GM_ADDR tiling);
#endif

int main(int argc, char **argv) {
    const uint32_t count = 64;
    const long key = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1;
    auto *x = static_cast<float *>(AscendC::GmAlloc(count * sizeof(float)));
    auto *z = static_cast<float *>(AscendC::GmAlloc(count * sizeof(float)));
    auto *tiling = static_cast<ScaleTiling *>(AscendC::GmAlloc(sizeof(ScaleTiling)));
    for (uint32_t i = 0; i < count; ++i) {
        x[i] = static_cast<float>(i);
    }
    *tiling = {count, 3.0f};
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_SET_TILING_KEY(key);
    float local[64] = {};
    float *output = argc > 2 ? local : z;
    ICPU_RUN_KF(scale, 1, (uint8_t *)x, (uint8_t *)output, (uint8_t *)tiling);
    std::printf("%g %g\n", z[0], z[count - 1]);
    AscendC::GmFree(x);
    AscendC::GmFree(z);
    AscendC::GmFree(tiling);
    return 0;
}
