/*
 * CumSum: running sums of a matrix along its first or its last axis.
 *
 * Problem: an instruction adds lanes of two places; along the last axis every element needs its neighbour's sum.
 * Approach: as documented: halves by way of float; rows are added to rows, one after another or by halves of doubling groups (Sklansky); for the last axis 16
 * rows at a time are turned into columns first (turn_rows.h). Halves along the first axis go in strips of columns that fit the memory. Their time is that of
 * these instructions.
 * Limits: half and float. In which steps the vendor's library turns a matrix is not published; sums are added in the documented order.
 */
#ifndef PITON_ASCENDC_CUMULATIVE_H
#define PITON_ASCENDC_CUMULATIVE_H

#include "turn_rows.h"

namespace AscendC {

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };

struct CumSumConfig {
    bool isLastAxis{true};
    bool isReuseSource{false};
    bool outputLastRow{false};
    CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};

inline constexpr CumSumConfig defaultCumSumConfig{true, false, true, CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};

/* Rows and columns. */
struct CumSumInfo {
    uint32_t outter{0};
    uint32_t inner{0};
};

}  // namespace AscendC

namespace piton {

/* `lines` lines of `width` floats, `pitch` floats apart, in place. */
struct Lines {
    FloatTensor first;
    uint32_t lines;
    uint32_t width;
    uint32_t pitch;
    Location at;

    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }
    PITON_API void Add(uint32_t line, uint32_t earlier) const {
        const FloatTensor to = first[line * pitch], from = first[earlier * pitch];
        AscendC::Add(to, to, from, static_cast<int32_t>(width), at);
    }
    PITON_API void OneByOne() const {
        for (uint32_t line = 1; line < lines; ++line) {
            Add(line, line - 1);
            Barrier();
        }
    }
    /* The last sum of a lower half onto all lines of its upper half. */
    PITON_API void ByHalves() const {
        for (uint32_t half = 1; half < lines; half *= 2) {
            for (uint32_t begin = half; begin < lines; begin += 2 * half) {
                for (uint32_t line = begin; line < begin + half && line < lines; ++line) {
                    Add(line, begin - 1);
                }
            }
            Barrier();
        }
    }
    template <AscendC::CumSumAlgorithm algorithm>
    PITON_API void Accumulate() const {
        if constexpr (algorithm == AscendC::CumSumAlgorithm::CUMSUM_ALGORITHM_SKLANSKY) {
            ByHalves();
        } else {
            OneByOne();
        }
    }
};

/* Between a tensor and floats, either of which may be the other's type. */
template <typename To, typename From>
PITON_API void MoveConverted(const AscendC::LocalTensor<To> &dst, const AscendC::LocalTensor<From> &src, uint32_t count, Location at) {
    if constexpr (std::is_same<To, From>::value) {
        AscendC::Adds(dst, src, To(0), static_cast<int32_t>(count), at);
    } else {
        AscendC::Cast(dst, src, AscendC::RoundMode::CAST_NONE, count, at);
    }
}

template <typename T>
struct CumSumCall {
    const AscendC::LocalTensor<T> &dst;
    const AscendC::LocalTensor<T> &lastRow;
    const AscendC::LocalTensor<T> &src;
    const AscendC::LocalTensor<uint8_t> &memory;
    const AscendC::CumSumInfo &info;
    Location at;

    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }
    PITON_API FloatTensor Floats() const { return memory.template ReinterpretCast<float>(); }

    PITON_API void Check(uint64_t used) const {
        const uint64_t bytes = uint64_t(info.outter) * info.inner * sizeof(T);
        if (memory.GetSize() < used) {
            Fault(VNPU_FAULT_UB_OVERFLOW, "CumSum", at, used, memory.GetSize());
        }
        RequireApart("CumSum", dst.Operand(), bytes, memory.Operand(), used, at);
        RequireApart("CumSum", src.Operand(), bytes, memory.Operand(), used, at);
    }

    /* Floats along the first axis: in the destination itself. */
    template <AscendC::CumSumAlgorithm algorithm>
    PITON_API void DownInPlace() const {
        AscendC::Adds(dst, src, T(0), static_cast<int32_t>(info.outter * info.inner), at);
        Barrier();
        if constexpr (std::is_same<T, float>::value) {
            Lines{dst, info.outter, info.inner, info.inner, at}.template Accumulate<algorithm>();
        }
    }

    /* Halves along the first axis: strips of whole blocks of columns, as floats in the memory. */
    template <AscendC::CumSumAlgorithm algorithm>
    PITON_API void DownInStrips() const {
        constexpr uint32_t kUnit = kBlockBytes / sizeof(half);
        const uint64_t unitBytes = uint64_t(info.outter) * kUnit * sizeof(float);
        Check(unitBytes);
        const uint32_t most = static_cast<uint32_t>(memory.GetSize() / unitBytes) * kUnit, strip = most < info.inner ? most : info.inner;
        Check(unitBytes * (strip / kUnit));
        for (uint32_t done = 0; done < info.inner; done += strip) {
            const uint32_t width = info.inner - done < strip ? info.inner - done : strip;
            EachRow(width, [&](uint32_t row) { MoveConverted(Floats()[row * width], src[row * info.inner + done], width, at); });
            Lines{Floats(), info.outter, width, width, at}.template Accumulate<algorithm>();
            EachRow(width, [&](uint32_t row) { MoveConverted(dst[row * info.inner + done], Floats()[row * width], width, at); });
        }
    }

    template <typename Move>
    PITON_API void EachRow(uint32_t, const Move &move) const {
        for (uint32_t row = 0; row < info.outter; ++row) {
            move(row);
        }
        Barrier();
    }

    /* 16 rows at a time; memory: they as floats, and turned. */
    template <AscendC::CumSumAlgorithm algorithm, bool hasLast>
    PITON_API void Along() const {
        const uint32_t padded = (info.inner + kTurned - 1) / kTurned * kTurned;
        const FloatTensor wide = Floats(), turned = wide[padded * kTurned];
        Check(2ull * padded * kTurned * sizeof(float));
        for (uint32_t row = 0; row < info.outter; row += kTurned) {
            const uint32_t rows = info.outter - row < kTurned ? info.outter - row : kTurned;
            TurnRows(turned, wide, row, rows);
            Lines{turned, info.inner, kTurned, kTurned, at}.template Accumulate<algorithm>();
            if constexpr (hasLast) {
                MoveConverted(lastRow[row], turned[(info.inner - 1) * kTurned], rows, at);
            }
            if (padded > info.inner) { /* lines that are turned back with the others and taken by nobody */
                AscendC::Duplicate(turned[info.inner * kTurned], 0.0f, static_cast<int32_t>((padded - info.inner) * kTurned), at);
                Barrier();
            }
            TurnOut(wide, turned, info.inner, at);
            for (uint32_t i = 0; i < rows; ++i) {
                MoveConverted(dst[(row + i) * info.inner], wide[i * padded], info.inner, at);
            }
            Barrier();
        }
    }

    PITON_API void TurnRows(const FloatTensor &turned, const FloatTensor &wide, uint32_t row, uint32_t rows) const {
        const AscendC::LocalTensor<T> from = src[row * info.inner];
        if constexpr (std::is_same<T, float>::value) {
            TurnIn(turned, from, rows, info.inner, info.inner, at);
        } else {
            AscendC::Cast(wide, from, AscendC::RoundMode::CAST_NONE, rows * info.inner, at);
            Barrier();
            TurnIn(turned, wide, rows, info.inner, info.inner, at);
        }
    }
};

template <typename T, const AscendC::CumSumConfig &config>
PITON_API void RunCumSum(const CumSumCall<T> &call) {
    const AscendC::CumSumInfo &info = call.info;
    RequireRange("CumSum", 4, info.outter, 1, UINT32_MAX, call.at);
    RequireRange("CumSum", 4, info.inner, 1, UINT32_MAX, call.at);
    RequireRange("CumSum", 4, info.inner * sizeof(T) % kBlockBytes, 0, 0, call.at);
    if constexpr (config.isLastAxis) {
        call.template Along<config.algorithm, config.outputLastRow>();
        return;
    } else if constexpr (std::is_same<T, float>::value) {
        call.template DownInPlace<config.algorithm>();
    } else {
        call.template DownInStrips<config.algorithm>();
    }
    if constexpr (config.outputLastRow && !config.isLastAxis) {
        MoveConverted(call.lastRow, call.dst[(info.outter - 1) * info.inner], info.inner, call.at);
        call.Barrier();
    }
}

}  // namespace piton

namespace AscendC {

template <typename T, const CumSumConfig &config = defaultCumSumConfig>
PITON_API void CumSum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &lastRowTensor, const LocalTensor<T> &srcTensor,
                      const LocalTensor<uint8_t> &sharedTmpBuffer, const CumSumInfo &cumSumInfo, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("CumSum", piton::kIsFloat<T>, "half, float");
    piton::RunCumSum<T, config>(piton::CumSumCall<T>{dstTensor, lastRowTensor, srcTensor, sharedTmpBuffer, cumSumInfo, at});
}
template <typename T, const CumSumConfig &config = defaultCumSumConfig>
PITON_API void CumSum(const LocalTensor<T> &dstTensor, const LocalTensor<T> &lastRowTensor, const LocalTensor<T> &srcTensor, const CumSumInfo &cumSumInfo,
                      piton::Location at = piton::Location()) {
    CumSum<T, config>(dstTensor, lastRowTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), cumSumInfo, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_CUMULATIVE_H */
