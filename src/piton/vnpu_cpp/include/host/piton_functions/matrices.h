/*
 * Host functions of the high-level functions on matrices: products, means and truths along an axis, running sums, selection, dropout, quantisation, padding,
 * sorting; and of the gamma functions.
 *
 * Problem and approach: as piton_norms/elementwise.h, by the formula of each kernel header.
 * Limits: the numbers are ours, not the vendor's. Of the tiling structures the lengths are filled in, which is all that the kernels read.
 */
#ifndef PITON_FUNCTIONS_MATRICES_H
#define PITON_FUNCTIONS_MATRICES_H

#include "ascendc/pad_tiling.h"
#include "piton_norms/elementwise.h"
#include "piton_project/tiling_data.h"

namespace optiling {

#define PITON_FIELD(name) TILING_DATA_FIELD_DEF(uint32_t, name);
BEGIN_TILING_DATA_DEF(PadTiling)
PITON_PAD_FIELDS(PITON_FIELD)
END_TILING_DATA_DEF;
BEGIN_TILING_DATA_DEF(UnPadTiling)
PITON_UNPAD_FIELDS(PITON_FIELD)
END_TILING_DATA_DEF;
#undef PITON_FIELD

}  // namespace optiling

namespace piton_functions {

/* Into either form of a structure. */
#define PITON_FIELD(name) to.set_##name(from.name);
inline void Copy(const AscendC::tiling::PadTiling &from, optiling::PadTiling &to) { PITON_PAD_FIELDS(PITON_FIELD) }
inline void Copy(const AscendC::tiling::UnPadTiling &from, optiling::UnPadTiling &to) { PITON_UNPAD_FIELDS(PITON_FIELD) }
#undef PITON_FIELD
template <typename Tiling>
void Copy(const Tiling &from, Tiling &to) {
    to = from;
}

constexpr uint32_t kRepeat = 256; /* bytes */
constexpr uint64_t kBlock = 32, kLanes = 64, kTurned = 16, kBroadcastRows = 16;

using piton_norms::Bytes;
using piton_norms::Elements;

constexpr uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }
inline uint64_t LastLength(const AscendC::TensorShape &shape) { return shape.GetDimNum() == 0 ? 0 : piton_norms::Length(shape, shape.GetDimNum() - 1); }
inline uint64_t Rows(const AscendC::TensorShape &shape) { return LastLength(shape) == 0 ? 0 : Elements(shape) / LastLength(shape); }

inline void TellBoth(uint64_t most, uint64_t least, uint32_t &maxValue, uint32_t &minValue) {
    const uint64_t atLeast = least == 0 ? kRepeat : least;
    minValue = Bytes(atLeast);
    maxValue = Bytes(most < atLeast ? atLeast : most);
}

/* What a reduction along the last axis needs; along the first nothing. */
struct Reduction {
    uint64_t rows, columns;
    uint32_t bytes; /* of an element */

    uint64_t Pitch() const { return RoundUp(columns, kBlock / bytes); }
    uint64_t Results() const { return RoundUp(rows, kLanes); }
    /* Sums, maxima, minima: 64 lanes of 8 rows of floats at least, or results, lanes and a row of halves as floats; bytes have those as halves besides. */
    uint64_t Least() const {
        if (bytes == sizeof(float)) {
            return 8 * kLanes * sizeof(float);
        }
        const uint64_t floats = (Results() + kLanes + Pitch()) * sizeof(float);
        return bytes == 2 ? floats : floats + 2 * (Pitch() > Results() ? Pitch() : Results());
    }
    uint64_t Most() const { return bytes == sizeof(float) ? RoundUp(rows, 8) * kLanes * sizeof(float) : Least(); }
    uint64_t Product() const { return 2 * (Pitch() < kLanes ? Pitch() : kLanes) * kTurned * sizeof(float); }
};

inline Reduction ReductionOf(const AscendC::TensorShape &shape, AscendC::TensorDataType type) {
    const uint32_t bytes = type == ge::DT_FLOAT ? 4 : type == ge::DT_UINT8 || type == ge::DT_BOOL ? 1 : 2;
    return {Rows(shape), LastLength(shape), bytes};
}

/* Selection by numbers: a block for the scalar, then a part of 128 elements and its bits at least. */
inline uint64_t Selection(uint64_t columns, uint32_t maskBytes) {
    const uint64_t unit = 128 * (maskBytes == 4 ? 4 : 2) + kBlock;
    return kBlock + RoundUp(columns == 0 ? 1 : columns, 128) / 128 * unit;
}

}  // namespace piton_functions

#define PITON_REDUCTION(Name, most, least)                                                                                                                  \
    inline void Get##Name##MaxMinTmpSize(const TensorShape &srcShape, const TensorDataType dataType, ReducePattern pattern, bool, bool, uint32_t &maxValue, \
                                         uint32_t &minValue) {                                                                                              \
        const piton_functions::Reduction shape = piton_functions::ReductionOf(srcShape, dataType);                                                          \
        const bool isLast = pattern == ReducePattern::AR;                                                                                                   \
        piton_functions::TellBoth(isLast ? shape.most() : 0, isLast ? shape.least() : 0, maxValue, minValue);                                               \
    }

namespace AscendC {

PITON_REDUCTION(ReduceMean, Most, Least)
PITON_REDUCTION(ReduceAll, Most, Least)
PITON_REDUCTION(ReduceAny, Most, Least)
PITON_REDUCTION(ReduceProd, Product, Product)

/* Floats per element as gamma.h keeps them. */
inline void GetLgammaMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool, uint32_t &maxValue, uint32_t &minValue) {
    piton_norms::Kept{6, 1}.TellSizes(piton_norms::Elements(srcShape), typeSize, maxValue, minValue);
}
inline void GetLgammaTmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuffer) {
    piton_norms::Kept{6, 1}.TellFactors(typeSize, maxLiveNodeCount, extraBuffer);
}
inline void GetDigammaMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool, uint32_t &maxValue, uint32_t &minValue) {
    piton_norms::Kept{7, 1}.TellSizes(piton_norms::Elements(srcShape), typeSize, maxValue, minValue);
}
inline void GetDigammaTmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuffer) {
    piton_norms::Kept{7, 1}.TellFactors(typeSize, maxLiveNodeCount, extraBuffer);
}

/* Of all elements at once; a repeat of integers, what Xor needs and they as floats, and two sums. */
inline void GetReduceXorSumMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, uint32_t &maxValue, uint32_t &minValue) {
    const uint64_t part = 128 * 8, sums = 2 * piton_functions::kBlock;
    piton_functions::TellBoth(sums + piton_functions::RoundUp(piton_functions::Elements(srcShape), 128) * 8, sums + part, maxValue, minValue);
}

inline void GetCumSumMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isLastAxis, const bool, uint32_t &maxValue,
                                   uint32_t &minValue) {
    using namespace piton_functions;
    const uint64_t rows = Rows(srcShape), columns = LastLength(srcShape);
    if (isLastAxis) {
        const uint64_t bytes = 2 * RoundUp(columns, kTurned) * kTurned * sizeof(float);
        TellBoth(bytes, bytes, maxValue, minValue);
    } else {
        TellBoth(typeSize == 2 ? rows * columns * sizeof(float) : 0, typeSize == 2 ? rows * kTurned * sizeof(float) : 0, maxValue, minValue);
    }
}

inline void GetArangeMaxMinTmpSize(uint32_t &maxValue, uint32_t &minValue) { maxValue = minValue = 0; }
inline void GetArithProgressionMaxMinTmpSize(uint32_t &maxValue, uint32_t &minValue) { maxValue = minValue = 0; }

inline uint32_t GetSelectMaxTmpSize(const TensorShape &src0Shape, const TensorShape &src1Shape, const uint32_t, const TensorShape &,
                                    const uint32_t maskTypeSize, const bool) {
    const uint64_t first = piton_functions::LastLength(src0Shape), second = piton_functions::LastLength(src1Shape);
    return piton_functions::Bytes(piton_functions::Selection(first > second ? first : second, maskTypeSize));
}
inline uint32_t GetSelectMinTmpSize(const TensorShape &, const TensorShape &, const uint32_t, const TensorShape &, const uint32_t maskTypeSize, const bool) {
    return piton_functions::Bytes(piton_functions::Selection(1, maskTypeSize));
}
inline void GetSelectMaxMinTmpSize(const TensorShape &src0Shape, const TensorShape &src1Shape, const uint32_t srcTypeSize, const TensorShape &maskShape,
                                   const uint32_t maskTypeSize, const bool isReuseMask, uint32_t &maxValue, uint32_t &minValue) {
    maxValue = GetSelectMaxTmpSize(src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize, isReuseMask);
    minValue = GetSelectMinTmpSize(src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize, isReuseMask);
}
inline uint32_t GetSelectWithBytesMaskMaxTmpSize(const TensorShape &src0Shape, const TensorShape &src1Shape, const uint32_t srcTypeSize,
                                                 const TensorShape &maskShape, const uint32_t maskTypeSize, const bool isReuseMask) {
    return GetSelectMaxTmpSize(src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize, isReuseMask);
}
inline uint32_t GetSelectWithBytesMaskMinTmpSize(const TensorShape &src0Shape, const TensorShape &src1Shape, const uint32_t srcTypeSize,
                                                 const TensorShape &maskShape, const uint32_t maskTypeSize, const bool isReuseMask) {
    return GetSelectMinTmpSize(src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize, isReuseMask);
}
inline void GetSelectWithBytesMaskMaxMinTmpSize(const TensorShape &src0Shape, const TensorShape &src1Shape, const uint32_t srcTypeSize,
                                                const TensorShape &maskShape, const uint32_t maskTypeSize, const bool isReuseMask, uint32_t &maxValue,
                                                uint32_t &minValue) {
    GetSelectMaxMinTmpSize(src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize, isReuseMask, maxValue, minValue);
}

/* Bytes without padding are one row. */
inline uint32_t GetDropOutMaxTmpSize(const TensorShape &srcShape, const uint32_t, const bool) {
    return piton_functions::Bytes(piton_functions::Selection(piton_functions::Elements(srcShape), 1));
}
inline uint32_t GetDropOutMinTmpSize(const TensorShape &, const uint32_t, const bool) { return piton_functions::Bytes(piton_functions::Selection(1, 1)); }
inline void GetDropOutMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource, uint32_t &maxValue, uint32_t &minValue) {
    maxValue = GetDropOutMaxTmpSize(srcShape, typeSize, isReuseSource);
    minValue = GetDropOutMinTmpSize(srcShape, typeSize, isReuseSource);
}

/* Rows: of halves (AscendQuant), of floats (AscendDequant); AscendAntiQuant: the row and its numbers, and for bfloat16_t halves on the way. */
inline void GetAscendQuantMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, uint32_t &maxValue, uint32_t &minValue) {
    const uint64_t bytes = 3 * piton_functions::RoundUp(piton_functions::LastLength(srcShape), 128) * 2;
    piton_functions::TellBoth(bytes, bytes, maxValue, minValue);
}
inline void GetAscendQuantTmpBufferFactorSize(uint32_t &maxLiveNodeCount, uint32_t &extraBuf) {
    maxLiveNodeCount = 3;
    extraBuf = 3 * piton_functions::kRepeat;
}
inline void GetAscendDequantMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, uint32_t &maxValue, uint32_t &minValue) {
    const uint64_t bytes = 2 * piton_functions::RoundUp(piton_functions::LastLength(srcShape), piton_functions::kLanes) * sizeof(float);
    piton_functions::TellBoth(bytes, bytes, maxValue, minValue);
}
inline void GetAscendDequantTmpBufferFactorSize(const TensorShape &, uint32_t &maxLiveNodeCount, uint32_t &extraBuf) {
    maxLiveNodeCount = 2;
    extraBuf = 2 * piton_functions::kRepeat;
}
inline uint32_t GetAscendAntiQuantMinTmpSize(const TensorShape &srcShape, const TensorShape &, bool, TensorDataType, TensorDataType outputDataType) {
    const uint64_t wide = outputDataType == ge::DT_BF16 ? sizeof(float) : 2;
    return piton_functions::Bytes(piton_functions::RoundUp(piton_functions::LastLength(srcShape), 128) * (2 * wide + 2));
}
inline uint32_t GetAscendAntiQuantMaxTmpSize(const TensorShape &srcShape, const TensorShape &scaleShape, bool isTranspose, TensorDataType inputDataType,
                                             TensorDataType outputDataType) {
    return GetAscendAntiQuantMinTmpSize(srcShape, scaleShape, isTranspose, inputDataType, outputDataType);
}
inline void GetAscendAntiQuantMaxMinTmpSize(const TensorShape &srcShape, const TensorShape &scaleShape, bool isTranspose, TensorDataType inputDataType,
                                            TensorDataType outputDataType, uint32_t &maxValue, uint32_t &minValue) {
    maxValue = minValue = GetAscendAntiQuantMinTmpSize(srcShape, scaleShape, isTranspose, inputDataType, outputDataType);
}

/* Offsets of a row; GatherMask needs nothing. */
inline void GetPadMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, uint32_t &maxValue, uint32_t &minValue) {
    using namespace piton_functions;
    const uint64_t bytes = RoundUp(LastLength(srcShape), kBlock / (typeSize == 0 ? 1 : typeSize)) * sizeof(uint32_t);
    TellBoth(bytes, bytes, maxValue, minValue);
}
inline void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const TensorShape &, const uint32_t, uint32_t &maxValue, uint32_t &minValue) {
    piton_functions::TellBoth(0, 0, maxValue, minValue);
}

/* 8 bytes per element; Concat only names its source. */
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC &, const uint32_t elemCount, const uint32_t) {
    return piton_functions::Bytes(piton_functions::RoundUp(elemCount, 32) * 8);
}
inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC &, const uint32_t, const uint32_t) { return piton_functions::kRepeat; }

/* 16 rows of a block each, and padded ones besides; bytes go as halves. */
inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const TensorShape &, const TensorShape &dstShape, uint32_t typeSize,
                                      const bool, uint32_t &maxValue, uint32_t &minValue) {
    using namespace piton_functions;
    const uint64_t columns = LastLength(dstShape), rows = Rows(dstShape), width = typeSize == 1 ? 2 : typeSize;
    uint64_t bytes = kBroadcastRows * (kBlock + RoundUp(columns * width, kBlock));
    bytes += typeSize == 1 ? (RoundUp(rows, kTurned) + 2 * kBroadcastRows * columns) * width : 0;
    TellBoth(bytes, bytes, maxValue, minValue);
}

/* Height and width in memory, and the width that counts. */
template <typename Tiling>
void PadTilingFunc(const TensorShape srcShape, const TensorShape oriSrcShape, const uint32_t, const uint32_t, Tiling &tiling) {
    tiling::PadTiling made;
    made.srcHeight = piton_functions::Bytes(piton_functions::Rows(srcShape));
    made.srcWidth = piton_functions::Bytes(piton_functions::LastLength(srcShape));
    made.srcOriWidth = piton_functions::Bytes(piton_functions::LastLength(oriSrcShape));
    piton_functions::Copy(made, tiling);
}
template <typename Tiling>
void UnPadTilingFunc(const TensorShape srcShape, const uint32_t, const uint32_t, Tiling &tiling) {
    tiling::UnPadTiling made;
    made.srcHeight = piton_functions::Bytes(piton_functions::Rows(srcShape));
    made.srcWidth = piton_functions::Bytes(piton_functions::LastLength(srcShape));
    piton_functions::Copy(made, tiling);
}

}  // namespace AscendC

#undef PITON_REDUCTION

#endif /* PITON_FUNCTIONS_MATRICES_H */
