/*
 * Broadcast (older name BroadCast): one or two dimensions, one of them from 1 to many.
 *
 * Problem: a row or a column has to be repeated, and rows need not be whole blocks.
 * Approach: as the documentation draws it: Brcb spreads each element over a block, Copy repeats the blocks along the row, and GatherMask takes the elements out
 * of rows that were rounded up. A row that is repeated is copied. In parts of 16 rows, so that every part starts at a whole block.
 * Bytes go through half where single elements are spread, and are copied as they are where rows are repeated.
 * Limits: one or two dimensions; the form for any number of them is of later chips. Its time is that of these instructions.
 */
#ifndef PITON_ASCENDC_BROADCAST_H
#define PITON_ASCENDC_BROADCAST_H

#include "cast.h"
#include "gather.h"
#include "pipe.h"
#include "reduce.h"
#include "scratch.h"
#include "vector_copy.h"

namespace piton {

constexpr uint32_t kBroadcastRows = 16; /* of one part: 16 rows of any length are whole blocks */

/* Rows of `to` blocks each from rows of `from` blocks (0: the same block again and again); 256 bytes of every row at a time. */
template <typename T>
PITON_API void CopyRows(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, uint32_t rows, uint32_t blocks, bool isOneBlock, uint32_t step,
                        Location at) {
    constexpr uint32_t perBlock = kBlockBytes / sizeof(T), atOnce = kRepeatBytes / kBlockBytes;
    for (uint32_t done = 0; done < blocks; done += atOnce) {
        const uint32_t part = blocks - done < atOnce ? blocks - done : atOnce;
        const uint32_t from = isOneBlock ? 0 : done * perBlock;
        AscendC::Copy(dst[done * perBlock], src[from], uint64_t(part) * perBlock, rows, {1, isOneBlock ? 0u : 1u, blocks, step}, at);
    }
}

/* [rows, 1] to [rows, columns], at most 16 rows. */
template <typename T>
PITON_API void SpreadColumn(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<T> &scratch, uint32_t rows,
                            uint32_t columns, Location at) {
    constexpr uint32_t perBlock = kBlockBytes / sizeof(T);
    const uint32_t blocks = (columns + perBlock - 1) / perBlock;
    AscendC::Brcb(scratch, src, (rows + 7) / 8, {1, 8}, at);
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
    if (columns % perBlock == 0) {
        CopyRows(dst, scratch, rows, blocks, true, 1, at);
    } else {
        const auto padded = scratch[kBroadcastRows * perBlock];
        CopyRows(padded, scratch, rows, blocks, true, 1, at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
        uint64_t taken = 0;
        AscendC::GatherMask(dst, padded, uint8_t(7), true, columns, AscendC::GatherMaskParams(1, rows, blocks, 0, at), taken, at);
    }
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
}

template <typename T>
PITON_API void BroadcastColumn(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                               uint32_t rows, uint32_t columns, Location at) {
    const uint64_t padded = (uint64_t(columns) * sizeof(T) + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    const uint64_t needed = kBroadcastRows * (kBlockBytes + (columns * sizeof(T) % kBlockBytes ? padded : 0));
    if (memory.GetSize() < needed) {
        Fault(VNPU_FAULT_UB_OVERFLOW, "Broadcast", at, needed, memory.GetSize());
    }
    RequireApart("Broadcast", src.Operand(), rows * sizeof(T), memory.Operand(), needed, at);
    RequireApart("Broadcast", dst.Operand(), uint64_t(rows) * columns * sizeof(T), memory.Operand(), needed, at);
    const auto scratch = memory.template ReinterpretCast<T>();
    for (uint32_t done = 0; done < rows; done += kBroadcastRows) {
        const uint32_t part = rows - done < kBroadcastRows ? rows - done : kBroadcastRows;
        SpreadColumn(dst[done * columns], src[done], scratch, part, columns, at);
    }
}

/* Bytes as halves, in parts of 32 rows, which are whole blocks of bytes for any length. */
template <typename T>
PITON_API void BroadcastByteColumn(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                                   uint32_t rows, uint32_t columns, Location at) {
    constexpr uint32_t kRows = 2 * kBroadcastRows, kHalfBlock = kBlockBytes / sizeof(half);
    const uint32_t narrow = (rows + kHalfBlock - 1) / kHalfBlock * kHalfBlock; /* halves of the column */
    const uint64_t used = (uint64_t(narrow) + uint64_t(kRows) * columns) * sizeof(half);
    if (memory.GetSize() < used) {
        Fault(VNPU_FAULT_UB_OVERFLOW, "Broadcast", at, used, memory.GetSize());
    }
    RequireApart("Broadcast", src.Operand(), rows, memory.Operand(), used, at);
    RequireApart("Broadcast", dst.Operand(), uint64_t(rows) * columns, memory.Operand(), used, at);
    const auto column = memory.template ReinterpretCast<half>();
    const auto wide = column[narrow];
    AscendC::Cast(column, src, AscendC::RoundMode::CAST_NONE, rows, at);
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
    for (uint32_t done = 0; done < rows; done += kRows) {
        const uint32_t part = rows - done < kRows ? rows - done : kRows;
        BroadcastColumn(wide, column[done], memory[static_cast<uint32_t>(used)], part, columns, at);
        AscendC::Cast(dst[done * columns], wide, AscendC::RoundMode::CAST_NONE, part * columns, at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
    }
}

template <typename T>
PITON_API void BroadcastRow(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, uint32_t rows, uint32_t columns, Location at) {
    constexpr uint32_t kMostRows = 255;
    RequireRange("Broadcast", 3, columns * sizeof(T) % kBlockBytes, 0, 0, at); /* whole blocks, documentation page of Broadcast */
    for (uint32_t done = 0; done < rows; done += kMostRows) {
        CopyRows(dst[done * columns], src, rows - done < kMostRows ? rows - done : kMostRows, columns * static_cast<uint32_t>(sizeof(T)) / kBlockBytes, false,
                 0, at);
    }
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
}

}  // namespace piton

#define PITON_BROADCAST(Name)                                                                                                                                  \
    namespace AscendC {                                                                                                                                        \
    template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>                                                                               \
    PITON_API void Name(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const uint32_t dstShape[dim], const uint32_t srcShape[dim],            \
                        LocalTensor<uint8_t> &sharedTmpBuffer, piton::Location at = piton::Location()) {                                                       \
        using piton::kDtype;                                                                                                                                   \
        constexpr bool isByte = piton::kIsOneOf<T, int8_t, uint8_t>;                                                                                           \
        PITON_REQUIRE_TYPE(#Name, piton::kIsFloat<T> || isByte, "int8_t, uint8_t, half, float");                                                               \
        static_assert((dim == 1 && axis == 0) || (dim == 2 && (axis == 0 || axis == 1)), #Name ": dim is 1 or 2, axis is 0 or 1");                             \
        piton::RequireRange(#Name, 3, srcShape[axis], 1, 1, at);                                                                                               \
        if constexpr (dim == 2 && axis == 0 && isByte) {                                                                                                       \
            piton::RequireRange(#Name, 3, dstShape[1] % piton::kBlockBytes, 0, 0, at);                                                                         \
            piton::BroadcastRow(dstLocal.template ReinterpretCast<int16_t>(), srcLocal.template ReinterpretCast<int16_t>(), dstShape[0], dstShape[1] / 2, at); \
        } else if constexpr (dim == 2 && axis == 0) {                                                                                                          \
            piton::BroadcastRow(dstLocal, srcLocal, dstShape[0], dstShape[1], at);                                                                             \
        } else if constexpr (isByte) {                                                                                                                         \
            piton::BroadcastByteColumn(dstLocal, srcLocal, sharedTmpBuffer, dim == 1 ? 1 : dstShape[0], dstShape[dim - 1], at);                                \
        } else {                                                                                                                                               \
            piton::BroadcastColumn(dstLocal, srcLocal, sharedTmpBuffer, dim == 1 ? 1 : dstShape[0], dstShape[dim - 1], at);                                    \
        }                                                                                                                                                      \
    }                                                                                                                                                          \
    template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>                                                                               \
    PITON_API void Name(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const uint32_t dstShape[dim], const uint32_t srcShape[dim],            \
                        piton::Location at = piton::Location()) {                                                                                              \
        LocalTensor<uint8_t> memory = GetTPipePtr(at)->UnusedMemory(at);                                                                                       \
        Name<T, dim, axis, isReuseSource>(dstLocal, srcLocal, dstShape, srcShape, memory, at);                                                                 \
    }                                                                                                                                                          \
    }

PITON_BROADCAST(Broadcast)
PITON_BROADCAST(BroadCast)

#undef PITON_BROADCAST

#endif /* PITON_ASCENDC_BROADCAST_H */
