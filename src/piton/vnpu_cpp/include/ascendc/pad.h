/*
 * Pad and UnPad: rows of a matrix in local memory brought to whole blocks, with a value beside them, and back.
 *
 * Problem: rows that are no whole blocks do not begin at one, and vector instructions need that.
 * Approach: Pad gathers each row by offsets that are made once, then fills the columns at its sides under a mask; rows that are whole blocks already are
 * copied. UnPad is one GatherMask that takes the first columns of every row. Their time is that of these instructions. Limits: as documented: at most one block
 * is added, UnPad takes columns away at the right only. Of the tiling the three lengths are used. How the vendor's library does it is not published; gathering
 * is slower than what it can be expected to do.
 */
#ifndef PITON_ASCENDC_PAD_H
#define PITON_ASCENDC_PAD_H

#include "copy.h"
#include "duplicate.h"
#include "gather.h"
#include "pad_tiling.h"
#include "pipe.h"
#include "scratch.h"
#include "vector_scalar.h"

namespace AscendC {

struct PadParams {
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
    int32_t padValue = 0;
};

struct UnPadParams {
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
};

}  // namespace AscendC

namespace piton {

template <typename T>
constexpr bool kIsPadded = kIsOneOf<T, int16_t, uint16_t, half, int32_t, uint32_t, float>;

/* A matrix whose rows get columns at both sides; `pitch` elements of a padded row, whole blocks. */
template <typename T>
struct PadCall {
    static constexpr uint32_t kPerBlock = kBlockBytes / sizeof(T);

    const AscendC::LocalTensor<T> &dst;
    const AscendC::LocalTensor<T> &src;
    const AscendC::LocalTensor<uint8_t> &memory;
    uint32_t rows, width, pitch, left;
    T value;
    Location at;

    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }

    /* Byte offsets of a padded row's elements in a row of the source; those of the sides are any that exist. */
    PITON_API AscendC::LocalTensor<uint32_t> Offsets() const {
        const auto offsets = memory.template ReinterpretCast<int32_t>();
        const int32_t count = static_cast<int32_t>(pitch);
        AscendC::CreateVecIndex(offsets, -static_cast<int32_t>(left), pitch, at);
        Barrier();
        AscendC::Maxs(offsets, offsets, 0, count, at);
        Barrier();
        AscendC::Mins(offsets, offsets, static_cast<int32_t>(width) - 1, count, at);
        Barrier();
        AscendC::Muls(offsets, offsets, static_cast<int32_t>(sizeof(T)), count, at);
        Barrier();
        return memory.template ReinterpretCast<uint32_t>();
    }

    PITON_API void GatherRows() const {
        const uint64_t used = uint64_t(pitch) * sizeof(uint32_t);
        if (memory.GetSize() < used) {
            Fault(VNPU_FAULT_UB_OVERFLOW, "Pad", at, used, memory.GetSize());
        }
        RequireApart("Pad", src.Operand(), uint64_t(rows) * width * sizeof(T), memory.Operand(), used, at);
        RequireApart("Pad", dst.Operand(), uint64_t(rows) * pitch * sizeof(T), memory.Operand(), used, at);
        const auto offsets = Offsets();
        for (uint32_t row = 0; row < rows; ++row) {
            AscendC::Gather(dst[row * pitch], src, offsets, row * width * static_cast<uint32_t>(sizeof(T)), pitch, at);
        }
        Barrier();
    }

    /* Columns [from, to) of one block of every row, `block` elements into it. */
    PITON_API void FillSide(uint32_t block, uint32_t from, uint32_t to) const {
        constexpr uint32_t kMostRows = 255, kMostStride = 255;
        const uint64_t mask[2] = {(uint64_t(1) << to) - (uint64_t(1) << from), 0};
        const uint32_t stride = pitch / kPerBlock, atOnce = stride > kMostStride ? 1 : kMostRows;
        for (uint32_t row = 0; row < rows && from < to; row += atOnce) {
            const uint32_t repeats = rows - row < atOnce ? rows - row : atOnce;
            AscendC::Duplicate(dst[row * pitch + block], value, mask, static_cast<uint8_t>(repeats), 1, static_cast<uint8_t>(repeats == 1 ? 0 : stride), at);
        }
        Barrier();
    }
};

/* `params.rightPad` columns behind the data; where rows are whole blocks, its last ones. */
template <typename T>
PITON_API void RunPad(PadCall<T> call, const AscendC::PadParams &params, const AscendC::tiling::PadTiling &tiling) {
    constexpr uint32_t kPerBlock = PadCall<T>::kPerBlock;
    const Location at = call.at;
    const bool isWhole = tiling.srcWidth % kPerBlock == 0;
    call.rows = tiling.srcHeight;
    call.width = tiling.srcWidth;
    call.pitch = (tiling.srcWidth + kPerBlock - 1) / kPerBlock * kPerBlock;
    call.left = params.leftPad;
    RequireRange("Pad", 2, params.leftPad, 0, isWhole ? 0 : call.pitch - call.width, at);
    RequireRange("Pad", 2, params.rightPad, 0, isWhole ? kPerBlock - 1 : call.pitch - call.width - params.leftPad, at);
    if (isWhole) {
        SubmitCopy(call.dst.Operand(), call.src.Operand(), {1, call.rows * call.pitch * static_cast<uint32_t>(sizeof(T)), 0, 0}, 0, at);
        call.Barrier();
    } else {
        call.GatherRows();
    }
    const uint32_t end = isWhole ? call.pitch : call.left + call.width + params.rightPad, last = call.pitch - kPerBlock;
    call.FillSide(0, 0, call.left);
    call.FillSide(last, end - params.rightPad - last, end - last);
}

}  // namespace piton

namespace AscendC {

template <typename T>
PITON_API void Pad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const PadParams &padParams, const LocalTensor<uint8_t> &sharedTmpBuffer,
                   const tiling::PadTiling &tiling, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Pad", piton::kIsPadded<T>, "int16_t, uint16_t, half, int32_t, uint32_t, float");
    const T value = static_cast<T>(padParams.padValue);
    piton::RunPad(piton::PadCall<T>{dstTensor, srcTensor, sharedTmpBuffer, 0, 0, 0, 0, value, at}, padParams, tiling);
}
template <typename T>
PITON_API void Pad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const PadParams &padParams, const tiling::PadTiling &tiling,
                   piton::Location at = piton::Location()) {
    Pad(dstTensor, srcTensor, padParams, GetTPipePtr(at)->UnusedMemory(at), tiling, at);
}

/* The result is dense. Groups of rows: a destination begins at a whole block after 16 of any width. */
template <typename T>
PITON_API void UnPad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const UnPadParams &unPadParams, const LocalTensor<uint8_t> &,
                     const tiling::UnPadTiling &tiling, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("UnPad", piton::kIsPadded<T>, "int16_t, uint16_t, half, int32_t, uint32_t, float");
    constexpr uint32_t kPerBlock = piton::kBlockBytes / sizeof(T), kRows = 240;
    constexpr uint8_t kEveryElement = 7;
    piton::RequireRange("UnPad", 4, tiling.srcWidth % kPerBlock, 0, 0, at);
    piton::RequireRange("UnPad", 2, unPadParams.rightPad, 1, kPerBlock - 1, at);
    const uint32_t width = tiling.srcWidth - unPadParams.rightPad;
    for (uint32_t row = 0; row < tiling.srcHeight; row += kRows) {
        const uint32_t rows = tiling.srcHeight - row < kRows ? tiling.srcHeight - row : kRows;
        const GatherMaskParams params(1, static_cast<uint16_t>(rows), static_cast<uint16_t>(tiling.srcWidth / kPerBlock), 0);
        uint64_t taken = 0;
        GatherMask(dstTensor[row * width], srcTensor[row * tiling.srcWidth], kEveryElement, true, width, params, taken, at);
    }
    piton::SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
}
template <typename T>
PITON_API void UnPad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const UnPadParams &unPadParams, const tiling::UnPadTiling &tiling,
                     piton::Location at = piton::Location()) {
    UnPad(dstTensor, srcTensor, unPadParams, LocalTensor<uint8_t>(), tiling, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_PAD_H */
