/*
 * Turns rows of 32-bit words into lanes and back, so that what runs along a row becomes arithmetic on whole vectors.
 *
 * A row is cut into segments of eight words. Word b of segment s of row r goes to line b, lane s * rows + r: eight lines, one below the other along the axis,
 * with a lane for each segment of each row. TransDataTo5HD turns 16 segments at once, here two of each of eight rows, and repeats along the rows.
 *
 * Rows and segments: `rows` is a multiple of eight, `segments` is even.
 */
#ifndef REFERENCE_LANES_H
#define REFERENCE_LANES_H

#include "kernel_operator.h"

#include "await.h"

namespace common {

using Words = AscendC::LocalTensor<int32_t>;

constexpr uint32_t kLines = 8;          // words of a segment: 32 bytes
constexpr uint32_t kWordLanes = 64;     // words of one repeat
constexpr uint32_t kTurnRepeats = 255;  // of one instruction
constexpr uint32_t kTurned = 16;        // segments that one repeat turns

struct LaneShape {
    uint32_t rows;
    uint32_t segments;
    uint32_t pitch;  // words from row to row
};

/* The lines as a kernel lays them out; `line[b]` has rows * segments lanes. */
struct LaneLines {
    Words line[kLines];
};

/* Lines one after the other. */
__aicore__ inline LaneLines DenseLines(const Words &first, uint32_t lanes) {
    LaneLines lines;
    for (uint32_t b = 0; b < kLines; ++b) {
        lines.line[b] = first[b * lanes];
    }
    return lines;
}

/* 8 rows from `row` on, `repeats` pairs of segments from `segment` on; `isToLanes` or back. */
template <bool isToLanes>
__aicore__ inline void TurnEightRows(const LaneLines &lines, const Words &rows, const LaneShape &shape, uint32_t row, uint32_t segment, uint32_t repeats) {
    uint64_t inLines[kTurned], inRows[kTurned];
    for (uint32_t i = 0; i < kLines; ++i) {
        for (uint32_t half = 0; half < 2; ++half) {
            const uint64_t ofLine = lines.line[i][(segment + half) * shape.rows + row].GetPhyAddr();
            const uint64_t ofRow = rows[(row + i) * shape.pitch + (segment + half) * kLines].GetPhyAddr();
            inLines[isToLanes ? 2 * i + half : half * kLines + i] = ofLine;
            inRows[isToLanes ? half * kLines + i : 2 * i + half] = ofRow;
        }
    }
    const uint16_t alongLines = repeats > 1 ? 2 * shape.rows / kLines : 0, alongRows = repeats > 1 ? 2 : 0;
    if constexpr (isToLanes) {
        AscendC::TransDataTo5HD<int32_t>(inLines, inRows, AscendC::TransDataTo5HDParams(false, false, repeats, alongLines, alongRows));
    } else {
        AscendC::TransDataTo5HD<int32_t>(inRows, inLines, AscendC::TransDataTo5HDParams(false, false, repeats, alongRows, alongLines));
    }
}

template <bool isToLanes>
__aicore__ inline void Turn(const LaneLines &lines, const Words &rows, const LaneShape &shape) {
    for (uint32_t row = 0; row < shape.rows; row += kLines) {
        for (uint32_t segment = 0; segment < shape.segments; segment += 2 * kTurnRepeats) {
            const uint32_t pairs = (shape.segments - segment) / 2;
            TurnEightRows<isToLanes>(lines, rows, shape, row, segment, pairs < kTurnRepeats ? pairs : kTurnRepeats);
        }
    }
}

__aicore__ inline void RowsToLanes(const LaneLines &lines, const Words &rows, const LaneShape &shape) { Turn<true>(lines, rows, shape); }
__aicore__ inline void LanesToRows(const Words &rows, const LaneLines &lines, const LaneShape &shape) { Turn<false>(lines, rows, shape); }

/* `steps` groups of `group` words, each `step` more than the one before; the first one is there. A PipeBarrier is needed before and is behind it. */
__aicore__ inline void ContinueRamp(const Words &ramp, uint32_t group, uint32_t steps, int32_t step) {
    for (uint32_t done = 1; done < steps; done *= 2) {
        const uint32_t now = steps - done < done ? steps - done : done;
        AscendC::Adds(ramp[done * group], ramp, static_cast<int32_t>(done) * step, static_cast<int32_t>(now * group));
        AscendC::PipeBarrier<PIPE_V>();
    }
}

/* The lanes in `lanes` (a bit each) of 64 words of every row. */
__aicore__ inline void FillLanes(const Words &words, uint32_t rows, uint32_t pitch, uint64_t lanes, int32_t value) {
    constexpr uint32_t kFarthest = 255;  // blocks from repeat to repeat
    const uint64_t mask[2] = {lanes, 0};
    const uint32_t blocks = pitch / kLines, step = blocks <= kFarthest ? rows : 1;
    for (uint32_t row = 0; row < rows; row += step) {
        AscendC::Duplicate(words[row * pitch], value, mask, step, 1, step > 1 ? blocks : 0);
    }
}

/* The last `missing` words of every row, at most 64: `value` where `which` has a bit. */
__aicore__ inline void FillRowEnds(const Words &words, uint32_t rows, uint32_t pitch, uint32_t missing, int32_t value, uint64_t which = ~0ULL) {
    const uint32_t first = pitch > kWordLanes ? pitch - kWordLanes : 0, lanes = pitch - first, left = lanes - missing;
    const uint64_t all = lanes == kWordLanes ? ~0ULL : (1ULL << lanes) - 1;
    FillLanes(words[first], rows, pitch, all & ~((1ULL << left) - 1) & which, value);
}

/* Zeros in both buffers of a queue: what a copy leaves out is computed along, and must be something. */
template <typename T, typename Queue>
__aicore__ inline void ClearBuffers(Queue &queue, uint32_t elements) {
    for (uint32_t buffer = 0; buffer < 2; ++buffer) {
        auto x = queue.template AllocTensor<T>();
        AscendC::Duplicate(x.template ReinterpretCast<int32_t>(), 0, static_cast<int32_t>(elements * sizeof(T) / sizeof(int32_t)));
        queue.FreeTensor(x);
    }
}

}  // namespace common

#endif  // REFERENCE_LANES_H
