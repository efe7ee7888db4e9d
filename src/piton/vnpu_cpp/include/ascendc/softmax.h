/*
 * SoftMax along the last axis.
 *
 * Problem: rows are padded, results and maxima of a row have to meet each of its elements, and temporary memory decides how many rows go at once.
 * Approach: the documented steps: maximum of each row, spread over a block; difference; exponential; sum, spread over a block; quotient. Rows go together by
 * repeat strides, as many as memory allows. Halves go through float. Their time is that of these instructions.
 * Limits: format ND. Of the tiling only the shape is used, and only where no shape is given: how the vendor's library divides the work is not published.
 */
#ifndef PITON_ASCENDC_SOFTMAX_H
#define PITON_ASCENDC_SOFTMAX_H

#include "cast.h"
#include "row_reduce.h"
#include "scratch.h"
#include "vector_unary.h"

namespace AscendC {

/* Rows and columns: as they lie in memory, and of which there is data. */
struct SoftMaxShapeInfo {
    uint32_t srcM{0};
    uint32_t srcK{0};
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};
};

struct SoftmaxConfig {
    bool isCheckTiling = true;
    uint32_t oriSrcM = 0;
    uint32_t oriSrcK = 0;
};
constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {};

}  // namespace AscendC

namespace piton {

/* Where the sums and maxima of each row go, each over a block; none where there is no tensor. */
template <typename S>
struct SoftmaxOutputs {
    const AscendC::LocalTensor<S> *sum = nullptr;
    const AscendC::LocalTensor<S> *max = nullptr;
};

/* Memory of a group of rows. */
struct SoftmaxMemory {
    AscendC::LocalTensor<float> lanes, result, spread, wide;

    static constexpr uint32_t kFloats = kFloatLanes + 2 * kFloatsOfBlock; /* of a row, without `wide` */

    PITON_API SoftmaxMemory(const AscendC::LocalTensor<uint8_t> &memory, uint32_t rows) {
        lanes = memory.template ReinterpretCast<float>();
        result = lanes[rows * kFloatLanes];
        spread = result[rows * kFloatsOfBlock];
        wide = spread[rows * kFloatsOfBlock];
    }

    /* The results of rows, each over a block, also to `output`. */
    template <typename S>
    PITON_API void Spread(const Rows &rows, const AscendC::LocalTensor<S> *output, uint32_t row) const {
        AscendC::Brcb(spread, result, (rows.rows + 7) / 8, {1, 8}, rows.at);
        rows.Barrier();
        if (output != nullptr) {
            if constexpr (std::is_same<S, float>::value) {
                AscendC::Adds((*output)[row * kFloatsOfBlock], spread, 0.0f, static_cast<int32_t>(rows.rows * kFloatsOfBlock), rows.at);
            } else {
                TellHalves(rows, (*output)[row * kBlockBytes / sizeof(half)]);
            }
        }
    }

    /* Results as halves, each over a block; the lanes are free by then. */
    PITON_API void TellHalves(const Rows &rows, const AscendC::LocalTensor<half> &output) const {
        constexpr uint32_t kHalves = kBlockBytes / sizeof(half);
        const auto narrow = lanes.template ReinterpretCast<half>(), blocks = narrow[rows.rows * kHalves];
        AscendC::Cast(narrow, result, AscendC::RoundMode::CAST_NONE, rows.rows, rows.at);
        rows.Barrier();
        AscendC::Brcb(blocks, narrow, (rows.rows + 7) / 8, {1, 8}, rows.at);
        rows.Barrier();
        AscendC::Adds(output, blocks, static_cast<half>(0.0f), static_cast<int32_t>(rows.rows * kHalves), rows.at);
        rows.Barrier();
    }
};

/* How many rows go at once where each takes `wide` floats besides: groups of 8, or fewer rows in the memory of one group. */
PITON_API uint32_t SoftmaxRowsThatFit(const AscendC::LocalTensor<uint8_t> &memory, uint32_t wide, Location at) {
    constexpr uint64_t kGroup = 8, kGroupBytes = kGroup * SoftmaxMemory::kFloats * sizeof(float);
    const uint64_t bytes = memory.GetSize(), rowBytes = wide * sizeof(float), groups = bytes / (kGroupBytes + kGroup * rowBytes);
    if (groups != 0) {
        return groups * kGroup < kMostRows ? static_cast<uint32_t>(groups * kGroup) : kMostRows;
    }
    if (bytes < kGroupBytes + rowBytes) {
        Fault(VNPU_FAULT_UB_OVERFLOW, "SoftMax", at, kGroupBytes + rowBytes, static_cast<uint32_t>(bytes));
    }
    return static_cast<uint32_t>((bytes - kGroupBytes) / rowBytes);
}

/* Rows from `src` to `dst`; `row` is the number of the first. */
template <typename S>
PITON_API void SoftmaxOfRows(const AscendC::LocalTensor<float> &dst, const AscendC::LocalTensor<float> &src, const SoftmaxMemory &memory, const Rows &rows,
                             const SoftmaxOutputs<S> &outputs, uint32_t row) {
    const uint8_t stride = rows.Stride();
    const AscendC::BinaryRepeatParams byRow(1, 1, 0, stride, stride, 1);
    ReduceRows<MaxOfRows>(memory.result, src, memory.lanes, rows);
    memory.Spread(rows, outputs.max, row);
    rows.EachRepeat([&](uint32_t at, uint64_t mask) { AscendC::Sub(dst[at], src[at], memory.spread, mask, rows.rows, byRow, rows.at); });
    rows.EachRepeat([&](uint32_t at, uint64_t mask) { AscendC::Exp(dst[at], dst[at], mask, rows.rows, {1, 1, stride, stride}, rows.at); });
    ReduceRows<SumOfRows>(memory.result, dst, memory.lanes, rows);
    memory.Spread(rows, outputs.sum, row);
    rows.EachRepeat([&](uint32_t at, uint64_t mask) { AscendC::Div(dst[at], dst[at], memory.spread, mask, rows.rows, byRow, rows.at); });
}

template <typename T, typename S>
PITON_API void SoftmaxInGroups(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                               const AscendC::SoftMaxShapeInfo &shape, const SoftmaxOutputs<S> &outputs, Location at) {
    PITON_REQUIRE_TYPE("SoftMax", kIsFloat<T>, "half, float");
    constexpr bool isHalf = std::is_same<T, half>::value;
    RequireRange("SoftMax", 3, shape.srcK * sizeof(T) % kBlockBytes, 0, 0, at); /* rows lie in whole blocks */
    RequireRange("SoftMax", 3, shape.oriSrcK, 0, shape.srcK, at);
    const uint32_t fit = SoftmaxRowsThatFit(memory, isHalf ? shape.srcK : 0, at), most = shape.srcK / kFloatsOfBlock > kMostPitch ? 1 : fit;
    const uint32_t together = ((shape.oriSrcM < most ? shape.oriSrcM : most) + 7) / 8 * 8;
    const uint64_t bytes = uint64_t(shape.oriSrcM) * shape.srcK * sizeof(T), wide = isHalf ? shape.srcK : 0;
    const uint64_t used = (uint64_t(together) * SoftmaxMemory::kFloats + (shape.oriSrcM < most ? shape.oriSrcM : most) * wide) * sizeof(float);
    RequireApart("SoftMax", src.Operand(), bytes, memory.Operand(), used, at);
    RequireApart("SoftMax", dst.Operand(), bytes, memory.Operand(), used, at);
    const SoftmaxMemory parts(memory, together);
    for (uint32_t row = 0; row < shape.oriSrcM; row += most) {
        const Rows rows{shape.oriSrcM - row < most ? shape.oriSrcM - row : most, shape.oriSrcK, shape.srcK, at};
        const uint32_t from = row * shape.srcK, count = rows.rows * shape.srcK;
        if constexpr (isHalf) {
            AscendC::Cast(parts.wide, src[from], AscendC::RoundMode::CAST_NONE, count, at);
            rows.Barrier();
            SoftmaxOfRows(parts.wide, parts.wide, parts, rows, outputs, row);
            AscendC::Cast(dst[from], parts.wide, AscendC::RoundMode::CAST_NONE, count, at);
            rows.Barrier();
        } else {
            SoftmaxOfRows(dst[from], src[from], parts, rows, outputs, row);
        }
    }
}

/* The shape that is given, or all of what the tiling was made for. */
template <typename Tiling>
PITON_API AscendC::SoftMaxShapeInfo SoftmaxShape(const Tiling &tiling, const AscendC::SoftMaxShapeInfo &given) {
    if (given.srcM != 0) {
        return given;
    }
    return {static_cast<uint32_t>(tiling.srcM), static_cast<uint32_t>(tiling.srcK), static_cast<uint32_t>(tiling.srcM), static_cast<uint32_t>(tiling.srcK)};
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isReuseSource = false, bool isBasicBlock = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename Tiling>
PITON_API void SoftMax(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, const Tiling &tiling,
                       const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {
    piton::SoftmaxInGroups(dstTensor, srcTensor, sharedTmpBuffer, piton::SoftmaxShape(tiling, softmaxShapeInfo), piton::SoftmaxOutputs<float>{}, at);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename Tiling>
PITON_API void SoftMax(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const Tiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {},
                       piton::Location at = piton::Location()) {
    piton::SoftmaxInGroups(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), piton::SoftmaxShape(tiling, softmaxShapeInfo),
                           piton::SoftmaxOutputs<float>{}, at);
}

/* With sums and maxima: of the type of the data where that is float, and float beside half. */
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG,
          typename Data, typename Number, typename Tiling>
PITON_API void SoftMax(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &sumTensor, const LocalTensor<Number> &maxTensor,
                       const LocalTensor<Data> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, const Tiling &tiling,
                       const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {
    static_assert(std::is_same<Number, Data>::value || std::is_same<Number, float>::value,
                  "SoftMax has sums and maxima of the type of its data, or float beside half, on the Ascend 910B");
    static_assert(!isDataFormatNZ, "SoftMax of the format NZ is not supported by the virtual NPU");
    const piton::SoftmaxOutputs<Number> outputs{&sumTensor, &maxTensor};
    piton::SoftmaxInGroups(dstTensor, srcTensor, sharedTmpBuffer, piton::SoftmaxShape(tiling, softmaxShapeInfo), outputs, at);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG,
          typename Data, typename Number, typename Tiling>
PITON_API void SoftMax(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &sumTensor, const LocalTensor<Number> &maxTensor,
                       const LocalTensor<Data> &srcTensor, const Tiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {},
                       piton::Location at = piton::Location()) {
    SoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dstTensor, sumTensor, maxTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), tiling,
                                                                    softmaxShapeInfo, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_SOFTMAX_H */
