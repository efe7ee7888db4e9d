/*
 * The vendor's header for printf of device code: ascendc/print.h has it. A source may include nothing else, and launch its kernels.
 *
 * Problem: kernels of such a source say `printf`, without a namespace, and there is the C library's.
 * Approach: in the device pass, which has no host code, the word stands for a function that is known in both places.
 */
#ifndef PITON_ASC_PRINTF_H
#define PITON_ASC_PRINTF_H

#include "ascendc/print.h"
#include "vnpu/launch.h"

#if defined(PITON_DEVICE_PASS)
#include <cstdio>

template <class... Args>
PITON_API void piton_printf(const piton::CallFormat &fmt, const Args &...args) {
    AscendC::printf(fmt, args...);
}
namespace AscendC {
using ::piton_printf;
}
#define printf piton_printf
#endif

#endif /* PITON_ASC_PRINTF_H */
