/*
 * Names of types that the vendor's compiler has beside half, float and bfloat16_t.
 *
 * Problem: public kernels compare a template parameter with them (`std::is_same_v<T, float16_t>`), and write `inc` and `dec` for the order of addresses of a
 * load, and `UFMode3` for a unit flag.
 * Approach: they are the types of these sizes. __bf16 is a macro, since newer host compilers have a type of that name that is another one than bfloat16_t.
 * The smaller and the larger of two numbers are functions outside every namespace there; a call that could also mean std::min does.
 * Limits: float16_t and float32_t are in namespace AscendC, because headers of the Arm compiler have them outside.
 */
#ifndef PITON_ASCENDC_COMPILER_NAMES_H
#define PITON_ASCENDC_COMPILER_NAMES_H

#include <type_traits>

#include "types.h"

template <typename T, typename U, typename... None>
constexpr std::enable_if_t<std::is_arithmetic<T>::value && std::is_arithmetic<U>::value && sizeof...(None) == 0, std::common_type_t<T, U>> min(T a, U b,
                                                                                                                                               None...) {
    using Common = std::common_type_t<T, U>;
    return static_cast<Common>(b) < static_cast<Common>(a) ? static_cast<Common>(b) : static_cast<Common>(a);
}
template <typename T, typename U, typename... None>
constexpr std::enable_if_t<std::is_arithmetic<T>::value && std::is_arithmetic<U>::value && sizeof...(None) == 0, std::common_type_t<T, U>> max(T a, U b,
                                                                                                                                               None...) {
    using Common = std::common_type_t<T, U>;
    return static_cast<Common>(a) < static_cast<Common>(b) ? static_cast<Common>(b) : static_cast<Common>(a);
}

enum addr_cal_mode_t { inc = 0, dec = 1 };

/* The unit flag of Mmad and Fixpipe: off, kept, given up. */
enum unit_flag_t { UFMode0 = 0, UFMode2 = 2, UFMode3 = 3 };

namespace AscendC {

using float16_t = half;
using float32_t = float;

}  // namespace AscendC

/* Host code may include headers of newer compilers that need their own. */
#if !defined(PITON_HOST_PASS) || (defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13)
#define __bf16 bfloat16_t
#endif

#endif /* PITON_ASCENDC_COMPILER_NAMES_H */
