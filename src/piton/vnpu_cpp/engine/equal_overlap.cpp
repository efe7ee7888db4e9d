#include "equal_overlap.h"

#include <cstring>

namespace vnpu {

bool keeps_its_source(Core &core, const vnpu_record &record, const std::vector<Move> &moves) {
    if (!core.moves_data()) return true;
    IntervalSet sources;
    for (const Move &move : moves) sources.add(move.from, move.from + move.bytes);
    for (const Move &move : moves) {
        const uint8_t *from = core.ub.data() + move.from, *to = core.ub.data() + move.to;
        if (sources.touches(move.to, move.to + move.bytes) && std::memcmp(from, to, move.bytes) != 0) return false;
    }
    if (core.launch.reporter.has(place_of(record), "equal_value_overlap")) return true;
    core.note(
        record, "equal_value_overlap",
        describe(place_of(record)) +
            ": source and destination overlap, which its page forbids; every element of the source that is overwritten gets the value it has, so that the "
            "order of lanes makes no difference here",
        {{"dst_address", static_cast<int64_t>(record.dst.addr)}, {"src_address", static_cast<int64_t>(record.src0.addr)}});
    return true;
}

}  // namespace vnpu
