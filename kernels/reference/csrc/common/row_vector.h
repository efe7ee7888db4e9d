/*
 * Arithmetic on float32 matrices in the unified buffer: matrix with matrix, with one row, with one number per row, or folded into 64 partial results per row.
 *
 * A vector instruction handles 64 floats (a slice) and repeats with a stride. A matrix can be walked in two orders: one instruction per slice that repeats
 * over the rows, or one per row that repeats over the slices. What differs between the operands is only how far they move from row to row and from slice to
 * slice, so that one function serves all of them. It takes the order with fewer instructions: each costs some 20 cycles besides its repeats.
 */
#ifndef REFERENCE_ROW_VECTOR_H
#define REFERENCE_ROW_VECTOR_H

#include "kernel_operator.h"

namespace common {

using FloatRows = AscendC::LocalTensor<float>;

constexpr uint32_t kSlice = 64;         // floats of one repeat
constexpr uint32_t kBlockFloats = 8;    // floats of 32 bytes, the unit of strides
constexpr uint32_t kMostRepeats = 255;  // of one instruction
constexpr uint32_t kMostStride = 255;   // in blocks

/* One operand and how it moves, in floats. */
struct Operand {
    FloatRows data;
    uint32_t perRow;
    uint32_t perSlice;
    uint8_t perBlock = 1;  // in blocks; 0 repeats the first one
};

__aicore__ inline Operand Matrix(const FloatRows &data, uint32_t stride) { return {data, stride, kSlice}; }
__aicore__ inline Operand OneRow(const FloatRows &data) { return {data, 0, kSlice}; }           // the same row for all rows
__aicore__ inline Operand Partial(const FloatRows &data) { return {data, kSlice, 0}; }          // 64 numbers per row, for all slices
__aicore__ inline Operand PerRow(const FloatRows &data) { return {data, kBlockFloats, 0, 0}; }  // one number per row, eight times (Brcb)

enum class Step { kAdd, kSub, kMul, kDiv, kMax };

template <Step step>
__aicore__ inline void Repeat(const FloatRows &dst, const FloatRows &a, const FloatRows &b, uint32_t lanes, uint32_t repeats,
                              const AscendC::BinaryRepeatParams &strides) {
    if constexpr (step == Step::kAdd) {
        AscendC::Add(dst, a, b, lanes, repeats, strides);
    } else if constexpr (step == Step::kSub) {
        AscendC::Sub(dst, a, b, lanes, repeats, strides);
    } else if constexpr (step == Step::kMul) {
        AscendC::Mul(dst, a, b, lanes, repeats, strides);
    } else if constexpr (step == Step::kDiv) {
        AscendC::Div(dst, a, b, lanes, repeats, strides);
    } else {
        AscendC::Max(dst, a, b, lanes, repeats, strides);
    }
}

/* Before an instruction that is not the first of its row or slice: if they all go to one place, each needs what the last one left there. */
__aicore__ inline void OrderFold(uint32_t dstMove, bool isFirst) {
    if (dstMove == 0 && !isFirst) {
        AscendC::PipeBarrier<PIPE_V>();
    }
}

/* `repeats` repeats that move `dst`, `a` and `b` on by these many floats each. */
template <Step step>
__aicore__ inline void Walk(const Operand &dst, const Operand &a, const Operand &b, uint32_t lanes, uint32_t repeats, bool isAlongRows) {
    const uint32_t dstMove = isAlongRows ? dst.perRow : dst.perSlice;
    const uint32_t aMove = isAlongRows ? a.perRow : a.perSlice;
    const uint32_t bMove = isAlongRows ? b.perRow : b.perSlice;
    const AscendC::BinaryRepeatParams strides(dst.perBlock, a.perBlock, b.perBlock, dstMove / kBlockFloats, aMove / kBlockFloats, bMove / kBlockFloats);
    for (uint32_t done = 0; done < repeats; done += kMostRepeats) {
        const uint32_t now = repeats - done < kMostRepeats ? repeats - done : kMostRepeats;
        OrderFold(dstMove, done == 0);
        Repeat<step>(dst.data[done * dstMove], a.data[done * aMove], b.data[done * bMove], lanes, now, strides);
    }
}

__aicore__ inline Operand At(const Operand &whole, uint32_t row, uint32_t slice) {
    return {whole.data[row * whole.perRow + slice * whole.perSlice], whole.perRow, whole.perSlice, whole.perBlock};
}

/*
 * dst = a (step) b over rows x columns. dst may be a, or b where both are Partial or OneRow: then the matrix a is folded into it. Elements beyond `columns`
 * stay as they are.
 */
template <Step step>
__aicore__ inline void Apply(const Operand &dst, const Operand &a, const Operand &b, uint32_t rows, uint32_t columns) {
    const uint32_t whole = columns / kSlice, rest = columns % kSlice;
    const uint32_t widest = dst.perRow > a.perRow ? dst.perRow : a.perRow;
    if (whole < rows && widest <= kMostStride * kBlockFloats) {
        for (uint32_t slice = 0; slice * kSlice < columns; ++slice) {
            OrderFold(dst.perSlice, slice == 0);
            Walk<step>(At(dst, 0, slice), At(a, 0, slice), At(b, 0, slice), slice < whole ? kSlice : rest, rows, true);
        }
        return;
    }
    for (uint32_t row = 0; row < rows; ++row) {
        OrderFold(dst.perRow, row == 0);
        if (whole > 0) {
            Walk<step>(At(dst, row, 0), At(a, row, 0), At(b, row, 0), kSlice, whole, false);
        }
        if (rest > 0) {
            OrderFold(dst.perSlice, whole == 0);
            Walk<step>(At(dst, row, whole), At(a, row, whole), At(b, row, whole), rest, 1, false);
        }
    }
}

/* x becomes 1 / x, `count` numbers; `one` holds eight ones. */
__aicore__ inline void Invert(const FloatRows &x, const FloatRows &one, uint32_t count) {
    Apply<Step::kDiv>(Matrix(x, 0), {one, 0, 0, 0}, Matrix(x, 0), 1, count);
}

/* Writes `number` to what each row's last slice has beyond `columns`: one instruction for all rows, or one per row where the stride is too large for that. */
__aicore__ inline void FillRowEnds(const FloatRows &x, float number, uint32_t rows, uint32_t columns, uint32_t stride) {
    const uint32_t missing = stride - columns, blocks = stride / kBlockFloats;
    if (missing == 0) {
        return;
    }
    const uint64_t lanes[2] = {~0ULL << (kSlice - missing), 0};
    const uint32_t step = blocks <= kMostStride ? rows : 1;
    for (uint32_t row = 0; row < rows; row += step) {
        AscendC::Duplicate(x[(row + 1) * stride - kSlice], number, lanes, step, 1, blocks <= kMostStride ? blocks : 0);
    }
}

/* The first number of a tensor, for the scalar unit: that unit waits for the vector unit and the other way round, so once per row at most. */
__aicore__ inline float FirstOf(const FloatRows &numbers) {
    const auto computed = GetTPipePtr()->FetchEventID(AscendC::HardEvent::V_S);
    AscendC::SetFlag<AscendC::HardEvent::V_S>(computed);
    AscendC::WaitFlag<AscendC::HardEvent::V_S>(computed);
    const float first = numbers.GetValue(0);
    const auto read = GetTPipePtr()->FetchEventID(AscendC::HardEvent::S_V);
    AscendC::SetFlag<AscendC::HardEvent::S_V>(read);
    AscendC::WaitFlag<AscendC::HardEvent::S_V>(read);
    return first;
}

/* What one core works on: `count` of `all` items from `first` on, as evenly as it goes. */
struct Share {
    int64_t first;
    int64_t count;
};

__aicore__ inline Share ShareOf(int64_t all) {
    const int64_t blocks = AscendC::GetBlockNum(), block = AscendC::GetBlockIdx();
    const int64_t least = all / blocks, extra = all % blocks;
    return {block * least + (block < extra ? block : extra), least + (block < extra ? 1 : 0)};
}

}  // namespace common

#endif  // REFERENCE_ROW_VECTOR_H
