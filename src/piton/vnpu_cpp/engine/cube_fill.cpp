/*
 * Fill: one value all over a part of L1, L0A or L0B.
 *
 * A repeat is a run of blocks without a gap; on MTE2 in L1, on MTE1 in L0A and L0B, as the page says.
 */
#include <cstring>

#include "access.h"
#include "dtypes.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

constexpr uint64_t kMost = 32767;  // repeats, and blocks of one repeat or gap: what the page allows

// No header makes such a record; code that writes its own may.
void check_fill(Core &core, const vnpu_record &record) {
    const uint64_t most = kMost * (record.dst.space == VNPU_SPACE_L1 ? kBlockBytes : 512);
    const bool is_whole = record.p[1] % kBlockBytes == 0 && record.p[3] % kBlockBytes == 0;
    if (dtype_bytes(record.dst.dtype) == 0) core.fail(record, "unsupported_api", "Fill writes elements of 1, 2, 4 or 8 bytes");
    if (is_whole && record.p[0] <= kMost && record.p[1] <= most && record.p[3] <= most) return;
    core.fail(record, "bad_parameter", "Fill: repeatTimes is 0 to 32767, blockNum and dstGap are 0 to 32767 whole blocks",
              {{"repeats", record.p[0]}, {"bytes", record.p[1]}, {"gap_bytes", record.p[3]}});
}

}  // namespace

void run_fill(Core &core, const vnpu_record &record) {
    const uint64_t repeats = record.p[0], bytes = record.p[1], step = bytes + record.p[3], element = dtype_bytes(record.dst.dtype);
    const bool is_to_l1 = record.dst.space == VNPU_SPACE_L1;
    if (!is_to_l1 && record.dst.space != VNPU_SPACE_L0A && record.dst.space != VNPU_SPACE_L0B)
        core.fail(record, "unsupported_api", "Fill writes L1 (TPosition::A1, B1), L0A (A2) or L0B (B2)");
    check_fill(core, record);
    if (repeats == 0 || bytes == 0) return core.append(cost_of(core.launch.chip, record, 0, 0));
    check_on_chip(core, record, record.dst, (repeats - 1) * step + bytes, true, is_to_l1 ? kBlockBytes : 512);
    const OnChip to = on_chip(core, record.dst.space);
    std::vector<Touch> touches;
    for (uint64_t at = record.dst.addr; touches.size() < repeats; at += step) touches.push_back({record.dst.space, true, at, at + bytes});
    order_accesses(core, record, touches);
    for (size_t repeat = 0; repeat < touches.size() && core.moves_data(); ++repeat) {
        for (uint64_t at = touches[repeat].begin; at < touches[repeat].end; at += element) std::memcpy(to.bytes.data() + at, &record.scalar, element);
        to.undefined.clear(touches[repeat].begin, touches[repeat].end);
    }
    core.append(cost_of(core.launch.chip, record, static_cast<uint32_t>(repeats), repeats * bytes));
}

}  // namespace vnpu
