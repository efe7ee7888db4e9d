/*
 * The vendor's header for printf of device code: ascendc/print.h has it. A source may include nothing else, and launch its kernels.
 */
#ifndef PITON_ASC_PRINTF_H
#define PITON_ASC_PRINTF_H

#include "ascendc/print.h"
#include "vnpu/launch.h"

#endif /* PITON_ASC_PRINTF_H */
