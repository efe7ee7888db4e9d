/*
 * Where the new pixels of one axis lie among the old ones: the lower neighbour by the scalar unit, the shares of both neighbours of many pixels by the vector
 * unit, in integers as far as that goes. Shares are formed from the remainder of one division, so that a pixel that falls on another one has exactly 0.
 */
#ifndef REFERENCE_RESIZE_POSITIONS_H
#define REFERENCE_RESIZE_POSITIONS_H

#include "kernel_operator.h"

#include "resize_bilinear_launch.h"

struct ResizeShares {
    float low;
    float high;
};

/* Lower neighbours of new pixels that follow each other, by additions: a division takes the scalar unit long. */
struct ResizeWalk {
    int32_t whole, rest;          // the position: below 0 at first, where x is enlarged
    int32_t stepWhole, stepRest;  // how far it is to the next one
    int32_t divisor, most;

    __aicore__ inline __attribute__((always_inline)) uint32_t Next() {
        const int32_t seen = whole < most ? whole : most;
        rest += stepRest;
        const int32_t carry = rest >= divisor;
        whole += stepWhole + carry;
        rest -= carry * divisor;
        return seen > 0 ? seen : 0;
    }
};

class ResizePositions {
public:
    __aicore__ inline void Init(const ResizeAxis &axis) {
        last_ = axis.old - 1;
        step_ = axis.step;
        start_ = axis.start;
        divisor_ = axis.divisor;
    }

    /* The old pixel at or below a new one, and the one above: the same at the end. */
    __aicore__ inline uint32_t Low(uint32_t place) const {
        const uint32_t low = Numerator(place) / static_cast<uint32_t>(divisor_);
        return low < last_ ? low : last_;
    }
    __aicore__ inline uint32_t Above(uint32_t low) const { return low < last_ ? low + 1 : last_; }

    /* The lower neighbours of new pixels from `place` on, none above `most`. */
    __aicore__ inline ResizeWalk WalkFrom(uint32_t place, uint32_t most) const {
        const int64_t numerator = step_ * place + start_, whole = (numerator - (numerator < 0 ? divisor_ - 1 : 0)) / divisor_;
        return {static_cast<int32_t>(whole),
                static_cast<int32_t>(numerator - whole * divisor_),
                static_cast<int32_t>(step_ / divisor_),
                static_cast<int32_t>(step_ % divisor_),
                static_cast<int32_t>(divisor_),
                static_cast<int32_t>(most)};
    }

    __aicore__ inline ResizeShares Shares(uint32_t place) const {
        const uint32_t divisor = divisor_, rest = Numerator(place) % divisor;
        const float whole = divisor;
        return {static_cast<float>(divisor - rest) / whole, static_cast<float>(rest) / whole};
    }

    /* Shares of `count` pixels from `first` on, formed from the numerators; `work` has room for three times as many. Positions past the end are harmless. */
    __aicore__ inline void Fill(const AscendC::LocalTensor<float> &low, const AscendC::LocalTensor<float> &high, const AscendC::LocalTensor<int32_t> &work,
                                uint32_t first, uint32_t count) const {
        using namespace AscendC;
        const auto rest = work, part = work[count];
        const auto real = work[2 * count].ReinterpretCast<float>();
        const auto divisor = static_cast<int32_t>(divisor_);
        const float whole = static_cast<float>(divisor), inverse = 1.0f / whole;
        CreateVecIndex(rest, static_cast<int32_t>(first), count);
        PipeBarrier<PIPE_V>();
        Muls(rest, rest, static_cast<int32_t>(step_), count);
        PipeBarrier<PIPE_V>();
        Adds(rest, rest, static_cast<int32_t>(start_), count);
        PipeBarrier<PIPE_V>();
        Maxs(rest, rest, 0, count);
        PipeBarrier<PIPE_V>();
        Cast(real, rest, RoundMode::CAST_RINT, count);
        PipeBarrier<PIPE_V>();
        Muls(real, real, inverse, count);
        PipeBarrier<PIPE_V>();
        Cast(part, real, RoundMode::CAST_FLOOR, count);  // the quotient, or one beside it
        PipeBarrier<PIPE_V>();
        Muls(part, part, -divisor, count);
        PipeBarrier<PIPE_V>();
        Add(rest, rest, part, count);
        PipeBarrier<PIPE_V>();
        Correct(rest, part, divisor, count);
        Cast(real, rest, RoundMode::CAST_RINT, count);
        PipeBarrier<PIPE_V>();
        Muls(high, real, inverse, count);
        PipeBarrier<PIPE_V>();
        Muls(real, real, -1.0f, count);
        PipeBarrier<PIPE_V>();
        Adds(real, real, whole, count);
        PipeBarrier<PIPE_V>();
        Muls(low, real, inverse, count);
        PipeBarrier<PIPE_V>();
    }

private:
    __aicore__ inline uint32_t Numerator(uint32_t place) const {
        const int64_t numerator = step_ * place + start_;
        return numerator > 0 ? numerator : 0;
    }

    /* A remainder of a quotient that is one off, to one between 0 and the divisor: the sign bit of the remainder, and of what it has above the divisor. */
    __aicore__ inline void Correct(const AscendC::LocalTensor<int32_t> &rest, const AscendC::LocalTensor<int32_t> &part, int32_t divisor,
                                   uint32_t count) const {
        using namespace AscendC;
        ShiftRight(part, rest, 31, count);  // -1 below 0
        PipeBarrier<PIPE_V>();
        Muls(part, part, -divisor, count);
        PipeBarrier<PIPE_V>();
        Add(rest, rest, part, count);
        PipeBarrier<PIPE_V>();
        Adds(rest, rest, -divisor, count);
        PipeBarrier<PIPE_V>();
        ShiftRight(part, rest, 31, count);  // -1 below the divisor: give it back
        PipeBarrier<PIPE_V>();
        Muls(part, part, -divisor, count);
        PipeBarrier<PIPE_V>();
        Add(rest, rest, part, count);
        PipeBarrier<PIPE_V>();
    }

    uint32_t last_;
    int64_t step_;
    int64_t start_;
    int64_t divisor_;
};

#endif  // REFERENCE_RESIZE_POSITIONS_H
