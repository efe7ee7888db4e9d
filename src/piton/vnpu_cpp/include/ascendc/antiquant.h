/*
 * AscendAntiQuant: int8_t or int4b_t to floating point, (source + offset) * scale.
 *
 * Problem: offset and scale are numbers or matrices; a row of them serves a group of rows of the source or, transposed, a number of them a group of columns.
 * Approach: the documented steps, row by row: the source to half (for bfloat16_t on to float), plus the offset, times the scale. A number for a group of
 * columns is read by the scalar unit. Their time is that of these instructions.
 * Limits: the forms of the Ascend 910B (per channel, per tensor). Without an AntiQuantShapeInfo the heights follow from the tensors' sizes.
 */
#ifndef PITON_ASCENDC_ANTIQUANT_H
#define PITON_ASCENDC_ANTIQUANT_H

#include "cast.h"
#include "pipe.h"
#include "scratch.h"
#include "vector_binary.h"
#include "vector_scalar.h"

namespace AscendC {

struct AntiQuantShapeInfo {
    uint32_t offsetHeight{0};
    uint32_t offsetWidth{0};
    uint32_t scaleHeight{0};
    uint32_t scaleWidth{0};
};

}  // namespace AscendC

namespace piton {

template <typename T>
constexpr bool kIsQuantized = std::is_same<T, int8_t>::value || std::is_same<T, AscendC::int4b_t>::value;
template <typename T>
constexpr bool kIsAntiQuantized = std::is_same<T, half>::value || std::is_same<T, bfloat16_t>::value;

/* What the steps compute in: half, and float for bfloat16_t. */
template <typename T>
using AntiQuantType = std::conditional_t<std::is_same<T, half>::value, half, float>;

/* The memory: a row in the type of the steps, a row of halves on the way there, a row of offsets or scales. */
template <typename T>
struct AntiQuantWork {
    using Wide = AntiQuantType<T>;
    static constexpr bool kIsDirect = std::is_same<T, half>::value;

    AscendC::LocalTensor<uint8_t> memory;
    uint32_t room; /* elements of each, whole repeats of floats */
    Location at;

    PITON_API static uint64_t Bytes(uint32_t room) { return uint64_t(room) * (2 * sizeof(Wide) + sizeof(half)); }
    PITON_API AscendC::LocalTensor<Wide> Row() const { return memory.template ReinterpretCast<Wide>(); }
    PITON_API AscendC::LocalTensor<Wide> Numbers() const { return Row()[room]; }
    PITON_API AscendC::LocalTensor<half> Halves() const { return Row()[2 * room].template ReinterpretCast<half>(); }
    PITON_API void Barrier() const { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }

    template <typename S>
    PITON_API void Widen(const AscendC::LocalTensor<S> &src, uint32_t count) const {
        if constexpr (kIsDirect) {
            AscendC::Cast(Row(), src, AscendC::RoundMode::CAST_NONE, count, at);
        } else {
            AscendC::Cast(Halves(), src, AscendC::RoundMode::CAST_NONE, count, at);
            Barrier();
            AscendC::Cast(Row(), Halves(), AscendC::RoundMode::CAST_NONE, count, at);
        }
        Barrier();
    }
    PITON_API void Narrow(const AscendC::LocalTensor<T> &dst, uint32_t count) const {
        if constexpr (kIsDirect) {
            AscendC::Adds(dst, Row(), T(0), static_cast<int32_t>(count), at);
        } else {
            AscendC::Cast(dst, Row(), AscendC::RoundMode::CAST_RINT, count, at);
        }
        Barrier();
    }
    /* Offsets or scales in the type of the steps. */
    PITON_API AscendC::LocalTensor<Wide> Widened(const AscendC::LocalTensor<T> &numbers, uint32_t count) const {
        if constexpr (kIsDirect) {
            return numbers;
        } else {
            AscendC::Cast(Numbers(), numbers, AscendC::RoundMode::CAST_NONE, count, at);
            Barrier();
            return Numbers();
        }
    }
};

/* A step by a number, by a row of numbers, or by one number of a row for a group of columns. */
enum class AntiQuantStep { kAdd, kMultiply };

template <AntiQuantStep step, typename T>
PITON_API void StepByNumber(const AntiQuantWork<T> &work, T number, uint32_t count) {
    const auto value = static_cast<AntiQuantType<T>>(static_cast<float>(number));
    if constexpr (step == AntiQuantStep::kAdd) {
        AscendC::Adds(work.Row(), work.Row(), value, static_cast<int32_t>(count), work.at);
    } else {
        AscendC::Muls(work.Row(), work.Row(), value, static_cast<int32_t>(count), work.at);
    }
    work.Barrier();
}

template <AntiQuantStep step, typename T>
PITON_API void StepByRow(const AntiQuantWork<T> &work, const AscendC::LocalTensor<T> &numbers, uint32_t count) {
    const auto row = work.Row(), by = work.Widened(numbers, count);
    if constexpr (step == AntiQuantStep::kAdd) {
        AscendC::Add(row, row, by, static_cast<int32_t>(count), work.at);
    } else {
        AscendC::Mul(row, row, by, static_cast<int32_t>(count), work.at);
    }
    work.Barrier();
}

/* Height and width of offsets or scales. */
struct AntiQuantShape {
    uint32_t height;
    uint32_t width;
};

template <typename D, typename S>
struct AntiQuantCall {
    const AscendC::LocalTensor<D> &dst;
    const AscendC::LocalTensor<S> &src;
    const AscendC::LocalTensor<uint8_t> &memory;
    uint32_t rows;
    uint32_t columns;
    Location at;

    PITON_API AntiQuantWork<D> Work() const {
        const uint32_t room = (columns + 127) / 128 * 128;
        const uint64_t used = AntiQuantWork<D>::Bytes(room), elements = uint64_t(rows) * columns;
        if (memory.GetSize() < used) {
            Fault(VNPU_FAULT_UB_OVERFLOW, "AscendAntiQuant", at, used, memory.GetSize());
        }
        RequireApart("AscendAntiQuant", dst.Operand(), elements * sizeof(D), memory.Operand(), used, at);
        RequireApart("AscendAntiQuant", src.Operand(), BytesOf<S>(elements), memory.Operand(), used, at);
        return {memory, room, at};
    }
    /* `step(work, row)` between the conversions. */
    template <typename Step>
    PITON_API void EachRow(const Step &step) const {
        const AntiQuantWork<D> work = Work();
        RequireRange("AscendAntiQuant", 1, BytesOf<S>(columns) % kBlockBytes, 0, 0, at);
        for (uint32_t row = 0; row < rows; ++row) {
            work.Widen(src[row * columns], columns);
            step(work, row);
            work.Narrow(dst[row * columns], columns);
        }
    }
    /* Of a tensor with `numbers` elements; what the shape does not say follows from the source's. */
    template <bool isTranspose>
    PITON_API AntiQuantShape ShapeOf(uint32_t height, uint32_t width, uint32_t numbers) const {
        if (height == 0 || width == 0) {
            height = isTranspose ? rows : numbers / columns;
            width = isTranspose ? numbers / rows : columns;
        }
        RequireRange("AscendAntiQuant", 6, height, isTranspose ? rows : 1, rows, at);
        RequireRange("AscendAntiQuant", 6, width, isTranspose ? 1 : columns, columns, at);
        RequireRange("AscendAntiQuant", 6, isTranspose ? columns % width : rows % height, 0, 0, at);
        return {height, width};
    }
};

/* One number for each group of columns, from the row of `width` numbers that begins at element `first`. */
template <AntiQuantStep step, typename T>
PITON_API void StepByGroups(const AntiQuantWork<T> &work, const AscendC::LocalTensor<T> &numbers, AntiQuantShape shape, uint32_t row, uint32_t columns) {
    const uint32_t group = columns / shape.width;
    for (uint32_t i = 0; i < shape.width; ++i) {
        const T number = numbers.GetValue(row * shape.width + i, work.at);
        const auto part = work.Row()[i * group];
        const auto value = static_cast<AntiQuantType<T>>(static_cast<float>(number));
        if constexpr (step == AntiQuantStep::kAdd) {
            AscendC::Adds(part, part, value, static_cast<int32_t>(group), work.at);
        } else {
            AscendC::Muls(part, part, value, static_cast<int32_t>(group), work.at);
        }
    }
    work.Barrier();
}

template <AntiQuantStep step, bool isTranspose, typename T>
PITON_API void StepByMatrix(const AntiQuantWork<T> &work, const AscendC::LocalTensor<T> &numbers, AntiQuantShape shape, uint32_t row,
                            const AntiQuantShape &source) {
    if constexpr (isTranspose) {
        StepByGroups<step>(work, numbers, shape, row, source.width);
    } else {
        StepByRow<step>(work, numbers[row / (source.height / shape.height) * shape.width], source.width);
    }
}

/* k is the height of the source, transposed its width. */
template <bool isTranspose, typename D, typename S>
PITON_API AntiQuantCall<D, S> AntiQuantOf(const AscendC::LocalTensor<D> &dst, const AscendC::LocalTensor<S> &src, const AscendC::LocalTensor<uint8_t> &memory,
                                          uint32_t k, Location at) {
    static_assert(kIsQuantized<S> && kIsAntiQuantized<D>, "AscendAntiQuant on the Ascend 910B goes from int8_t or int4b_t to half or bfloat16_t");
    RequireRange("AscendAntiQuant", 5, k, 1, src.GetSize(), at);
    RequireRange("AscendAntiQuant", 5, src.GetSize() % k, 0, 0, at);
    const uint32_t other = src.GetSize() / k;
    return {dst, src, memory, isTranspose ? other : k, isTranspose ? k : other, at};
}

/* The steps of a call: by matrices of offsets and scales, by scales alone, by numbers. */
template <bool isTranspose, typename D, typename S>
PITON_API void AntiQuantByMatrices(const AntiQuantCall<D, S> &call, const AscendC::LocalTensor<D> &offset, const AscendC::LocalTensor<D> &scale,
                                   const AscendC::AntiQuantShapeInfo &info) {
    const AntiQuantShape source{call.rows, call.columns};
    const AntiQuantShape offsets = call.template ShapeOf<isTranspose>(info.offsetHeight, info.offsetWidth, offset.GetSize());
    const AntiQuantShape scales = call.template ShapeOf<isTranspose>(info.scaleHeight, info.scaleWidth, scale.GetSize());
    call.EachRow([&](const AntiQuantWork<D> &work, uint32_t row) {
        StepByMatrix<AntiQuantStep::kAdd, isTranspose>(work, offset, offsets, row, source);
        StepByMatrix<AntiQuantStep::kMultiply, isTranspose>(work, scale, scales, row, source);
    });
}
template <bool isTranspose, typename D, typename S>
PITON_API void AntiQuantByScales(const AntiQuantCall<D, S> &call, const AscendC::LocalTensor<D> &scale, const AscendC::AntiQuantShapeInfo &info) {
    const AntiQuantShape source{call.rows, call.columns};
    const AntiQuantShape scales = call.template ShapeOf<isTranspose>(info.scaleHeight, info.scaleWidth, scale.GetSize());
    call.EachRow([&](const AntiQuantWork<D> &work, uint32_t row) { StepByMatrix<AntiQuantStep::kMultiply, isTranspose>(work, scale, scales, row, source); });
}
template <typename D, typename S>
PITON_API void AntiQuantByNumbers(const AntiQuantCall<D, S> &call, const D *offset, D scale) {
    call.EachRow([&](const AntiQuantWork<D> &work, uint32_t) {
        if (offset != nullptr) {
            StepByNumber<AntiQuantStep::kAdd>(work, *offset, call.columns);
        }
        StepByNumber<AntiQuantStep::kMultiply>(work, scale, call.columns);
    });
}

}  // namespace piton

#define PITON_ANTIQUANT(...)                                                                                                                     \
    template <typename InputDataType, typename OutputDataType, bool isTranspose>                                                                 \
    PITON_API void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, __VA_ARGS__, const uint32_t k, \
                                   const AntiQuantShapeInfo &shapeInfo = {}, piton::Location at = piton::Location())
#define PITON_ANTIQUANT_MEMORY const LocalTensor<uint8_t> &sharedTmpBuffer

namespace AscendC {

PITON_ANTIQUANT(const LocalTensor<OutputDataType> &offset, const LocalTensor<OutputDataType> &scale, PITON_ANTIQUANT_MEMORY) {
    piton::AntiQuantByMatrices<isTranspose>(piton::AntiQuantOf<isTranspose>(dst, src, sharedTmpBuffer, k, at), offset, scale, shapeInfo);
}
PITON_ANTIQUANT(const LocalTensor<OutputDataType> &offset, const LocalTensor<OutputDataType> &scale) {
    AscendAntiQuant<InputDataType, OutputDataType, isTranspose>(dst, src, offset, scale, GetTPipePtr(at)->UnusedMemory(at), k, shapeInfo, at);
}
PITON_ANTIQUANT(const LocalTensor<OutputDataType> &scale, PITON_ANTIQUANT_MEMORY) {
    piton::AntiQuantByScales<isTranspose>(piton::AntiQuantOf<isTranspose>(dst, src, sharedTmpBuffer, k, at), scale, shapeInfo);
}
PITON_ANTIQUANT(const OutputDataType offset, const OutputDataType scale, PITON_ANTIQUANT_MEMORY) {
    (void)shapeInfo;
    piton::AntiQuantByNumbers(piton::AntiQuantOf<isTranspose>(dst, src, sharedTmpBuffer, k, at), &offset, scale);
}
PITON_ANTIQUANT(const OutputDataType offset, const OutputDataType scale) {
    AscendAntiQuant<InputDataType, OutputDataType, isTranspose>(dst, src, offset, scale, GetTPipePtr(at)->UnusedMemory(at), k, shapeInfo, at);
}
PITON_ANTIQUANT(const OutputDataType scale, PITON_ANTIQUANT_MEMORY) {
    (void)shapeInfo;
    piton::AntiQuantByNumbers<OutputDataType>(piton::AntiQuantOf<isTranspose>(dst, src, sharedTmpBuffer, k, at), nullptr, scale);
}

}  // namespace AscendC

#undef PITON_ANTIQUANT_MEMORY
#undef PITON_ANTIQUANT

#endif /* PITON_ASCENDC_ANTIQUANT_H */
