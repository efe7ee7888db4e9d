/*
 * The vendor's header for printf of device code: ascendc/print.h has it.
 */
#ifndef PITON_ASC_PRINTF_H
#define PITON_ASC_PRINTF_H

#include "ascendc/print.h"

#endif /* PITON_ASC_PRINTF_H */
