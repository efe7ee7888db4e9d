/*
 * The products of sines with the partners of a tile's elements, in float32; see apply_rotary_pos_emb_kernel.cpp for the ways to a partner.
 */
#ifndef REFERENCE_ROTARY_PARTNER_H
#define REFERENCE_ROTARY_PARTNER_H

#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/row_vector.h"
#include "rotary_plan.h"

template <typename T>
class RotaryPartner {
public:
    using Floats = AscendC::LocalTensor<float>;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;

    __aicore__ inline void Init(AscendC::TPipe &pipe, const RotaryPlan &plan, uint32_t perTile) {
        plan_ = plan;
        if (plan.isGathered) {
            pipe.InitBuffer(offsets_, perTile * sizeof(uint32_t));
        }
    }

    /* Where each element's partner lies in a tile, in bytes of float32; filled by RotaryAngles. */
    __aicore__ inline AscendC::LocalTensor<uint32_t> Offsets() {
        if (plan_.isGathered) {
            return offsets_.template Get<uint32_t>();
        }
        return {};
    }

    /* product = sin * partner. 16-bit x is widened into `straight`; float32 x is that tensor itself. */
    __aicore__ inline void Multiply(const Floats &product, const Floats &straight, const AscendC::LocalTensor<T> &x, const Floats &sin, uint32_t count) {
        if constexpr (!kIsFloat) {
            if (plan_.isInterleaved) {
                Exchange(product, straight, x, count);
                AscendC::Mul(product, product, sin, count);
            }
            AscendC::Cast(straight, x, AscendC::RoundMode::CAST_NONE, count);
            AscendC::PipeBarrier<PIPE_V>();
            if (plan_.isInterleaved) {
                return;
            }
        }
        if (plan_.isGathered) {
            AscendC::Gather(product, straight, offsets_.template Get<uint32_t>(), 0, count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Mul(product, product, sin, count);
        } else {
            MultiplyHalves(product, straight, sin, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

private:
    /* product = x with neighbours exchanged, in float32; `spare` is overwritten. */
    __aicore__ inline void Exchange(const Floats &product, const Floats &spare, const AscendC::LocalTensor<T> &x, uint32_t count) {
        constexpr uint32_t kBits = 16;
        const auto words = x.template ReinterpretCast<uint32_t>(), left = spare.template ReinterpretCast<uint32_t>();
        const auto right = left[(count / 2 + common::kBlockFloats - 1) / common::kBlockFloats * common::kBlockFloats];
        AscendC::ShiftLeft(left, words, kBits, count / 2);
        AscendC::ShiftRight(right, words, kBits, count / 2);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Or(left.template ReinterpretCast<uint16_t>(), left.template ReinterpretCast<uint16_t>(), right.template ReinterpretCast<uint16_t>(), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Cast(product, left.template ReinterpretCast<T>(), AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Rows of two halves, either with the other one's x: over all rows for each 64 floats of a half, or row by row where a stride is too long. */
    __aicore__ inline void MultiplyHalves(const Floats &product, const Floats &x, const Floats &sin, uint32_t count) {
        const uint32_t pairs = plan_.pairs, length = 2 * pairs, rows = count / length, blocks = length / common::kBlockFloats;
        if (blocks > common::kMostStride) {
            for (uint32_t start = 0; start < count; start += length) {
                AscendC::Mul(product[start], x[start + pairs], sin[start], pairs);
                AscendC::Mul(product[start + pairs], x[start], sin[start + pairs], pairs);
            }
            return;
        }
        const uint8_t stride = blocks;
        const AscendC::BinaryRepeatParams strides(1, 1, 1, stride, stride, stride);
        for (uint32_t column = 0; column < pairs; column += common::kSlice) {
            const uint32_t lanes = pairs - column < common::kSlice ? pairs - column : common::kSlice;
            for (uint32_t row = 0; row < rows; row += common::kMostRepeats) {
                const uint32_t first = row * length + column, second = first + pairs;
                const uint32_t now = rows - row < common::kMostRepeats ? rows - row : common::kMostRepeats;
                AscendC::Mul(product[first], x[second], sin[first], lanes, now, strides);
                AscendC::Mul(product[second], x[first], sin[second], lanes, now, strides);
            }
        }
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> offsets_;
    RotaryPlan plan_;
};

#endif  // REFERENCE_ROTARY_PARTNER_H
