/*
 * Host functions of LayerNormGrad, LayerNormGradBeta, DeepNorm, RmsNorm, GroupNorm, BatchNorm, WelfordUpdate and WelfordFinalize.
 *
 * Problem and approach: as norms.h. Functions that answer with a truth value say no where the memory is less than a kernel needs or a length is 0.
 * Limits: the numbers are ours, not the vendor's. Of the structures the shape is filled in.
 */
#ifndef PITON_NORMS_MORE_NORMS_H
#define PITON_NORMS_MORE_NORMS_H

#include "norms.h"

namespace piton_norms {

/* {B, S, H} and the H before padding, which is the same if no other shape is given. */
inline RowLengths LengthsOfThree(const AscendC::TensorShape &shape, const AscendC::TensorShape &original) {
    return {Length(shape, 0), Length(shape, 1), Length(shape, 2), Length(original, 2)};
}
inline bool HasRows(const RowLengths &lengths) { return lengths.Rows() != 0 && lengths.h != 0 && lengths.originalH != 0 && lengths.originalH <= lengths.h; }

/* {N, C, H, W} in groups. */
struct ImageLengths {
    uint32_t n, c, hw, groups;

    ImageLengths(const AscendC::TensorShape &shape, uint32_t groupNum)
        : n(Length(shape, 0)), c(Length(shape, 1)), hw(Length(shape, 2) * Length(shape, 3)), groups(groupNum == 0 ? 1 : groupNum) {}
    uint32_t Channels() const { return c / groups; }
    piton::RowNeeds Needs() const { return piton::GroupNormNeeds(Channels() * hw, c); }
};

inline void TellStrip(const piton::StripNeeds &needs, uint32_t length, uint32_t &most, uint32_t &least) {
    least = Bytes(piton::StripBytes(needs, piton::RowNeeds::kLanes));
    most = Bytes(piton::StripBytes(needs, length == 0 ? piton::RowNeeds::kLanes : piton::WholeRepeats(length)));
}

}  // namespace piton_norms

namespace AscendC {

inline void GetLayerNormGradMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, uint32_t &maxValue, uint32_t &minValue) {
    const piton_norms::RowLengths lengths = piton_norms::LengthsOfFour(srcShape);
    piton_norms::Tell(piton::LayerNormGradNeeds(lengths.h), lengths.Rows(), maxValue, minValue);
}
inline void GetLayerNormGradBetaMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, uint32_t &maxValue, uint32_t &minValue) {
    const piton_norms::RowLengths lengths = piton_norms::LengthsOfFour(srcShape);
    piton_norms::Tell(piton::LayerNormGradBetaNeeds(lengths.h), lengths.Rows(), maxValue, minValue);
}
inline bool GetDeepNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool, const bool, uint32_t &maxValue, uint32_t &minValue) {
    const piton_norms::RowLengths lengths = piton_norms::LengthsOfThree(srcShape, srcShape);
    piton_norms::Tell(piton::LayerNormNeeds(lengths.h, typeSize == 2), lengths.Rows(), maxValue, minValue);
    return piton_norms::HasRows(lengths);
}
inline bool GetRmsNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, uint32_t &maxValue, uint32_t &minValue, const bool = false) {
    const piton_norms::RowLengths lengths = piton_norms::LengthsOfThree(srcShape, srcShape);
    piton_norms::Tell(piton::RmsNormNeeds(lengths.h, typeSize == 2), lengths.Rows(), maxValue, minValue);
    return piton_norms::HasRows(lengths);
}
inline void GetGroupNormMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, const uint32_t groupNum, uint32_t &maxValue,
                                      uint32_t &minValue) {
    const piton_norms::ImageLengths image(srcShape, groupNum);
    piton_norms::Tell(image.Needs(), image.n * image.groups, maxValue, minValue);
}
inline bool GetBatchNormMaxMinTmpSize(const TensorShape &srcShape, const TensorShape &originSrcShape, const uint32_t, const bool, uint32_t &maxValue,
                                      uint32_t &minValue, const bool = false) {
    const uint32_t batch = piton_norms::Length(originSrcShape, 0), columns = piton_norms::Length(srcShape, 1) * piton_norms::Length(srcShape, 2);
    piton_norms::TellStrip(piton::BatchNormNeeds(batch), columns, maxValue, minValue);
    return batch != 0 && columns != 0;
}
inline void GetWelfordUpdateMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const uint32_t, const bool, const bool, uint32_t &maxValue,
                                          uint32_t &minValue) {
    piton_norms::TellStrip(piton::WelfordUpdateNeeds(), piton_norms::Length(srcShape, 1), maxValue, minValue);
}
inline void GetWelfordFinalizeMaxMinTmpSize(const TensorShape &srcShape, const uint32_t, const bool, uint32_t &maxValue, uint32_t &minValue) {
    piton_norms::TellStrip(piton::WelfordFinalizeNeeds(), piton_norms::Length(srcShape, 0), maxValue, minValue);
}
/* Overloads with the platform, which public host code uses; the answers are the same. */
inline void GetWelfordUpdateMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSizeT, const uint32_t typeSizeU, const bool isReuseSource,
                                          const bool isInplace, const platform_ascendc::PlatformAscendC &, uint32_t &maxValue, uint32_t &minValue) {
    GetWelfordUpdateMaxMinTmpSize(srcShape, typeSizeT, typeSizeU, isReuseSource, isInplace, maxValue, minValue);
}
inline void GetWelfordFinalizeMaxMinTmpSize(const TensorShape &srcShape, const uint32_t typeSize, const bool isReuseSource,
                                            const platform_ascendc::PlatformAscendC &, uint32_t &maxValue, uint32_t &minValue) {
    GetWelfordFinalizeMaxMinTmpSize(srcShape, typeSize, isReuseSource, maxValue, minValue);
}

/* Into either form of a structure. */
#define PITON_ROWS_TILING(Form, Call, Name)                                                                                        \
    inline void Call(const TensorShape srcShape, const uint32_t stackBufferSize, const uint32_t, const bool, Form::Name &tiling) { \
        auto made = piton_norms::ShapedTiling<::AscendC::tiling::Name>(piton_norms::LengthsOfFour(srcShape));                      \
        made.stackBufferSize = stackBufferSize;                                                                                    \
        piton_norms::Copy(made, tiling);                                                                                           \
    }
#define PITON_TILING_OF(Form)                                                                                                                                  \
    PITON_ROWS_TILING(Form, GetLayerNormGradNDTilingInfo, LayerNormGradTiling)                                                                                 \
    PITON_ROWS_TILING(Form, GetLayerNormGradBetaNDTilingInfo, LayerNormGradBetaTiling)                                                                         \
    inline bool GetDeepNormTilingInfo(const TensorShape &srcShape, const TensorShape &originSrcShape, const uint32_t stackBufferSize, const uint32_t typeSize, \
                                      const bool, const bool, Form::DeepNormTiling &tiling) {                                                                  \
        const piton_norms::RowLengths lengths = piton_norms::LengthsOfThree(srcShape, originSrcShape);                                                         \
        auto made = piton_norms::ShapedTiling<::AscendC::tiling::DeepNormTiling>(lengths);                                                                     \
        made.inputXSize = lengths.Rows() * lengths.h;                                                                                                          \
        made.meanVarSize = lengths.Rows();                                                                                                                     \
        made.lastDimValueBack = piton_norms::Reciprocal(lengths.originalH);                                                                                    \
        piton_norms::Copy(made, tiling);                                                                                                                       \
        return piton_norms::HasRows(lengths) && stackBufferSize >= piton::LeastBytes(piton::LayerNormNeeds(lengths.h, typeSize == 2));                         \
    }                                                                                                                                                          \
    inline bool GetRmsNormTilingInfo(const TensorShape &srcShape, const TensorShape &originSrcShape, const uint32_t stackBufferByteSize,                       \
                                     const uint32_t typeSize, Form::RmsNormTiling &tiling, const bool = false) {                                               \
        const piton_norms::RowLengths lengths = piton_norms::LengthsOfThree(srcShape, originSrcShape);                                                         \
        auto made = piton_norms::ShapedTiling<::AscendC::tiling::RmsNormTiling>(lengths);                                                                      \
        made.reciprocalOfHLength = piton_norms::Reciprocal(lengths.originalH);                                                                                 \
        piton_norms::Copy(made, tiling);                                                                                                                       \
        return piton_norms::HasRows(lengths) && stackBufferByteSize >= piton::LeastBytes(piton::RmsNormNeeds(lengths.h, typeSize == 2));                       \
    }                                                                                                                                                          \
    inline void GetGroupNormNDTilingInfo(const TensorShape &srcShape, const uint32_t, const uint32_t, const bool, const uint32_t groupNum,                     \
                                         Form::GroupNormTiling &tiling) {                                                                                      \
        const piton_norms::ImageLengths image(srcShape, groupNum);                                                                                             \
        ::AscendC::tiling::GroupNormTiling made;                                                                                                               \
        made.n = image.n;                                                                                                                                      \
        made.c = image.c;                                                                                                                                      \
        made.hw = made.hwAlignSize = image.hw;                                                                                                                 \
        made.g = image.groups;                                                                                                                                 \
        made.d = image.Channels();                                                                                                                             \
        made.dhwAlignSize = image.Channels() * image.hw;                                                                                                       \
        made.inputXSize = image.n * image.c * image.hw;                                                                                                        \
        made.meanVarSize = image.n * image.groups;                                                                                                             \
        made.factor = piton_norms::Reciprocal(made.dhwAlignSize);                                                                                              \
        piton_norms::Copy(made, tiling);                                                                                                                       \
    }                                                                                                                                                          \
    inline bool GetBatchNormNDTilingInfo(const TensorShape &srcShape, const TensorShape &originSrcShape, const uint32_t stackBufferByteSize, const uint32_t,   \
                                         const bool, Form::BatchNormTiling &tilling, const bool = false) {                                                     \
        ::AscendC::tiling::BatchNormTiling made;                                                                                                               \
        made.originalBLength = piton_norms::Length(originSrcShape, 0);                                                                                         \
        made.meanVarSize = piton_norms::Length(srcShape, 1) * piton_norms::Length(srcShape, 2);                                                                \
        made.firstDimValueBack = piton_norms::Reciprocal(made.originalBLength);                                                                                \
        piton_norms::Copy(made, tilling);                                                                                                                      \
        const uint64_t least = piton::StripBytes(piton::BatchNormNeeds(made.originalBLength), piton::RowNeeds::kLanes);                                        \
        return made.originalBLength != 0 && made.meanVarSize != 0 && stackBufferByteSize >= least;                                                             \
    }
PITON_TILING_OF(::AscendC::tiling)
PITON_TILING_OF(::optiling)
#undef PITON_TILING_OF
#undef PITON_ROWS_TILING

}  // namespace AscendC

#endif /* PITON_NORMS_MORE_NORMS_H */
