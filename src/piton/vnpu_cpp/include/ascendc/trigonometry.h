/*
 * Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh.
 *
 * Problem and approach: as composed.h. Angles are brought into [-pi/2, pi/2] by a pi of five parts, of which four have eight bits, so that their products with
 * a multiple below 65536 are exact; then polynomials (Chebyshev interpolants of the functions divided by x, relative error below 2e-8 in exact arithmetic).
 * Arcs go to their small side by identities. Limits: half and float; Sin, Cos and Tan for |x| up to 65504 as documented; Asinh, Acosh and Atanh are
 * logarithms, whose error is absolute.
 */
#ifndef PITON_ASCENDC_TRIGONOMETRY_H
#define PITON_ASCENDC_TRIGONOMETRY_H

#include "composed.h"

namespace piton {

constexpr float kPi = 3.14159265f, kHalfPi = 1.57079633f, kHalfPiRest = -4.37113883e-08f, kOneByPi = 0.318309886f, kLn2 = 0.693147181f;

/* whole = x / pi rounded (to n + 0.5 where `shift` is 0.5); rest = x - whole * pi. */
PITON_API void RestByPi(const FloatTensor &rest, const FloatTensor &whole, const FloatTensor &scratch, const FloatTensor &x, float shift,
                        const FloatSteps &steps) {
    constexpr float kParts[] = {3.140625f, 9.65118408203125e-4f, 2.5331974029541016e-6f, 1.979060471057892e-9f, 5.126688136514179e-12f};
    steps.Muls(whole, x, kOneByPi);
    steps.Adds(whole, whole, -shift);
    steps.Round(whole, whole, AscendC::RoundMode::CAST_RINT);
    steps.Adds(whole, whole, shift);
    const FloatTensor *from = &x;
    for (const float part : kParts) {
        steps.Muls(scratch, whole, -part);
        steps.Add(rest, *from, scratch);
        from = &rest;
    }
}

/* x = sin(x) for |x| <= pi/2. */
PITON_API void SmallSin(const FloatTensor &x, const FloatTensor &square, const FloatTensor &scratch, const FloatSteps &steps) {
    steps.Mul(square, x, x);
    steps.Polynomial(scratch, square, {1.0f, -0.166666666f, 0.00833333096f, -0.0001984086f, 2.75252065e-06f, -2.38880795e-08f});
    steps.Mul(x, x, scratch);
}

/* x = 1 for even whole numbers, -1 for odd ones; fractions are dropped. */
PITON_API void SignOfTurns(const FloatTensor &x, const FloatTensor &scratch, const FloatSteps &steps) {
    steps.Round(x, x, AscendC::RoundMode::CAST_FLOOR);
    steps.Muls(scratch, x, 0.5f);
    steps.Round(scratch, scratch, AscendC::RoundMode::CAST_FLOOR);
    steps.Muls(scratch, scratch, -2.0f);
    steps.Add(x, x, scratch);
    steps.Muls(x, x, -2.0f);
    steps.Adds(x, x, 1.0f);
}

/* Sin, and with `shift` 0.5 the cosine: cos(n pi + pi/2 + r) = -(-1)^n sin(r). */
struct SinFunction {
    static constexpr uint32_t kSlots = 4, kSources = 1;
    float shift;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor turns = steps.Slot(0), rest = steps.Slot(1), square = steps.Slot(2), scratch = steps.Slot(3);
        RestByPi(rest, turns, scratch, x, shift, steps);
        SmallSin(rest, square, scratch, steps);
        SignOfTurns(turns, scratch, steps);
        steps.Muls(turns, turns, shift == 0.0f ? 1.0f : -1.0f);
        steps.Mul(dst, rest, turns);
    }
};

/* sin(r) / sin(pi/2 - |r|). */
struct TanFunction {
    static constexpr uint32_t kSlots = 4, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor other = steps.Slot(0), rest = steps.Slot(1), square = steps.Slot(2), scratch = steps.Slot(3);
        RestByPi(rest, other, scratch, x, 0.0f, steps);
        steps.Abs(other, rest);
        steps.Muls(other, other, -1.0f);
        steps.Adds(other, other, kHalfPi);
        steps.Adds(other, other, kHalfPiRest);
        SmallSin(rest, square, scratch, steps);
        SmallSin(other, square, scratch, steps);
        steps.Div(dst, rest, other);
    }
};

/* arc = asin(root of z), z = the smaller of x * x and (1 - |x|) / 2; is_large = whether |x| > 1/2. z is lost. */
PITON_API void SmallArc(const FloatTensor &arc, const FloatTensor &isLarge, const FloatTensor &z, const FloatTensor &x, const FloatSteps &steps) {
    steps.Abs(isLarge, x);
    steps.Mul(arc, x, x);
    steps.Muls(z, isLarge, -0.5f);
    steps.Adds(z, z, 0.5f);
    steps.Min(z, z, arc);
    steps.Polynomial(arc, z, {0.999999996f, 0.16666782f, 0.0749469669f, 0.0455206356f, 0.0239939996f, 0.0424173738f});
    steps.Sqrt(z, z);
    steps.Mul(arc, arc, z);
    steps.IsAbove(isLarge, isLarge, 0.5f);
}

/* |x| <= 1/2: the arc; else pi/2 - 2 * arc. */
struct AsinFunction {
    static constexpr uint32_t kSlots = 3, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor arc = steps.Slot(0), isLarge = steps.Slot(1), other = steps.Slot(2);
        SmallArc(arc, isLarge, other, x, steps);
        steps.Muls(other, arc, -2.0f);
        steps.Adds(other, other, kHalfPi);
        steps.Blend(arc, arc, other, isLarge);
        steps.CopySign(dst, arc, x, other);
    }
};

/* With m for "large" and s for the sign: (1 - s m) pi/2 + s (3 m - 1) arc, which keeps its digits near 1. */
struct AcosFunction {
    static constexpr uint32_t kSlots = 4, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor arc = steps.Slot(0), isLarge = steps.Slot(1), other = steps.Slot(2), sign = steps.Slot(3);
        SmallArc(arc, isLarge, other, x, steps);
        steps.Set(sign, 1.0f);
        steps.CopySign(sign, sign, x, other);
        steps.Mul(other, sign, isLarge);
        steps.Muls(other, other, -kHalfPi);
        steps.Adds(other, other, kHalfPi);
        steps.Muls(isLarge, isLarge, 3.0f);
        steps.Adds(isLarge, isLarge, -1.0f);
        steps.Mul(isLarge, isLarge, sign);
        steps.Mul(arc, arc, isLarge);
        steps.Add(dst, arc, other);
    }
};

/* Of the smaller of |x| and 1 / |x|; for the latter pi/2 minus it. */
struct AtanFunction {
    static constexpr uint32_t kSlots = 4, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor isLarge = steps.Slot(0), small = steps.Slot(1), square = steps.Slot(2), other = steps.Slot(3);
        steps.Abs(isLarge, x);
        steps.Set(small, 1.0f);
        steps.Div(small, small, isLarge);
        steps.Min(small, small, isLarge);
        steps.Mul(square, small, small);
        steps.Polynomial(other, square,
                         {0.999999982f, -0.333330367f, 0.19991872f, -0.141977978f, 0.106183706f, -0.0745685481f, 0.0421376235f, -0.015731249f, 0.00276628348f});
        steps.Mul(small, small, other);
        steps.IsAbove(isLarge, isLarge, 1.0f);
        steps.Muls(other, small, -1.0f);
        steps.Adds(other, other, kHalfPi);
        steps.Blend(small, small, other, isLarge);
        steps.CopySign(dst, small, x, other);
    }
};

/* exp(|x|) / 2 and exp(-|x|) / 2; the halves are taken in the exponent so that only a result that is none overflows. */
PITON_API void HalfExponentials(const FloatTensor &grown, const FloatTensor &shrunk, const FloatTensor &x, const FloatSteps &steps) {
    steps.Abs(grown, x);
    steps.Muls(shrunk, grown, -1.0f);
    steps.Adds(shrunk, shrunk, -kLn2);
    steps.Adds(grown, grown, -kLn2);
    steps.Exp(shrunk, shrunk);
    steps.Exp(grown, grown);
}

/* Up to 1 a polynomial, since the difference of exponentials loses what is small. */
struct SinhFunction {
    static constexpr uint32_t kSlots = 4, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor large = steps.Slot(0), small = steps.Slot(1), square = steps.Slot(2), scratch = steps.Slot(3);
        HalfExponentials(large, scratch, x, steps);
        steps.Sub(large, large, scratch);
        steps.Abs(small, x);
        steps.Mins(small, small, 1.0f);
        steps.Mul(square, small, small);
        steps.Polynomial(scratch, square, {1.0f, 0.166666664f, 0.00833335321f, 0.000198357139f, 2.81901874e-06f});
        steps.Mul(small, small, scratch);
        steps.Abs(scratch, x);
        steps.IsAbove(scratch, scratch, 1.0f);
        steps.Blend(small, small, large, scratch);
        steps.CopySign(dst, small, x, scratch);
    }
};

struct CoshFunction {
    static constexpr uint32_t kSlots = 2, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        HalfExponentials(steps.Slot(0), steps.Slot(1), x, steps);
        steps.Add(dst, steps.Slot(0), steps.Slot(1));
    }
};

/* ln(x + root of (x * x + shift)): of |x| with the sign of x for the sine. */
struct AreaFunction {
    static constexpr uint32_t kSlots = 2, kSources = 1;
    float shift;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor root = steps.Slot(0), scratch = steps.Slot(1);
        steps.Mul(root, x, x);
        steps.Adds(root, root, shift);
        steps.Sqrt(root, root);
        if (shift > 0.0f) {
            steps.Abs(scratch, x);
            steps.Add(root, root, scratch);
            steps.Ln(root, root);
            steps.CopySign(dst, root, x, scratch);
        } else {
            steps.Add(root, root, x);
            steps.Ln(dst, root);
        }
    }
};

struct AtanhFunction {
    static constexpr uint32_t kSlots = 2, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor above = steps.Slot(0), below = steps.Slot(1);
        steps.Adds(above, x, 1.0f);
        steps.Muls(below, x, -1.0f);
        steps.Adds(below, below, 1.0f);
        steps.Div(above, above, below);
        steps.Ln(above, above);
        steps.Muls(dst, above, 0.5f);
    }
};

}  // namespace piton

PITON_COMPOSED_UNARY(Sin, SinFunction{0.0f})
PITON_COMPOSED_UNARY(Cos, SinFunction{0.5f})
PITON_COMPOSED_UNARY(Tan, TanFunction{})
PITON_COMPOSED_UNARY(Asin, AsinFunction{})
PITON_COMPOSED_UNARY(Acos, AcosFunction{})
PITON_COMPOSED_UNARY(Atan, AtanFunction{})
PITON_COMPOSED_UNARY(Sinh, SinhFunction{})
PITON_COMPOSED_UNARY(Cosh, CoshFunction{})
PITON_COMPOSED_UNARY(Asinh, AreaFunction{1.0f})
PITON_COMPOSED_UNARY(Acosh, AreaFunction{-1.0f})
PITON_COMPOSED_UNARY(Atanh, AtanhFunction{})

#endif /* PITON_ASCENDC_TRIGONOMETRY_H */
