#pragma once

#include "timing.h"

namespace vnpu {
std::shared_ptr<const ChipModel> chip_double(uint64_t ub_bytes, uint32_t cores);
const LaunchTrace &replayed_trace();
}  // namespace vnpu
