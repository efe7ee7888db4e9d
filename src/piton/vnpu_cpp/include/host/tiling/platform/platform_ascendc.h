/* Another name of platform/platform_ascendc.h. */
#ifndef PITON_HOST_TILING_PLATFORM_ASCENDC_H
#define PITON_HOST_TILING_PLATFORM_ASCENDC_H

#include "platform/platform_ascendc.h"

#endif
