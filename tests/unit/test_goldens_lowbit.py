"""Do the goldens of suite cann-lowbit say what their texts say, compared with another arithmetic (that of the null target) and at the edges?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

from piton.catalog import load_suite
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.execution import CaseCall, TensorArgument
from piton.core.operator import Operator
from piton.core.verdict import Verdict
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import AnyArray, encode, raw_bytes
from piton.numerics.golden import Precision, build_inputs, run_golden
from piton.numerics.impostors import as_output
from piton.numerics.inputs import Inputs, make_inputs
from piton.numerics.lint import special_disagreements
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import tolerance_for
from piton.targets.null_lowbit import Computed
from piton.targets.null_lowbit_fused import WHOLE_CALLS

OPERATORS: dict[str, Operator] = {
    member.operator.name: member.operator
    for member in load_suite("cann-lowbit").members
    if any(dtype.is_low_bit for spec in (*member.operator.inputs, *member.operator.outputs) for dtype in spec.dtypes)
}
"""Operators that read or write a low-bit type."""
INEXACT = {"swi_glu_mx_quant", "add_rms_norm_fp8_quant", "fp8_quant_matmul", "mx_quant_matmul"}
"""Operators whose float32 results depend on the order of a sum or on an exponential function; the others have one right answer bit by bit."""
E4M3, E5M2, FP4, E8M0, HIF8 = DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.FLOAT4_E2M1, DType.FLOAT8_E8M0, DType.HIFLOAT8
HALF, BF16, FLOAT = DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32


@dataclass(frozen=True)
class Tiny:
    """A small case: by input its shape, dtype and range."""

    operator: str
    inputs: Mapping[str, tuple[tuple[int, ...], DType, tuple[float, float]]]
    attributes: Mapping[str, object] = field(default_factory=dict)

    @property
    def case(self) -> Case:
        operator = OPERATORS[self.operator]
        items = tuple(CaseInput(argument=name, shape=shape, dtype=dtype, low=span[0], high=span[1]) for name, (shape, dtype, span) in self.inputs.items())
        attributes = {spec.name: spec.default for spec in operator.attributes} | dict(self.attributes)
        omitted = tuple(spec.name for spec in operator.inputs if spec.name not in self.inputs)
        return Case(operator=self.operator, id="1", inputs=items, attributes=attributes, omitted=omitted)  # type: ignore[arg-type]


def x_of(shape: tuple[int, ...], dtype: DType, low: float = -3.0, high: float = 5.0) -> dict[str, tuple[tuple[int, ...], DType, tuple[float, float]]]:
    return {"x": (shape, dtype, (low, high))}


def matmul(
    x1: tuple[tuple[int, ...], DType], x2: tuple[tuple[int, ...], DType], **rest: tuple[tuple[int, ...], DType, tuple[float, float]]
) -> dict[str, object]:
    return {"x1": (*x1, (-3.0, 4.0)), "x2": (*x2, (-2.0, 2.0)), **rest}


TINY = [
    *(Tiny("fp8_dequant", {**x_of((3, 5, 34), kind), "scale": (shape, FLOAT, (0.01, 3.0))}, {"dst_type": name})
      for kind, shape, name in ((E4M3, (34,), "float16"), (E5M2, (3, 5, 1), "bfloat16"), (HIF8, (1,), "float32"))),
    *(Tiny("fp8_quant", {**x_of((7, 35), kind), "scale": (shape, FLOAT, (0.01, 0.1))}, {"dst_type": name})
      for kind, shape, name in ((HALF, (35,), "float8_e4m3"), (BF16, (1,), "float8_e5m2"), (FLOAT, (35,), "hifloat8"))),
    *(Tiny("mx_dequant", {**x_of((5, 70), kind, -2.0, 4.0), "scale": ((5, 3), E8M0, (0.01, 8.0))}, {"dst_type": name})
      for kind, name in ((E4M3, "float16"), (E5M2, "bfloat16"), (FP4, "float32"))),
    *(Tiny("mx_quant", x_of((5, 70), kind), {"dst_type": name}) for kind, name in ((HALF, "float8_e4m3"), (BF16, "float8_e5m2"), (FLOAT, "float4_e2m1"))),
    *(Tiny("dynamic_mx_quant", x_of(shape, kind), {"axis": axis, "round_mode": mode, "dst_type": "float4_e2m1", "blocksize": size})
      for shape, kind, axis, mode, size in (
          ((3, 70), HALF, 1, "rint", 32), ((3, 70), FLOAT, -1, "floor", 32), ((70, 6), BF16, 0, "round", 64), ((2, 130, 4), FLOAT, -2, "round", 32))),
    *(Tiny("dynamic_mx_quant", x_of((3, 40, 5), HALF), {"axis": axis, "dst_type": name, "scale_alg": rule})
      for axis, name, rule in ((1, "float8_e4m3", 0), (1, "float8_e4m3", 1), (2, "float8_e5m2", 1), (0, "float8_e5m2", 0))),
    *(Tiny("dynamic_fp8_quant", x_of((4, 33), kind), {"dst_type": name}) for kind, name in ((HALF, "float8_e4m3"), (BF16, "float8_e5m2"), (FLOAT, "hifloat8"))),
    Tiny("dynamic_fp8_quant", {**x_of((2, 3, 33), BF16), "smooth_scales": ((33,), BF16, (0.5, 2.0))}),
    *(Tiny("swi_glu_mx_quant", x_of((3, 2 * n), kind), {"activate_left": left, "dst_type": name, "scale_alg": rule})
      for n, kind, left, name, rule in ((33, HALF, True, "float8_e4m3", 0), (64, FLOAT, False, "float8_e5m2", 1), (70, BF16, True, "float8_e5m2", 0))),
    *(Tiny("add_rms_norm_fp8_quant", {"x1": ((4, 33), kind, (-2.0, 3.0)), "x2": ((4, 33), kind, (-1.0, 1.0)), "gamma": ((33,), kind, (-1.0, 2.0))},
           {"dst_type": name}) for kind, name in ((HALF, "float8_e4m3"), (BF16, "float8_e5m2"), (FLOAT, "hifloat8"))),
    Tiny("fp8_quant_matmul", matmul(((4, 33), E4M3), ((33, 5), E4M3), scale=((5,), FLOAT, (0.1, 1.0)), pertoken_scale=((4,), FLOAT, (0.5, 1.5)),
                                    bias=((5,), FLOAT, (-9.0, 9.0))), {"output_dtype": "float32"}),
    Tiny("fp8_quant_matmul", matmul(((2, 4, 33), HIF8), ((2, 33, 5), HIF8), scale=((1,), FLOAT, (0.1, 1.0))), {"output_dtype": "bfloat16"}),
    Tiny("fp8_quant_matmul", matmul(((2, 4, 34), E5M2), ((34, 5), E4M3), scale=((5,), FLOAT, (0.1, 1.0)), pertoken_scale=((2, 4), FLOAT, (0.5, 1.5))),
         {"output_dtype": "float16"}),
    *(Tiny("mx_quant_matmul", matmul(((2, 3, 70), left), ((5, 70), right), x1_scale=((2, 3, 3), E8M0, (0.1, 4.0)), x2_scale=((5, 3), E8M0, (0.1, 4.0)), **rest),
           {"output_dtype": name})
      for left, right, name, rest in ((E4M3, E5M2, "float32", {}), (FP4, FP4, "bfloat16", {"bias": ((5,), FLOAT, (-4.0, 4.0))}), (E4M3, FP4, "float16", {}))),
]  # fmt: skip
by_tiny = pytest.mark.parametrize("tiny", TINY, ids=[f"{item.operator}-{index}" for index, item in enumerate(TINY)])


def run(case: Case, inputs: Inputs, precision: Precision) -> tuple[GoldenOutput, ...]:
    operator = OPERATORS[case.operator]
    return run_golden(operator.golden_path, operator, case, inputs, precision, threads=1)


def computed(case: Case, inputs: Inputs) -> tuple[Computed, ...]:
    """What the null target makes of the same inputs."""
    tensors = tuple(TensorArgument(item.argument, item.shape, item.dtype, raw_bytes(np.asarray(inputs[item.argument]))) for item in case.inputs)
    return WHOLE_CALLS[case.operator](CaseCall(case.id, tensors, (), case.attributes))


def test_every_operator_of_the_suite_has_a_small_case() -> None:
    assert {item.operator for item in TINY} == set(OPERATORS) == set(WHOLE_CALLS)
    assert len(OPERATORS) >= 8


@by_tiny
def test_another_arithmetic_passes_against_the_golden(tiny: Tiny) -> None:
    operator, case = OPERATORS[tiny.operator], tiny.case
    inputs = make_inputs("0", case, 0)
    for golden, native, other in zip(run(case, inputs, "float64"), run(case, inputs, "native"), computed(case, inputs), strict=True):
        assert (other.shape, other.dtype) == (golden.shape, golden.dtype) == (native.shape, native.dtype)
        assert special_disagreements(golden, native) == 0
        made = GoldenOutput(golden.name, other.dtype, other.shape, memoryview(other.data.tobytes()))
        check = compare_output(as_output(made), golden, tolerance_for(operator, golden.name, golden.dtype), "strict", lambda found=native: found)  # type: ignore[misc]
        assert check.outcome.verdict is Verdict.PASSED, check.outcome.message
        if tiny.operator not in INEXACT:
            np.testing.assert_array_equal(made.values(), native.values())


def outputs(tiny: Tiny, precision: Precision, **arrays: object) -> list[np.ndarray]:
    """Values of the outputs, in their shapes, for these arrays."""
    case = tiny.case
    inputs: Inputs = {item.argument: stored(arrays[item.argument], item.dtype).reshape(item.shape) for item in case.inputs}
    return [item.values().reshape(item.shape) for item in run(case, inputs, precision)]


def stored(values: object, dtype: DType) -> AnyArray:
    return encode(np.asarray(values, dtype=np.float64), dtype)


both = pytest.mark.parametrize("precision", ["float64", "native"])


@both
def test_an_mx_block_with_a_special_value_has_scale_nan_and_no_elements(precision: Precision) -> None:
    x = np.ones((2, 66))
    x[0, 3], x[1, 65] = np.inf, np.nan
    for tiny in (Tiny("mx_quant", x_of((2, 66), FLOAT)), Tiny("dynamic_mx_quant", x_of((2, 66), FLOAT))):
        elements, scales = outputs(tiny, precision, x=x)
        assert not elements[0, :32].any()
        assert not elements[1, 64:].any()
        assert elements[0, 32:].all()
        found = np.isnan(scales.reshape(2, -1)[:, :3])
        np.testing.assert_array_equal(found, [[True, False, False], [False, False, True]])


@both
def test_pairs_of_scales_end_with_the_smallest_power_of_two(precision: Precision) -> None:
    elements, scales = outputs(Tiny("dynamic_mx_quant", x_of((66, 2), HALF), {"axis": 0}), precision, x=np.full((66, 2), 3.0))
    assert scales.shape == (2, 2, 2)
    assert (scales[1, :, 1] == 2.0**-127).all()
    assert (scales[:, :, 0] == 0.5).all()  # 2^(floor(log2 3) - 2)
    assert (elements == 6.0).all()


@both
def test_rounding_modes_differ_between_codes_and_at_the_middle(precision: Precision) -> None:
    """4 sets the scale to 1; 0.25 and 2.5 lie in the middle of two codes, 1.3 and -1.3 between."""
    x = [4.0, 0.25, 2.5, 1.3, -1.3, -0.25]
    expected = {"rint": [4, 0, 2, 1.5, -1.5, 0], "floor": [4, 0, 2, 1, -1.5, -0.5], "round": [4, 0.5, 3, 1.5, -1.5, -0.5]}
    for mode, wanted in expected.items():
        elements, _ = outputs(Tiny("dynamic_mx_quant", x_of((6,), FLOAT), {"round_mode": mode}), precision, x=x)
        np.testing.assert_array_equal(elements, wanted)


@both
def test_the_second_scale_rule_keeps_the_largest_element_in_range(precision: Precision) -> None:
    for peak, exponents in ((448.0, (0, 0)), (449.0, (0, 1)), (511.0, (0, 1)), (512.0, (1, 1)), (896.0, (1, 1)), (897.0, (1, 2))):
        for rule, exponent in enumerate(exponents):
            _, scales = outputs(Tiny("dynamic_mx_quant", x_of((1,), FLOAT), {"dst_type": "float8_e4m3", "scale_alg": rule}), precision, x=[peak])
            assert scales.reshape(-1)[0] == 2.0**exponent, (peak, rule)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [({"round_mode": "near"}, "round_mode is 'near'"), ({"dst_type": "float8_e4m3", "scale_alg": 2}, "scale_alg 2"), ({"axis": 1}, "axes")],
)
def test_modes_and_axes_that_do_not_exist_are_refused(attributes: dict[str, str | int], message: str) -> None:
    with pytest.raises(Exception, match=message):
        outputs(Tiny("dynamic_mx_quant", x_of((4,), FLOAT), attributes), "float64", x=[1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("attributes", [{"dst_type": "float8_e4m3", "round_mode": "floor"}, {"dst_type": "float4_e2m1", "scale_alg": 1}])
def test_a_mode_that_the_element_type_lacks_is_an_error(attributes: dict[str, object]) -> None:
    with pytest.raises(Exception, match="float4_e2m1 only, scale_alg 1 for the others"):
        outputs(Tiny("dynamic_mx_quant", x_of((4,), FLOAT), attributes), "float64", x=[1.0, 2.0, 3.0, 4.0])


@both
def test_rows_of_zeros_nan_and_infinity_in_dynamic_fp8_quant(precision: Precision) -> None:
    x = np.array([[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [-448.0, 1.0]])
    elements, scale = outputs(Tiny("dynamic_fp8_quant", x_of((4, 2), FLOAT)), precision, x=x)
    np.testing.assert_array_equal(scale, [0.0, np.nan, np.inf, 1.0])
    np.testing.assert_array_equal(elements, [[0.0, 0.0], [np.nan, np.nan], [np.nan, 0.0], [-448.0, 1.0]])


@both
def test_the_gate_is_the_half_that_is_named(precision: Precision) -> None:
    left, right = 8.0, 2.0
    for is_left, gate, linear in ((True, left, right), (False, right, left)):
        elements, scales = outputs(
            Tiny("swi_glu_mx_quant", x_of((2,), FLOAT), {"activate_left": is_left, "dst_type": "float8_e5m2"}), precision, x=[left, right]
        )
        value = float(elements[0] * scales.reshape(-1)[0])
        assert value == pytest.approx(gate / (1 + np.exp(-gate)) * linear, rel=0.125)


@both
def test_the_norm_of_a_zero_sum_is_zero_and_its_sum_is_an_output(precision: Precision) -> None:
    forms = {"x1": ((2, 2), HALF, (0.0, 1.0)), "x2": ((2, 2), HALF, (0.0, 1.0)), "gamma": ((2,), HALF, (0.0, 1.0))}
    elements, total, scale = outputs(Tiny("add_rms_norm_fp8_quant", forms), precision, x1=[[1, 2], [3, 3]], x2=[[-1, -2], [0, 1]], gamma=[1, 0])
    np.testing.assert_array_equal(total, [[0, 0], [3, 4]])
    np.testing.assert_array_equal(elements, [[0, 0], [448, 0]])
    np.testing.assert_allclose(scale, [0, 3 / np.sqrt(12.5) / 448], rtol=1e-6)


@both
def test_the_sum_is_normalised_before_it_is_rounded(precision: Precision) -> None:
    """65504 + 65504 is infinite as a float16, and 1 when it is divided by its root mean square."""
    forms = {"x1": ((1, 2), HALF, (0.0, 1.0)), "x2": ((1, 2), HALF, (0.0, 1.0)), "gamma": ((2,), HALF, (0.0, 1.0))}
    elements, total, scale = outputs(Tiny("add_rms_norm_fp8_quant", forms), precision, x1=[[65504, 65504]], x2=[[65504, 65504]], gamma=[1, 1])
    assert np.isposinf(total).all()
    np.testing.assert_array_equal(elements, [[448, 448]])
    np.testing.assert_allclose(scale, [1 / 448], rtol=1e-6)


@both
def test_a_product_has_its_bias_before_its_scales(precision: Precision) -> None:
    forms = {
        "x1": ((1, 2), E4M3, (0.0, 1.0)),
        "x2": ((2, 1), E4M3, (0.0, 1.0)),
        "scale": ((1,), FLOAT, (0.0, 1.0)),
        "pertoken_scale": ((1,), FLOAT, (0.0, 1.0)),
    }
    given = {"x1": [[2, 3]], "x2": [[4], [5]], "scale": [0.5], "pertoken_scale": [3]}
    (plain,) = outputs(Tiny("fp8_quant_matmul", forms), precision, **given)
    (biased,) = outputs(Tiny("fp8_quant_matmul", {**forms, "bias": ((1,), FLOAT, (0.0, 1.0))}), precision, **given, bias=[7])
    assert (plain.item(), biased.item()) == (23 * 0.5 * 3, 30 * 0.5 * 3)


@both
def test_every_block_of_an_mx_product_has_its_own_scales(precision: Precision) -> None:
    forms = {"x1": ((1, 34), FP4, (0.0, 1.0)), "x2": ((1, 34), FP4, (0.0, 1.0)), "x1_scale": ((1, 2), E8M0, (1.0, 2.0)), "x2_scale": ((1, 2), E8M0, (1.0, 2.0))}
    ones = np.ones((1, 34))
    (got,) = outputs(Tiny("mx_quant_matmul", forms, {"output_dtype": "float32"}), precision, x1=ones, x2=ones, x1_scale=[[2, 4]], x2_scale=[[0.5, 8]])
    assert got.item() == 32 * 1 + 2 * 32


BUILDERS = [
    Tiny("mx_quant", x_of((6, 70), FLOAT)),
    Tiny("dynamic_mx_quant", x_of((70, 6), FLOAT), {"axis": 0}),
    Tiny("dynamic_fp8_quant", {**x_of((6, 70), HALF), "smooth_scales": ((70,), HALF, (0.5, 2.0))}),
]


def spread(scales: GoldenOutput) -> float:
    """Ratio of the largest and the smallest scale, but for what stands beside an odd last one."""
    values = scales.values()
    real = values[values > 2.0**-100]
    return float(real.max() / real.min())


@pytest.mark.parametrize("tiny", BUILDERS, ids=lambda tiny: tiny.operator)
def test_built_inputs_have_unlike_scales_stay_in_range_and_follow_the_seed(tiny: Tiny) -> None:
    operator, case = OPERATORS[tiny.operator], tiny.case
    drawn = make_inputs("0", case, 0)
    first, again, second = (build_inputs(operator.golden_path, operator, case, drawn, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first["x"], again["x"])
    assert (np.asarray(first["x"]) != np.asarray(second["x"])).any()
    assert (np.abs(np.asarray(first["x"])) <= np.abs(np.asarray(drawn["x"]))).all()
    assert spread(run(case, first, "float64")[1]) > 2 * spread(run(case, drawn, "float64")[1])


@pytest.mark.parametrize("tiny", BUILDERS, ids=lambda tiny: tiny.operator)
def test_inputs_of_one_sign_stay_as_they_are(tiny: Tiny) -> None:
    moved = Tiny(tiny.operator, {**tiny.inputs, "x": (*tiny.inputs["x"][:2], (2.0, 3.0))}, tiny.attributes)
    drawn = make_inputs("0", moved.case, 0)
    built = build_inputs(OPERATORS[tiny.operator].golden_path, OPERATORS[tiny.operator], moved.case, drawn, 1)
    np.testing.assert_array_equal(built["x"], drawn["x"])
