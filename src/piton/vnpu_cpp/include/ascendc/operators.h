/*
 * Operators on whole tensors: `z = x + y` with + - * / & |, `bits = x < y` with < > <= >= == !=.
 *
 * Problem: the assignment is the instruction; an operator has no room for a Location.
 * Approach: an operator gives a small object with its operands (tensor.h); assigning it submits the count form. The right operand converts to a type whose
 * constructor takes the Location, so that it is the user's line. Arithmetic runs over the length of the destination, a comparison over that of its left
 * operand (documentation pages of Add, And, Compare).
 * Limits: one operator per statement, as on the chip. Types as those of the functions; comparisons do whole repeats only, as Compare by count does.
 */
#ifndef PITON_ASCENDC_OPERATORS_H
#define PITON_ASCENDC_OPERATORS_H

#include "compare.h"
#include "vector_binary.h"

namespace piton {

template <uint16_t opcode, typename T>
PITON_API void RunOperator(const AscendC::LocalTensor<T> &dst, const Expression<T, opcode> &given) {
    const int32_t count = static_cast<int32_t>(dst.GetSize());
    if constexpr (opcode == VNPU_OP_ADD) {
        AscendC::Add(dst, given.src0, given.src1, count, given.at);
    } else if constexpr (opcode == VNPU_OP_SUB) {
        AscendC::Sub(dst, given.src0, given.src1, count, given.at);
    } else if constexpr (opcode == VNPU_OP_MUL) {
        AscendC::Mul(dst, given.src0, given.src1, count, given.at);
    } else if constexpr (opcode == VNPU_OP_DIV) {
        AscendC::Div(dst, given.src0, given.src1, count, given.at);
    } else if constexpr (opcode == VNPU_OP_AND) {
        AscendC::And(dst, given.src0, given.src1, count * (sizeof(T) == 4 ? 2 : 1), given.at);
    } else {
        AscendC::Or(dst, given.src0, given.src1, count * (sizeof(T) == 4 ? 2 : 1), given.at);
    }
}

}  // namespace piton

namespace AscendC {

template <typename T>
template <uint16_t opcode>
const LocalTensor<T> &LocalTensor<T>::operator=(const piton::Expression<T, opcode> &given) const {
    piton::RunOperator(*this, given);
    return *this;
}

template <typename T>
template <typename U>
const LocalTensor<T> &LocalTensor<T>::operator=(const piton::Comparison<U> &given) const {
    Compare(*this, given.src0, given.src1, given.mode, given.src0.GetSize(), given.at);
    return *this;
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_OPERATORS_H */
