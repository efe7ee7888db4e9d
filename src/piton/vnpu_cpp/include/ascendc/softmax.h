/*
 * SoftMax and LogSoftMax along the last axis, AdjustSoftMaxRes.
 *
 * Problem: rows are padded, results and maxima of a row have to meet each of its elements, and temporary memory decides how many rows go at once.
 * Approach: the calls in the documented forms, in front of the documented steps (norms/softmax_rows.h). Their time is that of these instructions.
 * Limits: of the tiling only the shape is used, and only where no shape is given: how the vendor's library divides the work is not published.
 */
#ifndef PITON_ASCENDC_SOFTMAX_H
#define PITON_ASCENDC_SOFTMAX_H

#include "norms/softmax_rows.h"
#include "norms/tilings.h"

namespace AscendC {

/* Rows and columns: as they lie in memory, and of which there is data. */
struct SoftMaxShapeInfo {
    uint32_t srcM{0};
    uint32_t srcK{0};
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};
};

/* Numbers of rows each over a block, or dense. */
enum class SoftmaxMode { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };

struct SoftmaxConfig {
    bool isCheckTiling = true;
    uint32_t oriSrcM = 0;
    uint32_t oriSrcK = 0;
    SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {};

}  // namespace AscendC

namespace piton {

/* The shape that is given, or all of what the tiling was made for; with lengths that the configuration knows when it compiles. */
template <typename Tiling>
PITON_API AscendC::SoftMaxShapeInfo SoftmaxShape(const Tiling &tiling, const AscendC::SoftMaxShapeInfo &given,
                                                 const AscendC::SoftmaxConfig &config = AscendC::SOFTMAX_DEFAULT_CFG) {
    const uint32_t m = static_cast<uint32_t>(tiling.srcM), k = static_cast<uint32_t>(tiling.srcK);
    AscendC::SoftMaxShapeInfo shape = given.srcM != 0 ? given : AscendC::SoftMaxShapeInfo{m, k, m, k};
    if (config.oriSrcM != 0 && config.oriSrcK != 0) {
        shape.oriSrcM = config.oriSrcM;
        shape.oriSrcK = config.oriSrcK;
    }
    return shape;
}

template <bool isNz, SoftmaxEnd end, typename T, typename S>
PITON_API void SoftmaxCall(const char *api, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                           const AscendC::SoftMaxShapeInfo &shape, const SoftmaxNumbers<T, S> &given, Location at) {
    SoftmaxOfMatrix<isNz, end>(api, dst, src, memory, {shape.oriSrcM, shape.oriSrcK, shape.srcK, at}, shape.srcM, given);
}

}  // namespace piton

namespace AscendC {

template <typename T, bool isReuseSource = false, bool isBasicBlock = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename Tiling>
PITON_API void SoftMax(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, const Tiling &tiling,
                       const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("SoftMax", piton::kIsFloat<T>, "half, float");
    piton::SoftmaxCall<false, piton::SoftmaxEnd::kQuotient>("SoftMax", dstTensor, srcTensor, sharedTmpBuffer,
                                                            piton::SoftmaxShape(tiling, softmaxShapeInfo, config), piton::SoftmaxNumbers<T, float>{}, at);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename Tiling>
PITON_API void SoftMax(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const Tiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {},
                       piton::Location at = piton::Location()) {
    SoftMax<T, isReuseSource, isBasicBlock, config>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), tiling, softmaxShapeInfo, at);
}

/* With sums and maxima: of the type of the data, or float beside half. */
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG,
          typename Data, typename Number, typename Tiling>
PITON_API void SoftMax(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &sumTensor, const LocalTensor<Number> &maxTensor,
                       const LocalTensor<Data> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, const Tiling &tiling,
                       const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {
    static_assert(piton::kIsFloat<Data> && (std::is_same<Number, Data>::value || std::is_same<Number, float>::value),
                  "SoftMax supports half, float with sums and maxima of the same type, or float beside half, on the Ascend 910B");
    piton::SoftmaxNumbers<Data, Number> numbers;
    numbers.sum = &sumTensor;
    numbers.max = &maxTensor;
    piton::SoftmaxCall<isDataFormatNZ, piton::SoftmaxEnd::kQuotient>("SoftMax", dstTensor, srcTensor, sharedTmpBuffer,
                                                                     piton::SoftmaxShape(tiling, softmaxShapeInfo, config), numbers, at);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG,
          typename Data, typename Number, typename Tiling>
PITON_API void SoftMax(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &sumTensor, const LocalTensor<Number> &maxTensor,
                       const LocalTensor<Data> &srcTensor, const Tiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {},
                       piton::Location at = piton::Location()) {
    SoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dstTensor, sumTensor, maxTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), tiling,
                                                                    softmaxShapeInfo, at);
}

/* Logarithms to base 10 of the quotients. */
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
PITON_API void LogSoftMax(const LocalTensor<T> &dst, const LocalTensor<T> &sum, const LocalTensor<T> &max, const LocalTensor<T> &src,
                          const LocalTensor<uint8_t> &sharedTmpBuffer, const tiling::LogSoftMaxTiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {},
                          piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("LogSoftMax", piton::kIsFloat<T>, "half, float");
    piton::SoftmaxNumbers<T, T> numbers;
    numbers.sum = &sum;
    numbers.max = &max;
    piton::SoftmaxCall<isDataFormatNZ, piton::SoftmaxEnd::kLogarithm>("LogSoftMax", dst, src, sharedTmpBuffer, piton::SoftmaxShape(tiling, softmaxShapeInfo),
                                                                      numbers, at);
}

/* Rows whose maximum has the bits `from` become `to`; true if there was one. The shape is that of softMaxRes; stepSizeMode 0: a block per maximum. */
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
PITON_API bool AdjustSoftMaxRes(const LocalTensor<T1> &softMaxRes, const LocalTensor<T2> &maxTensor, const uint32_t from, const T1 to,
                                const SoftMaxShapeInfo &softmaxShapeInfo, piton::Location at = piton::Location()) {
    static_assert(piton::kIsFloat<T1> && piton::kIsFloat<T2>, "AdjustSoftMaxRes supports half, float on the Ascend 910B");
    static_assert(!isDataFormatNZ, "AdjustSoftMaxRes has the format ND only");
    constexpr uint32_t step = stepSizeMode == 0 ? piton::kBlockBytes / sizeof(T2) : 1;
    const TEventID event = GetTPipePtr(at)->FetchEventID(HardEvent::V_S, at); /* the maxima come from the vector unit */
    SetFlag<HardEvent::V_S>(event, at);
    WaitFlag<HardEvent::V_S>(event, at);
    bool isFound = false;
    for (uint32_t row = 0; row < softmaxShapeInfo.srcM; ++row) {
        const T2 max = maxTensor.GetValue(row * step, at);
        uint32_t bits = 0;
        std::memcpy(&bits, &max, sizeof(T2));
        if (bits == (sizeof(T2) == sizeof(half) ? from & 0xffff : from)) {
            Duplicate(softMaxRes[row * softmaxShapeInfo.srcK], to, static_cast<int32_t>(softmaxShapeInfo.srcK), at);
            isFound = true;
        }
    }
    return isFound;
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_SOFTMAX_H */
