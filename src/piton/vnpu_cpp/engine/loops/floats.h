/* Arithmetic on floats, and on halves as floats that are rounded once. */
#pragma once

namespace vnpu::VNPU_PATH::floats {

namespace {

struct Add {
    static float of(float a, float b) { return tidy(a + b); }
};
struct Sub {
    static float of(float a, float b) { return tidy(a - b); }
};
struct Mul {
    static float of(float a, float b) { return tidy(a * b); }
};
struct Div {
    static float of(float a, float b) { return tidy(a / b); }
};

// NaN if either is; -0 counts as less than +0. Not published for the chip: IEEE 754-2019 maximum and minimum are taken.
struct Max {
    static float of(float a, float b) {
        const float equal = bits_as<float>(bits_as<uint32_t>(a) & bits_as<uint32_t>(b));
        float result = a > b ? a : b;
        result = a == b ? equal : result;
        result = a == a ? result : quiet_nan();
        return b == b ? result : quiet_nan();
    }
};
struct Min {
    static float of(float a, float b) {
        const float equal = bits_as<float>(bits_as<uint32_t>(a) | bits_as<uint32_t>(b));
        float result = a < b ? a : b;
        result = a == b ? equal : result;
        result = a == a ? result : quiet_nan();
        return b == b ? result : quiet_nan();
    }
};
struct LeakyRelu {
    static float of(float a, float b) { return tidy(a > 0.0f ? a : a * b); }
};

struct Relu {
    static float of(float a) { return a > 0.0f ? a : (a == a ? 0.0f : quiet_nan()); }
};
struct AddRelu {
    static float of(float a, float b) { return Relu::of(tidy(a + b)); }
};
struct SubRelu {
    static float of(float a, float b) { return Relu::of(tidy(a - b)); }
};
struct Same {
    static float of(float a) { return a; }
};

struct Exp {
    static float of(float a) { return exp_of(a); }
};
struct Ln {
    static float of(float a) { return ln_of(a); }
};
struct Sqrt {
    static float of(float a) { return tidy(std::sqrt(a)); }
};
struct Rsqrt {
    static float of(float a) { return rsqrt_of(a); }
};
struct Reciprocal {
    static float of(float a) { return tidy(1.0f / a); }
};
struct Abs {
    static float of(float a) { return bits_as<float>(bits_as<uint32_t>(a) & 0x7fffffffu); }
};

constexpr uint32_t kChunk = 512;  // halves converted at a time: three such float buffers stay in the first-level cache

template <class Op>
void binary_f32(void *dst, const void *src0, const void *src1, uint64_t, uint32_t count) {
    auto *d = static_cast<float *>(dst);
    const auto *a = static_cast<const float *>(src0);
    const auto *b = static_cast<const float *>(src1);
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) d[i] = Op::of(a[i], b[i]);
}

template <class Op>
void scalar_f32(void *dst, const void *src0, const void *, uint64_t scalar, uint32_t count) {
    auto *d = static_cast<float *>(dst);
    const auto *a = static_cast<const float *>(src0);
    const float b = bits_as<float>(static_cast<uint32_t>(scalar));
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) d[i] = Op::of(a[i], b);
}

template <class Op>
void unary_f32(void *dst, const void *src0, const void *, uint64_t, uint32_t count) {
    auto *d = static_cast<float *>(dst);
    const auto *a = static_cast<const float *>(src0);
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) d[i] = Op::of(a[i]);
}

// dst = dst + src0 * scalar, the product rounded before the sum: the documentation does not say; two roundings are what Muls and Add would give.
void axpy_f32(void *dst, const void *src0, const void *, uint64_t scalar, uint32_t count) {
    auto *d = static_cast<float *>(dst);
    const auto *a = static_cast<const float *>(src0);
    const float b = bits_as<float>(static_cast<uint32_t>(scalar));
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) d[i] = tidy(d[i] + a[i] * b);
}

// dst = src0 * dst + src1, or with `is_dst` dst = src0 * src1 + dst; the product rounded before the sum, as in axpy_f32.
template <class Last, bool is_dst>
void mul_add_f32(void *dst, const void *src0, const void *src1, uint64_t, uint32_t count) {
    auto *d = static_cast<float *>(dst);
    const auto *a = static_cast<const float *>(src0);
    const auto *b = static_cast<const float *>(src1);
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) d[i] = Last::of(is_dst ? tidy(a[i] * b[i] + d[i]) : tidy(a[i] * d[i] + b[i]));
}

// The same with src0 and the scalar in half: their product is exact in float.
void axpy_mixed(void *dst, const void *src0, const void *, uint64_t scalar, uint32_t count) {
    float wide[kChunk];
    const uint64_t factor = bits_as<uint32_t>(half_to_float(static_cast<uint16_t>(scalar)));
    for (uint32_t at = 0; at < count; at += kChunk) {
        const uint32_t n = least(kChunk, count - at);
        halves_to_floats(static_cast<const uint16_t *>(src0) + at, wide, n);
        axpy_f32(static_cast<float *>(dst) + at, wide, nullptr, factor, n);
    }
}

// The float loop on halves, chunk by chunk: convert, compute, round once.
template <VectorKernel loop, bool has_src1, bool reads_dst>
void on_halves(void *dst, const void *src0, const void *src1, uint64_t scalar, uint32_t count) {
    float a[kChunk], b[kChunk], d[kChunk];
    auto *to = static_cast<uint16_t *>(dst);
    const uint64_t wide = bits_as<uint32_t>(half_to_float(static_cast<uint16_t>(scalar)));
    for (uint32_t at = 0; at < count; at += kChunk) {
        const uint32_t n = least(kChunk, count - at);
        halves_to_floats(static_cast<const uint16_t *>(src0) + at, a, n);
        if (has_src1) halves_to_floats(static_cast<const uint16_t *>(src1) + at, b, n);
        if (reads_dst) halves_to_floats(to + at, d, n);
        loop(d, a, b, wide, n);
        floats_to_halves(d, to + at, n);
    }
}

template <class Op>
VectorKernel binary(uint8_t dtype) {
    return dtype == VNPU_DT_F32 ? binary_f32<Op> : on_halves<binary_f32<Op>, true, false>;
}
template <class Last, bool is_dst>
VectorKernel mul_add(uint8_t dtype) {
    return dtype == VNPU_DT_F32 ? mul_add_f32<Last, is_dst> : on_halves<mul_add_f32<Last, is_dst>, true, true>;
}
template <class Op>
VectorKernel with_scalar(uint8_t dtype) {
    return dtype == VNPU_DT_F32 ? scalar_f32<Op> : on_halves<scalar_f32<Op>, false, false>;
}
template <class Op>
VectorKernel unary(uint8_t dtype) {
    return dtype == VNPU_DT_F32 ? unary_f32<Op> : on_halves<unary_f32<Op>, false, false>;
}

}  // namespace

inline VectorKernel kernel(uint16_t opcode, uint8_t dtype) {
    if (dtype != VNPU_DT_F32 && dtype != VNPU_DT_F16) return nullptr;
    switch (opcode) {
        case VNPU_OP_ADD:
            return binary<Add>(dtype);
        case VNPU_OP_SUB:
            return binary<Sub>(dtype);
        case VNPU_OP_MUL:
            return binary<Mul>(dtype);
        case VNPU_OP_DIV:
            return binary<Div>(dtype);
        case VNPU_OP_MAX:
            return binary<Max>(dtype);
        case VNPU_OP_MIN:
            return binary<Min>(dtype);
        case VNPU_OP_ADD_RELU:
            return binary<AddRelu>(dtype);
        case VNPU_OP_SUB_RELU:
            return binary<SubRelu>(dtype);
        case VNPU_OP_FUSED_MUL_ADD:
            return mul_add<Same, false>(dtype);
        case VNPU_OP_MUL_ADD_RELU:
            return mul_add<Relu, false>(dtype);
        case VNPU_OP_MUL_ADD_DST:
            return mul_add<Same, true>(dtype);
        case VNPU_OP_ADDS:
            return with_scalar<Add>(dtype);
        case VNPU_OP_MULS:
            return with_scalar<Mul>(dtype);
        case VNPU_OP_MAXS:
            return with_scalar<Max>(dtype);
        case VNPU_OP_MINS:
            return with_scalar<Min>(dtype);
        case VNPU_OP_LEAKY_RELU:
            return with_scalar<LeakyRelu>(dtype);
        case VNPU_OP_AXPY:
            return dtype == VNPU_DT_F32 ? axpy_f32 : on_halves<axpy_f32, false, true>;
        case VNPU_OP_EXP:
            return unary<Exp>(dtype);
        case VNPU_OP_LN:
            return unary<Ln>(dtype);
        case VNPU_OP_SQRT:
            return unary<Sqrt>(dtype);
        case VNPU_OP_RSQRT:
            return unary<Rsqrt>(dtype);
        case VNPU_OP_RECIPROCAL:
            return unary<Reciprocal>(dtype);
        case VNPU_OP_ABS:
            return unary<Abs>(dtype);
        case VNPU_OP_RELU:
            return unary<Relu>(dtype);
        default:
            return nullptr;
    }
}

inline VectorKernel mixed_kernel(uint16_t opcode, uint8_t dst_dtype, uint8_t src_dtype) {
    return opcode == VNPU_OP_AXPY && dst_dtype == VNPU_DT_F32 && src_dtype == VNPU_DT_F16 ? axpy_mixed : nullptr;
}

}  // namespace vnpu::VNPU_PATH::floats
