/*
 * The body of masked_scale: one tile of y = x * mask * scale in float32, rounded once to the type of x.
 *
 * Both products are taken in this order, as the definition does: an infinite x meets a mask of 0 and becomes NaN. 8-bit masks reach float32 by way of half,
 * the only type that Cast takes them to; all their values are exact there. For a float32 x the mask is widened into y's own tile, else both factors
 * have a tile in float32, of which that of x serves as the way station first.
 */
#ifndef REFERENCE_MASKED_SCALE_BODY_H
#define REFERENCE_MASKED_SCALE_BODY_H

#include <type_traits>

#include "../../../common/element_kernel.h"

using FloatTensor = AscendC::LocalTensor<float>;

template <typename T, typename Mask>
class MaskedScale {
public:
    using Inputs = common::Types<T, Mask>;
    using Outputs = common::Types<T>;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr bool kIsByteMask = sizeof(Mask) == 1;
    static constexpr bool kHasStation = kIsFloat && kIsByteMask;
    static constexpr int64_t kBytesPerElement = kIsFloat ? (kHasStation ? sizeof(half) : 0) : 2 * sizeof(float);
    static constexpr int64_t kFixedBytes = common::kBankPadBytes;
    static constexpr int64_t kElementsPerLaunch = 2500;  // five vector cycles per 64 elements

    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile, float scale) {
        scale_ = scale;
        if constexpr (!kIsFloat) {
            pipe.InitBuffer(wideX_, perTile * sizeof(float));
            pipe.InitBuffer(pad_, common::kBankPadBytes);
            pipe.InitBuffer(wideMask_, perTile * sizeof(float));
        } else if constexpr (kHasStation) {
            pipe.InitBuffer(wideX_, perTile * sizeof(half));
        }
    }

    template <typename In, typename Out>
    __aicore__ inline void Run(In &in, Out &out, uint32_t count) {
        AscendC::PipeBarrier<PIPE_V>();  // the last tile's wide tensors have been read
        if constexpr (kIsFloat) {
            auto y = out.template Make<0>();
            auto mask = in.template Take<1>();
            auto x = in.template Take<0>();
            if constexpr (std::is_same_v<Mask, float>) {
                AscendC::Mul(y, x, mask, count);
            } else {
                Widen(y, mask, count);
                AscendC::Mul(y, x, y, count);
            }
            in.template Free<1>(mask);
            in.template Free<0>(x);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Muls(y, y, scale_, count);
            out.template Put<0>(y);
        } else {
            RunWidened(in, out, count);
        }
    }

private:
    template <typename In, typename Out>
    __aicore__ inline void RunWidened(In &in, Out &out, uint32_t count) {
        const auto wideX = wideX_.template Get<float>(), wideMask = wideMask_.template Get<float>();
        auto mask = in.template Take<1>();
        auto x = in.template Take<0>();
        FloatTensor factor = wideMask;
        if constexpr (std::is_same_v<Mask, float>) {
            factor = mask;
        } else {
            Widen(wideMask, mask, count);
        }
        AscendC::Cast(wideX, x, AscendC::RoundMode::CAST_NONE, count);
        in.template Free<0>(x);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(wideX, wideX, factor, count);
        in.template Free<1>(mask);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(wideX, wideX, scale_, count);
        auto y = out.template Make<0>();
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(y, wideX, AscendC::RoundMode::CAST_RINT, count);
        out.template Put<0>(y);
    }

    __aicore__ inline void Widen(const FloatTensor &wide, const AscendC::LocalTensor<Mask> &mask, uint32_t count) {
        if constexpr (kIsByteMask) {
            const auto station = wideX_.template Get<half>();
            AscendC::Cast(station, mask, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(wide, station, AscendC::RoundMode::CAST_NONE, count);
        } else {
            AscendC::Cast(wide, mask, AscendC::RoundMode::CAST_NONE, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> wideX_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideMask_;
    float scale_;
};

#endif  // REFERENCE_MASKED_SCALE_BODY_H
