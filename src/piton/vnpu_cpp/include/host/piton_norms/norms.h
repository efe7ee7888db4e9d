/*
 * Host functions of LayerNorm and its kin: how much temporary memory a kernel needs, and its tiling structure.
 *
 * Problem: host code asks for the least and the most memory, reserves what it can, and passes the structure on.
 * Approach: the kernel's own formulas (ascendc/norms/needs.h), as if gamma and beta were halves, which the questions do not tell.
 * Limits: the numbers are ours, not the vendor's. Of the structures the shape and the reciprocal of a row's length are filled in.
 */
#ifndef PITON_NORMS_NORMS_H
#define PITON_NORMS_NORMS_H

#include "ascendc/norms/needs.h"
#include "definitions.h"
#include "platform/platform_ascendc.h"
#include "shape.h"

namespace piton_norms {

/* Lengths [B, S, H] or [A, R], with H as it is stored and as it was. */
struct RowLengths {
    uint32_t b, s, h, originalH;

    uint32_t Rows() const { return b * s; }
};

inline uint32_t Length(const AscendC::TensorShape &shape, std::size_t index) {
    const int64_t length = shape.GetDim(index);
    return length < 0 ? 0 : static_cast<uint32_t>(length);
}

/* {B, S, stored H, H before padding} */
inline RowLengths LengthsOfFour(const AscendC::TensorShape &shape) {
    const uint32_t h = Length(shape, 2), original = Length(shape, 3);
    return {Length(shape, 0), Length(shape, 1), h, original == 0 ? h : original};
}
/* {A, R}: rows padded to whole blocks. */
inline RowLengths LengthsOfTwo(const AscendC::TensorShape &shape, uint32_t typeSize) {
    const uint32_t unit = 32 / (typeSize == 0 ? 1 : typeSize), r = Length(shape, 1);
    return {Length(shape, 0), 1, (r + unit - 1) / unit * unit, r};
}

inline void Tell(const piton::RowNeeds &needs, uint32_t rows, uint32_t &most, uint32_t &least) {
    most = Bytes(piton::MostBytes(needs, rows));
    least = Bytes(piton::LeastBytes(needs));
}

/* Fields that every structure with rows of [B, S, H] has. */
template <typename Tiling>
Tiling ShapedTiling(const RowLengths &lengths) {
    Tiling made;
    made.bLength = lengths.b;
    made.sLength = lengths.s;
    made.hLength = lengths.h;
    made.originalHLength = lengths.originalH;
    return made;
}
inline float Reciprocal(uint32_t length) { return length == 0 ? 0.0f : 1.0f / static_cast<float>(length); }

}  // namespace piton_norms

namespace AscendC {

inline void GetLayerNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool, uint32_t &maxValue, uint32_t &minValue) {
    const piton_norms::RowLengths lengths = piton_norms::LengthsOfFour(srcShape);
    piton_norms::Tell(piton::LayerNormNeeds(lengths.h, typeSize == 2), lengths.Rows(), maxValue, minValue);
}
inline void GetLayerNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool, const bool, const bool, uint32_t &maxValue,
                                      uint32_t &minValue) {
    const piton_norms::RowLengths lengths = piton_norms::LengthsOfTwo(srcShape, typeSize);
    piton_norms::Tell(piton::LayerNormNeeds(lengths.h, typeSize == 2), lengths.Rows(), maxValue, minValue);
}
inline void GetNormalizeMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSizeU, const uint32_t typeSizeT, const bool, const bool, const bool,
                                      uint32_t &maxValue, uint32_t &minValue) {
    const piton_norms::RowLengths lengths = piton_norms::LengthsOfTwo(srcShape, typeSizeT);
    piton_norms::Tell(piton::LayerNormNeeds(lengths.h, typeSizeU == 2), lengths.Rows(), maxValue, minValue);
}
/* Overloads with the platform, which public host code uses; the answer is the same. */
inline void GetLayerNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource, const bool isComputeRstd,
                                      const bool isOnlyOutput, const platform_ascendc::PlatformAscendC &, uint32_t &maxValue, uint32_t &minValue) {
    GetLayerNormMaxMinTmpSize(srcShape, typeSize, isReuseSource, isComputeRstd, isOnlyOutput, maxValue, minValue);
}
inline void GetNormalizeMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSizeU, const uint32_t typeSizeT, const bool isReuseSource,
                                      const bool isComputeRstd, const bool isOnlyOutput, const platform_ascendc::PlatformAscendC &, uint32_t &maxValue,
                                      uint32_t &minValue) {
    GetNormalizeMaxMinTmpSize(srcShape, typeSizeU, typeSizeT, isReuseSource, isComputeRstd, isOnlyOutput, maxValue, minValue);
}

/* Into either form of a structure. */
#define PITON_TILING_OF(Form)                                                                                                                             \
    inline void GetLayerNormNDTilingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t, const bool,                         \
                                         Form::LayerNormTiling &tiling) {                                                                                 \
        const piton_norms::RowLengths lengths = piton_norms::LengthsOfFour(srcShape);                                                                     \
        auto made = piton_norms::ShapedTiling<::AscendC::tiling::LayerNormTiling>(lengths);                                                               \
        made.inputXSize = lengths.Rows() * lengths.h;                                                                                                     \
        made.meanVarSize = lengths.Rows();                                                                                                                \
        made.tmpBufSize = stackBufferSize / sizeof(float);                                                                                                \
        made.lastDimValueBack = piton_norms::Reciprocal(lengths.originalH);                                                                               \
        piton_norms::Copy(made, tiling);                                                                                                                  \
    }                                                                                                                                                     \
    inline void GetLayerNormNDTillingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t typeSize, const bool isReuseSource, \
                                          Form::LayerNormTiling &tilling) {                                                                               \
        GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, tilling);                                                            \
    }                                                                                                                                                     \
    inline void GetLayerNormNDTilingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t typeSize, const bool, const bool,    \
                                         Form::LayerNormSeparateTiling &tiling) {                                                                         \
        const piton_norms::RowLengths lengths = piton_norms::LengthsOfTwo(srcShape, typeSize);                                                            \
        ::AscendC::tiling::LayerNormSeparateTiling made;                                                                                                  \
        made.aLength = lengths.b;                                                                                                                         \
        made.rLength = lengths.originalH;                                                                                                                 \
        made.inputXSize = lengths.b * lengths.h;                                                                                                          \
        made.meanVarSize = lengths.b;                                                                                                                     \
        made.tmpBufSize = stackBufferSize / sizeof(float);                                                                                                \
        made.rValueBack = piton_norms::Reciprocal(lengths.originalH);                                                                                     \
        piton_norms::Copy(made, tiling);                                                                                                                  \
    }                                                                                                                                                     \
    inline void GetLayerNormNDTilingInfo(const TensorShape &srcShape, const uint32_t stackBufferSize, const uint32_t typeSize, const bool isReuseSource,  \
                                         const bool isComputeRstd, const platform_ascendc::PlatformAscendC &, Form::LayerNormSeparateTiling &tiling) {    \
        GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, isComputeRstd, tiling);                                              \
    }
PITON_TILING_OF(::AscendC::tiling)
PITON_TILING_OF(::optiling)
#undef PITON_TILING_OF

}  // namespace AscendC

#endif /* PITON_NORMS_NORMS_H */
