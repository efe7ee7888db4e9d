/* The scalar unit on global memory past its data cache: see past_cache.cpp. */
#pragma once

#include <cstdint>

#include "core.h"

namespace vnpu {

// Of scalar.cpp: how many bytes a scalar access has.
uint32_t value_bytes(Core &core, const vnpu_record &record);

// DataCacheCleanAndInvalid of the line from the address on: the next load of it is a look.
void note_cleaned(Core &core, uint64_t address);

// A cache line that DataCacheCleanAndInvalid has written back, by its address.
void publish_line(Core &core, const vnpu_record &record, uint64_t line);

// Before a GetValue of global memory: true where it loads anew a line for which DataCacheCleanAndInvalid was called, as who waits for a flag does. Then others
// have run if it would find what it found last, and the core knows what was complete when the line was written back.
bool look_again(Core &core, const vnpu_record &record, uint64_t address, uint32_t bytes);

// Whether a core that reads a word again and again may find something new there.
bool has_news(const Launch &launch, const Waiting &waiting);

// Of cross_core.cpp: what `pipe` of a core knows to be complete, both of two, and what a wait tells.
Vouch vouch_of(const Core &core, uint32_t pipe);
void merge(Vouch &into, const Vouch &from);
void learn(Core &core, const Vouch &vouch);

}  // namespace vnpu
