/*
 * The seam between a submission's host code and the host library of the virtual NPU (libpiton_npu.so).
 *
 * Problem: launches and platform questions in a submission's host code have to reach the device process, but the submission is compiled without knowing how.
 * Approach: two plain C functions, left undefined in the submission's library and provided by the host library, which is loaded first with RTLD_GLOBAL.
 * Limits: arguments are plain bytes; device pointers in them are addresses of device memory and mean nothing on the host.
 */
#ifndef PITON_VNPU_HOST_ABI_H
#define PITON_VNPU_HOST_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What piton_host_platform can be asked for. */
enum piton_platform {
    PITON_PLATFORM_CORES_AIV = 0,
    PITON_PLATFORM_CORES_AIC = 1,
    PITON_PLATFORM_UB_BYTES = 2,
    PITON_PLATFORM_L1_BYTES = 3,
    PITON_PLATFORM_L0A_BYTES = 4,
    PITON_PLATFORM_L0B_BYTES = 5,
    PITON_PLATFORM_L0C_BYTES = 6,
    PITON_PLATFORM_BT_BYTES = 7,
    PITON_PLATFORM_L2_BYTES = 8,
    PITON_PLATFORM_HBM_BYTES = 9, /* what a program can allocate */
    PITON_PLATFORM_CLOCK_HZ = 10
};

/*
 * Launch `kernel` (the name of a vnpu_kernel) on `blocks` blocks and return when the device has accepted it.
 * `arguments` is the block that the kernel's entry unpacks; see vnpu/launch.h. 0, or non-zero when the device is gone.
 */
int piton_host_launch(const char *kernel, uint32_t blocks, const void *arguments, uint32_t argument_bytes, const void *stream);

/* One figure of the chip; 0 for a question that is not in enum piton_platform. */
uint64_t piton_host_platform(uint32_t what);

#ifdef __cplusplus
}
#endif

#endif /* PITON_VNPU_HOST_ABI_H */
