/*
 * Sparse products: LoadDataWithSparse, and which row of the dense matrix a kept row of the right operand stands for.
 *
 * Problem: of four elements of a column two are kept; where they stood is told by two bits each, in a memory without an address of its own.
 * Approach: that memory is a quarter of L0B, so that the places of L0B's byte a lie at a / 4 (a fractal: 16 columns of 8 bytes). The first of a pair counts
 * from element 0 of its four, the second from element 1; a second that would stand before the first names the same element, as the page of MmadWithSparse has
 * it. Where places are undefined, so is what they belong to. An access to L0B stands for one to its places. Limits: that places lie by L0B's address is
 * inferred (they have "the layout of B" and no address); a plain LoadData leaves them as they were.
 */
#include <algorithm>
#include <cstring>

#include "access.h"
#include "cube_mmad.h"

namespace vnpu {

namespace {

constexpr uint64_t kPlacesPerFractal = 128, kPlaceBytes = 8, kL0Align = 512;

void check(Core &core, const vnpu_record &record) {
    const bool is_placed = record.src0.space == VNPU_SPACE_L1 && record.src1.space == VNPU_SPACE_L1 && record.dst.space == VNPU_SPACE_L0B;
    if (!is_placed || record.src0.dtype != VNPU_DT_I8 || record.dst.dtype != VNPU_DT_I8 || record.src1.dtype != VNPU_DT_U8)
        core.fail(record, "unsupported_api", "LoadDataWithSparse goes from L1 (TPosition::B1) to L0B (B2): int8_t with places as uint8_t");
    if (record.p[0] > kMaxRepeats)
        core.fail(record, "bad_parameter", "LoadDataWithSparse: repeatTimes is " + std::to_string(record.p[0]) + "; the instruction holds 0 to 255",
                  {{"value", record.p[0]}});
    check_on_chip(core, record, record.src0, record.p[0] * kFractal, false);
    check_on_chip(core, record, record.src1, record.p[0] * kPlacesPerFractal, false);
    check_on_chip(core, record, record.dst, record.p[0] * kFractal, true, kL0Align);
}

// 32 bytes of a column with their places.
void move_column(const OnChip &from, uint64_t src, uint64_t places, const OnChip &to, uint64_t dst) {
    std::memcpy(to.bytes.data() + dst, from.bytes.data() + src, kBlockBytes);
    to.undefined.clear(dst, dst + kBlockBytes);
    if (from.undefined.any(places, places + kPlaceBytes)) return to.undefined.set(dst, dst + kBlockBytes);
    for (uint64_t at = 0; at < kBlockBytes; ++at)
        if (from.undefined.any(src + at, src + at + 1)) to.undefined.set(dst + at, dst + at + 1);
}

void move(Core &core, const vnpu_record &record) {
    const OnChip from = on_chip(core, VNPU_SPACE_L1), to = on_chip(core, VNPU_SPACE_L0B);
    const uint64_t columns = record.p[0] * kSide;
    core.sparse_places.resize(to.bytes.size() / 4);
    std::memcpy(core.sparse_places.data() + record.dst.addr / 4, from.bytes.data() + record.src1.addr, columns * kPlaceBytes);
    for (uint64_t column = 0; column < columns; ++column)
        move_column(from, record.src0.addr + column * kBlockBytes, record.src1.addr + column * kPlaceBytes, to, record.dst.addr + column * kBlockBytes);
}

}  // namespace

void run_load_sparse(Core &core, const vnpu_record &record) {
    const uint64_t repeats = record.p[0], bytes = repeats * kFractal, places = repeats * kPlacesPerFractal;
    if (repeats == 0) return core.append(cost_of(core.launch.chip, record, 0, 0));
    check(core, record);
    order_accesses(core, record,
                   {{VNPU_SPACE_L1, false, record.src0.addr, record.src0.addr + bytes},
                    {VNPU_SPACE_L1, false, record.src1.addr, record.src1.addr + places},
                    {VNPU_SPACE_L0B, true, record.dst.addr, record.dst.addr + bytes}});
    if (core.moves_data()) move(core, record);
    core.append(cost_of(core.launch.chip, record, static_cast<uint32_t>(repeats), bytes + places));
}

namespace {

uint64_t place_of(const Core &core, const vnpu_record &record, const MmadPlan &plan, uint64_t kept, uint64_t column) {
    return core.sparse_places[(record.src1.addr + plan.b_at(kept, column)) / 4] >> (kept % 4 * 2) & 3;
}

}  // namespace

uint64_t sparse_row(const Core &core, const vnpu_record &record, const MmadPlan &plan, uint64_t kept, uint64_t column) {
    const uint64_t four = kept / 2 * 4, first = place_of(core, record, plan, kept - kept % 2, column);
    if (kept % 2 == 0) return four + first;
    return four + std::max(first, 1 + place_of(core, record, plan, kept, column));
}

}  // namespace vnpu
