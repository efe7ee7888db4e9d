#include "accuracy.h"

#include <algorithm>
#include <cstring>

#include "vnpu/abi.h"

namespace vnpu {

namespace {

constexpr uint32_t kChunk = 512;  // elements whose operands are kept while the results go over them

// A float type as bits.
template <class Bits>
struct Format;
template <>
struct Format<uint16_t> {
    static constexpr uint16_t sign = 0x8000u, infinity = 0x7c00u, smallest = 0x0400u;
};
template <>
struct Format<uint32_t> {
    static constexpr uint32_t sign = 0x80000000u, infinity = 0x7f800000u, smallest = 0x00800000u;
};

template <class Bits>
Bits magnitude_of(Bits bits) {
    return static_cast<Bits>(bits & ~Format<Bits>::sign);
}

template <class Bits>
Bits flushed(Bits bits) {
    return magnitude_of(bits) < Format<Bits>::smallest ? static_cast<Bits>(bits & Format<Bits>::sign) : bits;
}

// One bit of both operands, as good as random.
bool goes_up(uint32_t first, uint32_t second) { return ((first * 0x9e3779b1u) ^ (second * 0x85ebca77u + 0x165667b1u)) * 0xc2b2ae3du >> 31; }

// The neighbour away from zero or towards it.
template <class Bits>
Bits moved(Bits result, bool is_up) {
    const Bits magnitude = magnitude_of(result);
    if (magnitude == 0 || magnitude >= Format<Bits>::infinity) return result;
    const bool is_largest = magnitude == Format<Bits>::infinity - 1;
    return static_cast<Bits>(is_up && !is_largest ? result + 1 : result - 1);
}

template <class Bits>
void keep_flushed(const uint8_t *from, Bits *to, uint32_t count) {
    std::memcpy(to, from, count * sizeof(Bits));
    for (uint32_t i = 0; i < count; ++i) to[i] = flushed(to[i]);
}

template <class Bits>
void run_on(VectorKernel kernel, const Operands &operands, uint64_t scalar, uint32_t count) {
    Bits first[kChunk] = {}, second[kChunk] = {}, result[kChunk];
    for (uint32_t at = 0; at < count; at += kChunk) {
        const uint32_t n = std::min(kChunk, count - at);
        const uint64_t offset = static_cast<uint64_t>(at) * sizeof(Bits);
        keep_flushed(operands.src0 + offset, first, n);
        if (operands.src1) keep_flushed(operands.src1 + offset, second, n);
        kernel(result, first, second, scalar, n);
        for (uint32_t i = 0; i < n; ++i) result[i] = flushed(moved(result[i], goes_up(first[i], second[i])));
        std::memcpy(operands.dst + offset, result, n * sizeof(Bits));
    }
}

}  // namespace

bool is_approximate(uint16_t opcode) {
    return opcode == VNPU_OP_EXP || opcode == VNPU_OP_LN || opcode == VNPU_OP_DIV || opcode == VNPU_OP_RSQRT || opcode == VNPU_OP_RECIPROCAL;
}

void run_pessimistic(VectorKernel kernel, const Operands &operands, uint64_t scalar, uint32_t count) {
    operands.is_half ? run_on<uint16_t>(kernel, operands, scalar, count) : run_on<uint32_t>(kernel, operands, scalar, count);
}

}  // namespace vnpu
