/*
 * Class targets: which score of each loss is meant, and which losses count.
 *
 * Both are masks of whole numbers, formed by clamping: a difference clamped to -1..1 and squared is 0 where two numbers are equal, else 1. The bits of a float
 * and a mask of all ones or none leave the float or make it 0, NaN and infinities included, which a product with 0 or 1 would not.
 */
#ifndef REFERENCE_CROSS_ENTROPY_TARGETS_H
#define REFERENCE_CROSS_ENTROPY_TARGETS_H

#include "../../../common/row_vector.h"

using Integers = AscendC::LocalTensor<int32_t>;

/* x = min(max(x, low), high) */
__aicore__ inline void ClampIntegers(const Integers &x, int32_t low, int32_t high, uint32_t count) {
    AscendC::Maxs(x, x, low, count);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mins(x, x, high, count);
    AscendC::PipeBarrier<PIPE_V>();
}

/* x = 0 where it is 0, else 1 */
__aicore__ inline void IsNotZero(const Integers &x, uint32_t count) {
    ClampIntegers(x, -1, 1, count);
    AscendC::Mul(x, x, x, count);
    AscendC::PipeBarrier<PIPE_V>();
}

/* number = 0 where mask is 0; it stays where mask is -1 */
__aicore__ inline void KeepWhere(const common::FloatRows &number, const Integers &mask, uint32_t count) {
    const auto bits = number.ReinterpretCast<uint16_t>();
    AscendC::And(bits, bits, mask.ReinterpretCast<uint16_t>(), static_cast<int32_t>(2 * count));
    AscendC::PipeBarrier<PIPE_V>();
}

class ClassTargets {
public:
    static constexpr int64_t kBytesPerLane = 3 * sizeof(int32_t) + sizeof(float);

    /* `ramp` of a layout: bytes from the tile's start to the first class of each loss. */
    template <typename Layout>
    __aicore__ inline void Init(AscendC::TPipe &pipe, const Layout &layout, const CrossEntropyTiling &tiling, int32_t ignored) {
        pipe.InitBuffer(class_, tiling.lanes * sizeof(int32_t));
        pipe.InitBuffer(ramp_, tiling.lanes * sizeof(int32_t));
        pipe.InitBuffer(work_, tiling.lanes * sizeof(int32_t));
        pipe.InitBuffer(score_, tiling.lanes * sizeof(float));
        classes_ = tiling.classes;
        classBytes_ = layout.ClassBytes();
        ignored_ = ignored;
        layout.NumberLanes(ramp_.Get<int32_t>());
    }

    /* Targets of the next losses; what lies outside -1..classes is moved to these ends, where `ignored` may be. */
    template <typename Target>
    __aicore__ inline void Take(const AscendC::LocalTensor<Target> &target, uint32_t count) {
        const auto classes = class_.Get<int32_t>();
        if constexpr (sizeof(Target) == sizeof(int64_t)) {
            AscendC::Cast(classes, target, AscendC::RoundMode::CAST_NONE, count);
        } else {
            AscendC::Adds(classes, target, 0, count);
        }
        AscendC::PipeBarrier<PIPE_V>();
        ClampIntegers(classes, -1, classes_, count);
    }

    /* chosen += score of the class, of those losses whose class is one of the tile's. */
    __aicore__ inline void AddChosen(const common::FloatRows &chosen, const common::FloatRows &x, const LossTile &tile, uint32_t count) {
        const auto place = work_.Get<int32_t>();
        const auto score = score_.Get<float>();
        Place(place, tile, count);
        AscendC::Muls(place, place, classBytes_, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(place, place, ramp_.Get<int32_t>(), count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Gather(score, x, place.ReinterpretCast<uint32_t>(), 0, count);
        AscendC::PipeBarrier<PIPE_V>();
        if (tile.classes < classes_) {
            Place(place, tile, count);
            AscendC::Adds(place, place, static_cast<int32_t>(tile.firstClass), count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Sub(place, place, class_.Get<int32_t>(), count);
            AscendC::PipeBarrier<PIPE_V>();
            IsNotZero(place, count);
            AscendC::Adds(place, place, -1, count);
            AscendC::PipeBarrier<PIPE_V>();
            KeepWhere(score, place, count);
        }
        AscendC::Add(chosen, chosen, score, count);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* Losses that do not count become 0; returns 1 for those that do and 0 for the others. */
    __aicore__ inline common::FloatRows DropIgnored(const common::FloatRows &loss, uint32_t count) {
        const auto mask = work_.Get<int32_t>();
        const auto counted = score_.Get<float>();
        AscendC::Adds(mask, class_.Get<int32_t>(), -ignored_, count);
        AscendC::PipeBarrier<PIPE_V>();
        IsNotZero(mask, count);
        AscendC::Cast(counted, mask, AscendC::RoundMode::CAST_NONE, count);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(mask, mask, -1, count);
        AscendC::PipeBarrier<PIPE_V>();
        KeepWhere(loss, mask, count);
        return counted;
    }

private:
    /* The class within the tile, moved to its ends where it is outside. */
    __aicore__ inline void Place(const Integers &place, const LossTile &tile, uint32_t count) {
        AscendC::Adds(place, class_.Get<int32_t>(), -static_cast<int32_t>(tile.firstClass), count);
        AscendC::PipeBarrier<PIPE_V>();
        ClampIntegers(place, 0, static_cast<int32_t>(tile.classes) - 1, count);
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> class_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> ramp_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> score_;
    int32_t classes_;
    int32_t classBytes_;
    int32_t ignored_;
};

#endif  // REFERENCE_CROSS_ENTROPY_TARGETS_H
