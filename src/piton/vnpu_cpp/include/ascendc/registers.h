/*
 * SetDeqScale, GetCtrlSpr, SetCtrlSpr, SetSaturationFlag: the core's control registers.
 *
 * Problem and approach: state of the core that the hardware orders with other instructions; one record sets it, a question reads it.
 * Limits: the forms of SetDeqScale for CastDequant from int16_t are in dequant.h. Of CTRL, bit 48 does something, as on the Ascend 910B: 0 saturates infinities
 * and NaNs of half results; bits 46, 47 and 51 are those of Mmad. A kernel starts with 1 (engine/core.h). Of the other bits the values are kept.
 */
#ifndef PITON_ASCENDC_REGISTERS_H
#define PITON_ASCENDC_REGISTERS_H

#include "vector.h"

namespace AscendC {

enum class SaturationMode : uint8_t { FLOAT, CAST };

}  // namespace AscendC

namespace piton {

constexpr int8_t kFloatSaturationBit = 48; /* 0: saturate */

PITON_API uint64_t ReadCtrl(Location at) { return Fetch(MakeNote(VNPU_OP_GET_CTRL, at)); }

PITON_API void SubmitDeqScale(uint64_t value, Location at) {
    vnpu_record record = MakeRecord(VNPU_OP_SET_DEQ_SCALE, VNPU_PIPE_S, at);
    record.scalar = value;
    Submit(record);
}

template <int8_t startBit, int8_t endBit>
constexpr uint64_t CtrlField() {
    static_assert(startBit >= 0 && startBit <= endBit && endBit <= 63, "CTRL has the bits 0 to 63; startBit comes first");
    return (~uint64_t(0) >> (63 - endBit)) & (~uint64_t(0) << startBit);
}

}  // namespace piton

namespace AscendC {

/* The factor of Cast, CastDequant and AddDeqRelu from int32_t to half. */
PITON_API void SetDeqScale(half scale, piton::Location at = piton::Location()) { piton::SubmitDeqScale(piton::ToBits(scale), at); }

template <int8_t startBit, int8_t endBit>
PITON_API int64_t GetCtrlSpr(piton::Location at = piton::Location()) {
    return static_cast<int64_t>((piton::ReadCtrl(at) & piton::CtrlField<startBit, endBit>()) >> startBit);
}

template <int8_t startBit, int8_t endBit>
PITON_API void SetCtrlSpr(int64_t value, piton::Location at = piton::Location()) {
    constexpr uint64_t field = piton::CtrlField<startBit, endBit>();
    vnpu_record record = piton::MakeRecord(VNPU_OP_SET_CTRL, VNPU_PIPE_S, at);
    record.scalar = (piton::ReadCtrl(at) & ~field) | (static_cast<uint64_t>(value) << startBit & field);
    piton::Submit(record);
}

template <SaturationMode mode>
PITON_API void SetSaturationFlag(bool enableSat, piton::Location at = piton::Location()) {
    static_assert(mode == SaturationMode::FLOAT, "the virtual NPU always saturates in a Cast to integers; only SaturationMode::FLOAT can be set");
    SetCtrlSpr<piton::kFloatSaturationBit, piton::kFloatSaturationBit>(enableSat ? 0 : 1, at);
}

template <SaturationMode mode>
PITON_API bool GetSaturationFlag(piton::Location at = piton::Location()) {
    return mode == SaturationMode::CAST || GetCtrlSpr<piton::kFloatSaturationBit, piton::kFloatSaturationBit>(at) == 0;
}

enum class HF32Mode : uint8_t { DISABLE = 0, ENABLE = 1 };
enum class HF32TransMode : uint8_t { NEAREST_EVEN = 0, NEAREST_ZERO = 1 };

/* Mmad rounds floats to HF32 first. */
PITON_API void SetHF32Mode(bool hf32Mode, piton::Location at = piton::Location()) { SetCtrlSpr<46, 46>(hf32Mode, at); }
PITON_API void SetHF32Mode(HF32Mode mode, piton::Location at = piton::Location()) { SetHF32Mode(mode == HF32Mode::ENABLE, at); }

/* How: to nearest, ties towards zero (true) or to even. */
PITON_API void SetHF32TransMode(bool hf32TransMode, piton::Location at = piton::Location()) { SetCtrlSpr<47, 47>(hf32TransMode, at); }
PITON_API void SetHF32TransMode(HF32TransMode mode, piton::Location at = piton::Location()) { SetHF32TransMode(mode == HF32TransMode::NEAREST_ZERO, at); }

/* In which order Mmad walks through its results: no result hangs on it, and no cost here. */
PITON_API void SetMMLayoutTransform(bool mmLayoutMode, piton::Location at = piton::Location()) { SetCtrlSpr<51, 51>(mmLayoutMode, at); }
PITON_API void SetMMColumnMajor(piton::Location at = piton::Location()) { SetMMLayoutTransform(true, at); }
PITON_API void SetMMRowMajor(piton::Location at = piton::Location()) { SetMMLayoutTransform(false, at); }

}  // namespace AscendC

#endif /* PITON_ASCENDC_REGISTERS_H */
