/*
 * The vendor's header for assert of device code: ascendc/print.h has it.
 */
#ifndef PITON_ASC_ASSERT_H
#define PITON_ASC_ASSERT_H

#include "ascendc/print.h"

#endif /* PITON_ASC_ASSERT_H */
