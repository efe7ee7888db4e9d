/*
 * Atomic stores: a copy to global memory that adds to, or takes the larger or smaller of, what is there.
 *
 * Each element is combined in the dtype that SetAtomicAdd and its kind were given, whatever the tensors' own: integers wrap around, floats are rounded once.
 * Stores of several cores to one address do not race; with floats the order of sums is not told, so results may differ between runs on the chip.
 */
#pragma once

#include <cstdint>

#include "core.h"

namespace vnpu {

// target[i] = target[i] op source[i] over `bytes`; the element size of the core's atomic dtype divides it.
void combine(const AtomicState &atomic, uint8_t *target, const uint8_t *source, uint64_t bytes);

}  // namespace vnpu
