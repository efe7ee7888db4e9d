/*
 * AscendC::Std and the small functions that kernels share: DivCeil, AlignUp.
 *
 * Problem and approach: the vendor's device library repeats parts of the C++ standard library under a namespace of its own; here they are the standard ones.
 * Limits: type traits, tuples, min and max; what else the vendor's has is missing.
 */
#ifndef PITON_ASCENDC_STD_H
#define PITON_ASCENDC_STD_H

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

#include "macros.h"

namespace AscendC {

namespace Std {

using std::add_const;
using std::add_lvalue_reference;
using std::add_pointer;
using std::bool_constant;
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::declval;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::forward;
using std::get;
using std::index_sequence;
using std::integer_sequence;
using std::integral_constant;
using std::is_array;
using std::is_base_of;
using std::is_class;
using std::is_const;
using std::is_convertible;
using std::is_enum;
using std::is_floating_point;
using std::is_integral;
using std::is_pointer;
using std::is_reference;
using std::is_same;
using std::is_same_v;
using std::is_void;
using std::make_index_sequence;
using std::make_tuple;
using std::max;
using std::min;
using std::move;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::tie;
using std::true_type;
using std::tuple;
using std::tuple_element;
using std::tuple_size;

template <std::size_t n>
using Int = std::integral_constant<std::size_t, n>;

}  // namespace Std

/* Rounded up; 0 when there is nothing to divide by. */
template <typename T, typename U>
PITON_API constexpr auto DivCeil(T a, U b) -> decltype(a + b) {
    return b == 0 ? decltype(a + b)(0) : (a + b - 1) / b;
}

template <typename T, typename U>
PITON_API constexpr auto AlignUp(T a, U b) -> decltype(a + b) {
    return DivCeil(a, b) * b;
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_STD_H */
