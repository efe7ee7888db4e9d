/* Arithmetic, logic and shifts on integers; copies and fills. */
#pragma once

namespace vnpu::VNPU_PATH::integers {

namespace {

// Overflow wraps around (two's complement); unsigned intermediates, and wide ones for 16 bits, keep that defined in C++.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
struct Add {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
    }
};
struct Sub {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
    }
};
struct Mul {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
    }
};
struct AddRelu {
    template <class T>
    static T of(T a, T b) {
        return most(Add::of(a, b), T(0));
    }
};
struct SubRelu {
    template <class T>
    static T of(T a, T b) {
        return most(Sub::of(a, b), T(0));
    }
};
struct Max {
    template <class T>
    static T of(T a, T b) {
        return a > b ? a : b;
    }
};
struct Min {
    template <class T>
    static T of(T a, T b) {
        return a < b ? a : b;
    }
};
struct And {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct Or {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(a | b);
    }
};
struct Not {
    template <class T>
    static T of(T a) {
        return static_cast<T>(~a);
    }
};
struct Relu {
    template <class T>
    static T of(T a) {
        return most(a, T(0));
    }
};
// A count of the width or more shifts everything out (a signed right shift leaves the sign).
struct ShiftLeft {
    template <class T>
    static T of(T a, T b) {
        const auto count = static_cast<uint32_t>(b);
        return count >= sizeof(T) * 8 ? T(0) : static_cast<T>(static_cast<Wide<T>>(a) << count);
    }
};
struct ShiftRight {
    template <class T>
    static T of(T a, T b) {
        const auto last = static_cast<uint32_t>(sizeof(T) * 8 - 1);
        const auto count = static_cast<uint32_t>(b);
        if (std::is_signed<T>::value) return static_cast<T>(a >> least(count, last));
        return count > last ? T(0) : static_cast<T>(a >> count);
    }
};

// Half a unit of the last place kept is added: the last bit shifted out rounds up.
struct RoundingShiftRight {
    template <class T>
    static T of(T a, T b) {
        const auto count = least(static_cast<uint32_t>(b), static_cast<uint32_t>(sizeof(T) * 8));
        const int64_t wide = a;
        return static_cast<T>((wide >> count) + (count ? wide >> (count - 1) & 1 : 0));
    }
};

template <class Op, class T>
void binary(void *dst, const void *src0, const void *src1, uint64_t, uint32_t count) {
    auto *d = static_cast<T *>(dst);
    const auto *a = static_cast<const T *>(src0);
    const auto *b = static_cast<const T *>(src1);
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) d[i] = Op::of(a[i], b[i]);
}

template <class Op, class T>
void with_scalar(void *dst, const void *src0, const void *, uint64_t scalar, uint32_t count) {
    auto *d = static_cast<T *>(dst);
    const auto *a = static_cast<const T *>(src0);
    const T b = static_cast<T>(scalar);
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) d[i] = Op::of(a[i], b);
}

template <class Op, class T>
void unary(void *dst, const void *src0, const void *, uint64_t, uint32_t count) {
    auto *d = static_cast<T *>(dst);
    const auto *a = static_cast<const T *>(src0);
#pragma GCC ivdep
    for (uint32_t i = 0; i < count; ++i) d[i] = Op::of(a[i]);
}

template <class T>
void duplicate(void *dst, const void *, const void *, uint64_t scalar, uint32_t count) {
    auto *d = static_cast<T *>(dst);
    for (uint32_t i = 0; i < count; ++i) d[i] = static_cast<T>(scalar);
}

template <class T>
void copy(void *dst, const void *src0, const void *, uint64_t, uint32_t count) {
    std::memmove(dst, src0, count * sizeof(T));
}

template <class T>
VectorKernel arithmetic(uint16_t opcode) {
    switch (opcode) {
        case VNPU_OP_ADD:
            return binary<Add, T>;
        case VNPU_OP_SUB:
            return binary<Sub, T>;
        case VNPU_OP_MUL:
            return binary<Mul, T>;
        case VNPU_OP_MAX:
            return binary<Max, T>;
        case VNPU_OP_MIN:
            return binary<Min, T>;
        case VNPU_OP_ADDS:
            return with_scalar<Add, T>;
        case VNPU_OP_MULS:
            return with_scalar<Mul, T>;
        case VNPU_OP_MAXS:
            return with_scalar<Max, T>;
        case VNPU_OP_MINS:
            return with_scalar<Min, T>;
        default:
            return nullptr;
    }
}

template <class T>
VectorKernel logic(uint16_t opcode) {
    switch (opcode) {
        case VNPU_OP_AND:
            return binary<And, T>;
        case VNPU_OP_OR:
            return binary<Or, T>;
        case VNPU_OP_NOT:
            return unary<Not, T>;
        default:
            return nullptr;
    }
}

template <class T>
VectorKernel shift(uint16_t opcode, bool is_rounding = false) {
    if (opcode == VNPU_OP_SHIFT_LEFT) return with_scalar<ShiftLeft, T>;
    if (opcode == VNPU_OP_SHIFT_RIGHT && is_rounding) return with_scalar<RoundingShiftRight, T>;
    return opcode == VNPU_OP_SHIFT_RIGHT ? with_scalar<ShiftRight, T> : nullptr;
}

VectorKernel with_relu(uint16_t opcode) {
    if (opcode == VNPU_OP_ADD_RELU) return binary<AddRelu, int16_t>;
    return opcode == VNPU_OP_SUB_RELU ? binary<SubRelu, int16_t> : nullptr;
}

VectorKernel first(VectorKernel a, VectorKernel b, VectorKernel c = nullptr) { return a ? a : b ? b : c; }

}  // namespace

inline VectorKernel kernel(uint16_t opcode, uint8_t dtype, bool is_rounding = false) {
    switch (dtype) {
        case VNPU_DT_I16:
            return first(arithmetic<int16_t>(opcode), first(logic<int16_t>(opcode), with_relu(opcode)), shift<int16_t>(opcode, is_rounding));
        case VNPU_DT_U16:
            return first(logic<uint16_t>(opcode), shift<uint16_t>(opcode));
        case VNPU_DT_I32:
            return first(arithmetic<int32_t>(opcode), opcode == VNPU_OP_RELU ? unary<Relu, int32_t> : nullptr, shift<int32_t>(opcode, is_rounding));
        case VNPU_DT_U32:
            return shift<uint32_t>(opcode);
        default:
            return nullptr;
    }
}

inline VectorKernel move_kernel(uint16_t opcode, uint8_t dtype) {
    const bool is_2_bytes = dtype == VNPU_DT_F16 || dtype == VNPU_DT_BF16 || dtype == VNPU_DT_I16 || dtype == VNPU_DT_U16;
    const bool is_4_bytes = dtype == VNPU_DT_F32 || dtype == VNPU_DT_I32 || dtype == VNPU_DT_U32;
    if (opcode == VNPU_OP_DUPLICATE) return is_2_bytes ? duplicate<uint16_t> : is_4_bytes ? duplicate<uint32_t> : nullptr;
    if (opcode == VNPU_OP_COPY) return is_2_bytes ? copy<uint16_t> : is_4_bytes ? copy<uint32_t> : nullptr;
    return nullptr;
}

}  // namespace vnpu::VNPU_PATH::integers
