/* The scalar unit on global memory past its data cache: see past_cache.cpp. */
#pragma once

#include <cstdint>

#include "core.h"

namespace vnpu {

// Of scalar.cpp: how many bytes a scalar access has.
uint32_t value_bytes(Core &core, const vnpu_record &record);

// Whether a core that reads a word again and again may find something new there.
bool has_news(const Launch &launch, const Waiting &waiting);

// Of cross_core.cpp: what `pipe` of a core knows to be complete, both of two, and what a wait tells.
Vouch vouch_of(const Core &core, uint32_t pipe);
void merge(Vouch &into, const Vouch &from);
void learn(Core &core, const Vouch &vouch);

}  // namespace vnpu
