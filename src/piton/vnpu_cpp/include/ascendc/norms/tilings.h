/*
 * Tiling structures of the softmax and normalisation functions, as host code fills them in and kernels read them.
 *
 * Problem: host and kernel share the bytes, and kernels copy them word by word.
 * Approach: the documented fields in the documented order (pages "... Tiling" of the functions), once as a list, so that the host's form with setters
 * (host/piton_norms/definitions.h) has the same ones.
 * Limits: of most structures our functions read the shape only: how the vendor's library divides its work is not published, so that no other field has an
 * effect here. Fields that only cut the work are 0 where our host functions fill the structure in.
 */
#ifndef PITON_ASCENDC_NORMS_TILINGS_H
#define PITON_ASCENDC_NORMS_TILINGS_H

#include <cstdint>

/* Every field in order; `U` is given the names of 32-bit numbers, `F` of floats, `B` of truth values. */
/* clang-format off */
#define PITON_SOFTMAX_FIELDS(U, F, B)                                                                                                                      \
    U(srcM) U(srcK) U(srcSize) U(outMaxM) U(outMaxK) U(outMaxSize) U(splitM) U(splitK) U(splitSize) U(reduceM) U(reduceK) U(reduceSize) U(rangeM) U(tailM) \
    U(tailSplitSize) U(tailReduceSize)

#define PITON_LOG_SOFTMAX_FIELDS(U, F, B) PITON_SOFTMAX_FIELDS(U, F, B)

#define PITON_ROUND_FIELDS(U)                                                                                                                  \
    U(tmpBufSize) U(oneTmpSize) U(firstTmpStartPos) U(secondTmpStartPos) U(thirdTmpStartPos) U(loopRound) U(inputRoundSize) U(inputTailSize)   \
    U(inputTailPos) U(meanVarRoundSize) U(meanVarTailSize) U(meanVarTailPos)

#define PITON_LAYER_NORM_FIELDS(U, F, B)                                                                                                    \
    U(bLength) U(sLength) U(hLength) U(originalHLength) U(inputXSize) U(meanVarSize) U(numberOfTmpBuf) U(meanTmpTensorPos) U(meanTmpTensorSize) \
    U(varianceTmpTensorPos) U(varianceTmpTensorSize) PITON_ROUND_FIELDS(U) U(bshCurLength) U(bsCurLength) F(lastDimValueBack)

#define PITON_DEEP_NORM_FIELDS(U, F, B) PITON_LAYER_NORM_FIELDS(U, F, B)

#define PITON_LAYER_NORM_SEPARATE_FIELDS(U, F, B)                                                                                              \
    U(aLength) U(rLength) U(halfAddRepeatTimes) U(rHeadLength) F(k2Rec) F(k2RRec) U(inputXSize) U(meanVarSize) U(numberOfTmpBuf)               \
    U(varianceTmpTensorPos) U(varianceTmpTensorSize) PITON_ROUND_FIELDS(U) U(arCurLength) U(aCurLength) F(rValueBack)

#define PITON_LAYER_NORM_GRAD_FIELDS(U, F, B)                                                                                                  \
    U(stackBufferSize) U(bLength) U(sLength) U(hLength) U(originalHLength) U(oneCalSize) U(nohCalSize) U(loopNum) U(tailSize) U(nohTailSize)   \
    U(tmpTensorBSHPos) U(tmpTensorBSHSize) U(pdVarTensorPos) U(pdVarTensorSize) U(pdMeanTensorPos) U(pdMeanTensorSize) U(x1TensorPos)          \
    U(x1TensorSize) U(x2TensorPos) U(x2TensorSize) U(x3TensorPos) U(x3TensorSize) U(tmpTensorPos) U(tmpTensorSize) U(tmpTensor1Pos)            \
    U(tmpTensor1Size) U(tmpTensor2Pos) U(tmpTensor2Size) U(lastDimValueBack) U(lastDimValueBackMulTwo)

#define PITON_LAYER_NORM_GRAD_BETA_FIELDS(U, F, B)                                                                                             \
    U(stackBufferSize) U(bLength) U(sLength) U(hLength) U(originalHLength) U(bshLength) U(bsLength) U(oneCalSize) U(numberOfTmpBuf)            \
    U(loopRound) U(inputTailSize) U(inputTailPos) U(bsTailSize) U(bshCurLength) U(bsCurLength) U(gammaTempTensorPos) U(betaTempTensorPos)      \
    U(inputDyTmpTensorPos) U(resForGammaTmpTensorPos) U(reserved)

#define PITON_GROUP_NORM_FIELDS(U, F, B)                                                                                                       \
    U(n) U(c) U(hw) U(g) U(d) U(hwAlignSize) U(dhwAlignSize) U(inputXSize) U(meanVarSize) U(numberOfTmpBuf) U(meanTmpTensorPos)                \
    U(meanTmpTensorSize) U(varianceTmpTensorPos) U(varianceTmpTensorSize) PITON_ROUND_FIELDS(U) U(bshCurLength) U(bsCurLength) F(factor)       \
    B(smallShape)

#define PITON_BATCH_NORM_FIELDS(U, F, B)                                                                                                       \
    U(originalBLength) U(meanVarSize) U(meanTmpTensorPos) U(varianceTmpTensorPos) U(tmpBufSize) U(oneTmpSize) U(firstTmpStartPos)              \
    U(secondTmpStartPos) U(thirdTmpStartPos) U(loopRound) U(inputTailSize) U(inputTailPos) U(meanVarTailSize) U(meanVarTailPos)                \
    U(bshCurLength) U(shCurLength) F(firstDimValueBack) U(castHalfRepStride) U(shCurLengthBlockNum) U(castHalfOutRepStride)

#define PITON_RMS_NORM_FIELDS(U, F, B)                                                                                                         \
    U(bLength) U(sLength) U(hLength) U(originalHLength) F(reciprocalOfHLength) U(mainBshLength) U(mainBsLength) U(mainBsLengthAlign)           \
    U(loopRound) U(inputTailPos) U(tailBshLength) U(tailBsLength)

/* Every structure with its list. */
#define PITON_NORM_TILINGS(X)                                                                                                                  \
    X(SoftMaxTiling, PITON_SOFTMAX_FIELDS) X(LogSoftMaxTiling, PITON_LOG_SOFTMAX_FIELDS) X(LayerNormTiling, PITON_LAYER_NORM_FIELDS)           \
    X(LayerNormSeparateTiling, PITON_LAYER_NORM_SEPARATE_FIELDS) X(LayerNormGradTiling, PITON_LAYER_NORM_GRAD_FIELDS)                          \
    X(LayerNormGradBetaTiling, PITON_LAYER_NORM_GRAD_BETA_FIELDS) X(DeepNormTiling, PITON_DEEP_NORM_FIELDS)                                    \
    X(GroupNormTiling, PITON_GROUP_NORM_FIELDS) X(BatchNormTiling, PITON_BATCH_NORM_FIELDS) X(RmsNormTiling, PITON_RMS_NORM_FIELDS)
/* clang-format on */

namespace AscendC {
namespace tiling {

#define PITON_NUMBER(name) uint32_t name = 0;
#define PITON_REAL(name) float name = 0.0f;
#define PITON_TRUTH(name) bool name = false;
#define PITON_TILING(Name, FIELDS)                    \
    struct Name {                                     \
        FIELDS(PITON_NUMBER, PITON_REAL, PITON_TRUTH) \
    };
PITON_NORM_TILINGS(PITON_TILING)
#undef PITON_TILING
#undef PITON_NUMBER
#undef PITON_REAL
#undef PITON_TRUTH

}  // namespace tiling
}  // namespace AscendC

#define PITON_TILING(Name, FIELDS) using AscendC::tiling::Name;
PITON_NORM_TILINGS(PITON_TILING)
#undef PITON_TILING

namespace piton {

/* Rows in one piece: what the structure says of pieces, as our functions and the documented example of a kernel's own tiling read it. */
constexpr AscendC::tiling::SoftMaxTiling SoftmaxTilingOf(uint32_t m, uint32_t k, uint32_t numberSize, bool isDense) {
    const uint32_t numbers = isDense || numberSize == 0 ? 1 : 32 / numberSize;
    AscendC::tiling::SoftMaxTiling made;
    made.srcM = m, made.srcK = k, made.srcSize = m * k;
    made.outMaxM = m, made.outMaxK = numbers, made.outMaxSize = m * numbers;
    made.splitM = m, made.splitK = k, made.splitSize = m * k;
    made.reduceM = m, made.reduceK = numbers, made.reduceSize = m * numbers;
    made.rangeM = m == 0 ? 0 : 1;
    return made;
}

}  // namespace piton

#endif /* PITON_ASCENDC_NORMS_TILINGS_H */
