/*
 * Sum and Mean: one number of each row.
 *
 * Problem: rows are padded to whole blocks, and halves need room as floats.
 * Approach: the documented steps, row by row in float. Their time is that of these instructions.
 * Limits: half and float. One row at a time, where the vendor's library takes several: short rows take longer here.
 */
#ifndef PITON_ASCENDC_ROW_FUNCTIONS_H
#define PITON_ASCENDC_ROW_FUNCTIONS_H

#include "composed.h"
#include "row_reduce.h"

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
    template <typename T>
    PITON_API FloatTensor Wide(uint32_t slot, const AscendC::LocalTensor<T> &row) const {
        return WidePart(steps.Slot(slot), row, steps);
    }
    /* A row of results. */
    template <typename T>
    PITON_API void Give(const AscendC::LocalTensor<T> &dst, const FloatTensor &row, int32_t count) const {
        GiveFloats(dst, row, static_cast<uint32_t>(count), steps.at);
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

}  // namespace AscendC

#endif /* PITON_ASCENDC_ROW_FUNCTIONS_H */
