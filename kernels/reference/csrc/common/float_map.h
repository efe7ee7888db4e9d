/*
 * The body of an elementwise kernel (element_kernel.h) that is one float32 formula of one tensor: y = f(x), both of type T. 16-bit types are widened, computed
 * in float32 and rounded once.
 *
 * Formula has: kKeepsX, whether it needs x in a tensor other than y's (in float32 it is one anyway); kBytesPerElement and kFixedBytes, what it keeps in the
 * unified buffer; kElementsPerLaunch, see KernelTraits; Init(pipe, perTile, arguments...); Evaluate(y, x, count), which may overwrite x. x starts at a multiple
 * of 512 bytes, y (if another tensor) and the first tensor that the formula allocates at an odd multiple of 256, so that a binary instruction that pairs x with
 * one of them has no bank conflict.
 */
#ifndef REFERENCE_FLOAT_MAP_H
#define REFERENCE_FLOAT_MAP_H

#include <type_traits>

#include "element_kernel.h"

namespace common {

using FloatTensor = AscendC::LocalTensor<float>;

template <typename T, typename Formula>
class FloatMap {
public:
    using Inputs = Types<T>;
    using Outputs = Types<T>;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr int64_t kWideTensors = kIsFloat ? 0 : (Formula::kKeepsX ? 2 : 1);
    static constexpr int64_t kBytesPerElement = kWideTensors * sizeof(float) + Formula::kBytesPerElement;
    static constexpr int64_t kFixedBytes = kBankPadBytes + Formula::kFixedBytes;
    static constexpr int64_t kElementsPerLaunch = Formula::kElementsPerLaunch;

    template <typename... Arguments>
    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t perTile, Arguments... arguments) {
        if constexpr (!kIsFloat) {
            pipe.InitBuffer(wideX_, perTile * sizeof(float));
        }
        pipe.InitBuffer(pad_, kBankPadBytes);
        if constexpr (!kIsFloat && Formula::kKeepsX) {
            pipe.InitBuffer(wideY_, perTile * sizeof(float));
        }
        formula_.Init(pipe, perTile, arguments...);
    }

    template <typename In, typename Out>
    __aicore__ inline void Run(In &in, Out &out, uint32_t count) {
        AscendC::PipeBarrier<PIPE_V>();  // what the last tile left in the wide tensors and in the formula's has been read
        auto x = in.template Take<0>();
        if constexpr (kIsFloat) {
            auto y = out.template Make<0>();
            formula_.Evaluate(y, x, count);
            in.template Free<0>(x);
            out.template Put<0>(y);
        } else {
            const auto wideX = wideX_.template Get<float>(), wideY = WideY();
            AscendC::Cast(wideX, x, AscendC::RoundMode::CAST_NONE, count);
            in.template Free<0>(x);
            AscendC::PipeBarrier<PIPE_V>();
            formula_.Evaluate(wideY, wideX, count);
            auto y = out.template Make<0>();
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, wideY, AscendC::RoundMode::CAST_RINT, count);
            out.template Put<0>(y);
        }
    }

private:
    __aicore__ inline FloatTensor WideY() {
        if constexpr (Formula::kKeepsX) {
            return wideY_.template Get<float>();
        } else {
            return wideX_.template Get<float>();
        }
    }

    Formula formula_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideX_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wideY_;
};

}  // namespace common

#endif  // REFERENCE_FLOAT_MAP_H
