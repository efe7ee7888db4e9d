/*
 * Accesses of one core against those of the others, and against what is worth a note.
 *
 * Problem: two cores that touch the same bytes of global memory, one of them writing, need SyncAll or a flag between them; stores of equal bytes are a common
 * way to handle tails, and harmless.
 * Approach: the maps in shared.h say whose bytes they are; this asks them, compares what two stores write, and words the report.
 * Limits: those of shared.h.
 */
#pragma once

#include "access.h"

namespace vnpu {

// An access as the maps of all cores keep it.
SharedAccess shared_access(const Core &core, uint8_t pipe, uint32_t number, uint32_t place);

void check_other_cores(Core &core, const vnpu_record &record, const Touch &touch);
void remember_shared(Core &core, const Touch &touch, const SharedAccess &access);

// A store that writes what memory holds in [begin, end) already.
bool stores_equal_bytes(Core &core, const Touch &touch, uint64_t begin, uint64_t end);
void note_equal_overlap(Core &core, const vnpu_record &record, uint64_t begin, uint64_t end, const Place &earlier);

// For a message: what GetBlockNum counts, where a vector core of a mixed launch may have taken it for the number of vector cores.
std::string count_hint(const Core &core);

// A tensor that its queue has got back is used.
void note_freed(Core &core, const vnpu_record &record, const Touch &touch);

}  // namespace vnpu
