/*
 * arg_max, plain: a core takes whole rows, or along another axis whole strips of columns, tile by tile.
 *
 * A tile of a row goes through ReduceMax with index; integers do so 16 bits at a time, the highest first, and only those count that were largest so far. Lines
 * of columns are compared with the best so far one after the other, int64 by halves.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "arg_max_launch.h"

constexpr uint32_t kStrip = 256;  // columns
constexpr uint32_t kLines = baseline::kTileElements / kStrip;

template <typename T>
class ArgMaxKernel {
public:
    static constexpr bool kIsFloat = !std::is_same_v<T, int32_t> && !std::is_same_v<T, int64_t>;
    static constexpr uint32_t kTile = baseline::kTileElements;
    using Key = std::conditional_t<kIsFloat, float, int32_t>;
    using KeyTensor = AscendC::LocalTensor<Key>;

    __aicore__ inline void Init(GM_ADDR input, GM_ADDR indices, const ArgMaxShape &shape) {
        shape_ = shape;
        input_.SetGlobalBuffer((__gm__ T *)input);
        indices_.SetGlobalBuffer((__gm__ int64_t *)indices);
        pipe_.InitBuffer(in_, 1, kTile * sizeof(T));
        pipe_.InitBuffer(out_, 1, kStrip * sizeof(int64_t));
        pipe_.InitBuffer(wide_, kTile * sizeof(float));
        pipe_.InitBuffer(work_, kTile * sizeof(float));
        pipe_.InitBuffer(best_, kStrip * sizeof(int64_t));
        pipe_.InitBuffer(place_, kStrip * sizeof(int32_t));
        pipe_.InitBuffer(line_, kStrip * sizeof(int32_t));
        pipe_.InitBuffer(bits_, kTile / 8);
        pipe_.InitBuffer(nanBits_, kTile / 8);
        pipe_.InitBuffer(upper_, kTile * sizeof(int32_t));
        pipe_.InitBuffer(lower_, kTile * sizeof(int32_t));
        pipe_.InitBuffer(number_, kTile * sizeof(int32_t));
        AscendC::Duplicate(number_.template Get<int32_t>(), 0, static_cast<int32_t>(kTile));
        Clear();
    }

    __aicore__ inline void Process() {
        const int64_t strips = (shape_.inner + kStrip - 1) / kStrip, units = shape_.outer * strips;
        const int64_t share = (units + AscendC::GetBlockNum() - 1) / AscendC::GetBlockNum();
        const int64_t first = share * AscendC::GetBlockIdx(), last = units < first + share ? units : first + share;
        for (int64_t unit = first; unit < last; ++unit) {
            if (shape_.inner == 1) {
                Row(unit);
            } else {
                Strip(unit / strips, unit % strips * kStrip);
            }
        }
    }

private:
    /* What a short tile lacks is computed along; it must be something. */
    __aicore__ inline void Clear() {
        auto x = in_.template AllocTensor<T>();
        AscendC::Duplicate(x.template ReinterpretCast<int32_t>(), 0, kTile * sizeof(T) / sizeof(int32_t));
        in_.FreeTensor(x);
    }

    __aicore__ inline AscendC::LocalTensor<T> Load(int64_t start, uint32_t lines, uint32_t count) {
        auto x = in_.template AllocTensor<T>();
        const uint32_t bytes = count * sizeof(T), apart = lines > 1 ? (shape_.inner - count) * sizeof(T) : 0;
        const uint32_t unused = lines > 1 ? (kStrip - count) * sizeof(T) / 32 : 0;
        AscendC::DataCopyPad(x, input_[start], AscendC::DataCopyExtParams{static_cast<uint16_t>(lines), bytes, apart, unused, 0},
                             AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
        return in_.template DeQue<T>();
    }

    __aicore__ inline KeyTensor Widen(const AscendC::LocalTensor<T> &x, uint32_t count) {
        const auto wide = wide_.template Get<Key>();
        if constexpr (sizeof(T) == 2) {
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, count);
        } else if constexpr (sizeof(T) == 4) {
            AscendC::Adds(wide, x, static_cast<T>(0), count);
        }
        return wide;
    }

    __aicore__ inline void Store(int64_t start, AscendC::LocalTensor<int64_t> &places, uint32_t count) {
        out_.EnQue(places);
        auto stored = out_.template DeQue<int64_t>();
        AscendC::DataCopyPad(indices_[start], stored, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(int64_t)), 0, 0, 0});
        out_.FreeTensor(stored);
    }

    __aicore__ inline void Row(int64_t row) {
        std::conditional_t<kIsFloat, float, T> best{};
        int64_t place = -1;
        for (int64_t done = 0; done < shape_.length; done += kTile) {
            const uint32_t count = shape_.length - done < kTile ? shape_.length - done : kTile;
            auto x = Load(row * shape_.length + done, 1, count);
            if constexpr (kIsFloat) {
                auto found = best_.template Get<float>();
                AscendC::ReduceMax(found, Widen(x, count), work_.template Get<float>(), static_cast<int32_t>(count), true);
                const float value = found.GetValue(0);
                if (place < 0 || value > best || (value != value && best == best)) {
                    best = value;
                    place = done + found.template ReinterpretCast<int32_t>().GetValue(1);
                }
            } else {
                const uint32_t at = LargestInteger(x, count);
                const T value = x.GetValue(at);
                if (place < 0 || value > best) {
                    best = value;
                    place = done + at;
                }
            }
            in_.FreeTensor(x);
        }
        auto places = out_.template AllocTensor<int64_t>();
        places.SetValue(0, place);
        Store(row, places, 1);
    }

    __aicore__ inline uint32_t LargestInteger(const AscendC::LocalTensor<T> &x, uint32_t count) {
        const auto words = x.template ReinterpretCast<int32_t>();
        if constexpr (sizeof(T) == 8) {
            Split(words, count);
            LargestHalf(upper_.template Get<int32_t>(), count, true, true);
            LargestHalf(upper_.template Get<int32_t>(), count, false, false);
            LargestHalf(lower_.template Get<int32_t>(), count, true, false);
            return LargestHalf(lower_.template Get<int32_t>(), count, false, false);
        } else {
            LargestHalf(words, count, true, true);
            return LargestHalf(words, count, false, false);
        }
    }

    /* Upper and lower 32 bits of int64; lower ones have their highest bit the other way round, so that they compare as signed numbers do. */
    __aicore__ inline void Split(const AscendC::LocalTensor<int32_t> &words, uint32_t count) {
        const auto upper = upper_.template Get<int32_t>(), lower = lower_.template Get<int32_t>();
        const auto sign = wide_.template Get<int32_t>(), with = work_.template Get<int32_t>();
        uint64_t taken = 0;
        AscendC::GatherMask(lower, words, 1, true, 2 * count, AscendC::GatherMaskParams{1, 1, 8, 8}, taken);
        AscendC::GatherMask(upper, words, 2, true, 2 * count, AscendC::GatherMaskParams{1, 1, 8, 8}, taken);
        AscendC::Duplicate(sign, kLowest, static_cast<int32_t>(count));
        AscendC::Or(with, lower, sign, static_cast<int32_t>(2 * count));
        AscendC::And(lower, lower, sign, static_cast<int32_t>(2 * count));
        AscendC::Sub(lower, with, lower, static_cast<int32_t>(count));
    }

    /* Place of the largest upper or lower 16 bits among those whose bits were largest before; `isFirst`: among all. */
    __aicore__ inline uint32_t LargestHalf(const AscendC::LocalTensor<int32_t> &words, uint32_t count, bool isUpper, bool isFirst) {
        const auto integer = number_.template Get<int32_t>(), upper = work_.template Get<int32_t>();
        const auto number = number_.template Get<float>(), found = best_.template Get<float>();
        const auto bits = bits_.template Get<uint8_t>();
        AscendC::ShiftRight(upper, words, 16, static_cast<int32_t>(count));
        if (isUpper) {
            AscendC::Adds(integer, upper, 0, static_cast<int32_t>(count));
        } else {
            AscendC::ShiftLeft(upper, upper, 16, static_cast<int32_t>(count));
            AscendC::Sub(integer, words, upper, static_cast<int32_t>(count));
        }
        AscendC::Cast(number, integer, AscendC::RoundMode::CAST_NONE, count);
        if (!isFirst) {
            AscendC::Select(number, bits, number, -1.0e6f, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
        }
        AscendC::ReduceMax(found, number, work_.template Get<float>(), static_cast<int32_t>(count), true);
        AscendC::CompareScalar(bits, number, found.GetValue(0), AscendC::CMPMODE::EQ, kTile);
        return found.template ReinterpretCast<int32_t>().GetValue(1);
    }

    __aicore__ inline void Strip(int64_t outer, int64_t column) {
        const uint32_t count = shape_.inner - column < kStrip ? shape_.inner - column : kStrip;
        auto places = out_.template AllocTensor<int64_t>();
        for (int64_t line = 0; line < shape_.length; line += kLines) {
            const uint32_t lines = shape_.length - line < kLines ? shape_.length - line : kLines;
            auto x = Load((outer * shape_.length + line) * shape_.inner + column, lines, count);
            const auto wide = Widen(x, kTile);
            for (uint32_t i = 0; i < lines; ++i) {
                if constexpr (sizeof(T) == 8) {
                    MeetWide(x[i * kStrip].template ReinterpretCast<int32_t>(), line + i);
                } else {
                    Meet(wide[i * kStrip], line + i);
                }
            }
            in_.FreeTensor(x);
        }
        AscendC::Cast(places, place_.template Get<int32_t>(), AscendC::RoundMode::CAST_NONE, kStrip);
        Store(outer * shape_.inner + column, places, count);
    }

    /* The larger of each column's best and x; a NaN stays. */
    __aicore__ inline void Meet(const KeyTensor &x, int64_t line) {
        const auto best = best_.template Get<Key>(), most = work_.template Get<Key>();
        const auto bits = bits_.template Get<uint8_t>(), nanBits = nanBits_.template Get<uint8_t>();
        if (line == 0) {
            AscendC::Adds(best, x, static_cast<Key>(0), kStrip);
            AscendC::Duplicate(place_.template Get<int32_t>(), 0, kStrip);
            return;
        }
        AscendC::Max(most, best, x, kStrip);
        AscendC::Compare(bits, most, best, AscendC::CMPMODE::EQ, kStrip);
        if constexpr (kIsFloat) {
            AscendC::Compare(nanBits, best, best, AscendC::CMPMODE::NE, kStrip);
            const auto halves = bits.template ReinterpretCast<uint16_t>();
            AscendC::Or(halves, halves, nanBits.template ReinterpretCast<uint16_t>(), static_cast<int32_t>(kStrip / 16));
        }
        AscendC::Adds(best, most, static_cast<Key>(0), kStrip);
        KeepPlaces(line);
    }

    /* Places without a bit become `line`. */
    __aicore__ inline void KeepPlaces(int64_t line) {
        const auto place = place_.template Get<float>();
        AscendC::Duplicate(line_.template Get<int32_t>(), static_cast<int32_t>(line), kStrip);
        AscendC::Select(place, bits_.template Get<uint8_t>(), place, line_.template Get<float>(), AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, kStrip);
    }

    /* The lower halves decide where the upper ones are equal. */
    __aicore__ inline void MeetWide(const AscendC::LocalTensor<int32_t> &words, int64_t line) {
        Split(words, kStrip);
        const auto upper = upper_.template Get<int32_t>(), lower = lower_.template Get<int32_t>();
        const auto bestUpper = best_.template Get<int32_t>(), bestLower = bestUpper[kStrip], most = number_.template Get<int32_t>();
        const auto bits = bits_.template Get<uint8_t>(), otherBits = nanBits_.template Get<uint8_t>();
        const auto halves = bits.template ReinterpretCast<uint16_t>();
        if (line == 0) {
            AscendC::Adds(bestUpper, upper, 0, kStrip);
            AscendC::Adds(bestLower, lower, 0, kStrip);
            AscendC::Duplicate(place_.template Get<int32_t>(), 0, kStrip);
            return;
        }
        AscendC::Max(most, bestUpper, upper, kStrip);
        AscendC::Compare(bits, most, bestUpper, AscendC::CMPMODE::EQ, kStrip);
        AscendC::Compare(otherBits, most, upper, AscendC::CMPMODE::EQ, kStrip);
        Candidates(bestLower, bits);
        Candidates(lower, otherBits);
        AscendC::Adds(bestUpper, most, 0, kStrip);
        AscendC::Max(most, bestLower, lower, kStrip);
        AscendC::Compare(otherBits, most, bestLower, AscendC::CMPMODE::EQ, kStrip);
        AscendC::And(halves, halves, otherBits.template ReinterpretCast<uint16_t>(), static_cast<int32_t>(kStrip / 16));
        AscendC::Adds(bestLower, most, 0, kStrip);
        KeepPlaces(line);
    }

    /* Numbers without a bit become the lowest one, which as a float is -0. */
    __aicore__ inline void Candidates(const AscendC::LocalTensor<int32_t> &numbers, const AscendC::LocalTensor<uint8_t> &bits) {
        const auto floats = numbers.template ReinterpretCast<float>();
        AscendC::Select(floats, bits, floats, -0.0f, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, kStrip);
    }

    static constexpr int32_t kLowest = -2147483647 - 1;

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> best_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> place_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> line_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bits_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> nanBits_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> upper_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> lower_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> number_;
    AscendC::GlobalTensor<T> input_;
    AscendC::GlobalTensor<int64_t> indices_;
    ArgMaxShape shape_;
};

template <typename T>
__global__ __aicore__ void arg_max_kernel(GM_ADDR input, GM_ADDR indices, ArgMaxShape shape) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    ArgMaxKernel<T> kernel;
    kernel.Init(input, indices, shape);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(void *input, void *indices, const ArgMaxShape &shape, void *stream) {
    arg_max_kernel<T><<<baseline::VectorCores(), nullptr, stream>>>((GM_ADDR)input, (GM_ADDR)indices, shape);
}

void LaunchArgMax(ArgMaxType type, void *input, void *indices, const ArgMaxShape &shape, void *stream) {
    switch (type) {
        case ArgMaxType::kFloat16:
            return LaunchTyped<half>(input, indices, shape, stream);
        case ArgMaxType::kBfloat16:
            return LaunchTyped<bfloat16_t>(input, indices, shape, stream);
        case ArgMaxType::kFloat32:
            return LaunchTyped<float>(input, indices, shape, stream);
        case ArgMaxType::kInt32:
            return LaunchTyped<int32_t>(input, indices, shape, stream);
        case ArgMaxType::kInt64:
            return LaunchTyped<int64_t>(input, indices, shape, stream);
    }
}
