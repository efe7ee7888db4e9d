/* The scratch memory of Select; see select_scratch.cpp. */
#ifndef VNPU_ENGINE_SELECT_SCRATCH_H
#define VNPU_ENGINE_SELECT_SCRATCH_H

#include "core.h"

namespace vnpu {

// What the selection bits are loaded through: elements of `bytes` each.
void use_scratch(Core &core, const vnpu_record &record, uint32_t bytes);

}  // namespace vnpu

#endif
