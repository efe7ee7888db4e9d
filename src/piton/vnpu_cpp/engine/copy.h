/* What loads from global memory have in common: plain, padded, and with a change of format. */
#pragma once

#include "core.h"

namespace vnpu {

// GM bytes that a SetValue left in some core's data cache have not reached the memory that a load reads.
void report_stale_cache(Core &core, const vnpu_record &record, uint64_t begin, uint64_t end);

// Bytes of the allocation that nobody ever wrote arrive undefined, at `chip` of the memory that `undefined` belongs to.
void mark_undefined_gm(UndefinedBytes &undefined, const Allocation &source, uint64_t gm, uint64_t chip, uint64_t bytes);

}  // namespace vnpu
