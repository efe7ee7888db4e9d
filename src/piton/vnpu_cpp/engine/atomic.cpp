#include "atomic.h"

#include <cstring>

#include "half.h"
#include "mathematics.h"
#include "vector_kernels.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

enum AtomicMode : uint32_t { kNone, kAdd, kMax, kMin, kTypeOnly, kModes };  // p[0] of the record

uint16_t opcode_of(uint32_t mode) { return mode == kAdd ? VNPU_OP_ADD : mode == kMax ? VNPU_OP_MAX : VNPU_OP_MIN; }

int8_t combine_bytes(uint32_t mode, int8_t a, int8_t b) {
    if (mode == kAdd) return static_cast<int8_t>(static_cast<uint8_t>(a) + static_cast<uint8_t>(b));
    return (mode == kMax) == (a > b) ? a : b;
}

// Round to nearest, ties to even; NaN stays NaN.
uint16_t to_bfloat(float value) {
    const uint32_t bits = bits_as<uint32_t>(value);
    if (value != value) return 0x7fc0u;
    return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// A bfloat16 pair through the float kernel of one element.
uint16_t combine_bfloats(VectorKernel kernel, uint16_t a, uint16_t b) {
    const float wide[2] = {bfloat_to_float(a), bfloat_to_float(b)};
    float result;
    kernel(&result, &wide[0], &wide[1], 0, 1);
    return to_bfloat(result);
}

bool is_atomic_dtype(uint8_t dtype) {
    return dtype == VNPU_DT_I8 || dtype == VNPU_DT_I16 || dtype == VNPU_DT_I32 || dtype == VNPU_DT_F16 || dtype == VNPU_DT_BF16 || dtype == VNPU_DT_F32;
}

void combine_i8(uint32_t mode, uint8_t *target, const uint8_t *source, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) target[i] = static_cast<uint8_t>(combine_bytes(mode, static_cast<int8_t>(target[i]), static_cast<int8_t>(source[i])));
}

void combine_bf16(uint32_t mode, uint8_t *target, const uint8_t *source, uint64_t count) {
    const VectorKernel kernel = vector_kernel(opcode_of(mode), VNPU_DT_F32, VNPU_DT_F32, 0);
    for (uint64_t i = 0; i < count; ++i) {
        uint16_t a, b;
        std::memcpy(&a, target + 2 * i, sizeof a);
        std::memcpy(&b, source + 2 * i, sizeof b);
        a = combine_bfloats(kernel, a, b);
        std::memcpy(target + 2 * i, &a, sizeof a);
    }
}

}  // namespace

void set_atomic(Core &core, const vnpu_record &record) {
    const uint32_t mode = record.p[0];
    if (mode >= kModes || (mode != kNone && !is_atomic_dtype(record.dst.dtype)))
        core.fail(record, "unsupported_api", "atomic stores of this kind or dtype do not exist", {{"mode", mode}, {"dtype", record.dst.dtype}});
    if (mode != kTypeOnly) {
        core.atomic.mode = mode;
        core.atomic.place = place_of(record);
    }
    if (mode != kNone) core.atomic.dtype = record.dst.dtype;
}

void combine(const AtomicState &atomic, uint8_t *target, const uint8_t *source, uint64_t bytes) {
    const uint64_t count = bytes / dtype_bytes(atomic.dtype);
    if (atomic.dtype == VNPU_DT_I8) return combine_i8(atomic.mode, target, source, count);
    if (atomic.dtype == VNPU_DT_BF16) return combine_bf16(atomic.mode, target, source, count);
    vector_kernel(opcode_of(atomic.mode), atomic.dtype, atomic.dtype, 0)(target, target, source, 0, static_cast<uint32_t>(count));
}

}  // namespace vnpu
