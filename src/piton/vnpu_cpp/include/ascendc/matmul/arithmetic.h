/*
 * Ceil, CeilAlign and CeilDiv of numbers.
 *
 * Problem: kernels with Matmul objects use these of the vendor's Matmul headers.
 * Approach: division rounded up, the next multiple.
 * Limits: the divisor has to be positive.
 */
#ifndef PITON_ASCENDC_MATMUL_ARITHMETIC_H
#define PITON_ASCENDC_MATMUL_ARITHMETIC_H

#include <cstdint>
#include <type_traits>

#include "../macros.h"

namespace AscendC {

template <typename T>
PITON_API constexpr std::enable_if_t<std::is_arithmetic<T>::value, T> Ceil(T value, T step) {
    return static_cast<T>((value + step - 1) / step);
}
template <typename T, typename U>
PITON_API constexpr std::enable_if_t<std::is_arithmetic<T>::value && std::is_arithmetic<U>::value, T> CeilAlign(T value, U step) {
    return static_cast<T>(Ceil(value, static_cast<T>(step)) * static_cast<T>(step));
}
PITON_API constexpr uint16_t CeilDiv(uint16_t value, uint16_t step) { return Ceil(value, step); }

}  // namespace AscendC

#endif /* PITON_ASCENDC_MATMUL_ARITHMETIC_H */
