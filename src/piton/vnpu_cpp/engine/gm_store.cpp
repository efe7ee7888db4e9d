#include "gm_store.h"

#include <cstring>

#include "atomic.h"
#include "dtypes.h"

namespace vnpu {

namespace {

bool may_store(Core &core, const vnpu_record &record, const Allocation &target, uint64_t gm, uint64_t bytes) {
    if (target.is_mutable) return true;
    if (!core.launch.reporter.has(place_of(record), "input_modified"))
        core.report(record, "input_modified",
                    api_name(place_of(record)) + " stores " + std::to_string(bytes) + " bytes into an input at " + hex(gm) + "; inputs are read-only",
                    {{"address", static_cast<int64_t>(gm)}, {"bytes", static_cast<int64_t>(bytes)}});
    return false;
}

// What is added to has to be there, in whole elements.
void check_atomic(Core &core, const vnpu_record &record, const Allocation &target, uint64_t gm, uint64_t bytes) {
    const uint32_t element = dtype_bytes(core.atomic.dtype);
    if (gm % element || bytes % element)
        core.fail(record, "misaligned",
                  "an atomic store of " + std::to_string(bytes) + " bytes to " + hex(gm) + " is not one of whole elements of " + std::to_string(element) +
                      " bytes at a multiple of that",
                  {{"address", static_cast<int64_t>(gm)}, {"bytes", static_cast<int64_t>(bytes)}, {"alignment_bytes", element}});
    const uint64_t begin = gm - target.address;
    if (!core.moves_data() || target.defined.covers(begin, begin + bytes) || core.launch.reporter.has(place_of(record), "undefined_data")) return;
    core.report(record, "undefined_data",
                api_name(place_of(record)) + " adds atomically to global memory at " + hex(target.address + target.defined.first_gap(begin, begin + bytes)) +
                    " that nobody has written; atomic stores do not clear it first",
                {{"address", static_cast<int64_t>(gm)}, {"bytes", static_cast<int64_t>(bytes)}});
}

// Sums of floats by several cores come in any order on the chip.
void note_order(Core &core, const vnpu_record &record, uint64_t gm, uint64_t bytes) {
    const bool is_float = core.atomic.dtype == VNPU_DT_F16 || core.atomic.dtype == VNPU_DT_BF16 || core.atomic.dtype == VNPU_DT_F32;
    SharedRange other{};
    if (core.atomic.mode != 1 || !is_float || !core.moves_data() || core.launch.reporter.has(place_of(record), "other")) return;
    if (!core.launch.shared.atomics.other(gm, gm + bytes, core.acquaintance, other)) return;
    core.note(record, "other",
              describe(place_of(record)) + " adds floats atomically where another core does too: the order of the sums, and so the last bits, are not told",
              {{"begin", static_cast<int64_t>(other.begin)}, {"end", static_cast<int64_t>(other.end)}});
}

}  // namespace

Touch check_gm_store(Core &core, const vnpu_record &record, const GmBlock &block) {
    const Allocation &target = check_gm(core, record, block.gm, block.bytes, true);
    const bool is_atomic = core.atomic.mode != 0;
    if (is_atomic) {
        check_atomic(core, record, target, block.gm, block.bytes);
        note_order(core, record, block.gm, block.bytes);
    }
    return {VNPU_SPACE_GM, true, block.gm, block.gm + block.bytes, is_atomic ? nullptr : block.data, is_atomic};
}

namespace {

// An atomic store combines with the bytes that are there. What a copy put into memory of the host does not become a kernel's by adding to it; what the operator
// was given to update in place is its own.
bool keeps_what_was_there(const Core &core, const Allocation &target) { return core.atomic.mode != 0 && target.owner == Owner::Host; }

}  // namespace

void write_gm(Core &core, const vnpu_record &record, const GmBlock &block) {
    Allocation &target = *core.launch.memory.find(block.gm, block.bytes);
    if (!may_store(core, record, target, block.gm, block.bytes)) return;
    core.launch.has_stored = true;
    const uint64_t begin = block.gm - target.address;
    if (!keeps_what_was_there(core, target)) target.stored.add(begin, begin + block.bytes);
    target.defined.add(begin, begin + block.bytes);
    if (!core.moves_data()) return;
    if (core.atomic.mode)
        combine(core.atomic, core.launch.memory.writable(block.gm), block.data, block.bytes);
    else
        std::memcpy(core.launch.memory.writable(block.gm), block.data, block.bytes);
}

}  // namespace vnpu
