"""Element by element operators whose formula is known here, as Ascend C on tiles of float32.

A formula is code that goes into templates/elementwise: `lines` compute the tensor `y` from the tensors named like the operator's inputs, all `count` elements
long; they may use `work0`, `work1` ..., the constants (members of the kernel, with a trailing underscore), and overwrite their inputs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """A number that the host computes from attributes and hands to the kernel."""

    type: str
    """C++ type."""
    name: str
    host: str
    """C++ expression over the attributes."""


@dataclass(frozen=True)
class Formula:
    """How one operator computes an element."""

    text: str
    """The formula, for comments."""
    inputs: tuple[str, ...]
    """Names of its tensors, in order."""
    lines: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    constants: tuple[Constant, ...] = ()
    checks: tuple[str, ...] = ()
    """TORCH_CHECK statements on attributes."""
    work: int = 0
    """float32 tensors besides inputs and output."""
    takes_integers: bool = False
    """True when the same instructions exist for int32."""


_EXP = Formula(
    text="y = exp(scale * x + shift), or base^(scale * x + shift) for a positive base",
    inputs=("x",),
    attributes=("base", "scale", "shift"),
    constants=(
        Constant("float", "factor", "static_cast<float>(base > 0 ? scale * std::log(base) : scale)"),
        Constant("float", "offset", "static_cast<float>(base > 0 ? shift * std::log(base) : shift)"),
    ),
    lines=("AscendC::Muls(y, x, factor_, count);", "AscendC::Adds(y, y, offset_, count);", "AscendC::Exp(y, y, count);"),
)

# The tail of the normal distribution as the exponential of a minimax polynomial (relative error 2.9e-5), so that negative x keep their relative accuracy;
# x / 2 + |x| / 2 stands for max(x, 0) since it makes NaN of -inf, as the definition does. kernels/reference/tools/fit_gelu.py fits the coefficients.
_GELU = Formula(
    text='y = x * Phi(x), or x / (1 + exp(-2u)) with u = sqrt(2 / pi) (x + 0.044715 x^3) for approximate="tanh"',
    inputs=("x",),
    attributes=("approximate",),
    constants=(Constant("bool", "isTanh", 'approximate == "tanh"'),),
    checks=('TORCH_CHECK(approximate == "none" || approximate == "tanh", "approximate is \'", approximate, "\', expected \'none\' or \'tanh\'");',),
    work=2,
    lines=(
        "if (isTanh_) {",
        "    AscendC::Mul(work0, x, x, count);",
        "    AscendC::Muls(work0, work0, 0.044715f, count);",
        "    AscendC::Adds(work0, work0, 1.0f, count);",
        "    AscendC::Mul(work0, work0, x, count);",
        "    AscendC::Muls(work0, work0, -1.5957691216f, count);  // -2 sqrt(2 / pi)",
        "    AscendC::Exp(work0, work0, count);",
        "    AscendC::Adds(work0, work0, 1.0f, count);",
        "    AscendC::Div(y, x, work0, count);",
        "    return;",
        "}",
        "// max(x, 0) - |x| q(|x|), q(a) = Phi(-a) = exp(polynomial of degree 6 in b), b = min(|x| / 2, 4): no cancellation.",
        "constexpr float kTerms[] = {-2.8543524e-05f, -1.5949433f, -1.276805f, -0.28731757f, 0.082374126f, -0.014421544f};",
        "AscendC::Muls(work0, x, 0.5f, count);",
        "AscendC::Abs(work1, work0, count);",
        "AscendC::Add(y, work0, work1, count);      // max(x, 0)",
        "AscendC::Mins(work0, work1, 4.0f, count);  // b",
        "AscendC::Duplicate(work1, 0.0011285036f, count);",
        "for (int32_t term = 5; term >= 0; --term) {",
        "    AscendC::Mul(work1, work1, work0, count);",
        "    AscendC::Adds(work1, work1, kTerms[term], count);",
        "}",
        "AscendC::Exp(work1, work1, count);  // 2 q",
        "AscendC::Mul(work1, work1, work0, count);",
        "AscendC::Sub(y, y, work1, count);",
    ),
)

_SIGMOID_LINES = ("AscendC::Muls(work0, x, -1.0f, count);", "AscendC::Exp(work0, work0, count);", "AscendC::Adds(work0, work0, 1.0f, count);")
_SIGMOID = Formula(
    text="y = 1 / (1 + exp(-x))",
    inputs=("x",),
    work=1,
    lines=(*_SIGMOID_LINES, "AscendC::Duplicate(y, 1.0f, count);", "AscendC::Div(y, y, work0, count);"),
)
_SILU = Formula(text="y = x / (1 + exp(-x))", inputs=("x",), work=1, lines=(*_SIGMOID_LINES, "AscendC::Div(y, x, work0, count);"))
_MISH = Formula(
    text="y = x * tanh(ln(1 + exp(x))) = x * n / (n + 2) with n = exp(x) (exp(x) + 2)",
    inputs=("x",),
    work=2,
    lines=(
        "AscendC::Mins(work0, x, 20.0f, count);  // from here on the quotient is 1",
        "AscendC::Exp(work0, work0, count);",
        "AscendC::Adds(work1, work0, 2.0f, count);",
        "AscendC::Mul(work0, work0, work1, count);  // n",
        "AscendC::Adds(work1, work0, 2.0f, count);",
        "AscendC::Div(work0, work0, work1, count);",
        "AscendC::Mul(y, x, work0, count);",
    ),
)


def _unary(text: str, *lines: str) -> Formula:
    return Formula(text=text, inputs=("x",), lines=lines)


def _binary(sign: str, api: str, *, takes_integers: bool = False) -> Formula:
    return Formula(text=f"y = x1 {sign} x2", inputs=("x1", "x2"), lines=(f"AscendC::{api}(y, x1, x2, count);",), takes_integers=takes_integers)


FORMULAS: dict[str, Formula] = {
    "exp": _EXP,
    "gelu": _GELU,
    "sigmoid": _SIGMOID,
    "silu": _SILU,
    "mish": _MISH,
    "relu": _unary("y = max(x, 0)", "AscendC::Relu(y, x, count);"),
    "abs": _unary("y = |x|", "AscendC::Abs(y, x, count);"),
    "sqrt": _unary("y = sqrt(x)", "AscendC::Sqrt(y, x, count);"),
    "log": _unary("y = ln(x)", "AscendC::Ln(y, x, count);"),
    "square": _unary("y = x * x", "AscendC::Mul(y, x, x, count);"),
    "add": _binary("+", "Add", takes_integers=True),
    "sub": _binary("-", "Sub", takes_integers=True),
    "mul": _binary("*", "Mul", takes_integers=True),
    "div": _binary("/", "Div"),
}
"""By operator name. The names of the tensors and of the attributes have to agree as well, or the operator is another one of the same name."""
