/*
 * Largest magnitude of each row of a tile of float16 or bfloat16, for all rows at once and without the scalar unit.
 *
 * Without its sign bit such a number orders like the 16-bit integer of the same bits, infinities above every finite number and NaN above these. So magnitudes
 * are compared as int16, 128 per repeat, twice as many as in float32, and the 910B's lack of bfloat16 arithmetic does not matter. Each row is folded to 64
 * lanes, in place; these are widened, and eight of them at a time become one (BlockReduceMax).
 *
 * Rows lie `stride` elements apart, a multiple of 64, or of 32 in rows of up to 128 elements. Elements beyond `columns` hold anything and are never looked at.
 */
#ifndef REFERENCE_MAGNITUDE_ROWS_H
#define REFERENCE_MAGNITUDE_ROWS_H

#include <type_traits>

#include "../../../common/row_vector.h"

using MagnitudeRows = AscendC::LocalTensor<int16_t>;

constexpr uint32_t kShortLanes = 128;     // 16-bit numbers of one repeat
constexpr uint32_t kShortsPerBlock = 16;  // of 32 bytes
constexpr int16_t kAllButSign = 0x7fff;

/* What rows of `columns` elements are best rounded up to; host code. Long ones to more, at most a 32nd of their length, so that HalveTile can go on longer. */
inline int64_t MagnitudeGranule(int64_t columns) {
    if (columns > common::kSlice && columns <= kShortLanes) {
        return 32;
    }
    int64_t granule = common::kSlice;
    while (granule * 64 <= columns) {
        granule *= 2;
    }
    return granule;
}

/* The rows of a tile: how many, how long, how far apart (in elements). */
struct RowExtent {
    uint32_t rows;
    uint32_t columns;
    uint32_t stride;
};

/* to = |from| for `count` elements; `mask` holds kAllButSign kShortLanes times. */
template <typename T>
__aicore__ inline void Magnitudes(const MagnitudeRows &to, const AscendC::LocalTensor<T> &from, const MagnitudeRows &mask, uint32_t count) {
    if constexpr (std::is_same_v<T, half>) {
        AscendC::Abs(to.ReinterpretCast<half>(), from, count);
    } else {
        const AscendC::BinaryRepeatParams strides(1, 1, 1, 8, 8, 0);
        const auto bits = from.template ReinterpretCast<int16_t>();
        const uint32_t repeats = count / kShortLanes, rest = count % kShortLanes;
        for (uint32_t done = 0; done < repeats; done += common::kMostRepeats) {
            const uint32_t now = repeats - done < common::kMostRepeats ? repeats - done : common::kMostRepeats;
            AscendC::And(to[done * kShortLanes], bits[done * kShortLanes], mask, kShortLanes, now, strides);
        }
        if (rest > 0) {
            AscendC::And(to[count - rest], bits[count - rest], mask, rest, 1, strides);
        }
    }
    AscendC::PipeBarrier<PIPE_V>();
}

/* Of each row, the `lanes` from `onto` on become the larger of them and those from `from` on. */
__aicore__ inline void FoldOnto(const MagnitudeRows &x, const RowExtent &extent, uint32_t onto, uint32_t from, uint32_t lanes) {
    const uint32_t apart = extent.stride / kShortsPerBlock;
    const uint32_t together = apart <= common::kMostStride ? common::kMostRepeats : 1;
    const uint8_t stride = together > 1 ? apart : 8;
    for (uint32_t row = 0; row < extent.rows; row += together) {
        const uint32_t now = extent.rows - row < together ? extent.rows - row : together;
        const auto first = x[row * extent.stride];
        AscendC::Max(first[onto], first[onto], first[from], lanes, now, AscendC::BinaryRepeatParams(1, 1, 1, stride, stride, stride));
    }
    AscendC::PipeBarrier<PIPE_V>();
}

/*
 * Whole repeats of all rows onto the first one. Neighbouring repeats lie in different bank groups, those two apart in the same: even ones are folded onto the
 * second, odd ones onto the first, so that no instruction has to read its two operands in turn.
 */
__aicore__ inline void FoldRepeats(const MagnitudeRows &x, const RowExtent &extent) {
    const uint32_t whole = extent.columns / kShortLanes, rest = extent.columns % kShortLanes;
    if (whole > 0 && rest > 0) {
        FoldOnto(x, extent, whole > 1 && whole % 2 == 0 ? kShortLanes : 0, whole * kShortLanes, rest);
    }
    for (uint32_t part = 2; part < whole; ++part) {
        FoldOnto(x, extent, part % 2 == 0 ? kShortLanes : 0, part * kShortLanes, kShortLanes);
    }
    if (whole > 1) {
        FoldOnto(x, extent, 0, kShortLanes, kShortLanes);
    }
    const uint32_t kept = whole > 0 ? kShortLanes : rest;
    if (kept > common::kSlice) {
        FoldOnto(x, extent, 0, common::kSlice, kept - common::kSlice);
    }
}

/* Zeros from `columns` to the end of each row. */
__aicore__ inline void ClearGaps(const MagnitudeRows &x, const RowExtent &extent) {
    const uint32_t apart = extent.stride / kShortsPerBlock, together = apart <= common::kMostStride ? extent.rows : 1;
    for (uint32_t at = extent.columns; at < extent.stride; at = (at / common::kSlice + 1) * common::kSlice) {
        const uint64_t lanes[2] = {~0ULL << at % common::kSlice, 0};
        for (uint32_t row = 0; row < extent.rows; row += together) {
            AscendC::Duplicate(x[row * extent.stride + at / common::kSlice * common::kSlice], static_cast<int16_t>(0), lanes, together, 1,
                               together > 1 ? apart : 8);
        }
    }
    AscendC::PipeBarrier<PIPE_V>();
}

/*
 * Neighbouring blocks of the whole tile to one, into `other`: all rows in one instruction, as long as a row has an even number of pieces of 64. The two
 * sources are even and odd blocks, so that they never share a bank group.
 */
__aicore__ inline void HalveTile(const MagnitudeRows &other, const MagnitudeRows &x, const RowExtent &extent) {
    constexpr uint32_t kRead = 2 * kShortLanes;
    const uint32_t count = extent.rows * extent.stride, repeats = count / kRead, rest = count % kRead / 2;
    const AscendC::BinaryRepeatParams strides(1, 2, 2, 8, 16, 16);
    if (repeats > 0) {
        AscendC::Max(other, x, x[kShortsPerBlock], kShortLanes, repeats, strides);
    }
    if (rest > 0) {
        AscendC::Max(other[repeats * kShortLanes], x[repeats * kRead], x[repeats * kRead + kShortsPerBlock], rest, 1, strides);
    }
    AscendC::PipeBarrier<PIPE_V>();
}

/* Each row onto its first 64 lanes; returns where the rows are then and changes `extent` to how they lie. `other` is as large as x. */
__aicore__ inline MagnitudeRows FoldRows(MagnitudeRows x, MagnitudeRows other, RowExtent &extent) {
    if (extent.stride % kShortLanes == 0) {
        ClearGaps(x, extent);
        extent.columns = extent.stride;
    }
    while (extent.stride % kShortLanes == 0) {
        HalveTile(other, x, extent);
        const auto halved = other;
        other = x;
        x = halved;
        extent.stride /= 2;
        extent.columns = extent.stride;
    }
    FoldRepeats(x, extent);
    return x;
}

/*
 * number[row] = largest magnitude, of rows that FoldRows has folded. `wide` has room for `wideFloats`; `eighths` for eight floats per row.
 * T says what the bits mean.
 */
template <typename T>
__aicore__ inline void LargestOfFolded(const common::FloatRows &number, const common::FloatRows &eighths, const common::FloatRows &wide, uint32_t wideFloats,
                                       const MagnitudeRows &x, const RowExtent &extent) {
    using namespace common;
    const uint32_t apart = extent.stride / kShortsPerBlock, lanes = extent.columns < kSlice ? extent.columns : kSlice;
    const uint32_t fitting = wideFloats / kSlice < kMostRepeats ? wideFloats / kSlice : kMostRepeats, together = apart <= kMostStride ? fitting : 1;
    AscendC::Duplicate(eighths, 0.0f, (extent.rows + 7) / 8 * kSlice);
    for (uint32_t row = 0; row < extent.rows; row += together) {
        const uint32_t now = extent.rows - row < together ? extent.rows - row : together;
        const uint8_t stride = now == 1 ? 4 : apart;
        AscendC::Cast(wide, x[row * extent.stride].template ReinterpretCast<T>(), AscendC::RoundMode::CAST_NONE, lanes, now,
                      AscendC::UnaryRepeatParams(1, 1, 8, stride));
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::BlockReduceMax(eighths[row * kBlockFloats], wide, now, lanes, 1, 1, 8);
        AscendC::PipeBarrier<PIPE_V>();
    }
    AscendC::BlockReduceMax(number, eighths, (extent.rows + 7) / 8, kSlice, 1, 1, 8);
    AscendC::PipeBarrier<PIPE_V>();
}

#endif  // REFERENCE_MAGNITUDE_ROWS_H
