/*
 * Binary instructions with a cast behind them, and MulAddDst of halves into floats.
 *
 * Choices where the documentation is silent: the intermediate result is rounded to the sources' type, the cast rounds to nearest even and saturates as Cast
 * does, int16 sums wrap around before they are cut at 0.
 */
#pragma once

namespace vnpu::VNPU_PATH::fused {

namespace {

float relu_of(float value) { return value > 0.0f ? value : (value == value ? 0.0f : quiet_nan()); }

float round_half(float value) { return half_to_float(float_to_half(tidy(value))); }

template <class T>
T saturate_to(float value) {
    constexpr float low = std::is_signed<T>::value ? -128.0f : 0.0f, high = std::is_signed<T>::value ? 127.0f : 255.0f;
    if (!(value == value)) return T(0);
    return static_cast<T>(least(most(std::nearbyint(value), low), high));
}

struct AddRelu {
    static float of(float a, float b) { return relu_of(tidy(a + b)); }
};
struct SubRelu {
    static float of(float a, float b) { return relu_of(tidy(a - b)); }
};
struct Mul {
    static float of(float a, float b) { return tidy(a * b); }
};

template <class Op, class T>
void halves_to_bytes(void *dst, const void *src0, const void *src1, uint64_t, uint32_t count) {
    const auto *a = static_cast<const uint16_t *>(src0);
    const auto *b = static_cast<const uint16_t *>(src1);
    for (uint32_t i = 0; i < count; ++i) static_cast<T *>(dst)[i] = saturate_to<T>(round_half(Op::of(half_to_float(a[i]), half_to_float(b[i]))));
}

template <class Op>
void floats_to_short(void *dst, const void *src0, const void *src1, uint64_t, uint32_t count) {
    const auto *a = static_cast<const float *>(src0);
    const auto *b = static_cast<const float *>(src1);
    for (uint32_t i = 0; i < count; ++i) static_cast<uint16_t *>(dst)[i] = float_to_half(Op::of(a[i], b[i]));
}

template <int sign>
void int16_to_bytes(void *dst, const void *src0, const void *src1, uint64_t, uint32_t count) {
    const auto *a = static_cast<const int16_t *>(src0);
    const auto *b = static_cast<const int16_t *>(src1);
    for (uint32_t i = 0; i < count; ++i) {
        const auto sum = static_cast<int16_t>(a[i] + sign * b[i]);
        static_cast<int8_t *>(dst)[i] = static_cast<int8_t>(least<int>(most<int>(sum, 0), 127));
    }
}

// The product of two halves is exact in float.
void mul_add_mixed(void *dst, const void *src0, const void *src1, uint64_t, uint32_t count) {
    auto *d = static_cast<float *>(dst);
    const auto *a = static_cast<const uint16_t *>(src0);
    const auto *b = static_cast<const uint16_t *>(src1);
    for (uint32_t i = 0; i < count; ++i) d[i] = tidy(d[i] + half_to_float(a[i]) * half_to_float(b[i]));
}

// The sum wraps around; the scale is the half in `scalar`. Rounded once, as a Cast from int32 to half is.
void add_deq_relu(void *dst, const void *src0, const void *src1, uint64_t scalar, uint32_t count) {
    const VectorKernel to_half = casts::kernel(VNPU_DT_I32, VNPU_DT_F16, 0);
    const auto *a = static_cast<const int32_t *>(src0);
    const auto *b = static_cast<const int32_t *>(src1);
    auto *d = static_cast<uint16_t *>(dst);
    for (uint32_t i = 0; i < count; ++i) {
        const auto sum = static_cast<int32_t>(static_cast<uint32_t>(a[i]) + static_cast<uint32_t>(b[i]));
        uint16_t scaled;
        to_half(&scaled, &sum, nullptr, scalar, 1);
        d[i] = float_to_half(relu_of(half_to_float(scaled)));
    }
}

template <class Op, int sign>
VectorKernel relu_cast(uint8_t dst, uint8_t src) {
    if (dst == VNPU_DT_F16 && src == VNPU_DT_F32) return floats_to_short<Op>;
    if (dst == VNPU_DT_I8 && src == VNPU_DT_F16) return halves_to_bytes<Op, int8_t>;
    return dst == VNPU_DT_I8 && src == VNPU_DT_I16 ? int16_to_bytes<sign> : nullptr;
}

}  // namespace

inline VectorKernel kernel(uint16_t opcode, uint8_t dst_dtype, uint8_t src_dtype) {
    switch (opcode) {
        case VNPU_OP_ADD_RELU_CAST:
            return relu_cast<AddRelu, 1>(dst_dtype, src_dtype);
        case VNPU_OP_SUB_RELU_CAST:
            return relu_cast<SubRelu, -1>(dst_dtype, src_dtype);
        case VNPU_OP_MUL_CAST:
            if (src_dtype != VNPU_DT_F16) return nullptr;
            return dst_dtype == VNPU_DT_I8 ? halves_to_bytes<Mul, int8_t> : dst_dtype == VNPU_DT_U8 ? halves_to_bytes<Mul, uint8_t> : nullptr;
        case VNPU_OP_ADD_DEQ_RELU:
            return dst_dtype == VNPU_DT_F16 && src_dtype == VNPU_DT_I32 ? add_deq_relu : nullptr;
        case VNPU_OP_MUL_ADD_DST:
            return dst_dtype == VNPU_DT_F32 && src_dtype == VNPU_DT_F16 ? mul_add_mixed : nullptr;
        default:
            return nullptr;
    }
}

}  // namespace vnpu::VNPU_PATH::fused
