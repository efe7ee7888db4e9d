/*
 * SoftmaxFlashV3: softmax of rows that come in parts, with means shifted (PASA).
 *
 * Problem: each row is cut in eight parts, each part is moved by what its mean differs from the row's, and maxima of several calls are brought to one mean.
 * Approach: the documented steps, halves through float. The eight sums are made as documented: blocks of the first 512 columns, then 64 columns at a time
 * added to the same 64 sums, so that beyond 512 columns a part's sum takes columns of all parts.
 * Limits: rows of at least 512 columns, a multiple of 64, data half with numbers float, as documented. Of the tiling nothing is read.
 */
#ifndef PITON_ASCENDC_NORMS_SOFTMAX_PASA_H
#define PITON_ASCENDC_NORMS_SOFTMAX_PASA_H

#include "../softmax.h"

namespace AscendC {

struct SoftMaxParams {
    uint32_t srcM;
    uint32_t srcK;
    uint32_t oriSrcM;
    uint32_t oriSrcK;
    uint32_t loopCnt;
    uint32_t splitMeanCnt;
    float alpha;
};

}  // namespace AscendC

namespace piton {

/* Tensors of a block per row; the earlier ones are read in an update. */
struct PasaNumbers {
    const AscendC::LocalTensor<float> &mean, &sum, &max;
    const AscendC::LocalTensor<half> &factor;
    const AscendC::LocalTensor<float> &oldMean, &oldSum, &oldMax;
};

/* Numbers: 0 the mean, 1 the maximum, 2 an earlier number, 3 the mean over calls, 4 the shift of this one, 5 of the earlier ones, 6 the sum. */
struct PasaGroup {
    const Matrix<half, false> &matrix;
    const PasaNumbers &given;
    const RowsWork &work;
    const AscendC::SoftMaxParams &params;
    bool isUpdate;
    uint32_t start, count;

    static constexpr uint32_t kParts = 8, kBlocked = 512;

    PITON_API void operator()() const {
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) { PartSums(first, block); });
        Shifts();
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            ReduceRows<MaxOfRows>(work.Number(1)[first], Shifted(first, block), work.Lanes(), block.shape);
        });
        Maxima();
        Exponentials();
        Tell();
    }

private:
    PITON_API float Scalar() const { return params.alpha / (1.0f - params.alpha); }
    PITON_API RowNumbers Numbers() const { return {work, start, count, work.Spread(0), false}; }

    /* Eight sums of each row, a block of Spread(1). */
    PITON_API void PartSums(uint32_t first, const RowBlock &block) const {
        const Rows &rows = block.shape;
        const FloatTensor x = matrix.Load(start + first, block), sums = work.Lanes();
        for (uint32_t row = 0; row < rows.rows; ++row) {
            const FloatTensor line = x[row * rows.pitch], lanes = sums[row * kFloatLanes];
            AscendC::BlockReduceSum(lanes, line, static_cast<int32_t>(kBlocked / kFloatLanes), static_cast<int32_t>(kFloatLanes), 1, 1, 8, rows.at);
            rows.Barrier();
            CombineAlong<SumOfRows>(lanes, line[kBlocked], rows.columns - kBlocked, rows.at);
        }
        AscendC::BlockReduceSum(work.Spread(1)[first * kFloatsOfBlock], sums, static_cast<int32_t>(rows.rows), static_cast<int32_t>(kFloatLanes), 1, 1, 8,
                                rows.at);
        rows.Barrier();
    }
    /* Number 0 = the mean of each row; Spread(1) = what each part is moved by. */
    PITON_API void Shifts() const {
        const FloatTensor parts = work.Spread(1);
        const FloatSteps blocks = work.Numbers(count * kFloatsOfBlock), numbers = work.Numbers(count);
        blocks.Muls(parts, parts, static_cast<float>(kParts) / static_cast<float>(work.shape.last));
        AscendC::BlockReduceSum(work.Number(0), parts, static_cast<int32_t>(count / kParts), static_cast<int32_t>(kFloatLanes), 1, 1, 8, work.shape.at);
        numbers.Barrier();
        numbers.Muls(work.Number(0), work.Number(0), 1.0f / kParts);
        work.SpreadNumbers(work.Spread(0), work.Number(0), count);
        blocks.Sub(parts, work.Spread(0), parts);
        blocks.Muls(parts, parts, Scalar());
    }
    /* Rows less the shift of each of their parts. */
    PITON_API FloatTensor Shifted(uint32_t first, const RowBlock &block) const {
        const Rows &rows = block.shape;
        const FloatTensor x = matrix.Load(start + first, block), shifts = work.Lanes();
        const uint32_t part = rows.columns / kParts;
        AscendC::Brcb(shifts, work.Spread(1)[first * kFloatsOfBlock], rows.rows, {1, 8}, rows.at);
        rows.Barrier();
        for (uint32_t i = 0; i < kParts; ++i) {
            RowBlock{{rows.rows, part, rows.pitch, rows.at}}.ByNumber<SubOfTwo>(x[i * part], x[i * part], shifts[i * kFloatsOfBlock], kParts);
        }
        return x;
    }
    PITON_API void Maxima() const {
        const FloatSteps steps = work.Numbers(count);
        const FloatTensor mean = work.Number(3), shift = work.Number(4), earlier = work.Number(5), old = work.Number(2), max = work.Number(1);
        if (isUpdate) {
            Numbers().Take(old, given.oldMean);
            steps.Muls(mean, old, static_cast<float>(params.loopCnt - 1));
            steps.Add(mean, mean, work.Number(0));
            steps.Muls(mean, mean, 1.0f / static_cast<float>(params.loopCnt));
            steps.Sub(earlier, old, mean);
            steps.Muls(earlier, earlier, Scalar());
        } else {
            steps.Adds(mean, work.Number(0), 0.0f);
        }
        steps.Sub(shift, work.Number(0), mean);
        steps.Muls(shift, shift, Scalar());
        steps.Add(max, max, shift);
        if (isUpdate) {
            Numbers().Take(old, given.oldMax);
            steps.Add(earlier, earlier, old);
            steps.Max(max, max, earlier);
            steps.Sub(earlier, earlier, max);
            steps.Exp(earlier, earlier);
        }
        steps.Sub(shift, max, shift);
        work.SpreadNumbers(work.Spread(0), shift, count);
    }
    PITON_API void Exponentials() const {
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            const FloatTensor y = work.IsOneChunk(count) ? work.Slot(0) : Shifted(first, block);
            block.ByNumber<SubOfTwo>(y, y, work.Spread(0)[first * kFloatsOfBlock]);
            block.Steps().Exp(y, y);
            work.Sum(work.Number(6), first, y, block);
            matrix.Store(start + first, block);
        });
        if (isUpdate) {
            const FloatSteps steps = work.Numbers(count);
            Numbers().Take(work.Number(2), given.oldSum);
            steps.Mul(work.Number(2), work.Number(2), work.Number(5));
            steps.Add(work.Number(6), work.Number(6), work.Number(2));
        }
    }
    PITON_API void Tell() const {
        Numbers().Tell(given.mean, work.Number(3));
        Numbers().Tell(given.sum, work.Number(6));
        Numbers().Tell(given.max, work.Number(1));
        if (isUpdate) {
            Numbers().Tell(given.factor, work.Number(5));
        }
    }
};

/* What the page asks of the shape. */
PITON_API void RequirePasaShape(const AscendC::SoftMaxParams &params, Location at) {
    RequireRange("SoftmaxFlashV3", 10, params.srcK, PasaGroup::kBlocked, INT32_MAX, at);
    RequireRange("SoftmaxFlashV3", 10, params.srcK % kFloatLanes, 0, 0, at);
    RequireRange("SoftmaxFlashV3", 10, params.srcM % PasaGroup::kParts, 0, 0, at);
    RequireRange("SoftmaxFlashV3", 10, params.oriSrcM, params.srcM, params.srcM, at);
    RequireRange("SoftmaxFlashV3", 10, params.oriSrcK, params.srcK, params.srcK, at);
    RequireRange("SoftmaxFlashV3", 10, params.loopCnt, 1, INT32_MAX, at);
    RequireRange("SoftmaxFlashV3", 10, params.splitMeanCnt, PasaGroup::kParts, PasaGroup::kParts, at);
}

}  // namespace piton

namespace AscendC {

template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
PITON_API void SoftmaxFlashV3(const LocalTensor<T> &dstTensor, const LocalTensor<U> &meanTensor, const LocalTensor<U> &expSumTensor,
                              const LocalTensor<U> &maxTensor, const LocalTensor<T> &srcTensor, const LocalTensor<T> &expMaxTensor,
                              const LocalTensor<U> &inMeanTensor, const LocalTensor<U> &inExpSumTensor, const LocalTensor<U> &inMaxTensor,
                              const LocalTensor<uint8_t> &sharedTmpBuffer, const tiling::SoftMaxTiling &, const SoftMaxParams &params,
                              piton::Location at = piton::Location()) {
    static_assert(std::is_same<T, half>::value && std::is_same<U, float>::value, "SoftmaxFlashV3 supports data of half with numbers of float");
    static_assert(!isDataFormatNZ, "SoftmaxFlashV3 has the format ND only");
    piton::RequirePasaShape(params, at);
    const piton::RowsWork work("SoftmaxFlashV3", sharedTmpBuffer, piton::SoftmaxPasaNeeds(params.srcK), {params.srcM, params.srcK, params.srcK, at});
    work.Apart(uint64_t(params.srcM) * params.srcK, srcTensor, dstTensor);
    work.Apart(uint64_t(params.srcM) * piton::kFloatsOfBlock, meanTensor, expSumTensor, maxTensor, inMeanTensor, inExpSumTensor, inMaxTensor);
    work.Apart(uint64_t(params.srcM) * (piton::kBlockBytes / sizeof(half)), expMaxTensor);
    const piton::Matrix<half, false> matrix{work, dstTensor, srcTensor, params.srcM};
    const piton::PasaNumbers numbers{meanTensor, expSumTensor, maxTensor, expMaxTensor, inMeanTensor, inExpSumTensor, inMaxTensor};
    work.EachGroup([&](uint32_t start, uint32_t count) { piton::PasaGroup{matrix, numbers, work, params, isUpdate, start, count}(); });
}
template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
PITON_API void SoftmaxFlashV3(const LocalTensor<T> &dstTensor, const LocalTensor<U> &meanTensor, const LocalTensor<U> &expSumTensor,
                              const LocalTensor<U> &maxTensor, const LocalTensor<T> &srcTensor, const LocalTensor<T> &expMaxTensor,
                              const LocalTensor<U> &inMeanTensor, const LocalTensor<U> &inExpSumTensor, const LocalTensor<U> &inMaxTensor,
                              const tiling::SoftMaxTiling &tiling, const SoftMaxParams &params, piton::Location at = piton::Location()) {
    SoftmaxFlashV3<T, U, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dstTensor, meanTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor,
                                                                                        inMeanTensor, inExpSumTensor, inMaxTensor,
                                                                                        GetTPipePtr(at)->UnusedMemory(at), tiling, params, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_NORMS_SOFTMAX_PASA_H */
