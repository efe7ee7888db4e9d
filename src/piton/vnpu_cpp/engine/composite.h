/*
 * Order that an API brings with it: some calls are several instructions with barriers and flags between them, which cost time and order what is around.
 */
#pragma once

#include "core.h"

namespace vnpu {

void hidden_barrier(Core &core, const vnpu_record &record, uint8_t pipe);
// SetFlag on `from` and WaitFlag on `to`, back to back.
void hidden_flag(Core &core, const vnpu_record &record, uint8_t from, uint8_t to);

}  // namespace vnpu
