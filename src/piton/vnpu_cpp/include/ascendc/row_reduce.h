/*
 * Rows in the unified buffer: their maximum, minimum or sum, and ReduceSum, ReduceMax and ReduceMin along an axis of two.
 *
 * Problem: a reduction instruction makes one result of a repeat, a row has many, and rows are padded to whole blocks.
 * Approach: the repeats of a row are combined lane by lane, all rows at once by repeat strides, then each row's 64 lanes become one result. Along the first
 * axis rows are combined. Halves (maxima and minima) go through float along the last axis, row by row. Their time is that of these instructions.
 * Limits: float, and half for maxima and minima. In which order the vendor's library adds is not published.
 */
#ifndef PITON_ASCENDC_ROW_REDUCE_H
#define PITON_ASCENDC_ROW_REDUCE_H

#include <limits>

#include "cast.h"
#include "duplicate.h"
#include "pipe.h"
#include "reduce.h"
#include "scratch.h"
#include "vector_binary.h"
#include "vector_scalar.h"

namespace AscendC {

namespace Pattern {
namespace Reduce {
struct AR {};
struct RA {};
}  // namespace Reduce
}  // namespace Pattern

}  // namespace AscendC

namespace piton {

constexpr uint32_t kFloatLanes = kRepeatBytes / sizeof(float);
constexpr uint32_t kFloatsOfBlock = kBlockBytes / sizeof(float);
constexpr uint32_t kMostRows = 248;  /* whole groups of 8 for Brcb, within a repeat count */
constexpr uint32_t kMostPitch = 255; /* blocks: a repeat stride */
constexpr uint32_t kMostRepeats = 255;

/* Rows at once, of `columns` floats each, `pitch` floats apart. */
struct Rows {
    uint32_t rows;
    uint32_t columns;
    uint32_t pitch;
    Location at;

    PITON_API uint8_t Stride() const { return rows == 1 ? 0 : static_cast<uint8_t>(pitch / kFloatsOfBlock); }
    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }
    /* `step(offset, lanes)` for 64 lanes of every row after another. */
    template <typename Step>
    PITON_API void EachRepeat(const Step &step) const {
        for (uint32_t done = 0; done < columns; done += kFloatLanes) {
            step(done, uint64_t(columns - done < kFloatLanes ? columns - done : kFloatLanes));
        }
        Barrier();
    }
};

struct SumOfRows {
    static constexpr float kNothing = 0.0f;
    /* Strides of lanes, `from` and lanes again: with the lanes as second source a repeat may go on with what the one before it made of them. */
    PITON_API static void Combine(const AscendC::LocalTensor<float> &lanes, const AscendC::LocalTensor<float> &from, uint64_t mask, uint32_t repeats,
                                  const AscendC::BinaryRepeatParams &strides, Location at) {
        AscendC::Add(lanes, from, lanes, mask, repeats, strides, at);
    }
    template <typename T>
    PITON_API static void Row(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &row, uint32_t count, Location at) {
        AscendC::Add(dst, dst, row, static_cast<int32_t>(count), at);
    }
    PITON_API static void Finish(const AscendC::LocalTensor<float> &dst, const AscendC::LocalTensor<float> &lanes, const Rows &rows) {
        AscendC::WholeReduceSum(dst, lanes, static_cast<int32_t>(kFloatLanes), static_cast<int32_t>(rows.rows), 1, 1, 8, rows.at);
    }
};

#define PITON_EXTREME_OF_ROWS(Name, Function, Whole, nothing)                                                                                               \
    struct Name {                                                                                                                                           \
        static constexpr float kNothing = nothing;                                                                                                          \
        PITON_API static void Combine(const AscendC::LocalTensor<float> &lanes, const AscendC::LocalTensor<float> &from, uint64_t mask, uint32_t repeats,   \
                                      const AscendC::BinaryRepeatParams &strides, Location at) {                                                            \
            AscendC::Function(lanes, from, lanes, mask, repeats, strides, at);                                                                              \
        }                                                                                                                                                   \
        template <typename T>                                                                                                                               \
        PITON_API static void Row(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &row, uint32_t count, Location at) {                    \
            AscendC::Function(dst, dst, row, static_cast<int32_t>(count), at);                                                                              \
        }                                                                                                                                                   \
        PITON_API static void Finish(const AscendC::LocalTensor<float> &dst, const AscendC::LocalTensor<float> &lanes, const Rows &rows) {                  \
            AscendC::Whole(dst, lanes, static_cast<int32_t>(kFloatLanes), static_cast<int32_t>(rows.rows), 1, 1, 8, AscendC::ReduceOrder::ORDER_ONLY_VALUE, \
                           rows.at);                                                                                                                        \
        }                                                                                                                                                   \
    };

PITON_EXTREME_OF_ROWS(MaxOfRows, Max, WholeReduceMax, -std::numeric_limits<float>::infinity())
PITON_EXTREME_OF_ROWS(MinOfRows, Min, WholeReduceMin, std::numeric_limits<float>::infinity())

#undef PITON_EXTREME_OF_ROWS

/* Is an instruction per 64 columns of all rows less work than one per row? */
PITON_API bool RowsGoAcross(const Rows &rows) {
    return rows.rows > 1 && rows.rows <= kMostRepeats && rows.pitch / kFloatsOfBlock <= kMostPitch && rows.rows >= rows.columns / kFloatLanes;
}

/* All repeats of one row into its 64 lanes: the second source and the result stay where they are. */
template <typename Kind>
PITON_API void CombineAlong(const AscendC::LocalTensor<float> &lanes, const AscendC::LocalTensor<float> &row, uint32_t columns, Location at) {
    for (uint32_t done = 0; done < columns;) {
        const uint32_t left = columns - done, whole = left / kFloatLanes < kMostRepeats ? left / kFloatLanes : kMostRepeats;
        const uint32_t repeats = whole == 0 ? 1 : whole;
        const uint64_t mask = whole == 0 ? left : kFloatLanes;
        Kind::Combine(lanes, row[done], mask, repeats, {1, 1, 1, 0, 8, 0}, at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at);
        done += repeats * static_cast<uint32_t>(mask);
    }
}

/* One result per row, dense; `lanes` holds 64 floats per row. */
template <typename Kind>
PITON_API void ReduceRows(const AscendC::LocalTensor<float> &dst, const AscendC::LocalTensor<float> &src, const AscendC::LocalTensor<float> &lanes,
                          const Rows &rows) {
    AscendC::Duplicate(lanes, Kind::kNothing, static_cast<int32_t>(rows.rows * kFloatLanes), rows.at);
    rows.Barrier();
    if (RowsGoAcross(rows)) {
        for (uint32_t done = 0; done < rows.columns; done += kFloatLanes) {
            const uint64_t mask = rows.columns - done < kFloatLanes ? rows.columns - done : kFloatLanes;
            Kind::Combine(lanes, src[done], mask, rows.rows, {1, 1, 1, 8, rows.Stride(), 8}, rows.at);
            rows.Barrier();
        }
    } else {
        for (uint32_t row = 0; row < rows.rows; ++row) {
            CombineAlong<Kind>(lanes[row * kFloatLanes], src[row * rows.pitch], rows.columns, rows.at);
        }
    }
    Kind::Finish(dst, lanes, rows);
    rows.Barrier();
}

/* How many rows fit memory for `floats` of each; at least one group of 8. */
PITON_API uint32_t RowsThatFit(const char *api, const AscendC::LocalTensor<uint8_t> &memory, uint64_t floats, Location at) {
    constexpr uint32_t kGroup = 8;
    const uint64_t group = floats * sizeof(float) * kGroup, groups = memory.GetSize() / group;
    if (groups == 0) {
        Fault(VNPU_FAULT_UB_OVERFLOW, api, at, group, memory.GetSize());
    }
    return groups * kGroup < kMostRows ? static_cast<uint32_t>(groups * kGroup) : kMostRows;
}

/* A matrix whose rows lie `pitch` elements apart. */
struct AxisShape {
    uint32_t first;
    uint32_t last;
    uint32_t pitch;
    Location at;
};

/* Memory: 64 lanes of each row. */
template <typename Kind>
PITON_API void ReduceLastAxis(const char *api, const AscendC::LocalTensor<float> &dst, const AscendC::LocalTensor<float> &src,
                              const AscendC::LocalTensor<uint8_t> &memory, const AxisShape &shape) {
    const uint32_t fit = RowsThatFit(api, memory, kFloatLanes, shape.at), most = shape.pitch / kFloatsOfBlock > kMostPitch ? 1 : fit;
    const uint64_t used = uint64_t(shape.first < most ? shape.first : most) * kFloatLanes * sizeof(float);
    const auto lanes = memory.template ReinterpretCast<float>();
    RequireApart(api, src.Operand(), uint64_t(shape.first) * shape.pitch * sizeof(float), memory.Operand(), used, shape.at);
    RequireApart(api, dst.Operand(), shape.first * sizeof(float), memory.Operand(), used, shape.at);
    for (uint32_t done = 0; done < shape.first; done += most) {
        ReduceRows<Kind>(dst[done], src[done * shape.pitch], lanes, {shape.first - done < most ? shape.first - done : most, shape.last, shape.pitch, shape.at});
    }
}

/* Memory: results of all rows as floats, 64 lanes, a row as floats: results are cast together, since they have to begin at a whole block. */
template <typename Kind>
PITON_API void ReduceLastAxis(const char *api, const AscendC::LocalTensor<half> &dst, const AscendC::LocalTensor<half> &src,
                              const AscendC::LocalTensor<uint8_t> &memory, const AxisShape &shape) {
    const uint32_t results = (shape.first + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
    const uint64_t used = (uint64_t(results) + kFloatLanes + shape.pitch) * sizeof(float);
    if (memory.GetSize() < used) {
        Fault(VNPU_FAULT_UB_OVERFLOW, api, shape.at, used, memory.GetSize());
    }
    RequireApart(api, src.Operand(), uint64_t(shape.first) * shape.pitch * sizeof(half), memory.Operand(), used, shape.at);
    RequireApart(api, dst.Operand(), shape.first * sizeof(half), memory.Operand(), used, shape.at);
    const auto result = memory.template ReinterpretCast<float>(), lanes = result[results], wide = lanes[kFloatLanes];
    const Rows one{1, shape.last, shape.pitch, shape.at};
    for (uint32_t row = 0; row < shape.first; ++row) {
        AscendC::Cast(wide, src[row * shape.pitch], AscendC::RoundMode::CAST_NONE, shape.pitch, shape.at);
        one.Barrier();
        ReduceRows<Kind>(result[row], wide, lanes, one);
    }
    AscendC::Cast(dst, result, AscendC::RoundMode::CAST_NONE, shape.first, shape.at);
    one.Barrier();
}

template <typename Kind, typename T>
PITON_API void ReduceFirstAxis(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AxisShape &shape) {
    AscendC::Adds(dst, src, static_cast<T>(0.0f), static_cast<int32_t>(shape.first == 0 ? 0 : shape.last), shape.at);
    SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, shape.at);
    for (uint32_t row = 1; row < shape.first; ++row) {
        Kind::Row(dst, src[row * shape.pitch], shape.last, shape.at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, shape.at);
    }
}

template <typename Kind, typename T, typename pattern>
PITON_API void ReduceAxis(const char *api, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                          const uint32_t *shape, bool srcInnerPad, Location at) {
    constexpr bool isAR = std::is_same<pattern, AscendC::Pattern::Reduce::AR>::value, isSum = std::is_same<Kind, SumOfRows>::value;
    static_assert(std::is_same<T, float>::value || (!isSum && std::is_same<T, half>::value),
                  "along an axis the Ascend 910B has ReduceSum of float, ReduceMax and ReduceMin of half and float");
    static_assert(isAR || std::is_same<pattern, AscendC::Pattern::Reduce::RA>::value, "the pattern is Pattern::Reduce::AR or RA");
    constexpr uint32_t kUnit = kBlockBytes / sizeof(T);
    RequireRange(api, 4, uint32_t(srcInnerPad), 1, 1, at);
    const AxisShape matrix{shape[0], shape[1], (shape[1] + kUnit - 1) / kUnit * kUnit, at};
    if constexpr (isAR) {
        ReduceLastAxis<Kind>(api, dst, src, memory, matrix);
    } else {
        ReduceFirstAxis<Kind>(dst, src, matrix);
    }
}

}  // namespace piton

#define PITON_REDUCE_AXIS(Name, Kind)                                                                                                  \
    namespace AscendC {                                                                                                                \
    template <class T, class pattern, bool isReuseSource = false>                                                                      \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const LocalTensor<uint8_t> &sharedTmpBuffer, \
                        const uint32_t srcShape[], bool srcInnerPad, piton::Location at = piton::Location()) {                         \
        piton::ReduceAxis<piton::Kind, T, pattern>(#Name, dstTensor, srcTensor, sharedTmpBuffer, srcShape, srcInnerPad, at);           \
    }                                                                                                                                  \
    template <class T, class pattern, bool isReuseSource = false>                                                                      \
    PITON_API void Name(const LocalTensor<T> &dstTensor, const LocalTensor<T> &srcTensor, const uint32_t srcShape[], bool srcInnerPad, \
                        piton::Location at = piton::Location()) {                                                                      \
        Name<T, pattern, isReuseSource>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), srcShape, srcInnerPad, at);           \
    }                                                                                                                                  \
    }

PITON_REDUCE_AXIS(ReduceSum, SumOfRows)
PITON_REDUCE_AXIS(ReduceMax, MaxOfRows)
PITON_REDUCE_AXIS(ReduceMin, MinOfRows)

#undef PITON_REDUCE_AXIS

#endif /* PITON_ASCENDC_ROW_REDUCE_H */
