/*
 * Host functions of the softmax family: how much temporary memory a kernel needs, and SoftMaxTiling.
 *
 * Problem and approach: as norms.h. The vendor's functions are told the size of sums and maxima, not of the data; ours need the same for either.
 * Limits: the numbers are ours, not the vendor's. IsBasicBlockInSoftMax follows the documented conditions.
 */
#ifndef PITON_NORMS_SOFTMAX_H
#define PITON_NORMS_SOFTMAX_H

#include "norms.h"

namespace piton_norms {

/* All dimensions but the last as rows; the last padded to whole blocks of halves. */
inline RowLengths LengthsOfRows(const AscendC::TensorShape &shape) {
    constexpr uint32_t kUnit = 16;
    const std::size_t rank = shape.GetDimNum();
    uint32_t rows = 1;
    for (std::size_t i = 0; i + 1 < rank; ++i) {
        rows *= Length(shape, i);
    }
    const uint32_t k = rank == 0 ? 0 : Length(shape, rank - 1);
    return {rows, 1, (k + kUnit - 1) / kUnit * kUnit, k};
}

inline uint32_t SoftmaxLeast(const AscendC::TensorShape &shape, piton::RowNeeds (*needs)(uint32_t)) {
    return Bytes(piton::LeastBytes(needs(LengthsOfRows(shape).h)));
}
inline uint32_t SoftmaxMost(const AscendC::TensorShape &shape, piton::RowNeeds (*needs)(uint32_t)) {
    const RowLengths lengths = LengthsOfRows(shape);
    return Bytes(piton::MostBytes(needs(lengths.h), lengths.b));
}

template <typename Tiling>
void FillSoftmax(const AscendC::TensorShape &shape, uint32_t numberSize, bool isDense, Tiling &tiling) {
    const RowLengths lengths = LengthsOfRows(shape);
    Copy(piton::SoftmaxTilingOf(lengths.b, lengths.originalH, numberSize, isDense), tiling);
}

/* Columns a multiple of 64 and from a repeat to below 2048, rows a multiple of 8. */
inline bool IsBasicBlock(uint32_t rows, uint32_t columns, uint32_t typeSize) {
    return typeSize != 0 && columns % 64 == 0 && columns >= 256 / typeSize && columns < 2048 && rows % 8 == 0;
}

}  // namespace piton_norms

namespace AscendC {

inline uint32_t GetSoftMaxMaxTmpSize(const TensorShape &srcShape, const uint32_t, const bool) {
    return piton_norms::SoftmaxMost(srcShape, piton::SoftmaxNeeds);
}
inline uint32_t GetSoftMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool) {
    return piton_norms::SoftmaxLeast(srcShape, piton::SoftmaxNeeds);
}
inline uint32_t GetSoftMaxFlashMaxTmpSize(const TensorShape &srcShape, const uint32_t, const bool, const bool) {
    return piton_norms::SoftmaxMost(srcShape, piton::SoftmaxNeeds);
}
inline uint32_t GetSoftMaxFlashMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, const bool) {
    return piton_norms::SoftmaxLeast(srcShape, piton::SoftmaxNeeds);
}
inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const TensorShape &srcShape, const uint32_t, const uint32_t, const bool, const bool = false, const bool = false) {
    return piton_norms::SoftmaxMost(srcShape, piton::SoftmaxNeeds);
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const TensorShape &srcShape, const uint32_t, const uint32_t, const bool, const bool = false, const bool = false) {
    return piton_norms::SoftmaxLeast(srcShape, piton::SoftmaxNeeds);
}
inline void GetSoftMaxFlashV3MaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const uint32_t, uint32_t &maxValue, uint32_t &minValue, const bool,
                                           const bool = false) {
    maxValue = piton_norms::SoftmaxMost(srcShape, piton::SoftmaxPasaNeeds);
    minValue = piton_norms::SoftmaxLeast(srcShape, piton::SoftmaxPasaNeeds);
}
inline uint32_t GetSoftMaxGradMaxTmpSize(const TensorShape &srcShape, const uint32_t, const bool, const bool) {
    return piton_norms::SoftmaxMost(srcShape, piton::SoftmaxGradNeeds);
}
inline uint32_t GetSoftMaxGradMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, const bool) {
    return piton_norms::SoftmaxLeast(srcShape, piton::SoftmaxGradNeeds);
}
inline uint32_t GetLogSoftMaxMaxTmpSize(const TensorShape srcShape, const uint32_t, const bool) {
    return piton_norms::SoftmaxMost(srcShape, piton::SoftmaxNeeds);
}
inline uint32_t GetLogSoftMaxMinTmpSize(const TensorShape srcShape, const uint32_t, const bool) {
    return piton_norms::SoftmaxLeast(srcShape, piton::SoftmaxNeeds);
}

/* Into either form of the structure. */
#define PITON_TILING_OF(Form)                                                                                                                             \
    inline void SoftMaxTilingFunc(const TensorShape &srcShape, const uint32_t dataTypeSize, const uint32_t, Form::SoftMaxTiling &softmaxTiling) {         \
        piton_norms::FillSoftmax(srcShape, dataTypeSize, false, softmaxTiling);                                                                           \
    }                                                                                                                                                     \
    inline void SoftMaxFlashTilingFunc(const TensorShape &srcShape, const uint32_t dataTypeSize, const uint32_t, Form::SoftMaxTiling &softmaxFlashTiling, \
                                       const bool = false) {                                                                                              \
        piton_norms::FillSoftmax(srcShape, dataTypeSize, false, softmaxFlashTiling);                                                                      \
    }                                                                                                                                                     \
    inline void SoftMaxFlashV2TilingFunc(const TensorShape &srcShape, const uint32_t, const uint32_t dataTypeSize2, const uint32_t,                       \
                                         Form::SoftMaxTiling &softmaxFlashTiling, const bool, const bool = false, const bool isFlashOutputBrc = false) {  \
        piton_norms::FillSoftmax(srcShape, dataTypeSize2, isFlashOutputBrc, softmaxFlashTiling);                                                          \
    }                                                                                                                                                     \
    inline void SoftMaxFlashV3TilingFunc(const TensorShape &srcShape, const uint32_t, const uint32_t dataTypeSize2, const uint32_t,                       \
                                         Form::SoftMaxTiling &softmaxFlashV3Tiling, const bool, const bool = false) {                                     \
        piton_norms::FillSoftmax(srcShape, dataTypeSize2, false, softmaxFlashV3Tiling);                                                                   \
    }                                                                                                                                                     \
    inline void SoftMaxGradTilingFunc(const TensorShape &srcShape, const uint32_t dataTypeSize, const uint32_t, Form::SoftMaxTiling &softmaxGradTiling,   \
                                      const bool = false) {                                                                                               \
        piton_norms::FillSoftmax(srcShape, dataTypeSize, false, softmaxGradTiling);                                                                       \
    }
PITON_TILING_OF(::AscendC::tiling)
PITON_TILING_OF(::optiling)
#undef PITON_TILING_OF

inline bool IsBasicBlockInSoftMax(tiling::SoftMaxTiling &tiling, const uint32_t dataTypeSize = 2) {
    return piton_norms::IsBasicBlock(tiling.splitM, tiling.splitK, dataTypeSize);
}
inline bool IsBasicBlockInSoftMax(::optiling::SoftMaxTiling &tiling, const uint32_t dataTypeSize = 2) {
    return piton_norms::IsBasicBlock(tiling.get_splitM(), tiling.get_splitK(), dataTypeSize);
}

/* The logarithm's structure has the same fields. */
inline void LogSoftMaxTilingFunc(const TensorShape srcShape, const uint32_t dataTypeSize, const uint32_t, tiling::LogSoftMaxTiling &softmaxTiling) {
    tiling::SoftMaxTiling made;
    piton_norms::FillSoftmax(srcShape, dataTypeSize, false, made);
#define PITON_FIELD(name) softmaxTiling.name = made.name;
    PITON_SOFTMAX_FIELDS(PITON_FIELD, PITON_FIELD, PITON_FIELD)
#undef PITON_FIELD
}
inline void LogSoftMaxTilingFunc(const TensorShape srcShape, const uint32_t dataTypeSize, const uint32_t localWorkSpaceSize,
                                 ::optiling::LogSoftMaxTiling &softmaxTiling) {
    tiling::LogSoftMaxTiling made;
    LogSoftMaxTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, made);
    piton_norms::Copy(made, softmaxTiling);
}

}  // namespace AscendC

/* Where older host code looks for them. */
namespace optiling {
using ::AscendC::IsBasicBlockInSoftMax;
}  // namespace optiling

#endif /* PITON_NORMS_SOFTMAX_H */
