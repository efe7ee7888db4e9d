/*
 * y = gcd(x1, x2), broadcast, plain: Euclid's algorithm on int32 for a whole tile, until one number of each pair is 0, which is looked for after every step.
 *
 * A step is x - q y with q from float32, rounded to nearest: a common divisor of x and y divides it whatever integer q is, so q need not be exact. int16 and
 * int64 are converted; tiles with numbers beyond 32 bits go number by number.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/broadcast_kernel.h"
#include "gcd_launch.h"

template <typename T>
class GcdBody {
public:
    using Integers = AscendC::LocalTensor<int32_t>;
    using Tile = AscendC::LocalTensor<T>;

    __aicore__ inline void Init(AscendC::TPipe &pipe) {
        for (auto &buffer : buffers_) {
            pipe.InitBuffer(buffer, baseline::kTileElements * sizeof(int32_t));
        }
    }

    __aicore__ inline void Run(const Tile &y, const Tile &a, const Tile &b, uint32_t count) {
        auto x = buffers_[0].template Get<int32_t>(), z = buffers_[1].template Get<int32_t>(), rest = buffers_[2].template Get<int32_t>();
        ToInteger(x, a, count);
        ToInteger(z, b, count);
        if (std::is_same_v<T, int64_t> && Largest(x, z, count, false) >= 2147483648.0f) {
            OneByOne(y, a, b, count);
            return;
        }
        while (Largest(x, z, count, true) != 0.0f) {
            Divide(rest, x, z, count);
            const auto spare = x;
            x = z;
            z = rest;
            rest = spare;
        }
        AscendC::Add(x, x, z, count);
        AscendC::Muls(z, x, -1, count);
        AscendC::Max(x, x, z, count);
        FromInteger(y, x, count);
    }

private:
    __aicore__ inline void ToInteger(const Integers &to, const Tile &x, uint32_t count) {
        if constexpr (std::is_same_v<T, int32_t>) {
            AscendC::Adds(to, x, 0, count);
        } else if constexpr (std::is_same_v<T, int64_t>) {
            AscendC::Cast(to, x, AscendC::RoundMode::CAST_NONE, count);
        } else {
            const auto wide = to.template ReinterpretCast<float>();
            AscendC::Cast(wide, x, AscendC::RoundMode::CAST_NONE, count);
            AscendC::Cast(to, wide, AscendC::RoundMode::CAST_RINT, count);
        }
    }

    __aicore__ inline void FromInteger(const Tile &y, const Integers &x, uint32_t count) {
        if constexpr (std::is_same_v<T, int32_t>) {
            AscendC::Adds(y, x, 0, count);
        } else if constexpr (std::is_same_v<T, int64_t>) {
            AscendC::Cast(y, x, AscendC::RoundMode::CAST_NONE, count);
        } else {  // 2^15 wraps
            AscendC::ShiftLeft(x, x, 16, count);
            AscendC::ShiftRight(x, x, 16, count);
            AscendC::Cast(y, x, AscendC::RoundMode::CAST_NONE, count);
        }
    }

    __aicore__ inline void Divide(const Integers &rest, const Integers &x, const Integers &z, uint32_t count) {
        const auto first = buffers_[3].template Get<float>(), second = buffers_[4].template Get<float>();
        AscendC::Cast(first, x, AscendC::RoundMode::CAST_NONE, count);
        AscendC::Cast(second, z, AscendC::RoundMode::CAST_NONE, count);
        AscendC::Div(first, first, second, count);
        AscendC::Cast(rest, first, AscendC::RoundMode::CAST_RINT, count);
        AscendC::Mul(rest, rest, z, count);
        AscendC::Sub(rest, x, rest, count);
    }

    /* The largest product of two magnitudes, or the largest magnitude. */
    __aicore__ inline float Largest(const Integers &x, const Integers &z, uint32_t count, bool isProduct) {
        const auto first = buffers_[3].template Get<float>(), second = buffers_[4].template Get<float>();
        AscendC::Cast(first, x, AscendC::RoundMode::CAST_NONE, count);
        AscendC::Cast(second, z, AscendC::RoundMode::CAST_NONE, count);
        AscendC::Abs(first, first, count);
        AscendC::Abs(second, second, count);
        if (isProduct) {
            AscendC::Mul(first, first, second, count);
        } else {
            AscendC::Max(first, first, second, count);
        }
        AscendC::ReduceMax(second, first, second, count);
        return second.GetValue(0);
    }

    __aicore__ inline void OneByOne(const Tile &y, const Tile &a, const Tile &b, uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) {
            uint64_t x = Magnitude(a.GetValue(i)), z = Magnitude(b.GetValue(i));
            while (z != 0) {
                const uint64_t rest = x % z;
                x = z;
                z = rest;
            }
            y.SetValue(i, static_cast<T>(x));
        }
    }

    __aicore__ static inline uint64_t Magnitude(int64_t x) { return x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x); }

    AscendC::TBuf<AscendC::TPosition::VECCALC> buffers_[5];
};

template <typename T>
__global__ __aicore__ void gcd_kernel(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, baseline::BroadcastRows rows) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    baseline::BroadcastKernel<T, GcdBody<T>> kernel;
    kernel.Init(x1, x2, y, rows);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(void *x1, void *x2, void *y, const baseline::BroadcastRows &rows, void *stream) {
    gcd_kernel<T><<<baseline::VectorCores(), nullptr, stream>>>((GM_ADDR)x1, (GM_ADDR)x2, (GM_ADDR)y, rows);
}

void LaunchGcd(baseline::ScalarType type, void *x1, void *x2, void *y, const baseline::BroadcastRows &rows, void *stream) {
    if (type == baseline::ScalarType::kInt16) {
        LaunchTyped<int16_t>(x1, x2, y, rows, stream);
    } else if (type == baseline::ScalarType::kInt32) {
        LaunchTyped<int32_t>(x1, x2, y, rows, stream);
    } else {
        LaunchTyped<int64_t>(x1, x2, y, rows, stream);
    }
}
