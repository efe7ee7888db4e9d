/* Kernels of both kinds, registered by their launches: prints kind, title and what each says when it is run (tests/sim/test_headers_kernels.py). */
#include <cstdio>

#include "kernel_operator.h"
#include "vnpu/launch.h"

__global__ __vector__ void vector_kernel(GM_ADDR) { AscendC::PipeBarrier<PIPE_V>(); }

template <uint32_t rows>
__global__ __cube__ void cube_kernel(GM_ADDR, uint32_t columns) {
    std::printf("%u x %u\n", rows, columns);
}

extern "C" __cube__ __global__ void plain_cube_kernel(uint32_t) {}

extern "C" void vnpu_submit(const vnpu_record *) {}
extern "C" uint64_t vnpu_fetch(const vnpu_record *) { return 0; }
extern "C" void vnpu_register_kernel(const vnpu_kernel *kernel) {
    std::printf("%u %s\n", kernel->core_kind, kernel->title);
    const uint64_t arguments[2] = {0, 7};
    kernel->entry(arguments);
}

void launches() {
    PITON_LAUNCH(vector_kernel)(1, nullptr, nullptr)(nullptr);
    PITON_LAUNCH(cube_kernel<3>)(1, nullptr, nullptr)(nullptr, 7);
    PITON_LAUNCH(plain_cube_kernel)(1, nullptr, nullptr)(7);
}

int main() { return 0; }
