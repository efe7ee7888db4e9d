/* What stores to global memory have in common: plain, padded, and out of the accumulators of a cube core. */
#pragma once

#include "access.h"

namespace vnpu {

// Bytes without a gap, and what is to be there.
struct GmBlock {
    uint64_t gm;
    uint64_t bytes;
    const uint8_t *data;  // null without data
};

// The block lies in one allocation, and an atomic store of it is one of whole elements. Gives the access to order.
Touch check_gm_store(Core &core, const vnpu_record &record, const GmBlock &block);

// Store it, or combine it with what is there; reports a store into an input.
void write_gm(Core &core, const vnpu_record &record, const GmBlock &block);

}  // namespace vnpu
