/* What a kernel of the track `cpp` includes: tensors, lists of numbers, 16-bit floating types.
 *
 * Problem: a kernel for a processor needs shapes, element types and raw memory, and nothing of torch.
 * Approach: an operator is one function in namespace `kernel`, of the operator's name; its parameters are those of the schema in order, then its outputs,
 * which are allocated already. docs/cpu.md has the table of types.
 * Limits: inputs are mapped read-only, so a store to one ends the process; element types of fewer than 8 bits, of FP8 and of HiF8 are not offered.
 */
#ifndef PITON_CPU_H
#define PITON_CPU_H

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace piton {

/// Element types, by the numbers in which the harness sends them (targets/cpu/words.py).
enum class DType : std::int64_t { float64, float32, float16, bfloat16, int64, int32, int16, int8, uint8, uint16, uint32, uint64, boolean };

/// IEEE binary16 in memory; arithmetic happens in float.
struct Float16 {
    std::uint16_t bits = 0;

    Float16() = default;
    explicit Float16(float value) : bits(Encode(value)) {}
    operator float() const { return Decode(bits); }

private:
#if defined(__FLT16_MANT_DIG__) && (!defined(__GNUC__) || defined(__clang__) || __GNUC__ >= 13)
    static std::uint16_t Encode(float value) {
        const _Float16 half = static_cast<_Float16>(value);
        std::uint16_t bits;
        std::memcpy(&bits, &half, sizeof(bits));
        return bits;
    }
    static float Decode(std::uint16_t bits) {
        _Float16 half;
        std::memcpy(&half, &bits, sizeof(half));
        return static_cast<float>(half);
    }
#else
    static std::uint16_t Encode(float value) {
        std::uint32_t word;
        std::memcpy(&word, &value, sizeof(word));
        const std::uint32_t sign = (word >> 16) & 0x8000u;
        const std::uint32_t rest = word & 0x7FFFFFFFu;
        if (rest > 0x7F800000u) {
            return static_cast<std::uint16_t>(sign | 0x7E00u);
        }
        if (rest >= 0x477FF000u) {  // 65520: the first float that rounds to infinity
            return static_cast<std::uint16_t>(sign | 0x7C00u);
        }
        if (rest < 0x38800000u) {  // subnormal: adding 0.5 lets the adder do the rounding to multiples of 2^-24
            float magic;
            std::memcpy(&magic, &rest, sizeof(magic));
            magic += 0.5f;
            std::uint32_t rounded;
            std::memcpy(&rounded, &magic, sizeof(rounded));
            return static_cast<std::uint16_t>(sign | (rounded - 0x3F000000u));
        }
        const std::uint32_t even = rest + 0xFFFu + ((rest >> 13) & 1u);
        return static_cast<std::uint16_t>(sign | ((even - 0x38000000u) >> 13));
    }
    static float Decode(std::uint16_t bits) {
        const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
        const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
        const std::uint32_t fraction = bits & 0x3FFu;
        std::uint32_t word = sign;
        float value;
        if (exponent == 0) {
            value = static_cast<float>(fraction) * 0x1p-24f;
            return sign != 0 ? -value : value;
        }
        word |= exponent == 31 ? 0x7F800000u | (fraction << 13) : ((exponent + 112u) << 23) | (fraction << 13);
        std::memcpy(&value, &word, sizeof(value));
        return value;
    }
#endif
};

/// bfloat16 in memory; arithmetic happens in float.
struct BFloat16 {
    std::uint16_t bits = 0;

    BFloat16() = default;
    explicit BFloat16(float value) {
        std::uint32_t word;
        std::memcpy(&word, &value, sizeof(word));
        const bool is_nan = (word & 0x7FFFFFFFu) > 0x7F800000u;
        bits = static_cast<std::uint16_t>(is_nan ? 0x7FC0u : (word + 0x7FFFu + ((word >> 16) & 1u)) >> 16);
    }
    operator float() const {
        const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
        float value;
        std::memcpy(&value, &word, sizeof(value));
        return value;
    }
};

// clang-format off
template <typename T> struct DTypeOf;
template <> struct DTypeOf<double> { static constexpr DType kValue = DType::float64; };
template <> struct DTypeOf<float> { static constexpr DType kValue = DType::float32; };
template <> struct DTypeOf<Float16> { static constexpr DType kValue = DType::float16; };
template <> struct DTypeOf<BFloat16> { static constexpr DType kValue = DType::bfloat16; };
template <> struct DTypeOf<std::int64_t> { static constexpr DType kValue = DType::int64; };
template <> struct DTypeOf<std::int32_t> { static constexpr DType kValue = DType::int32; };
template <> struct DTypeOf<std::int16_t> { static constexpr DType kValue = DType::int16; };
template <> struct DTypeOf<std::int8_t> { static constexpr DType kValue = DType::int8; };
template <> struct DTypeOf<std::uint8_t> { static constexpr DType kValue = DType::uint8; };
template <> struct DTypeOf<std::uint16_t> { static constexpr DType kValue = DType::uint16; };
template <> struct DTypeOf<std::uint32_t> { static constexpr DType kValue = DType::uint32; };
template <> struct DTypeOf<std::uint64_t> { static constexpr DType kValue = DType::uint64; };
template <> struct DTypeOf<bool> { static constexpr DType kValue = DType::boolean; };
// clang-format on

/// Numbers that belong to a tensor or an attribute: alive as long as the call.
template <typename T>
struct List {
    const T *items = nullptr;
    std::int64_t count = 0;
    bool is_given = false;  ///< False for an optional attribute that the case leaves out.

    const T &operator[](std::int64_t index) const { return items[index]; }
    const T *begin() const { return items; }
    const T *end() const { return items + count; }
    std::int64_t size() const { return count; }
};

using Ints = List<std::int64_t>;
using Reals = List<double>;

/// One dense tensor in C order.
struct Described {
    DType dtype = DType::float32;
    Ints shape;
    std::int64_t elements = 0;

    /// Elements of the innermost axis; 1 for a scalar.
    std::int64_t inner() const { return shape.count == 0 ? 1 : shape[shape.count - 1]; }
};

/// An input; its memory can't be written to.
struct Tensor : Described {
    const void *memory = nullptr;  ///< Null for an optional tensor that the case leaves out.

    explicit operator bool() const { return memory != nullptr; }
    /// The elements. Throws std::invalid_argument when they are of another type.
    template <typename T>
    const T *data() const {
        if (dtype != DTypeOf<T>::kValue) {
            throw std::invalid_argument("data<T>() of a tensor that holds another type: ask for `dtype` first");
        }
        return static_cast<const T *>(memory);
    }
};

/// An output: allocated, every byte of it to be written by the call.
struct Output : Described {
    void *memory = nullptr;

    /// The elements. Throws std::invalid_argument when they are of another type.
    template <typename T>
    T *data() const {
        if (dtype != DTypeOf<T>::kValue) {
            throw std::invalid_argument("data<T>() of an output that holds another type: ask for `dtype` first");
        }
        return static_cast<T *>(memory);
    }
};

using Tensors = std::vector<Tensor>;
using Outputs = std::vector<Output>;

}  // namespace piton

#endif
