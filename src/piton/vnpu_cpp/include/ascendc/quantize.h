/*
 * AscendDequant and AscendQuant: int32_t to floating point by a scale, floating point to int8_t by a scale and an offset.
 *
 * Problem: scales are one number or one per column, of several types; rows of the two sides are padded differently.
 * Approach: the documented steps. Dequantising: sources and scales to float, row by row times the scales, to the type of the result. Quantising: everything to
 * half, times the scale, plus the offset, to int8_t by round to nearest even. Rows are taken one by one. Their time is that of these instructions.
 * Limits: the forms of the Ascend 910B (per tensor and per channel). A deprecated AscendDequant without a shape is one row of calCount elements.
 */
#ifndef PITON_ASCENDC_QUANTIZE_H
#define PITON_ASCENDC_QUANTIZE_H

#include "cast.h"
#include "composed.h"
#include "gather.h"

namespace AscendC {

enum class DeQuantMode { DEQUANT_WITH_SINGLE_ROW = 0, DEQUANT_WITH_MULTI_ROW };

/* Rows, columns in memory (whole blocks), columns that count. */
struct DequantParams {
    uint32_t m;
    uint32_t n;
    uint32_t calCount;
};

/* Counts that are constants; 0 leaves them to the call. */
struct AscendQuantConfig {
    uint32_t calcCount = 0;
    uint32_t offsetCount = 0;
    uint32_t scaleCount = 0;
    uint32_t workLocalSize = 0;
};

inline constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};

}  // namespace AscendC

namespace piton {

/* Constants hold where the documentation's conditions for them do. */
template <const AscendC::AscendQuantConfig &config, bool isByChannel>
constexpr bool kIsQuantConstant = config.calcCount != 0 && config.workLocalSize != 0 && (!isByChannel || config.scaleCount != 0);

template <typename T>
constexpr bool kIsBfloat = std::is_same<T, bfloat16_t>::value;

template <typename D, typename S, bool isTensor>
constexpr bool kIsDequantPair = ((std::is_same<D, float>::value || kIsBfloat<D>) && (std::is_same<S, float>::value || kIsBfloat<S>)) ||
                                (isTensor && std::is_same<D, half>::value && std::is_same<S, uint64_t>::value);

PITON_API void QuantBarrier(Location at) { SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, at); }

/* Scales as floats, in `place` where they are none yet; of 64 bits the lower half is a float. */
template <typename S>
PITON_API FloatTensor FloatScales(const AscendC::LocalTensor<S> &scales, const FloatTensor &place, uint32_t count, Location at) {
    if constexpr (std::is_same<S, float>::value) {
        return scales;
    } else if constexpr (kIsBfloat<S>) {
        AscendC::Cast(place, scales, AscendC::RoundMode::CAST_NONE, count, at);
    } else {
        uint64_t taken = 0;
        AscendC::GatherMask(place, scales.template ReinterpretCast<float>(), uint8_t(1), true, 2 * count, {1, 1, 8, 0}, taken, at);
    }
    QuantBarrier(at);
    return place;
}

/* One row: `scale` is a tensor of floats or a float. */
template <typename D, typename Scale>
PITON_API void DequantRow(const AscendC::LocalTensor<D> &dst, const AscendC::LocalTensor<int32_t> &src, const Scale &scale, const FloatTensor &place,
                          uint32_t count, Location at) {
    FloatTensor wide = place;
    if constexpr (std::is_same<D, float>::value) {
        wide = dst;
    }
    AscendC::Cast(wide, src, AscendC::RoundMode::CAST_NONE, count, at);
    QuantBarrier(at);
    if constexpr (std::is_same<Scale, float>::value) {
        AscendC::Muls(wide, wide, scale, static_cast<int32_t>(count), at);
    } else {
        AscendC::Mul(wide, wide, scale, static_cast<int32_t>(count), at);
    }
    QuantBarrier(at);
    if constexpr (!std::is_same<D, float>::value) {
        AscendC::Cast(dst, wide, AscendC::RoundMode::CAST_RINT, count, at);
        QuantBarrier(at);
    }
}

template <AscendC::DeQuantMode mode, typename D>
PITON_API AscendC::DequantParams DequantShape(const AscendC::DequantParams &given, Location at) {
    RequireRange("AscendDequant", 4, given.calCount, 1, given.n, at);
    const bool isRows =
        mode == AscendC::DeQuantMode::DEQUANT_WITH_SINGLE_ROW && given.m == 1 && given.calCount * sizeof(D) % kBlockBytes == 0 && given.n % given.calCount == 0;
    return isRows ? AscendC::DequantParams{given.n / given.calCount, given.calCount, given.calCount} : given;
}

/* Memory: a row of floats, then the scales as floats. */
template <AscendC::DeQuantMode mode, typename D, typename Scales>
PITON_API void DequantRows(const AscendC::LocalTensor<D> &dst, const AscendC::LocalTensor<int32_t> &src, const Scales &scales,
                           const AscendC::LocalTensor<uint8_t> &memory, const AscendC::DequantParams &given, Location at) {
    constexpr uint32_t kColumns = kBlockBytes / sizeof(D);
    const AscendC::DequantParams shape = DequantShape<mode, D>(given, at);
    const uint32_t pitch = (shape.n + kColumns - 1) / kColumns * kColumns, room = (shape.calCount + 63) / 64 * 64;
    if (memory.GetSize() < 2 * room * sizeof(float)) {
        Fault(VNPU_FAULT_UB_OVERFLOW, "AscendDequant", at, 2 * room * sizeof(float), memory.GetSize());
    }
    RequireApart("AscendDequant", dst.Operand(), uint64_t(shape.m) * pitch * sizeof(D), memory.Operand(), 2 * room * sizeof(float), at);
    RequireApart("AscendDequant", src.Operand(), uint64_t(shape.m) * shape.n * sizeof(int32_t), memory.Operand(), 2 * room * sizeof(float), at);
    const FloatTensor wide = memory.template ReinterpretCast<float>();
    const auto scale = scales(wide[room], shape.calCount);
    for (uint32_t row = 0; row < shape.m; ++row) {
        DequantRow(dst[row * pitch], src[row * shape.n], scale, wide, shape.calCount, at);
    }
}

/* A tensor as halves, in `place` where it is none. */
template <typename T>
PITON_API AscendC::LocalTensor<half> HalfPart(const AscendC::LocalTensor<half> &place, const AscendC::LocalTensor<T> &src, uint32_t count, Location at) {
    if constexpr (std::is_same<T, half>::value) {
        return src;
    } else {
        AscendC::Cast(place, src, AscendC::RoundMode::CAST_NONE, count, at);
        QuantBarrier(at);
        return place;
    }
}

/* Scale and offset of a row: tensors of halves or halves. */
template <typename Scale, typename Offset, typename T>
PITON_API void QuantRow(const AscendC::LocalTensor<int8_t> &dst, const AscendC::LocalTensor<T> &src, const Scale &scale, const Offset &offset,
                        const AscendC::LocalTensor<half> &work, uint32_t count, Location at) {
    const AscendC::LocalTensor<half> from = HalfPart(work, src, count, at);
    const int32_t number = static_cast<int32_t>(count);
    if constexpr (std::is_same<Scale, half>::value) {
        AscendC::Muls(work, from, scale, number, at);
    } else {
        AscendC::Mul(work, from, scale, number, at);
    }
    QuantBarrier(at);
    if constexpr (std::is_same<Offset, half>::value) {
        AscendC::Adds(work, work, offset, number, at);
    } else {
        AscendC::Add(work, work, offset, number, at);
    }
    QuantBarrier(at);
    AscendC::Cast(dst, work, AscendC::RoundMode::CAST_RINT, count, at);
    QuantBarrier(at);
}

/* Memory in three parts of `columns` halves each: a row, scales, offsets. */
template <typename T>
PITON_API uint32_t QuantRoom(const AscendC::LocalTensor<int8_t> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                             uint32_t columns, uint32_t count, Location at) {
    const uint32_t room = (columns + 127) / 128 * 128, bytes = 3 * room * sizeof(half);
    if (memory.GetSize() < bytes) {
        Fault(VNPU_FAULT_UB_OVERFLOW, "AscendQuant", at, bytes, memory.GetSize());
    }
    RequireApart("AscendQuant", dst.Operand(), count, memory.Operand(), bytes, at);
    RequireApart("AscendQuant", src.Operand(), count * sizeof(T), memory.Operand(), bytes, at);
    return room;
}

template <typename T>
PITON_API void QuantByNumbers(const AscendC::LocalTensor<int8_t> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                              float scale, float offset, uint32_t count, Location at) {
    const uint32_t most = memory.GetSize() / (3 * kRepeatBytes) * 128, columns = count < most ? count : most;
    const uint32_t room = QuantRoom(dst, src, memory, columns == 0 ? 128 : columns, count, at);
    const auto work = memory.template ReinterpretCast<half>();
    for (uint32_t done = 0; done < count; done += room) {
        QuantRow(dst[done], src[done], static_cast<half>(scale), static_cast<half>(offset), work, count - done < room ? count - done : room, at);
    }
}

/* `offset` makes the offset of its place in memory: a tensor of halves or a half. */
template <typename T, typename Offset>
PITON_API void QuantByChannel(const AscendC::LocalTensor<int8_t> &dst, const AscendC::LocalTensor<T> &src, const AscendC::LocalTensor<uint8_t> &memory,
                              const AscendC::LocalTensor<T> &scales, const Offset &offset, uint32_t columns, uint32_t count, Location at) {
    RequireRange("AscendQuant", 5, columns, 1, count, at);
    const uint32_t room = QuantRoom(dst, src, memory, columns, count, at);
    const auto work = memory.template ReinterpretCast<half>();
    const auto scale = HalfPart(work[room], scales, columns, at);
    const auto added = offset(work[2 * room]);
    for (uint32_t done = 0; done < count; done += columns) {
        QuantRow(dst[done], src[done], scale, added, work, count - done < columns ? count - done : columns, at);
    }
}

}  // namespace piton

#define PITON_QUANT(...)                                                                                          \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG> \
    PITON_API void AscendQuant(const LocalTensor<int8_t> &dstTensor, const LocalTensor<T> &srcTensor, __VA_ARGS__, piton::Location at = piton::Location())
#define PITON_QUANT_MEMORY const LocalTensor<uint8_t> &sharedTmpBuffer
#define PITON_DEQUANT(Scale, ...)                                                                                                        \
    template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>                                   \
    PITON_API void AscendDequant(const LocalTensor<dstT> &dstTensor, const LocalTensor<int32_t> &srcTensor, Scale deqScale, __VA_ARGS__, \
                                 piton::Location at = piton::Location())

namespace AscendC {

PITON_DEQUANT(const LocalTensor<scaleT> &, const LocalTensor<uint8_t> &sharedTmpBuffer, DequantParams params) {
    static_assert(piton::kIsDequantPair<dstT, scaleT, true>,
                  "AscendDequant with a tensor of scales on the Ascend 910B: half by uint64_t, float or bfloat16_t by float or bfloat16_t");
    const auto scales = [&](const piton::FloatTensor &place, uint32_t count) { return piton::FloatScales(deqScale, place, count, at); };
    piton::DequantRows<mode>(dstTensor, srcTensor, scales, sharedTmpBuffer, params, at);
}
PITON_DEQUANT(const LocalTensor<scaleT> &, DequantParams params) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, GetTPipePtr(at)->UnusedMemory(at), params, at);
}
PITON_DEQUANT(const scaleT, const LocalTensor<uint8_t> &sharedTmpBuffer, DequantParams params) {
    static_assert(piton::kIsDequantPair<dstT, scaleT, false>, "AscendDequant with one scale on the Ascend 910B: float or bfloat16_t by float or bfloat16_t");
    const auto scale = [&](const piton::FloatTensor &, uint32_t) { return static_cast<float>(deqScale); };
    piton::DequantRows<mode>(dstTensor, srcTensor, scale, sharedTmpBuffer, params, at);
}
PITON_DEQUANT(const scaleT, DequantParams params) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, GetTPipePtr(at)->UnusedMemory(at), params, at);
}
/* Without a shape (deprecated). */
PITON_DEQUANT(const LocalTensor<scaleT> &, const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t calCount) {
    const uint32_t scales = deqScale.GetSize(), columns = calCount < scales ? calCount : scales;
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, sharedTmpBuffer, DequantParams{1, calCount, columns}, at);
}
PITON_DEQUANT(const LocalTensor<scaleT> &, const uint32_t calCount) {
    AscendDequant<dstT, scaleT, mode>(dstTensor, srcTensor, deqScale, GetTPipePtr(at)->UnusedMemory(at), calCount, at);
}

PITON_QUANT(PITON_QUANT_MEMORY, const float scale, const float offset, const uint32_t calCount) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("AscendQuant", piton::kIsFloat<T>, "half, float");
    const uint32_t count = piton::kIsQuantConstant<config, false> ? config.calcCount : calCount;
    piton::QuantByNumbers(dstTensor, srcTensor, sharedTmpBuffer, scale, offset, count, at);
}
PITON_QUANT(PITON_QUANT_MEMORY, const float scale, const float offset) {
    AscendQuant<T, isReuseSource, config>(dstTensor, srcTensor, sharedTmpBuffer, scale, offset, srcTensor.GetSize(), at);
}
PITON_QUANT(const float scale, const float offset, const uint32_t calCount) {
    AscendQuant<T, isReuseSource, config>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), scale, offset, calCount, at);
}
PITON_QUANT(const float scale, const float offset) { AscendQuant<T, isReuseSource, config>(dstTensor, srcTensor, scale, offset, srcTensor.GetSize(), at); }
PITON_QUANT(PITON_QUANT_MEMORY, const LocalTensor<T> &scaleTensor, const T offset, const uint32_t scaleCount, const uint32_t calCount) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("AscendQuant", piton::kIsFloat<T>, "half, float");
    const auto number = [&](const LocalTensor<half> &) { return static_cast<half>(static_cast<float>(offset)); };
    constexpr bool isConstant = piton::kIsQuantConstant<config, true>;
    const uint32_t columns = isConstant ? config.scaleCount : scaleCount, count = isConstant ? config.calcCount : calCount;
    piton::QuantByChannel(dstTensor, srcTensor, sharedTmpBuffer, scaleTensor, number, columns, count, at);
}
PITON_QUANT(PITON_QUANT_MEMORY, const LocalTensor<T> &scaleTensor, const LocalTensor<T> &offsetTensor, const uint32_t scaleCount, const uint32_t offsetCount,
            const uint32_t calCount) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("AscendQuant", piton::kIsFloat<T>, "half, float");
    constexpr bool isConstant = piton::kIsQuantConstant<config, true>;
    const uint32_t columns = isConstant ? config.scaleCount : scaleCount, count = isConstant ? config.calcCount : calCount;
    piton::RequireRange("AscendQuant", 6, isConstant ? config.offsetCount : offsetCount, columns, columns, at);
    const auto tensor = [&](const LocalTensor<half> &place) { return piton::HalfPart(place, offsetTensor, columns, at); };
    piton::QuantByChannel(dstTensor, srcTensor, sharedTmpBuffer, scaleTensor, tensor, columns, count, at);
}
PITON_QUANT(PITON_QUANT_MEMORY, const LocalTensor<T> &scaleTensor, const T offset) {
    AscendQuant<T, isReuseSource, config>(dstTensor, srcTensor, sharedTmpBuffer, scaleTensor, offset, scaleTensor.GetSize(), srcTensor.GetSize(), at);
}
PITON_QUANT(PITON_QUANT_MEMORY, const LocalTensor<T> &scaleTensor, const LocalTensor<T> &offsetTensor) {
    const uint32_t columns = scaleTensor.GetSize();
    AscendQuant<T, isReuseSource, config>(dstTensor, srcTensor, sharedTmpBuffer, scaleTensor, offsetTensor, columns, columns, srcTensor.GetSize(), at);
}
PITON_QUANT(const LocalTensor<T> &scaleTensor, const T offset) {
    AscendQuant<T, isReuseSource, config>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), scaleTensor, offset, at);
}
PITON_QUANT(const LocalTensor<T> &scaleTensor, const LocalTensor<T> &offsetTensor) {
    AscendQuant<T, isReuseSource, config>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), scaleTensor, offsetTensor, at);
}
PITON_QUANT(const LocalTensor<T> &scaleTensor, const T offset, const uint32_t scaleCount, const uint32_t calCount) {
    AscendQuant<T, isReuseSource, config>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), scaleTensor, offset, scaleCount, calCount, at);
}
PITON_QUANT(const LocalTensor<T> &scaleTensor, const LocalTensor<T> &offsetTensor, const uint32_t scaleCount, const uint32_t offsetCount,
            const uint32_t calCount) {
    AscendQuant<T, isReuseSource, config>(dstTensor, srcTensor, GetTPipePtr(at)->UnusedMemory(at), scaleTensor, offsetTensor, scaleCount, offsetCount, calCount,
                                          at);
}

}  // namespace AscendC

#undef PITON_QUANT
#undef PITON_QUANT_MEMORY
#undef PITON_DEQUANT

#endif /* PITON_ASCENDC_QUANTIZE_H */
