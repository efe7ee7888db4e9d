/*
 * SoftmaxGrad, SoftmaxGradFront and SimpleSoftMax.
 *
 * Problem: a number of each row, computed or given, meets each of its elements.
 * Approach: the documented steps in groups of rows (row_block.h): products and their sums, differences, products; or differences, exponentials, quotients.
 * Halves go through float. Their time is that of these instructions.
 * Limits: half and float. Of a tiling only the shape is used, and only where no shape is given.
 */
#ifndef PITON_ASCENDC_NORMS_SOFTMAX_GRAD_H
#define PITON_ASCENDC_NORMS_SOFTMAX_GRAD_H

#include "../softmax.h"

namespace piton {

template <typename T>
struct SoftmaxGradTensors {
    const AscendC::LocalTensor<T> &dst, &grad, &src;
};

/* Whole blocks of a row, memory apart from the matrices. */
template <typename T>
PITON_API void RequireMatrix(const RowsWork &work, const AscendC::SoftMaxShapeInfo &shape, const AscendC::LocalTensor<T> &tensor) {
    RequireRange(work.api, 3, shape.srcK * sizeof(T) % kBlockBytes, 0, 0, work.shape.at);
    RequireRange(work.api, 3, shape.oriSrcK, 1, shape.srcK, work.shape.at);
    RequireRange(work.api, 3, shape.oriSrcM, 0, shape.srcM, work.shape.at);
    work.Apart(uint64_t(shape.srcM) * shape.srcK, tensor);
}

/* Number 0 = the sum of grad * src of each row. */
template <bool isNz, typename T>
struct SoftmaxGradGroup {
    const RowsWork &work;
    const Matrix<T, isNz> &grad, &src;
    const AscendC::LocalTensor<T> &dst;
    uint32_t start, count;

    PITON_API void Sums() const {
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            block.Steps().Mul(work.Slot(2), grad.Load(start + first, block), src.Load(start + first, block));
            work.Sum(work.Number(0), first, work.Slot(2), block);
        });
    }
    /* The sums alone, each over a block. */
    PITON_API void Front() const { RowNumbers{work, start, count, work.Spread(1), false}.Tell(dst, work.Number(0)); }
    PITON_API void Whole() const {
        const Matrix<T, isNz> result{work, dst, dst, grad.storedRows, 2};
        work.SpreadNumbers(work.Spread(0), work.Number(0), count);
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            const FloatTensor y = result.Result(start + first), dy = grad.Load(start + first, block), x = src.Load(start + first, block);
            block.Whole().template ByNumber<SubOfTwo>(work.Slot(2), dy, work.Spread(0)[first * kFloatsOfBlock]);
            block.Steps().Mul(y, work.Slot(2), x);
            result.Store(start + first, block);
        });
    }
};

template <bool isNz, typename T>
PITON_API void SoftmaxGradOfMatrix(const SoftmaxGradTensors<T> &tensors, const AscendC::LocalTensor<uint8_t> &memory, const AscendC::SoftMaxShapeInfo &shape,
                                   bool isFront, Location at) {
    const RowsWork work("SoftmaxGrad", memory, SoftmaxGradNeeds(shape.srcK), {shape.oriSrcM, shape.oriSrcK, shape.srcK, at});
    RequireMatrix(work, shape, tensors.grad);
    RequireMatrix(work, shape, tensors.src);
    work.Apart(uint64_t(shape.srcM) * (isFront ? kBlockBytes / sizeof(T) : shape.srcK), tensors.dst);
    const Matrix<T, isNz> grad{work, tensors.grad, tensors.grad, shape.srcM, 0}, src{work, tensors.src, tensors.src, shape.srcM, 1};
    work.EachGroup([&](uint32_t start, uint32_t count) {
        const SoftmaxGradGroup<isNz, T> group{work, grad, src, tensors.dst, start, count};
        group.Sums();
        if (isFront) {
            group.Front();
        } else {
            group.Whole();
        }
    });
}

template <typename T, typename S>
struct SimpleSoftmaxTensors {
    const AscendC::LocalTensor<T> &dst, &src;
    const AscendC::LocalTensor<S> &sum, &max;
};

/* exp(x - max) / sum, a block of max and of sum for each row. */
template <bool isNz, typename T, typename S>
PITON_API void SimpleSoftmaxOfMatrix(const SimpleSoftmaxTensors<T, S> &tensors, const AscendC::LocalTensor<uint8_t> &memory,
                                     const AscendC::SoftMaxShapeInfo &shape, Location at) {
    const RowsWork work("SimpleSoftMax", memory, SoftmaxNeeds(shape.srcK), {shape.oriSrcM, shape.oriSrcK, shape.srcK, at});
    RequireMatrix(work, shape, tensors.src);
    RequireMatrix(work, shape, tensors.dst);
    work.Apart(uint64_t(shape.srcM) * (kBlockBytes / sizeof(S)), tensors.sum, tensors.max);
    const Matrix<T, isNz> matrix{work, tensors.dst, tensors.src, shape.srcM, 0};
    work.EachGroup([&](uint32_t start, uint32_t count) {
        const RowNumbers numbers{work, start, count, work.Spread(0), false};
        numbers.Take(work.Number(0), tensors.max);
        numbers.Take(work.Number(1), tensors.sum);
        work.SpreadNumbers(work.Spread(0), work.Number(0), count);
        work.SpreadNumbers(work.Spread(1), work.Number(1), count);
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            const FloatTensor y = matrix.Result(start + first);
            const RowBlock all = block.Whole();
            all.template ByNumber<SubOfTwo>(y, matrix.Load(start + first, block), work.Spread(0)[first * kFloatsOfBlock]);
            block.Steps().Exp(y, y);
            all.template ByNumber<DivOfTwo>(y, y, work.Spread(1)[first * kFloatsOfBlock]);
            matrix.Store(start + first, block);
        });
    });
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false, typename Tiling>
PITON_API void SoftmaxGrad(const LocalTensor<T> &dstTensor, const LocalTensor<T> &gradTensor, const LocalTensor<T> &srcTensor,
                           const LocalTensor<uint8_t> &sharedTmpBuffer, const Tiling &tiling, bool isFront = false,
                           const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("SoftmaxGrad", piton::kIsFloat<T>, "half, float");
    const SoftMaxShapeInfo shape = piton::SoftmaxShape(tiling, softmaxShapeInfo);
    piton::SoftmaxGradOfMatrix<isDataFormatNZ>(piton::SoftmaxGradTensors<T>{dstTensor, gradTensor, srcTensor}, sharedTmpBuffer, shape, isFront, at);
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
    const piton::SimpleSoftmaxTensors<Data, Number> tensors{dstTensor, srcTensor, inSumTensor, inMaxTensor};
    piton::SimpleSoftmaxOfMatrix<isDataFormatNZ>(tensors, sharedTmpBuffer, piton::SoftmaxShape(tiling, softmaxShapeInfo, config), at);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG,
          typename Data, typename Number, typename Tiling>
PITON_API void SimpleSoftMax(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &inSumTensor, const LocalTensor<Number> &inMaxTensor,
                             const LocalTensor<Data> &srcTensor, const Tiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {},
                             piton::Location at = piton::Location()) {
    SimpleSoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dstTensor, inSumTensor, inMaxTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at),
                                                                          tiling, softmaxShapeInfo, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_NORMS_SOFTMAX_GRAD_H */
