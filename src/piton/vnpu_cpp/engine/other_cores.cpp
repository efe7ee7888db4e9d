#include "other_cores.h"

#include <cstring>

#include "access_text.h"

namespace vnpu {

std::string count_hint(const Core &core) {
    const Groups &groups = core.launch.groups;
    if (!groups.is_mixed() || groups.vectors() == 1 || core.is_cube() || !core.asks_blocks || core.asks_ratio) return "";
    return "; GetBlockNum is " + std::to_string(groups.blocks) + ", the number of blocks, while " + std::to_string(groups.vector_cores()) +
           " vector cores run, numbered from 0 by GetBlockIdx: needed where work is shared among vector cores: GetBlockNum() * GetTaskRatio()";
}

bool stores_equal_bytes(Core &core, const Touch &touch, uint64_t begin, uint64_t end) {
    if (!touch.data || !core.moves_data()) return false;
    return std::memcmp(core.launch.memory.readable(begin), touch.data + (begin - touch.begin), end - begin) == 0;
}

void note_equal_overlap(Core &core, const vnpu_record &record, uint64_t begin, uint64_t end, const Place &earlier) {
    if (core.launch.reporter.has(place_of(record), "equal_value_overlap")) return;
    core.note(record, "equal_value_overlap",
              describe(place_of(record)) + " stores GM bytes " + hex(begin) + ".." + hex(end) + " that " + describe(earlier) +
                  " also stored, unordered, with the same values: harmless as long as they stay equal" + count_hint(core),
              {{"begin", static_cast<int64_t>(begin)}, {"end", static_cast<int64_t>(end)}, {"earlier_line", earlier.line}});
}

namespace {

void report_cores(Core &core, const vnpu_record &record, const Touch &touch, const SharedRange &other, bool was_write) {
    if (core.launch.reporter.has(place_of(record), "missing_sync")) return;
    const Place &earlier = core.launch.places.at(other.place);
    const Groups &groups = core.launch.groups;
    const std::string who = groups.is_mixed() ? groups.name(other.core) : "another core";
    core.report(record, "missing_sync",
                describe(place_of(record)) + " on " + groups.name(core.index) + " " + verb(touch.is_write) + " " +
                    bytes_text("GM", other.begin, other.end, true) + " that " + describe(earlier) + " " + past_verb(was_write) + " on " + who +
                    ", and nothing orders the two; needed: SyncAll between them, or a flag between the cores that is set after the earlier (CrossCoreSetFlag "
                    "behind its pipe, IBSet) and waited for before the later, unless the two are meant to touch different bytes" +
                    count_hint(core),
                {{"begin", static_cast<int64_t>(other.begin)},
                 {"end", static_cast<int64_t>(other.end)},
                 {"overlap_bytes", static_cast<int64_t>(other.end - other.begin)},
                 {"earlier_line", earlier.line}});
}

}  // namespace

void check_other_cores(Core &core, const vnpu_record &record, const Touch &touch) {
    SharedRange other{};
    SharedAccesses &shared = core.launch.shared;
    if (shared.writers.other(touch.begin, touch.end, core.acquaintance, other)) {
        if (touch.is_write && stores_equal_bytes(core, touch, other.begin, other.end))
            note_equal_overlap(core, record, other.begin, other.end, core.launch.places.at(other.place));
        else
            report_cores(core, record, touch, other, true);
    }
    // The other core's scalar unit writes its whole line back some time.
    if (touch.is_write && record.pipe != VNPU_PIPE_S && shared.scalar_lines.other(touch.begin, touch.end, core.acquaintance, other))
        report_cores(core, record, touch, other, true);
    if (!touch.is_atomic && shared.atomics.other(touch.begin, touch.end, core.acquaintance, other)) report_cores(core, record, touch, other, true);
    if (touch.is_write && shared.readers.other(touch.begin, touch.end, core.acquaintance, other)) report_cores(core, record, touch, other, false);
}

void remember_shared(Core &core, const Touch &touch, const SharedAccess &access) {
    SharedAccesses &shared = core.launch.shared;
    (touch.is_atomic ? shared.atomics : touch.is_write ? shared.writers : shared.readers).add(touch.begin, touch.end, access);
}

SharedAccess shared_access(const Core &core, uint8_t pipe, uint32_t number, uint32_t place) {
    return {core.index, place, number, core.epoch, core.launch.cross.stamp, pipe};
}

void note_freed(Core &core, const vnpu_record &record, const Touch &touch) {
    const FreedTensors::Freed *found = touch.space == VNPU_SPACE_UB ? core.freed.find(touch.begin, touch.end) : nullptr;
    if (found == nullptr || core.launch.reporter.has(place_of(record), "other")) return;
    core.note(record, "other",
              describe(place_of(record)) + " " + verb(touch.is_write) + " " + bytes_text("UB", touch.begin, touch.end, false) + ", of a tensor that " +
                  describe(found->place) + " has freed: the next AllocTensor may hand it out and a copy overwrite it; FreeTensor belongs behind the last use",
              {{"begin", static_cast<int64_t>(touch.begin)}, {"end", static_cast<int64_t>(touch.end)}, {"earlier_line", found->place.line}});
}

}  // namespace vnpu
