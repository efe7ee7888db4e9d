/*
 * Sum, Mean, RmsNorm, SoftmaxGrad, SoftmaxGradFront, SimpleSoftMax: functions of rows that are reduced or scaled by one number each.
 *
 * Problem: rows are padded to whole blocks, a row's sum has to meet each of its elements, and halves need room as floats.
 * Approach: the documented steps, row by row in float: products, the sum of the row, that number over a block, which a block stride of 0 repeats along the row.
 * Their time is that of these instructions. Limits: half and float, format ND. One row at a time, where the vendor's library takes as many as its tiling says:
 * short rows take longer here. Of a tiling only the shape is used.
 */
#ifndef PITON_ASCENDC_ROW_FUNCTIONS_H
#define PITON_ASCENDC_ROW_FUNCTIONS_H

#include "composed.h"
#include "row_reduce.h"
#include "softmax.h"

namespace AscendC {

struct SumParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};

struct MeanParams {
    uint32_t outter = 1;
    uint32_t inner;
    uint32_t n;
};

}  // namespace AscendC

namespace piton {

/* Memory of one row: 64 lanes, 64 floats of results, 64 of a repeated number, then tensors of the row's length. */
struct RowWork {
    FloatSteps steps;
    uint32_t columns;
    FloatTensor lanes, result, spread;
    const char *api;
    uint64_t used;

    static constexpr uint32_t kNumbers = 3 * kFloatLanes;

    PITON_API RowWork(const char *name, const AscendC::LocalTensor<uint8_t> &memory, uint32_t tensors, uint32_t count, Location at)
        : steps{FloatTensor(), (count + 63) / 64 * 64, static_cast<int32_t>(count), at}, columns(count), api(name) {
        used = (kNumbers + uint64_t(tensors) * steps.room) * sizeof(float);
        if (memory.GetSize() < used) {
            Fault(VNPU_FAULT_UB_OVERFLOW, api, at, used, memory.GetSize());
        }
        lanes = memory.template ReinterpretCast<float>();
        result = lanes[kFloatLanes];
        spread = result[kFloatLanes];
        steps.memory = spread[kFloatLanes];
    }
    /* `elements` of each of the call's tensors lie outside the memory. */
    template <typename... T>
    PITON_API void Apart(uint64_t elements, const AscendC::LocalTensor<T> &...tensors) const {
        (RequireApart(api, tensors.Operand(), elements * sizeof(T), lanes.Operand(), used, steps.at), ...);
    }
    /* result[0] = the sum of a row. */
    PITON_API void Sum(const FloatTensor &row) const { ReduceRows<SumOfRows>(result, row, lanes, Rows{1, columns, steps.room, steps.at}); }
    /* The first block of `spread` = result[0]. */
    PITON_API void Spread() const {
        AscendC::Brcb(spread, result, 1, {1, 8}, steps.at);
        steps.Barrier();
    }
    /* dst = row op the number in `block`, by `call(dst, row, block, mask, repeats, strides)`. */
    template <typename Call>
    PITON_API void ByBlock(const FloatTensor &dst, const FloatTensor &row, const FloatTensor &block, const Call &call) const {
        constexpr uint32_t kMostRepeats = 255;
        for (uint32_t done = 0; done < columns;) {
            const uint32_t left = columns - done, whole = left / kFloatLanes < kMostRepeats ? left / kFloatLanes : kMostRepeats;
            const uint32_t repeats = whole == 0 ? 1 : whole, lanesOfEach = whole == 0 ? left : kFloatLanes;
            call(dst[done], row[done], block, uint64_t(lanesOfEach), static_cast<uint8_t>(repeats));
            done += repeats * lanesOfEach;
        }
        steps.Barrier();
    }
#define PITON_BY_BLOCK(Name)                                                                                                                     \
    PITON_API void Name##ByBlock(const FloatTensor &dst, const FloatTensor &row, const FloatTensor &block) const {                               \
        ByBlock(dst, row, block, [this](const FloatTensor &to, const FloatTensor &from, const FloatTensor &by, uint64_t mask, uint8_t repeats) { \
            AscendC::Name(to, from, by, mask, repeats, {1, 1, 0, 8, 8, 0}, steps.at);                                                            \
        });                                                                                                                                      \
    }
    PITON_BY_BLOCK(Sub)
    PITON_BY_BLOCK(Mul)
    PITON_BY_BLOCK(Div)
#undef PITON_BY_BLOCK
    template <typename T>
    PITON_API FloatTensor Wide(uint32_t slot, const AscendC::LocalTensor<T> &row) const {
        return WidePart(steps.Slot(slot), row, steps);
    }
    /* A row of results. */
    template <typename T>
    PITON_API void Give(const AscendC::LocalTensor<T> &dst, const FloatTensor &row, int32_t count) const {
        if constexpr (std::is_same<T, float>::value) {
            AscendC::Adds(dst, row, 0.0f, count, steps.at);
        } else {
            AscendC::Cast(dst, row, AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(count), steps.at);
        }
        steps.Barrier();
    }
};

/* dst = the rows' sums times `factor`, gathered by tens of rows in a slot: a result has to begin at a whole block. */
template <typename T>
PITON_API void SumsOfRows(const char *api, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                          const AxisShape &shape, float factor) {
    constexpr uint32_t kTogether = 64;
    RequireRange(api, 3, shape.last, 1, shape.pitch, shape.at);
    RequireRange(api, 3, shape.pitch * sizeof(T) % kBlockBytes, 0, 0, shape.at);
    const RowWork work(api, memory, 2, shape.last, shape.at);
    work.Apart(uint64_t(shape.first) * shape.pitch, src);
    work.Apart(shape.first, dst);
    for (uint32_t done = 0; done < shape.first; done += kTogether) {
        const uint32_t rows = shape.first - done < kTogether ? shape.first - done : kTogether;
        for (uint32_t row = 0; row < rows; ++row) {
            const FloatTensor wide = work.Wide(0, src[(done + row) * shape.pitch]);
            ReduceRows<SumOfRows>(work.result[row], wide, work.lanes, Rows{1, shape.last, work.steps.room, shape.at});
        }
        if (factor != 1.0f) {
            AscendC::Muls(work.result, work.result, factor, static_cast<int32_t>(rows), shape.at);
            work.steps.Barrier();
        }
        work.Give(dst[done], work.result, static_cast<int32_t>(rows));
    }
}

/* x / root(mean of x * x + epsilon) * gamma. */
template <typename T>
PITON_API void RmsNormRows(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<T> &gamma,
                           const AscendC::LocalTensor<uint8_t> &memory, float epsilon, const AxisShape &shape) {
    const RowWork work("RmsNorm", memory, 3, shape.pitch, shape.at);
    work.Apart(uint64_t(shape.first) * shape.pitch, src, dst);
    work.Apart(shape.pitch, gamma);
    const FloatTensor scale = work.Wide(1, gamma), product = work.steps.Slot(2);
    for (uint32_t row = 0; row < shape.first; ++row) {
        const FloatTensor x = work.Wide(0, src[row * shape.pitch]);
        work.steps.Mul(product, x, x);
        ReduceRows<SumOfRows>(work.result, product, work.lanes, Rows{1, shape.last, work.steps.room, shape.at});
        AscendC::Muls(work.result, work.result, 1.0f / static_cast<float>(shape.last), 1, shape.at);
        work.steps.Barrier();
        AscendC::Adds(work.result, work.result, epsilon, 1, shape.at);
        work.steps.Barrier();
        AscendC::Sqrt(work.result, work.result, 1, shape.at);
        work.steps.Barrier();
        work.Spread();
        work.DivByBlock(product, x, work.spread);
        work.steps.Mul(product, product, scale);
        work.Give(dst[row * shape.pitch], product, work.steps.count);
    }
}

/* The sum of grad * src of each row over a block of `dst`, or (grad - sum) * src. */
template <bool isFront, typename T>
PITON_API void SoftmaxGradRows(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &grad, const AscendC::LocalTensor<T> &src,
                               const AscendC::LocalTensor<uint8_t> &memory, const AscendC::SoftMaxShapeInfo &shape, Location at) {
    constexpr uint32_t kUnit = kBlockBytes / sizeof(T);
    RequireRange("SoftmaxGrad", 3, shape.srcK % kUnit, 0, 0, at);
    const RowWork work("SoftmaxGrad", memory, 3, shape.oriSrcK, at);
    work.Apart(uint64_t(shape.oriSrcM) * shape.srcK, grad, src);
    work.Apart(uint64_t(shape.oriSrcM) * (isFront ? kUnit : shape.srcK), dst);
    for (uint32_t row = 0; row < shape.oriSrcM; ++row) {
        const FloatTensor dy = work.Wide(0, grad[row * shape.srcK]), y = work.Wide(1, src[row * shape.srcK]), product = work.steps.Slot(2);
        work.steps.Mul(product, dy, y);
        work.Sum(product);
        work.Spread();
        if constexpr (isFront) {
            AscendC::Adds(work.spread[kFloatsOfBlock], work.spread, 0.0f, static_cast<int32_t>(kFloatsOfBlock), at);
            work.steps.Barrier();
            work.Give(dst[row * kUnit], work.spread, static_cast<int32_t>(kUnit));
        } else {
            work.SubByBlock(product, dy, work.spread);
            work.steps.Mul(product, product, y);
            work.Give(dst[row * shape.srcK], product, work.steps.count);
        }
    }
}

/* exp(x - max) / sum, a block of max and of sum for each row. */
template <typename T, typename S>
PITON_API void SimpleSoftmaxRows(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<S> &sum, const AscendC::LocalTensor<S> &max,
                                 const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory, const AscendC::SoftMaxShapeInfo &shape,
                                 Location at) {
    constexpr uint32_t kUnit = kBlockBytes / sizeof(S);
    RequireRange("SimpleSoftMax", 3, shape.srcK * sizeof(T) % kBlockBytes, 0, 0, at);
    const RowWork work("SimpleSoftMax", memory, 2, shape.oriSrcK, at);
    const RowWork numbers("SimpleSoftMax", memory, 0, kFloatsOfBlock, at);
    work.Apart(uint64_t(shape.oriSrcM) * shape.srcK, src, dst);
    work.Apart(uint64_t(shape.oriSrcM) * kUnit, sum, max);
    for (uint32_t row = 0; row < shape.oriSrcM; ++row) {
        const FloatTensor x = work.Wide(0, src[row * shape.srcK]), y = work.steps.Slot(1);
        work.SubByBlock(y, x, WidePart(work.result, max[row * kUnit], numbers.steps));
        work.steps.Exp(y, y);
        work.DivByBlock(y, y, WidePart(work.spread, sum[row * kUnit], numbers.steps));
        work.Give(dst[row * shape.srcK], y, work.steps.count);
    }
}

}  // namespace piton

namespace AscendC {

template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
PITON_API void Sum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, const SumParams &sumParams,
                   piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Sum", piton::kIsFloat<T>, "half, float");
    piton::SumsOfRows("Sum", dstTensor, srcTensor, sharedTmpBuffer, {sumParams.outter, sumParams.n, sumParams.inner, at}, 1.0f);
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
PITON_API void Sum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const SumParams &sumParams, piton::Location at = piton::Location()) {
    Sum<T, reduceDim>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), sumParams, at);
}

template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
PITON_API void Mean(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, const MeanParams &meanParams,
                    piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Mean", piton::kIsFloat<T>, "half, float");
    const float factor = 1.0f / static_cast<float>(meanParams.n == 0 ? 1 : meanParams.n);
    piton::SumsOfRows("Mean", dstTensor, srcTensor, sharedTmpBuffer, {meanParams.outter, meanParams.n, meanParams.inner, at}, factor);
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
PITON_API void Mean(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const MeanParams &meanParams, piton::Location at = piton::Location()) {
    Mean<T, accType>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), meanParams, at);
}

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false, typename Tiling>
PITON_API void SoftmaxGrad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor, const LocalTensor<T> &srcTensor,
                           const LocalTensor<uint8_t> &sharedTmpBuffer, const Tiling &tiling, bool isFront = false,
                           const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("SoftmaxGrad", piton::kIsFloat<T>, "half, float");
    static_assert(!isDataFormatNZ, "SoftmaxGrad of the format NZ is not supported by the virtual NPU");
    const SoftMaxShapeInfo shape = piton::SoftmaxShape(tiling, softmaxShapeInfo);
    if (isFront) {
        piton::SoftmaxGradRows<true>(dstTensor, gradTensor, srcTensor, sharedTmpBuffer, shape, at);
    } else {
        piton::SoftmaxGradRows<false>(dstTensor, gradTensor, srcTensor, sharedTmpBuffer, shape, at);
    }
}
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false, typename Tiling>
PITON_API void SoftmaxGrad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor, const LocalTensor<T> &srcTensor, const Tiling &tiling,
                           bool isFront = false, const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {
    SoftmaxGrad<T, isReuseSource, isDataFormatNZ>(dstTensor, gradTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), tiling, isFront, softmaxShapeInfo, at);
}

template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false, typename Tiling>
PITON_API void SoftmaxGradFront(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor, const LocalTensor<T> &srcTensor,
                                const LocalTensor<uint8_t> &sharedTmpBuffer, const Tiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {},
                                piton::Location at = piton::Location()) {
    SoftmaxGrad<T, false, isDataFormatNZ>(dstTensor, gradTensor, srcTensor, sharedTmpBuffer, tiling, true, softmaxShapeInfo, at);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false, typename Tiling>
PITON_API void SoftmaxGradFront(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor, const LocalTensor<T> &srcTensor, const Tiling &tiling,
                                const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {
    SoftmaxGrad<T, false, isDataFormatNZ>(dstTensor, gradTensor, srcTensor, tiling, true, softmaxShapeInfo, at);
}

/* Sums and maxima: of the type of the data, or float beside half. */
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG,
          typename Data, typename Number, typename Tiling>
PITON_API void SimpleSoftMax(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &inSumTensor, const LocalTensor<Number> &inMaxTensor,
                             const LocalTensor<Data> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, const Tiling &tiling,
                             const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {
    using piton::kDtype;
    static_assert(piton::kIsFloat<Data> && (std::is_same<Number, Data>::value || std::is_same<Number, float>::value),
                  "SimpleSoftMax supports half, float with sums of the same type or float on the Ascend 910B");
    static_assert(!isDataFormatNZ, "SimpleSoftMax of the format NZ is not supported by the virtual NPU");
    piton::SimpleSoftmaxRows(dstTensor, inSumTensor, inMaxTensor, srcTensor, sharedTmpBuffer, piton::SoftmaxShape(tiling, softmaxShapeInfo), at);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG,
          typename Data, typename Number, typename Tiling>
PITON_API void SimpleSoftMax(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &inSumTensor, const LocalTensor<Number> &inMaxTensor,
                             const LocalTensor<Data> &srcTensor, const Tiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {},
                             piton::Location at = piton::Location()) {
    SimpleSoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dstTensor, inSumTensor, inMaxTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at),
                                                                          tiling, softmaxShapeInfo, at);
}

/* The tiling tells the shape: bLength, sLength, hLength, originalHLength. */
template <typename T, bool isBasicBlock = false, typename Tiling>
PITON_API void RmsNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<T> &gammaLocal,
                       const LocalTensor<uint8_t> &sharedTmpBuffer, const T epsilon, const Tiling &tiling, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("RmsNorm", piton::kIsFloat<T>, "half, float");
    const uint32_t rows = static_cast<uint32_t>(tiling.bLength * tiling.sLength), pitch = static_cast<uint32_t>(tiling.hLength);
    piton::RmsNormRows(dstLocal, srcLocal, gammaLocal, sharedTmpBuffer, static_cast<float>(epsilon),
                       {rows, static_cast<uint32_t>(tiling.originalHLength), pitch, at});
}
template <typename T, bool isBasicBlock = false, typename Tiling>
PITON_API void RmsNorm(const LocalTensor<T> &dstLocal, const LocalTensor<T> &srcLocal, const LocalTensor<T> &gammaLocal, const T epsilon, const Tiling &tiling,
                       piton::Location at = piton::Location()) {
    RmsNorm<T, isBasicBlock>(dstLocal, srcLocal, gammaLocal, GetTPipePtr(at)->UnusedMemory(at), epsilon, tiling, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_ROW_FUNCTIONS_H */
