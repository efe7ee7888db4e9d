/*
 * What the types of a Matmul object may be.
 *
 * Problem: the template's parameters allow much that the Ascend 910B, or the virtual NPU, does not have.
 * Approach: one constexpr function with a sentence per rule, so that the compiler's message says what to change.
 * Limits: rules that need numbers are checked when the kernel runs (core_checks.h).
 */
#ifndef PITON_ASCENDC_MATMUL_OBJECT_CHECKS_H
#define PITON_ASCENDC_MATMUL_OBJECT_CHECKS_H

#include "proxy.h"

namespace piton {

template <typename A>
constexpr bool kIsWholeNumber = kIsOneOf<A, int8_t, AscendC::int4b_t>;
template <typename A>
using SumOf = std::conditional_t<kIsWholeNumber<A>, int32_t, float>;

template <typename A, typename B>
constexpr bool kIsMatmulInput = std::is_same<A, B>::value && kIsOneOf<A, half, bfloat16_t, float, int8_t, AscendC::int4b_t>;
template <typename A, typename C>
constexpr bool kIsMatmulResult = kIsWholeNumber<A> ? kIsOneOf<C, int32_t, half, int8_t, uint8_t> : kIsOneOf<C, float, half, bfloat16_t, int8_t, uint8_t>;
template <typename A, typename Bias>
constexpr bool kIsMatmulBias = kIsWholeNumber<A> ? std::is_same<Bias, int32_t>::value : kIsOneOf<Bias, float, half>;

constexpr bool IsInputFormat(CubeFormat format) { return format == CubeFormat::ND || format == CubeFormat::NZ || format == CubeFormat::VECTOR; }
constexpr bool IsResultFormat(CubeFormat format) { return format == CubeFormat::ND || format == CubeFormat::NZ || format == CubeFormat::ND_ALIGN; }

/* Batches whose rows lie beside each other are row by row. */
template <class Type>
constexpr bool kIsLayoutOfFormat = Type::format != CubeFormat::NZ || (Type::layout != LayoutMode::BSNGD && Type::layout != LayoutMode::SBNGD);

/* Once per object type: what the chip, or we, do not have. */
template <class A, class B, class C, class Bias>
constexpr bool CheckMatmulTypes() {
    static_assert(kIsMatmulInput<typename A::T, typename B::T>,
                  "Matmul on the Ascend 910B multiplies half, bfloat16_t, float, int8_t or int4b_t by the same type");
    static_assert(kIsMatmulResult<typename A::T, typename C::T>,
                  "Matmul: C is float, half, bfloat16_t or int8_t, of int8_t matrices int32_t, half or int8_t, and of int4b_t matrices int32_t or half");
    static_assert(A::layout == LayoutMode::NONE || !std::is_same<typename A::T, AscendC::int4b_t>::value, "Matmul: batches are not of int4b_t");
    static_assert(!A::isTrans || !std::is_same<typename A::T, AscendC::int4b_t>::value,
                  "Matmul: a matrix A of int4b_t is not transposed: the 910B transposes 4-bit elements on their way to L0B only");
    static_assert(IsInputFormat(A::format) && IsInputFormat(B::format) && B::format != CubeFormat::VECTOR,
                  "Matmul: A is CubeFormat::ND, NZ or VECTOR and B is ND or NZ on the virtual NPU");
    static_assert(IsResultFormat(C::format), "Matmul: C is CubeFormat::ND, NZ or ND_ALIGN");
    static_assert(A::layout == B::layout, "Matmul: A and B have the same LayoutMode");
    static_assert(kIsLayoutOfFormat<A> && kIsLayoutOfFormat<B> && kIsLayoutOfFormat<C>, "Matmul: with LayoutMode::BSNGD and SBNGD matrices are CubeFormat::ND");
    return true;
}

/* Policies that the virtual NPU has, and which blocks they leave out. */
template <template <const auto &, typename, typename, typename, typename> class Policy>
constexpr bool kIsKnownPolicy = false;
template <>
inline constexpr bool kIsKnownPolicy<AscendC::Impl::Detail::MatmulPolicy> = true;
template <>
inline constexpr bool kIsKnownPolicy<AscendC::Impl::Detail::NBuffer33MatmulPolicy> = true;
template <>
inline constexpr bool kIsKnownPolicy<AscendC::Impl::Detail::TrianUpperMatmulPolicy> = true;
template <>
inline constexpr bool kIsKnownPolicy<AscendC::Impl::Detail::TrianLowerMatmulPolicy> = true;

template <template <const auto &, typename, typename, typename, typename> class Policy>
constexpr Triangle kTriangle = Triangle::None;
template <>
inline constexpr Triangle kTriangle<AscendC::Impl::Detail::TrianUpperMatmulPolicy> = Triangle::Upper;
template <>
inline constexpr Triangle kTriangle<AscendC::Impl::Detail::TrianLowerMatmulPolicy> = Triangle::Lower;

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_OBJECT_CHECKS_H */
