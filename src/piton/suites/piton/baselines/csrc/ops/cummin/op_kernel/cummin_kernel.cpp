/*
 * cummin, plain: a core takes whole rows, or along another axis whole strips of columns, tile by tile.
 *
 * A tile of a row is combined with itself shifted by 1, 2, 4 and so on elements, which Gather does; lines of columns are combined with the minimum so far one
 * after the other.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "cummin_launch.h"

constexpr uint32_t kStrip = 256;  // columns
constexpr uint32_t kLines = baseline::kTileElements / kStrip;

template <typename T>
class CumminKernel {
public:
    static constexpr bool kIsFloat = !std::is_same_v<T, int32_t>;
    static constexpr uint32_t kTile = baseline::kTileElements;
    using Key = std::conditional_t<kIsFloat, float, int32_t>;
    using Keys = AscendC::LocalTensor<Key>;

    __aicore__ inline void Init(GM_ADDR input, GM_ADDR values, GM_ADDR indices, const CumminShape &shape) {
        shape_ = shape;
        input_.SetGlobalBuffer((__gm__ T *)input);
        values_.SetGlobalBuffer((__gm__ T *)values);
        indices_.SetGlobalBuffer((__gm__ int64_t *)indices);
        pipe_.InitBuffer(in_, 1, kTile * sizeof(T));
        pipe_.InitBuffer(outValues_, 1, kTile * sizeof(T));
        pipe_.InitBuffer(outIndices_, 1, kTile * sizeof(int64_t));
        pipe_.InitBuffer(wide_, kTile * sizeof(Key));
        pipe_.InitBuffer(least_, kStrip * sizeof(Key));
        pipe_.InitBuffer(place_, kStrip * sizeof(int32_t));
        pipe_.InitBuffer(line_, kStrip * sizeof(int32_t));
        pipe_.InitBuffer(bits_, kTile / 8);
        pipe_.InitBuffer(nanBits_, kTile / 8);
        for (auto *buffer : {&scanned_, &places_, &other_, &from_, &order_, &ramp_}) {
            pipe_.InitBuffer(*buffer, kTile * sizeof(int32_t));
        }
        AscendC::CreateVecIndex(order_.template Get<int32_t>(), 0, kTile);
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

    /* `lines` pieces of `count` elements, `kStrip` apart in the unified buffer. */
    struct Tile {
        int64_t start;
        uint32_t lines;
        uint32_t count;
    };

    template <typename U>
    __aicore__ inline uint32_t Apart(const Tile &tile) const {
        return tile.lines > 1 ? (shape_.inner - tile.count) * sizeof(U) : 0;
    }

    template <typename U>
    static __aicore__ inline uint32_t Unused(const Tile &tile) {
        return tile.lines > 1 ? (kStrip - tile.count) * sizeof(U) / 32 : 0;
    }

    __aicore__ inline AscendC::LocalTensor<T> Load(const Tile &tile) {
        auto x = in_.template AllocTensor<T>();
        const uint32_t bytes = tile.count * sizeof(T);
        AscendC::DataCopyPad(x, input_[tile.start], AscendC::DataCopyExtParams{static_cast<uint16_t>(tile.lines), bytes, Apart<T>(tile), Unused<T>(tile), 0},
                             AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
        return in_.template DeQue<T>();
    }

    template <typename U, typename Queue>
    __aicore__ inline void Store(Queue &queue, const AscendC::GlobalTensor<U> &to, AscendC::LocalTensor<U> &y, const Tile &tile) {
        queue.EnQue(y);
        auto stored = queue.template DeQue<U>();
        const uint32_t bytes = tile.count * sizeof(U);
        AscendC::DataCopyPad(to[tile.start], stored, AscendC::DataCopyExtParams{static_cast<uint16_t>(tile.lines), bytes, Unused<U>(tile), Apart<U>(tile), 0});
        queue.FreeTensor(stored);
    }

    /* The place of an element that equals the minimum or is NaN is where it was found last. */
    __aicore__ inline void Row(int64_t row) {
        Key least{};
        int32_t place = 0;
        for (int64_t done = 0; done < shape_.length; done += kTile) {
            const uint32_t count = shape_.length - done < kTile ? shape_.length - done : kTile;
            const Tile tile{row * shape_.length + done, 1, count};
            auto x = Load(tile);
            auto values = outValues_.template AllocTensor<T>();
            auto indices = outIndices_.template AllocTensor<int64_t>();
            const auto keys = Widen(x), scanned = scanned_.template Get<Key>();
            const auto places = places_.template Get<int32_t>();
            AscendC::Adds(scanned, keys, static_cast<Key>(0), kTile);
            Shifted<true>(scanned, count);
            if (done > 0) {
                AscendC::Mins(scanned, scanned, least, kTile);
            }
            AscendC::Adds(ramp_.template Get<int32_t>(), order_.template Get<int32_t>(), static_cast<int32_t>(done), kTile);
            Mark(keys, scanned);
            AscendC::Select(places.template ReinterpretCast<float>(), bits_.template Get<uint8_t>(), ramp_.template Get<float>(), 0.0f,
                            AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, kTile);
            Shifted<false>(places, count);
            AscendC::Maxs(places, places, place, kTile);
            least = scanned.GetValue(count - 1);
            place = places.GetValue(count - 1);
            Narrow(values, scanned);
            AscendC::Cast(indices, places, AscendC::RoundMode::CAST_NONE, kTile);
            in_.FreeTensor(x);
            Store(outValues_, values_, values, tile);
            Store(outIndices_, indices_, indices, tile);
        }
    }

    /* Running minimum or maximum; what would come from in front of the tile comes from its first element, which belongs to all. */
    template <bool isMin, typename U>
    __aicore__ inline void Shifted(const AscendC::LocalTensor<U> &y, uint32_t count) {
        const auto other = other_.template Get<U>();
        const auto from = from_.template Get<int32_t>();
        for (uint32_t shift = 1; shift < count; shift *= 2) {
            AscendC::Adds(from, order_.template Get<int32_t>(), -static_cast<int32_t>(shift), count);
            AscendC::Maxs(from, from, 0, count);
            AscendC::Muls(from, from, static_cast<int32_t>(sizeof(U)), count);
            AscendC::Gather(other, y, from.template ReinterpretCast<uint32_t>(), 0, count);
            if constexpr (isMin) {
                AscendC::Min(y, y, other, count);
            } else {
                AscendC::Max(y, y, other, count);
            }
        }
    }

    __aicore__ inline void Mark(const Keys &x, const Keys &least) {
        const auto bits = bits_.template Get<uint8_t>(), nanBits = nanBits_.template Get<uint8_t>();
        AscendC::Compare(bits, least, x, AscendC::CMPMODE::EQ, kTile);
        if constexpr (kIsFloat) {
            const auto halves = bits.template ReinterpretCast<uint16_t>();
            AscendC::Compare(nanBits, x, x, AscendC::CMPMODE::NE, kTile);
            AscendC::Or(halves, halves, nanBits.template ReinterpretCast<uint16_t>(), static_cast<int32_t>(kTile / 16));
        }
    }

    __aicore__ inline void Strip(int64_t outer, int64_t column) {
        const uint32_t count = shape_.inner - column < kStrip ? shape_.inner - column : kStrip;
        for (int64_t line = 0; line < shape_.length; line += kLines) {
            const uint32_t lines = shape_.length - line < kLines ? shape_.length - line : kLines;
            const Tile tile{(outer * shape_.length + line) * shape_.inner + column, lines, count};
            auto x = Load(tile);
            auto values = outValues_.template AllocTensor<T>();
            auto indices = outIndices_.template AllocTensor<int64_t>();
            const auto wide = Widen(x);
            for (uint32_t i = 0; i < lines; ++i) {
                Meet(wide[i * kStrip], line + i);
                AscendC::Cast(indices[i * kStrip], place_.template Get<int32_t>(), AscendC::RoundMode::CAST_NONE, kStrip);
                AscendC::Adds(wide[i * kStrip], least_.template Get<Key>(), static_cast<Key>(0), kStrip);
            }
            Narrow(values, wide);
            in_.FreeTensor(x);
            Store(outValues_, values_, values, tile);
            Store(outIndices_, indices_, indices, tile);
        }
    }

    __aicore__ inline Keys Widen(const AscendC::LocalTensor<T> &x) {
        const auto wide = wide_.template Get<Key>();
        if constexpr (sizeof(T) == 2) {
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, kTile);
        } else {
            AscendC::Adds(wide, x, static_cast<T>(0), kTile);
        }
        return wide;
    }

    __aicore__ inline void Narrow(const AscendC::LocalTensor<T> &values, const Keys &wide) {
        if constexpr (sizeof(T) == 2) {
            AscendC::Cast(values, wide, AscendC::RoundMode::CAST_RINT, kTile);
        } else {
            AscendC::Adds(values, wide, static_cast<T>(0), kTile);
        }
    }

    /* The smaller of each column's minimum and x; a NaN stays, and is where it was seen last. */
    __aicore__ inline void Meet(const Keys &x, int64_t line) {
        const auto least = least_.template Get<Key>();
        const auto place = place_.template Get<float>(), now = line_.template Get<float>();
        const auto bits = bits_.template Get<uint8_t>(), nanBits = nanBits_.template Get<uint8_t>();
        AscendC::Duplicate(line_.template Get<int32_t>(), static_cast<int32_t>(line), kStrip);
        if (line == 0) {
            AscendC::Adds(least, x, static_cast<Key>(0), kStrip);
            AscendC::Duplicate(place_.template Get<int32_t>(), 0, kStrip);
        }
        AscendC::Min(least, least, x, kStrip);
        AscendC::Compare(bits, least, x, AscendC::CMPMODE::EQ, kStrip);
        if constexpr (kIsFloat) {
            const auto halves = bits.template ReinterpretCast<uint16_t>();
            AscendC::Compare(nanBits, x, x, AscendC::CMPMODE::NE, kStrip);
            AscendC::Or(halves, halves, nanBits.template ReinterpretCast<uint16_t>(), static_cast<int32_t>(kStrip / 16));
        }
        AscendC::Select(place, bits, now, place, AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, kStrip);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> outValues_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> outIndices_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> scanned_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> places_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> other_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> from_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> order_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> ramp_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> least_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> place_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> line_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bits_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> nanBits_;
    AscendC::GlobalTensor<T> input_;
    AscendC::GlobalTensor<T> values_;
    AscendC::GlobalTensor<int64_t> indices_;
    CumminShape shape_;
};

template <typename T>
__global__ __aicore__ void cummin_kernel(GM_ADDR input, GM_ADDR values, GM_ADDR indices, CumminShape shape) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    CumminKernel<T> kernel;
    kernel.Init(input, values, indices, shape);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(void *input, void *values, void *indices, const CumminShape &shape, void *stream) {
    cummin_kernel<T><<<baseline::VectorCores(), nullptr, stream>>>((GM_ADDR)input, (GM_ADDR)values, (GM_ADDR)indices, shape);
}

void LaunchCummin(CumminType type, void *input, void *values, void *indices, const CumminShape &shape, void *stream) {
    switch (type) {
        case CumminType::kFloat16:
            return LaunchTyped<half>(input, values, indices, shape, stream);
        case CumminType::kBfloat16:
            return LaunchTyped<bfloat16_t>(input, values, indices, shape, stream);
        case CumminType::kFloat32:
            return LaunchTyped<float>(input, values, indices, shape, stream);
        case CumminType::kInt32:
            return LaunchTyped<int32_t>(input, values, indices, shape, stream);
    }
}
