/* What scatter computes with, and how: 16-bit types in float32, rounded once at the end; integers wrap around. */
#ifndef REFERENCE_SCATTER_ELEMENT_H
#define REFERENCE_SCATTER_ELEMENT_H

#include <limits>
#include <type_traits>

#include "kernel_operator.h"

#include "scatter_launch.h"

template <typename T>
struct ScatterElement {
    static constexpr bool kIsNarrow = sizeof(T) == 2;
    using Wide = std::conditional_t<kIsNarrow, float, T>;
};

/* The number that changes nothing. */
template <typename Wide>
__aicore__ inline Wide Neutral(Reduction reduction) {
    constexpr bool kIsFloat = std::is_same_v<Wide, float>;
    switch (reduction) {
        case Reduction::kMultiply:
            return static_cast<Wide>(1);
        case Reduction::kMin:
            return kIsFloat ? std::numeric_limits<Wide>::infinity() : std::numeric_limits<Wide>::max();
        case Reduction::kMax:
            return kIsFloat ? -std::numeric_limits<Wide>::infinity() : std::numeric_limits<Wide>::lowest();
        default:
            return static_cast<Wide>(0);
    }
}

/* One element, on the scalar unit. A NaN stays, whichever side it is on. */
template <typename Wide>
__aicore__ inline Wide Combined(Reduction reduction, Wide old, Wide update) {
    using Unsigned =
        std::conditional_t<std::is_same_v<Wide, float>, float, std::make_unsigned_t<std::conditional_t<std::is_same_v<Wide, float>, int32_t, Wide>>>;
    switch (reduction) {
        case Reduction::kAdd:
            return static_cast<Wide>(static_cast<Unsigned>(old) + static_cast<Unsigned>(update));
        case Reduction::kMultiply:
            return static_cast<Wide>(static_cast<Unsigned>(old) * static_cast<Unsigned>(update));
        case Reduction::kMin:
            return old < update || old != old ? old : update;
        case Reduction::kMax:
            return old > update || old != old ? old : update;
        default:
            return update;
    }
}

/* dst = dst and update combined, by the vector unit; not for kNone. */
template <typename Wide>
__aicore__ inline void CombineVector(Reduction reduction, const AscendC::LocalTensor<Wide> &dst, const AscendC::LocalTensor<Wide> &update, uint32_t count) {
    switch (reduction) {
        case Reduction::kAdd:
            AscendC::Add(dst, dst, update, count);
            break;
        case Reduction::kMultiply:
            AscendC::Mul(dst, dst, update, count);
            break;
        case Reduction::kMin:
            AscendC::Min(dst, dst, update, count);
            break;
        default:
            AscendC::Max(dst, dst, update, count);
            break;
    }
    AscendC::PipeBarrier<PIPE_V>();
}

#endif  // REFERENCE_SCATTER_ELEMENT_H
