/*
 * Sort32 and MrgSort: structures of 8 bytes, the score in the low bytes and its index in the high four.
 *
 * Sorting is by score, largest first; equal scores keep their order, and between lists the one with the smaller number comes first (documentation pages of
 * Sort32 and MrgSort). Chosen where they are silent: a NaN comes before every number, +0 and -0 are equal, the two bytes between a half and its index are 0.
 */
#include <algorithm>
#include <cstring>

#include "footprint.h"
#include "half.h"

namespace vnpu {

namespace {

constexpr uint32_t kSortLanes = 32;    // elements that one iteration of Sort32 sorts
constexpr uint32_t kPairBytes = 8;     // score and index
constexpr uint32_t kLists = 4;         // that MrgSort merges
constexpr uint32_t kListLimit = 4095;  // elements of one list
constexpr uint32_t kAllLists = 0xf;

// Whether `a` has to come before `b`.
bool precedes(float a, float b) { return a != a ? b == b : a > b; }

float score_of(const uint8_t *pair, bool is_half) {
    uint32_t bits = 0;
    std::memcpy(&bits, pair, is_half ? 2 : 4);
    return is_half ? half_to_float(static_cast<uint16_t>(bits)) : bits_as<float>(bits);
}

struct Pair {
    float score;
    uint8_t bytes[kPairBytes];
    bool is_undefined;
};

bool require_float(Core &core, const vnpu_record &record) {
    if (record.dst.dtype != VNPU_DT_F16 && record.dst.dtype != VNPU_DT_F32)
        core.fail(record, "unsupported_api", api_name(place_of(record)) + " exists for half and float only", {{"dtype", record.dst.dtype}});
    return record.dst.dtype == VNPU_DT_F16;
}

void store_pair(Core &core, uint64_t at, const Pair &pair) {
    std::memcpy(core.ub.data() + at, pair.bytes, kPairBytes);
    pair.is_undefined ? core.undefined.set(at, at + kPairBytes) : core.undefined.clear(at, at + kPairBytes);
}

// ---- Sort32 ----
Pair pair_at(const Core &core, const vnpu_record &record, uint32_t element, bool is_half) {
    const uint32_t bytes = is_half ? 2 : 4;
    const uint64_t score = record.src0.addr + static_cast<uint64_t>(element) * bytes, index = record.src1.addr + static_cast<uint64_t>(element) * 4;
    Pair pair{score_of(core.ub.data() + score, is_half), {}, core.undefined.any(score, score + bytes) || core.undefined.any(index, index + 4)};
    std::memcpy(pair.bytes, core.ub.data() + score, bytes);
    std::memcpy(pair.bytes + 4, core.ub.data() + index, 4);
    return pair;
}

void sort_repeat(Core &core, const vnpu_record &record, uint32_t repeat, bool is_half) {
    std::vector<Pair> pairs;
    for (uint32_t lane = 0; lane < kSortLanes; ++lane) pairs.push_back(pair_at(core, record, repeat * kSortLanes + lane, is_half));
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair &a, const Pair &b) { return precedes(a.score, b.score); });
    const uint64_t to = record.dst.addr + static_cast<uint64_t>(repeat) * kSortLanes * kPairBytes;
    for (uint32_t lane = 0; lane < kSortLanes; ++lane) store_pair(core, to + lane * kPairBytes, pairs[lane]);
}

// ---- MrgSort ----
struct List {
    vnpu_operand operand;
    uint32_t length;
};

std::vector<List> lists_of(const vnpu_record &record) {
    List lists[kLists] = {{record.src0, 0}, {record.src1, 0}, {record.src0, 0}, {record.src0, 0}};
    for (uint32_t at = 2; at < kLists; ++at) {
        lists[at].operand.addr = record.scalar >> (32 * (at - 2)) & 0xffffffffu;
        lists[at].operand.limit = static_cast<uint32_t>(record.mask[1] >> (32 * (at - 2)));
    }
    std::vector<List> valid;
    for (uint32_t at = 0; at < kLists && (record.p[1] >> at & 1); ++at) {
        lists[at].length = static_cast<uint32_t>(record.mask[0] >> (16 * at) & 0xffff);
        valid.push_back(lists[at]);
    }
    return valid;
}

bool are_equal_and_joined(const std::vector<List> &lists) {
    for (size_t at = 1; at < lists.size(); ++at)
        if (lists[at].length != lists[0].length || lists[at].operand.addr != lists[at - 1].operand.addr + static_cast<uint64_t>(lists[0].length) * kPairBytes)
            return false;
    return lists.size() == kLists;
}

uint64_t merged_length(const std::vector<List> &lists) {
    uint64_t length = 0;
    for (const List &list : lists) length += list.length;
    return length;
}

void check_merge(Core &core, const vnpu_record &record, const std::vector<List> &lists) {
    if (record.p[1] != 3 && record.p[1] != 7 && record.p[1] != kAllLists)
        core.fail(record, "bad_parameter", "MrgSort: validBit is " + std::to_string(record.p[1]) + "; it is 3, 7 or 15: the first two, three or all four lists",
                  {{"valid_bit", record.p[1]}});
    for (const List &list : lists)
        if (list.length > kListLimit)
            core.fail(record, "bad_parameter", "MrgSort: a list of " + std::to_string(list.length) + " elements; the documented range is 0 to 4095",
                      {{"elements", list.length}});
    if (record.p[0] > 1 && (record.p[2] || !are_equal_and_joined(lists)))
        core.fail(record, "bad_parameter",
                  "MrgSort: repeatTimes above 1 needs four lists of one length, one behind the other, validBit 15 and no ifExhaustedSuspension",
                  {{"repeats", record.p[0]}});
}

uint64_t list_at(const std::vector<List> &lists, size_t list, uint32_t repeat) {
    return lists[list].operand.addr + static_cast<uint64_t>(repeat) * merged_length(lists) * kPairBytes;
}

struct Merged {
    std::vector<uint64_t> sources;  // addresses of the pairs in their new order
    uint64_t taken = 0;             // of each list, 16 bits each
};

// With suspension the merge ends with the first list that has no more.
Merged merge(const Core &core, const vnpu_record &record, const std::vector<List> &lists, uint32_t repeat) {
    const bool is_half = record.dst.dtype == VNPU_DT_F16, stops = record.p[2] != 0;
    uint32_t next[kLists] = {};
    const auto is_exhausted = [&](size_t list) { return next[list] == lists[list].length; };
    const auto score = [&](size_t list) { return score_of(core.ub.data() + list_at(lists, list, repeat) + next[list] * kPairBytes, is_half); };
    Merged merged;
    for (uint64_t left = merged_length(lists); left; --left) {
        size_t best = lists.size();
        bool is_any_exhausted = false;
        for (size_t list = 0; list < lists.size(); ++list) {
            is_any_exhausted = is_any_exhausted || is_exhausted(list);
            if (!is_exhausted(list) && (best == lists.size() || precedes(score(list), score(best)))) best = list;
        }
        if (stops && is_any_exhausted) break;
        merged.sources.push_back(list_at(lists, best, repeat) + next[best]++ * kPairBytes);
    }
    for (uint32_t list = 0; list < kLists; ++list) merged.taken |= static_cast<uint64_t>(next[list]) << (16 * list);
    return merged;
}

void check_merge_operands(Core &core, const vnpu_record &record, const std::vector<List> &lists) {
    const uint64_t all = merged_length(lists) * kPairBytes, last = record.p[0] - 1;
    check_operand(core, record, record.dst, record.dst.addr + all * record.p[0], true);
    for (const List &list : lists) {
        const uint64_t end = list.operand.addr + last * all + static_cast<uint64_t>(list.length) * kPairBytes;
        check_operand(core, record, list.operand, end, false, kPairBytes);
        if (list.operand.addr < record.dst.addr + all * record.p[0] && record.dst.addr < end && list.length)
            core.fail(record, "bad_overlap", "MrgSort: the destination overlaps a source",
                      {{"dst_address", static_cast<int64_t>(record.dst.addr)}, {"src_address", static_cast<int64_t>(list.operand.addr)}});
    }
}

void move_merged(Core &core, const Merged &merged, uint64_t to) {
    for (const uint64_t from : merged.sources) {
        std::memcpy(core.ub.data() + to, core.ub.data() + from, kPairBytes);
        core.undefined.copy(to, from, kPairBytes);
        to += kPairBytes;
    }
}

}  // namespace

void run_sort32(Core &core, const vnpu_record &record) {
    const bool is_half = require_float(core, record);
    const uint32_t repeats = record.p[0], bytes = is_half ? 2 : 4;
    const uint64_t elements = static_cast<uint64_t>(repeats) * kSortLanes;
    if (repeats > kMaxRepeats) core.fail(record, "bad_parameter", "Sort32: repeatTime above 255", {{"repeats", repeats}});
    check_operand(core, record, record.dst, record.dst.addr + elements * kPairBytes, true);
    check_operand(core, record, record.src0, record.src0.addr + elements * bytes, false);
    check_operand(core, record, record.src1, record.src1.addr + elements * 4, false);
    Footprint footprint;
    for (uint32_t repeat = 0; repeat < repeats; ++repeat, footprint.next()) {
        footprint.read(record.src0.addr + static_cast<uint64_t>(repeat) * kSortLanes * bytes, kSortLanes * bytes);
        footprint.read(record.src1.addr + static_cast<uint64_t>(repeat) * kSortLanes * 4, kSortLanes * 4);
        footprint.write(record.dst.addr + static_cast<uint64_t>(repeat) * kSortLanes * kPairBytes, kSortLanes * kPairBytes);
    }
    footprint.settle(core, record);
    for (uint32_t repeat = 0; repeat < repeats && core.moves_data(); ++repeat) sort_repeat(core, record, repeat, is_half);
    vnpu_record cost = record;
    cost.dst.space = cost.src0.space = cost.src1.space = VNPU_SPACE_NONE;  // the family's cycles per repeat hold for its three widths
    core.append(cost_of(core.launch.chip, cost, repeats, elements));
}

void run_mrg_sort(Core &core, const vnpu_record &record) {
    require_float(core, record);
    const std::vector<List> lists = lists_of(record);
    check_merge(core, record, lists);
    if (record.p[0] == 0) return core.append(cost_of(core.launch.chip, record, 0, 0));
    check_merge_operands(core, record, lists);
    const uint64_t all = merged_length(lists);
    Footprint footprint;
    std::vector<Merged> merged;
    uint64_t elements = 0;
    for (uint32_t repeat = 0; repeat < record.p[0]; ++repeat, footprint.next()) {
        merged.push_back(merge(core, record, lists, repeat));
        for (size_t list = 0; list < lists.size(); ++list) footprint.read(list_at(lists, list, repeat), static_cast<uint64_t>(lists[list].length) * kPairBytes);
        footprint.write(record.dst.addr + repeat * all * kPairBytes, merged.back().sources.size() * kPairBytes);
        elements += merged.back().sources.size();
    }
    footprint.settle(core, record);
    for (uint32_t repeat = 0; repeat < record.p[0] && core.moves_data(); ++repeat)
        move_merged(core, merged[repeat], record.dst.addr + repeat * all * kPairBytes);
    core.merged_counts = merged.back().taken;
    vnpu_record cost = record;
    cost.dst.space = cost.src0.space = cost.src1.space = VNPU_SPACE_NONE;
    core.append(cost_of(core.launch.chip, cost, static_cast<uint32_t>((elements * kPairBytes + kRepeatBytes - 1) / kRepeatBytes), elements));
}

}  // namespace vnpu
