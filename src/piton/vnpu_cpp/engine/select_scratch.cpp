/*
 * The scratch memory of Select in modes 1 and 2.
 *
 * Problem: the documentation keeps the last 8 KiB of the unified buffer for it; kernels ask for all of the memory at once, and are right as long as they leave
 * the end of it alone. Approach: as in the public implementation a block of 32 elements at its beginning is filled before each Select. Data that lies there is
 * a violation, memory that was only given out a finding. Limits: what the kernel puts there later is found by the next Select.
 */
#include "select_scratch.h"

#include <cstring>

#include "composite.h"
#include "footprint.h"

namespace vnpu {

namespace {

constexpr uint64_t kScratchBytes = 8192;  // at the end of the unified buffer: documentation page of Select
constexpr uint32_t kScratchLanes = 32;    // what is written of it

bool has_data(const Core &core, uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at)
        if (!core.undefined.any(at, at + 1)) return core.moves_data();
    return false;
}

// What the kernel keeps there is lost. A buffer that is given out but holds nothing there is no harm yet: kernels ask for all of the memory at once.
void check_scratch(Core &core, const vnpu_record &record, uint64_t begin, uint64_t written) {
    const Place place = place_of(record);
    if (!core.buffers.touches(begin, core.ub.size()) || core.launch.reporter.has(place, "ub_overflow")) return;
    const std::string text = "Select in modes 1 and 2 uses the last 8192 bytes of the unified buffer, from byte " + std::to_string(begin) +
                             ", as scratch; InitBuffer has given them out";
    const Numbers numbers = {{"used_bytes", static_cast<int64_t>(core.ub.size())}, {"available_bytes", static_cast<int64_t>(begin)}};
    if (has_data(core, begin, written))
        core.report(record, "ub_overflow", text + ", and the kernel has data where it writes", numbers);
    else if (!core.launch.reporter.has(place, "other"))
        core.note(record, "other", text + "; nothing has been written where it writes so far", numbers);
}

}  // namespace

void use_scratch(Core &core, const vnpu_record &record, uint32_t bytes) {
    const uint64_t begin = core.ub.size() - kScratchBytes;
    check_scratch(core, record, begin, begin + static_cast<uint64_t>(kScratchLanes) * bytes);
    Footprint scratch;
    scratch.write(begin, static_cast<uint64_t>(kScratchLanes) * bytes);
    scratch.settle(core, record);
    vnpu_record fill = record;
    fill.opcode = VNPU_OP_DUPLICATE;
    fill.src0 = fill.src1 = vnpu_operand{};
    core.append(cost_of(core.launch.chip, fill, 1, kScratchLanes));
    if (core.moves_data()) {  // not what the caller put there; nobody may read it
        std::memset(core.ub.data() + begin, 0xff, static_cast<size_t>(kScratchLanes) * bytes);
        core.undefined.set(begin, begin + static_cast<uint64_t>(kScratchLanes) * bytes);
    }
    hidden_barrier(core, record, VNPU_PIPE_V);
}

}  // namespace vnpu
