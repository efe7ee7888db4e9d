/*
 * Lgamma and Digamma: the logarithm of the gamma function's magnitude, and its derivative.
 *
 * Problem and approach: as composed.h. Both go up to arguments of 7 and more by the recurrence and take Stirling's series there, below 0 they go by the
 * reflection; sines and cosines of pi x are polynomials of x less the nearest whole number. Which of two results holds is chosen by the bits of a sign, since
 * either may be infinite.
 * Limits: half and float. Absolute errors of about 2e-6 near the zeros of either; the vendor's own composition is not published.
 */
#ifndef PITON_ASCENDC_GAMMA_H
#define PITON_ASCENDC_GAMMA_H

#include "composed.h"
#include "trigonometry.h"

namespace piton {

/* dst = sign < 0 ? negative : other, by the sign's bit; `negative`, `other` and `mask` are lost. */
PITON_API void ChooseBySign(const FloatTensor &dst, const FloatTensor &negative, const FloatTensor &other, const FloatTensor &sign, const FloatTensor &mask,
                            const FloatSteps &steps) {
    const auto bits = [](const FloatTensor &of) { return of.ReinterpretCast<uint16_t>(); };
    const int32_t halves = 2 * steps.count;
    AscendC::ShiftRight(mask.ReinterpretCast<int32_t>(), sign.ReinterpretCast<int32_t>(), int32_t(31), steps.count, steps.at);
    steps.Barrier();
    AscendC::And(bits(negative), bits(negative), bits(mask), halves, steps.at);
    steps.Barrier();
    AscendC::Not(bits(mask), bits(mask), halves, steps.at);
    steps.Barrier();
    AscendC::And(bits(other), bits(other), bits(mask), halves, steps.at);
    steps.Barrier();
    AscendC::Or(bits(dst), bits(negative), bits(other), halves, steps.at);
    steps.Barrier();
}

constexpr float kShift = 7.0f; /* from here on the series has a float's accuracy */

/* dst = sin(pi x), square = (pi (x - round(x)))^2. */
PITON_API void SineOfHalfTurns(const FloatTensor &dst, const FloatTensor &square, const FloatTensor &series, const FloatTensor &x, const FloatSteps &steps) {
    steps.Round(series, x, AscendC::RoundMode::CAST_RINT);
    steps.Sub(dst, x, series);
    steps.Muls(dst, dst, kPi);
    steps.Mul(square, dst, dst);
    steps.Polynomial(series, square, {1.0f, -0.166666667f, 8.33333333e-3f, -1.98412698e-4f, 2.75573192e-6f, -2.50521084e-8f});
    steps.Mul(dst, dst, series);
}

/* dst = x < 0 ? 1 - x : x. */
PITON_API void ReflectNegative(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &other, const FloatTensor &mask, const FloatSteps &steps) {
    steps.Muls(dst, x, -1.0f);
    steps.Adds(dst, dst, 1.0f);
    steps.Adds(other, x, 0.0f);
    ChooseBySign(dst, dst, other, x, mask, steps);
}

struct LgammaFunction {
    static constexpr uint32_t kSlots = 6, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor reflected = steps.Slot(1), right = steps.Slot(3), series = steps.Slot(4), square = steps.Slot(5);
        OfPositive(x, steps);
        SineOfHalfTurns(reflected, square, series, x, steps);
        steps.Abs(reflected, reflected);
        steps.Ln(reflected, reflected);
        steps.Muls(reflected, reflected, -1.0f);
        steps.Adds(reflected, reflected, 1.14472989f); /* ln(pi) */
        steps.Sub(reflected, reflected, right);
        ChooseBySign(dst, reflected, right, x, series, steps);
    }

private:
    /* Slot 3 = ln gamma(x), of 1 - x for negative ones. */
    PITON_API static void OfPositive(const FloatTensor &x, const FloatSteps &steps) {
        const FloatTensor z = steps.Slot(0), shifted = steps.Slot(1), product = steps.Slot(2), t = steps.Slot(3), mask = steps.Slot(4), below = steps.Slot(5);
        ReflectNegative(z, x, t, mask, steps);
        steps.Mins(t, z, kShift);
        steps.Adds(product, t, 0.0f);
        for (float step = 1.0f; step < kShift; step += 1.0f) {
            steps.Adds(shifted, t, step);
            steps.Mul(product, product, shifted);
        }
        steps.Adds(below, z, -kShift);
        steps.Set(shifted, 1.0f);
        ChooseBySign(product, product, shifted, below, mask, steps);
        steps.Adds(t, z, kShift);
        ChooseBySign(shifted, t, z, below, mask, steps);
        Stirling(t, shifted, mask, below, steps);
        steps.Ln(product, product);
        steps.Sub(t, t, product);
    }

    /* dst = ln gamma(z) for z from 7 on, written so that an infinity stays one. */
    PITON_API static void Stirling(const FloatTensor &dst, const FloatTensor &z, const FloatTensor &series, const FloatTensor &square,
                                   const FloatSteps &steps) {
        steps.Set(dst, 1.0f);
        steps.Div(dst, dst, z);
        steps.Mul(square, dst, dst);
        steps.Polynomial(series, square, {8.33333333e-2f, -2.77777778e-3f, 7.93650794e-4f});
        steps.Mul(series, series, dst);
        steps.Ln(dst, z);
        steps.Adds(dst, dst, -1.0f);
        steps.Adds(square, z, -0.5f);
        steps.Mul(dst, dst, square);
        steps.Add(dst, dst, series);
        steps.Adds(dst, dst, 0.418938533f); /* (ln(2 pi) - 1) / 2 */
    }
};

struct DigammaFunction {
    static constexpr uint32_t kSlots = 7, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor right = steps.Slot(1), cotangent = steps.Slot(3), series = steps.Slot(4), square = steps.Slot(5);
        OfPositive(x, steps);
        SineOfHalfTurns(cotangent, square, series, x, steps);
        steps.Polynomial(series, square, {1.0f, -0.5f, 4.16666667e-2f, -1.38888889e-3f, 2.48015873e-5f, -2.75573192e-7f, 2.0876757e-9f});
        steps.Div(cotangent, series, cotangent);
        steps.Muls(cotangent, cotangent, kPi);
        steps.Sub(cotangent, right, cotangent);
        ChooseBySign(dst, cotangent, right, x, series, steps);
    }

private:
    /* Slot 1 = digamma(x), of 1 - x for negative ones. */
    PITON_API static void OfPositive(const FloatTensor &x, const FloatSteps &steps) {
        const FloatTensor z = steps.Slot(0), shifted = steps.Slot(1), sum = steps.Slot(2), t = steps.Slot(3), series = steps.Slot(4), square = steps.Slot(5);
        const FloatTensor one = steps.Slot(6);
        ReflectNegative(z, x, t, series, steps);
        steps.Set(one, 1.0f);
        steps.Set(sum, 0.0f);
        for (float step = 0.0f; step < kShift; step += 1.0f) {
            steps.Adds(t, z, step);
            steps.Div(t, one, t);
            steps.Add(sum, sum, t);
        }
        steps.Adds(shifted, z, kShift);
        steps.Div(t, one, shifted);
        steps.Mul(square, t, t);
        steps.Polynomial(series, square, {8.33333333e-2f, -8.33333333e-3f, 3.96825397e-3f, -4.16666667e-3f});
        steps.Mul(series, series, square);
        steps.Muls(t, t, 0.5f);
        steps.Add(series, series, t);
        steps.Ln(shifted, shifted);
        steps.Sub(shifted, shifted, series);
        steps.Sub(shifted, shifted, sum);
    }
};

}  // namespace piton

PITON_COMPOSED_COUNT(Lgamma, LgammaFunction{})
PITON_COMPOSED_COUNT(Digamma, DigammaFunction{})

#endif /* PITON_ASCENDC_GAMMA_H */
