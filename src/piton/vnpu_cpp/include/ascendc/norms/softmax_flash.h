/*
 * SoftmaxFlash and SoftmaxFlashV2: softmax of rows that come in parts.
 *
 * Problem: with the maximum and sum of the parts before, a part has to come out as if the row had been whole so far.
 * Approach: the documented steps (softmax_rows.h). V2 leaves exponentials; SoftmaxFlash divides by the sum, and its factor is the share that earlier parts
 * keep. Limits: of the tiling only the shape is used, and only where no shape is given.
 */
#ifndef PITON_ASCENDC_NORMS_SOFTMAX_FLASH_H
#define PITON_ASCENDC_NORMS_SOFTMAX_FLASH_H

#include "../softmax.h"

namespace piton {

/* `isUpdate`: there are parts before. */
template <bool isNz, SoftmaxEnd end, typename T, typename S>
PITON_API void FlashCall(const char *api, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                         const AscendC::SoftMaxShapeInfo &shape, SoftmaxNumbers<T, S> given, bool isUpdate, Location at) {
    if (!isUpdate) {
        given.oldMax = nullptr;
        given.oldSum = nullptr;
    }
    SoftmaxCall<isNz, end>(api, dst, src, memory, shape, given, at);
}

template <typename T, typename S>
PITON_API SoftmaxNumbers<T, S> FlashNumbers(const AscendC::LocalTensor<S> &sum, const AscendC::LocalTensor<S> &max, const AscendC::LocalTensor<T> &factor,
                                            const AscendC::LocalTensor<S> &oldSum, const AscendC::LocalTensor<S> &oldMax, bool isDense) {
    return {&sum, &max, nullptr, &factor, &oldSum, &oldMax, isDense};
}

constexpr bool IsDenseMode(const AscendC::SoftmaxConfig &config) { return config.mode == AscendC::SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC; }

}  // namespace piton

/* The two types of sums and maxima: that of the data, and float beside half. */
#define PITON_FLASH(Data, Number)                                                                                                                             \
    namespace AscendC {                                                                                                                                       \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                                                                              \
    PITON_API void SoftmaxFlash(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &sumTensor, const LocalTensor<Number> &maxTensor,               \
                                const LocalTensor<Data> &srcTensor, const LocalTensor<Data> &expMaxTensor, const LocalTensor<Number> &inSumTensor,            \
                                const LocalTensor<Number> &inMaxTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, const tiling::SoftMaxTiling &tiling,     \
                                bool isUpdate = false, const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {               \
        static_assert(piton::kIsFloat<Data>, "SoftmaxFlash supports half, float on the Ascend 910B");                                                         \
        const auto numbers = piton::FlashNumbers(sumTensor, maxTensor, expMaxTensor, inSumTensor, inMaxTensor, false);                                        \
        piton::FlashCall<false, piton::SoftmaxEnd::kQuotient>("SoftmaxFlash", dstTensor, srcTensor, sharedTmpBuffer,                                          \
                                                              piton::SoftmaxShape(tiling, softmaxShapeInfo), numbers, isUpdate, at);                          \
    }                                                                                                                                                         \
    template <typename T, bool isReuseSource = false, bool isBasicBlock = false>                                                                              \
    PITON_API void SoftmaxFlash(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &sumTensor, const LocalTensor<Number> &maxTensor,               \
                                const LocalTensor<Data> &srcTensor, const LocalTensor<Data> &expMaxTensor, const LocalTensor<Number> &inSumTensor,            \
                                const LocalTensor<Number> &inMaxTensor, const tiling::SoftMaxTiling &tiling, bool isUpdate = false,                           \
                                const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {                                      \
        SoftmaxFlash<T, isReuseSource, isBasicBlock>(dstTensor, sumTensor, maxTensor, srcTensor, expMaxTensor, inSumTensor, inMaxTensor,                      \
                                                     GetTPipePtr(at)->UnusedMemory(at), tiling, isUpdate, softmaxShapeInfo, at);                              \
    }                                                                                                                                                         \
    template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,                          \
              const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>                                                                                              \
    PITON_API void SoftmaxFlashV2(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &expSumTensor, const LocalTensor<Number> &maxTensor,          \
                                  const LocalTensor<Data> &srcTensor, const LocalTensor<Data> &expMaxTensor, const LocalTensor<Number> &inExpSumTensor,       \
                                  const LocalTensor<Number> &inMaxTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, const tiling::SoftMaxTiling &tiling,   \
                                  const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {                                    \
        static_assert(piton::kIsFloat<Data>, "SoftmaxFlashV2 supports half, float on the Ascend 910B");                                                       \
        static_assert(!isDataFormatNZ || !piton::IsDenseMode(config), "SoftmaxFlashV2 of the format NZ has no mode: its numbers are blocks");                 \
        const auto numbers = piton::FlashNumbers(expSumTensor, maxTensor, expMaxTensor, inExpSumTensor, inMaxTensor, piton::IsDenseMode(config));             \
        piton::FlashCall<isDataFormatNZ, piton::SoftmaxEnd::kExponential>("SoftmaxFlashV2", dstTensor, srcTensor, sharedTmpBuffer,                            \
                                                                          piton::SoftmaxShape(tiling, softmaxShapeInfo, config), numbers, isUpdate, at);      \
    }                                                                                                                                                         \
    template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,                          \
              const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>                                                                                              \
    PITON_API void SoftmaxFlashV2(const LocalTensor<Data> &dstTensor, const LocalTensor<Number> &expSumTensor, const LocalTensor<Number> &maxTensor,          \
                                  const LocalTensor<Data> &srcTensor, const LocalTensor<Data> &expMaxTensor, const LocalTensor<Number> &inExpSumTensor,       \
                                  const LocalTensor<Number> &inMaxTensor, const tiling::SoftMaxTiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {}, \
                                  piton::Location at = piton::Location()) {                                                                                   \
        SoftmaxFlashV2<T, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dstTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor,         \
                                                                                         inExpSumTensor, inMaxTensor, GetTPipePtr(at)->UnusedMemory(at),      \
                                                                                         tiling, softmaxShapeInfo, at);                                       \
    }                                                                                                                                                         \
    }

PITON_FLASH(T, T)
PITON_FLASH(half, float)
#undef PITON_FLASH

namespace AscendC {

/* Also with the maxima of this part alone, dense. */
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
PITON_API void SoftmaxFlashV2(const LocalTensor<T> &dstTensor, const LocalTensor<T> &outReduceMax, const LocalTensor<T> &outExpSum,
                              const LocalTensor<T> &outMax, const LocalTensor<T> &srcTensor, const LocalTensor<T> &outExpMax, const LocalTensor<T> &inExpSum,
                              const LocalTensor<T> &inMax, const LocalTensor<uint8_t> &sharedTmpBuffer, const tiling::SoftMaxTiling &tiling,
                              const SoftMaxShapeInfo &softmaxShapeInfo = {}, piton::Location at = piton::Location()) {
    static_assert(piton::kIsFloat<T>, "SoftmaxFlashV2 supports half, float on the Ascend 910B");
    static_assert(!isDataFormatNZ && piton::IsDenseMode(config), "SoftmaxFlashV2 with outReduceMax does nothing but in the mode SOFTMAX_OUTPUT_WITHOUT_BRC");
    auto numbers = piton::FlashNumbers(outExpSum, outMax, outExpMax, inExpSum, inMax, true);
    numbers.firstMax = &outReduceMax;
    piton::FlashCall<false, piton::SoftmaxEnd::kExponential>("SoftmaxFlashV2", dstTensor, srcTensor, sharedTmpBuffer,
                                                             piton::SoftmaxShape(tiling, softmaxShapeInfo, config), numbers, isUpdate, at);
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
PITON_API void SoftmaxFlashV2(const LocalTensor<T> &dstTensor, const LocalTensor<T> &outReduceMax, const LocalTensor<T> &outExpSum,
                              const LocalTensor<T> &outMax, const LocalTensor<T> &srcTensor, const LocalTensor<T> &outExpMax, const LocalTensor<T> &inExpSum,
                              const LocalTensor<T> &inMax, const tiling::SoftMaxTiling &tiling, const SoftMaxShapeInfo &softmaxShapeInfo = {},
                              piton::Location at = piton::Location()) {
    SoftmaxFlashV2<T, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dstTensor, outReduceMax, outExpSum, outMax, srcTensor, outExpMax, inExpSum,
                                                                                     inMax, GetTPipePtr(at)->UnusedMemory(at), tiling, softmaxShapeInfo, at);
}

/* The tiling for a shape that only the kernel knows. */
PITON_API constexpr tiling::SoftMaxTiling SoftMaxFlashV2TilingFunc(const SoftMaxShapeInfo &shapeInfo, const uint32_t, const uint32_t dataTypeSize2,
                                                                   const uint32_t, const bool = false, const bool = false, const bool = false,
                                                                   const bool isFlashOutputBrc = false) {
    return piton::SoftmaxTilingOf(shapeInfo.srcM, shapeInfo.srcK, dataTypeSize2, isFlashOutputBrc);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_NORMS_SOFTMAX_FLASH_H */
