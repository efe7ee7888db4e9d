/*
 * Erf and Erfc.
 *
 * Problem and approach: as composed.h. Erf is x times a quotient of polynomials of x * x, fitted to a relative error of 7e-8 in [-4, 4], outside of which a
 * float's erf is 1. Erfc is t * exp(-x * x + polynomial of t) with t = 1 / (1 + |x| / 2), fitted in [0, 10], and 2 minus that for negative x.
 * Limits: half and float; the relative error of Erfc grows with x * x, to about 1e-5 at 9.
 */
#ifndef PITON_ASCENDC_ERROR_FUNCTION_H
#define PITON_ASCENDC_ERROR_FUNCTION_H

#include "composed.h"

namespace piton {

struct ErfFunction {
    static constexpr uint32_t kSlots = 4, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor cut = steps.Slot(0), square = steps.Slot(1), above = steps.Slot(2), below = steps.Slot(3);
        steps.Cut(cut, x, 4.0f);
        steps.Mul(square, cut, cut);
        steps.Polynomial(above, square, {1.1283791f, 0.207194603f, 0.0515329287f, 0.00399133605f, 0.000147138517f, -1.9382783e-06f, 1.90511113e-08f});
        steps.Polynomial(below, square, {1.0f, 0.516952769f, 0.117998077f, 0.0149621614f, 0.00102072474f});
        steps.Mul(above, above, cut);
        steps.Div(above, above, below);
        steps.Cut(dst, above, 1.0f);
    }
};

struct ErfcFunction {
    static constexpr uint32_t kSlots = 3, kSources = 1;
    PITON_API void operator()(const FloatTensor &dst, const FloatTensor &x, const FloatTensor &, const FloatSteps &steps) const {
        const FloatTensor value = steps.Slot(0), shrunk = steps.Slot(1), power = steps.Slot(2);
        Magnitude(value, shrunk, power, x, steps);
        steps.Muls(shrunk, value, -1.0f);
        steps.Adds(shrunk, shrunk, 2.0f);
        steps.Muls(power, x, -1.0f);
        steps.IsAbove(power, power, 0.0f);
        steps.Blend(dst, value, shrunk, power);
    }

private:
    /* value = erfc(|x|). */
    PITON_API static void Magnitude(const FloatTensor &value, const FloatTensor &t, const FloatTensor &power, const FloatTensor &x, const FloatSteps &steps) {
        constexpr float kZeroFrom = 10.1f;
        steps.Abs(value, x);
        steps.Mins(value, value, kZeroFrom);
        steps.Muls(t, value, 0.5f);
        steps.Adds(t, t, 1.0f);
        steps.Set(power, 1.0f);
        steps.Div(t, power, t);
        steps.Polynomial(
            power, t,
            {-1.26545985f, 0.998883764f, 0.384401654f, 0.0456637274f, -0.0321960749f, -0.0157489446f, -0.775881498f, 1.21759297f, -0.707060733f, 0.149805027f});
        steps.Mul(value, value, value);
        steps.Sub(power, power, value);
        steps.Exp(power, power);
        steps.Mul(value, power, t);
    }
};

}  // namespace piton

PITON_COMPOSED_UNARY(Erf, ErfFunction{})
PITON_COMPOSED_UNARY(Erfc, ErfcFunction{})

#endif /* PITON_ASCENDC_ERROR_FUNCTION_H */
