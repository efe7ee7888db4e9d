/*
 * WelfordUpdate and WelfordFinalize: mean and variance of a long row, part by part.
 *
 * Problem: each element of a part has a running mean and sum of squares of its own; in the end all of them become one mean and one variance.
 * Approach: the documented formulas in strips that fit memory. Update: mean += (x - mean) / i, sum += (x - old mean)(x - new mean). Finalize: means weighted
 * by their counts, then the sums plus the weighted squares of the means' differences. Halves go through float.
 * Limits: sources, results and memory apart, as documented. A correction of the variance (isCorrection) is of later chips.
 */
#ifndef PITON_ASCENDC_NORMS_WELFORD_H
#define PITON_ASCENDC_NORMS_WELFORD_H

#include "row_block.h"

namespace AscendC {

struct WelfordUpdateConfig {
    bool isInplace = false;
};
constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};

struct WelfordUpdateParam {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t abComputeLength;
    float nRec;
};

struct WelfordFinalizeConfig {
    bool isCorrection = false;
};
constexpr WelfordFinalizeConfig WFFINALIZE_DEFAULT_CFG = {false};

struct WelfordFinalizePara {
    uint32_t rnLength;
    uint32_t abLength;
    uint32_t headCount;
    uint32_t headCountLength;
    uint32_t tailCount;
    uint32_t tailCountLength;
    float abRec;
    float rRec;
    float rRecWithCorrection;
};

}  // namespace AscendC

namespace piton {

/* `step(from, steps)` for strips of `count` elements with `slots` tensors in what `memory` has behind `fixed` floats. */
template <typename Step>
PITON_API void EachStrip(const char *api, const AscendC::LocalTensor<uint8_t> &memory, const StripNeeds &needs, const AxisShape &row, const Step &step) {
    if (memory.GetSize() < StripBytes(needs, kFloatLanes)) {
        Fault(VNPU_FAULT_UB_OVERFLOW, api, row.at, StripBytes(needs, kFloatLanes), memory.GetSize());
    }
    const uint32_t room = StripRoom(needs, memory.GetSize(), row.last);
    const FloatTensor slots = memory.template ReinterpretCast<float>()[needs.fixed];
    for (uint32_t from = 0; from < row.last; from += room) {
        step(from, FloatSteps{slots, room, static_cast<int32_t>(Fewer(row.last - from, room)), row.at});
    }
}

template <typename T>
struct WelfordTensors {
    const FloatTensor &outMean, &outVariance, &inMean, &inVariance;
    const AscendC::LocalTensor<T> &x;
};

/* Slots: 0 the difference to the old mean, 1 that to the new one, 2 x as floats. */
template <typename T>
PITON_API void UpdateStrip(const WelfordTensors<T> &tensors, uint32_t from, float factor, const FloatSteps &steps) {
    const FloatTensor x = WidePart(steps.Slot(2), tensors.x[from], steps), old = steps.Slot(0), part = steps.Slot(1), mean = tensors.outMean[from];
    steps.Sub(old, x, tensors.inMean[from]);
    steps.Muls(part, old, factor);
    steps.Add(mean, tensors.inMean[from], part);
    steps.Sub(part, x, mean);
    steps.Mul(part, part, old);
    steps.Add(tensors.outVariance[from], tensors.inVariance[from], part);
}

/* What lies beyond the computed part is taken over. Lengths are those of whole blocks, so that the copy begins at one. */
template <typename T>
PITON_API void KeepRest(const WelfordTensors<T> &tensors, const AscendC::WelfordUpdateParam &para, Location at) {
    const uint32_t from = para.abComputeLength / kFloatsOfBlock * kFloatsOfBlock, skipped = para.abComputeLength - from;
    const FloatTensor to[] = {tensors.outMean, tensors.outVariance}, source[] = {tensors.inMean, tensors.inVariance};
    for (uint32_t i = 0; i < 2 && para.abComputeLength < para.abLength; ++i) {
        if (skipped != 0) { /* the rest of a block, by a mask */
            const uint64_t mask[] = {(uint64_t(1) << kFloatsOfBlock) - (uint64_t(1) << skipped), 0};
            AscendC::Adds(to[i][from], source[i][from], 0.0f, mask, 1, {1, 1, 8, 8}, at);
        }
        const uint32_t next = skipped == 0 ? from : from + kFloatsOfBlock;
        if (next < para.abLength) {
            AscendC::Adds(to[i][next], source[i][next], 0.0f, static_cast<int32_t>(para.abLength - next), at);
        }
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
    }
}

/* What the final steps know: 64 lanes, one result, one block; counts from a tensor or two numbers; without either all count `rnLength`. */
struct WelfordFinal {
    const FloatTensor &outMean, &outVariance, &inMean, &inVariance;
    const AscendC::LocalTensor<int32_t> *counts;
    const AscendC::WelfordFinalizePara &para;
    FloatTensor lanes, result, block;

    PITON_API bool IsPlain() const { return counts == nullptr && para.tailCountLength == 0; }

    PITON_API void ClearLanes(Location at) const {
        AscendC::Duplicate(lanes, 0.0f, static_cast<int32_t>(kFloatLanes), at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
    }
    /* dst[0] = the sum of the lanes. */
    PITON_API void Finish(const FloatTensor &dst, Location at) const {
        const FloatSteps one{FloatTensor(), 0, 1, at};
        SumOfRows::Finish(result, lanes, Rows{1, kFloatLanes, kFloatLanes, at});
        one.Barrier();
        one.Adds(dst, result, 0.0f);
    }
    /* Counts of a strip into slot 1. */
    PITON_API void Weights(uint32_t from, const FloatSteps &steps) const {
        const FloatTensor weights = steps.Slot(1);
        if (counts != nullptr) {
            AscendC::Cast(weights, (*counts)[from], AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(steps.count), steps.at);
            steps.Barrier();
            return;
        }
        const uint32_t end = from + static_cast<uint32_t>(steps.count), head = para.headCountLength;
        steps.Set(weights, static_cast<float>(para.tailCount));
        if (head > from) {
            const FloatSteps first{FloatTensor(), 0, static_cast<int32_t>(Fewer(head, end) - from), steps.at};
            first.Set(weights, static_cast<float>(para.headCount));
        }
    }
    PITON_API void AddMeans(uint32_t from, const FloatSteps &steps) const {
        const FloatTensor part = steps.Slot(0);
        if (IsPlain()) {
            steps.Muls(part, inMean[from], para.abRec);
        } else {
            Weights(from, steps);
            steps.Mul(part, inMean[from], steps.Slot(1));
            steps.Muls(part, part, para.rRec);
        }
        CombineAlong<SumOfRows>(lanes, part, static_cast<uint32_t>(steps.count), steps.at);
    }
    PITON_API void AddVariances(uint32_t from, const FloatSteps &steps) const {
        const FloatTensor part = steps.Slot(0);
        const RowBlock line{{1, static_cast<uint32_t>(steps.count), steps.room, steps.at}};
        line.ByNumber<SubOfTwo>(part, inMean[from], block);
        steps.Mul(part, part, part);
        if (IsPlain()) {
            steps.Muls(part, part, static_cast<float>(para.rnLength));
        } else {
            Weights(from, steps);
            steps.Mul(part, part, steps.Slot(1));
        }
        steps.Add(part, part, inVariance[from]);
        steps.Muls(part, part, para.rRec);
        CombineAlong<SumOfRows>(lanes, part, static_cast<uint32_t>(steps.count), steps.at);
    }
};

PITON_API void FinalizeWelford(const WelfordFinal &final, const AscendC::LocalTensor<uint8_t> &memory, Location at) {
    constexpr const char *kApi = "WelfordFinalize";
    const AxisShape row{1, final.para.abLength, final.para.abLength, at};
    final.ClearLanes(at);
    EachStrip(kApi, memory, WelfordFinalizeNeeds(), row, [&](uint32_t from, const FloatSteps &steps) { final.AddMeans(from, steps); });
    final.Finish(final.outMean, at);
    AscendC::Brcb(final.block, final.result, 1, {1, 8}, at);
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
    final.ClearLanes(at);
    EachStrip(kApi, memory, WelfordFinalizeNeeds(), row, [&](uint32_t from, const FloatSteps &steps) { final.AddVariances(from, steps); });
    final.Finish(final.outVariance, at);
}

/* Lengths as the page asks for them, memory apart. */
PITON_API void RequireWelford(const FloatTensor &mean, const FloatTensor &variance, const AscendC::LocalTensor<uint8_t> &memory,
                              const AscendC::WelfordFinalizePara &para, bool hasCounts, Location at) {
    RequireRange("WelfordFinalize", 6, para.abLength % kFloatsOfBlock, 0, 0, at);
    RequireRange("WelfordFinalize", 6, para.tailCount == 0 ? para.tailCountLength : 0, 0, 0, at);
    if (!hasCounts) {
        RequireRange("WelfordFinalize", 6, para.headCountLength + para.tailCountLength, para.abLength, para.abLength, at);
    }
    const uint64_t bytes = para.abLength * sizeof(float), used = StripsUsed(WelfordFinalizeNeeds(), memory.GetSize(), para.abLength);
    RequireApart("WelfordFinalize", mean.Operand(), bytes, memory.Operand(), used, at);
    RequireApart("WelfordFinalize", variance.Operand(), bytes, memory.Operand(), used, at);
    if (memory.GetSize() < used) {
        Fault(VNPU_FAULT_UB_OVERFLOW, "WelfordFinalize", at, used, memory.GetSize());
    }
}

}  // namespace piton

namespace AscendC {

template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
PITON_API void WelfordUpdate(const LocalTensor<U> &outputMean, const LocalTensor<U> &outputVariance, const LocalTensor<U> &inputMean,
                             const LocalTensor<U> &inputVariance, const LocalTensor<T> &inputX, const LocalTensor<uint8_t> &sharedTmpBuffer,
                             const WelfordUpdateParam &para, piton::Location at = piton::Location()) {
    static_assert(piton::kIsFloat<T> && std::is_same<U, float>::value, "WelfordUpdate supports half, float with means of float on the Ascend 910B");
    piton::RequireRange("WelfordUpdate", 6, para.rnLength, 1, 1, at);
    piton::RequireRange("WelfordUpdate", 6, para.abLength * sizeof(T) % piton::kBlockBytes, 0, 0, at);
    piton::RequireRange("WelfordUpdate", 6, para.abComputeLength, 1, para.abLength, at);
    const uint64_t used = piton::StripsUsed(piton::WelfordUpdateNeeds(), sharedTmpBuffer.GetSize(), para.abComputeLength);
    piton::RequireApart("WelfordUpdate", inputX.Operand(), para.abLength * sizeof(T), sharedTmpBuffer.Operand(), used, at);
    piton::RequireApart("WelfordUpdate", outputMean.Operand(), para.abLength * sizeof(float), sharedTmpBuffer.Operand(), used, at);
    const piton::WelfordTensors<T> tensors{outputMean, outputVariance, inputMean, inputVariance, inputX};
    piton::EachStrip("WelfordUpdate", sharedTmpBuffer, piton::WelfordUpdateNeeds(), {1, para.abComputeLength, para.abLength, at},
                     [&](uint32_t from, const piton::FloatSteps &steps) { piton::UpdateStrip(tensors, from, para.nRec, steps); });
    if (config.isInplace) {
        piton::KeepRest(tensors, para, at);
    }
}
template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
PITON_API void WelfordUpdate(const LocalTensor<U> &outputMean, const LocalTensor<U> &outputVariance, const LocalTensor<U> &inputMean,
                             const LocalTensor<U> &inputVariance, const LocalTensor<T> &inputX, const WelfordUpdateParam &para,
                             piton::Location at = piton::Location()) {
    WelfordUpdate<T, U, isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance, inputX, GetTPipePtr(at)->UnusedMemory(at), para, at);
}

}  // namespace AscendC

#define PITON_WELFORD_FINALIZE(parameter, argument, pointer, hasCounts)                                                                                     \
    namespace AscendC {                                                                                                                                     \
    template <bool isReuseSource = false, const WelfordFinalizeConfig &config = WFFINALIZE_DEFAULT_CFG>                                                     \
    PITON_API void WelfordFinalize(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance, const LocalTensor<float> &inputMean,     \
                                   const LocalTensor<float> &inputVariance, parameter const LocalTensor<uint8_t> &sharedTmpBuffer,                          \
                                   const WelfordFinalizePara &para, piton::Location at = piton::Location()) {                                               \
        static_assert(!config.isCorrection, "WelfordFinalize with isCorrection is of later chips than the Ascend 910B");                                    \
        piton::RequireWelford(inputMean, inputVariance, sharedTmpBuffer, para, hasCounts, at);                                                              \
        const auto lanes = sharedTmpBuffer.template ReinterpretCast<float>(), result = lanes[piton::kFloatLanes], block = result[piton::kFloatsOfBlock];    \
        piton::FinalizeWelford({outputMean, outputVariance, inputMean, inputVariance, pointer, para, lanes, result, block}, sharedTmpBuffer, at);           \
    }                                                                                                                                                       \
    template <bool isReuseSource = false, const WelfordFinalizeConfig &config = WFFINALIZE_DEFAULT_CFG>                                                     \
    PITON_API void WelfordFinalize(const LocalTensor<float> &outputMean, const LocalTensor<float> &outputVariance, const LocalTensor<float> &inputMean,     \
                                   const LocalTensor<float> &inputVariance, parameter const WelfordFinalizePara &para,                                      \
                                   piton::Location at = piton::Location()) {                                                                                \
        WelfordFinalize<isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance, argument GetTPipePtr(at)->UnusedMemory(at), para, at); \
    }                                                                                                                                                       \
    }

PITON_WELFORD_FINALIZE(, , static_cast<const LocalTensor<int32_t> *>(nullptr), false)
#define PITON_COMMA ,
PITON_WELFORD_FINALIZE(const LocalTensor<int32_t> &counts PITON_COMMA, counts PITON_COMMA, &counts, true)
#undef PITON_COMMA
#undef PITON_WELFORD_FINALIZE

#endif /* PITON_ASCENDC_NORMS_WELFORD_H */
