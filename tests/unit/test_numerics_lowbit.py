"""Do FP8, HiF8, FP4 and the scales of MX go through inputs, golden, comparison and impostors like any other type?"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.execution import OutputBuffer
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.core.verdict import Cause, Verdict
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import decode, dtype_of, raw_bytes, storage_dtype
from piton.numerics.golden import build_inputs, run_golden
from piton.numerics.impostors import as_output, impostors, rejects
from piton.numerics.inputs import make_inputs, make_tensor
from piton.numerics.lint import special_disagreements
from piton.numerics.small_floats import FORMATS
from piton.numerics.tensors import GoldenOutput, golden_output
from piton.numerics.thresholds import default_tolerance

E4M3, E5M2, HIF8, E8M0, FP4 = DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.HIFLOAT8, DType.FLOAT8_E8M0, DType.FLOAT4_E2M1
NUMBERS = [E4M3, E5M2, HIF8, FP4]
ALL = [*NUMBERS, E8M0]
every_number = pytest.mark.parametrize("dtype", NUMBERS, ids=lambda dtype: dtype.value)
every = pytest.mark.parametrize("dtype", ALL, ids=lambda dtype: dtype.value)


def item(dtype: DType, low: float, high: float, shape: tuple[int, ...] = (1000,)) -> CaseInput:
    return CaseInput(argument="x", shape=shape, dtype=dtype, low=low, high=high)


def draw(dtype: DType, low: float, high: float, shape: tuple[int, ...] = (1000,)) -> np.ndarray:
    array = make_tensor(item(dtype, low, high, shape), 7)
    assert dtype_of(array) is dtype
    return decode(array, dtype)


def case_of(dtype: DType, shape: tuple[int, ...] = (6, 10), **attributes: str) -> Case:
    low = 0.25 if dtype is E8M0 else -4.0
    return Case(operator="op", id="1", inputs=(item(dtype, low, 4.0, shape),), attributes=attributes)


def folder(root: Path, code: str, takes: DType, gives: tuple[DType, ...], has_attribute: bool = False) -> Operator:
    path = root / "golden.py"
    path.write_text("import torch\n" + code)
    spec = (AttrSpec(name="dst_type", type="dtype", default="float8_e4m3"),) if has_attribute else ()
    return Operator(
        name="op", title="Op", level=1, category="", schema_text="", inputs=(TensorSpec(name="x", dtypes=(takes,)),),
        outputs=(TensorSpec(name="y", dtypes=gives),), attributes=spec, golden_path=str(path),
    )  # fmt: skip


@every_number
def test_values_fill_the_range_and_stay_inside_it(dtype: DType) -> None:
    finite = FORMATS[dtype].finite
    for low, high in ((-6.0, 6.0), (-0.5, 3.0), (1.0, 2.0)):
        found = draw(dtype, low, high, (20_000,))
        inside = finite[(finite >= low) & (finite <= high)]
        assert found.min() == inside[0]
        assert found.max() == inside[-1]
    assert set(draw(FP4, -6, 6, (2000,))) == set(FORMATS[FP4].finite)


@every_number
def test_a_range_beyond_the_type_is_clipped_to_it(dtype: DType) -> None:
    found = draw(dtype, -1e30, 1e30, (5000,))
    largest = FORMATS[dtype].largest
    assert (found.min(), found.max()) == (-largest, largest)


@pytest.mark.parametrize(("dtype", "end"), [(E5M2, math.inf), (HIF8, math.inf), (FP4, 6.0)])
def test_infinite_ends_become_what_the_format_has_for_them(dtype: DType, end: float) -> None:
    found = draw(dtype, -math.inf, math.inf)
    assert (found[0], found[-1], abs(found[500]) <= 1) == (-end, end, True)


def test_nan_goes_into_head_and_tail_or_is_refused() -> None:
    assert np.isnan(draw(HIF8, math.nan, math.nan)[[0, -1]]).all()
    with pytest.raises(EvaluatorError, match="float4_e2m1 has no NaN"):
        draw(FP4, math.nan, math.nan)


def test_every_power_of_two_of_the_range_is_as_likely_a_scale() -> None:
    found = np.log2(draw(E8M0, 0.001, 70.0, (16_000,)))
    numbers, counts = np.unique(found, return_counts=True)
    assert numbers.tolist() == list(range(-9, 7))
    assert counts.min() > 800


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 1.0), (1.1, 1.9), (1.0, math.inf), (math.nan, 1.0)])
def test_a_range_without_scales_is_our_error(low: float, high: float) -> None:
    with pytest.raises(EvaluatorError, match=r"scales|power of two"):
        draw(E8M0, low, high)


@every
@pytest.mark.parametrize("precision", ["float64", "native"])
def test_every_type_passes_through_a_golden_unchanged(tmp_path: Path, dtype: DType, precision: str) -> None:
    inputs = make_inputs("1", case_of(dtype), 0)
    (output,) = run_golden(str(tmp_path / "golden.py"), folder(tmp_path, "def op(x):\n    return x\n", dtype, (dtype,)), case_of(dtype), inputs, precision)  # type: ignore[arg-type]
    assert (output.dtype, output.shape) == (dtype, (6, 10))
    assert bytes(output.data) == bytes(raw_bytes(np.asarray(inputs["x"])))


@pytest.mark.parametrize(("dtype", "seen"), [(E4M3, "float8_e4m3fn"), (E8M0, "float8_e8m0fnu"), (HIF8, "float32"), (FP4, "float32")])
def test_the_native_run_sees_torchs_type_or_float32_where_torch_has_none(tmp_path: Path, dtype: DType, seen: str) -> None:
    operator = folder(tmp_path, f"def op(x):\n    assert x.dtype == torch.{seen}\n    return x.float()\n", dtype, (DType.FLOAT32,))
    inputs = make_inputs("1", case_of(dtype), 0)
    (output,) = run_golden(operator.golden_path, operator, case_of(dtype), inputs, "native")
    np.testing.assert_array_equal(output.values(), decode(np.asarray(inputs["x"]), dtype))


@pytest.mark.parametrize("named", [E4M3, HIF8, FP4], ids=lambda dtype: dtype.value)
def test_the_attribute_chooses_the_outputs_type_and_the_result_is_rounded_to_it_once(tmp_path: Path, named: DType) -> None:
    operator = folder(tmp_path, "def op(x, dst_type):\n    return x / 3\n", DType.FLOAT32, tuple(NUMBERS), has_attribute=True)
    case = case_of(DType.FLOAT32, dst_type=named.value)
    inputs = make_inputs("1", case, 0)
    (output,) = run_golden(operator.golden_path, operator, case, inputs)
    expected = golden_output("y", np.asarray(inputs["x"]).astype(np.float64) / 3, named)
    assert (output.dtype, bytes(output.data)) == (named, bytes(expected.data))


def test_a_nan_result_in_a_format_without_nan_is_our_error(tmp_path: Path) -> None:
    operator = folder(tmp_path, "def op(x):\n    return x * torch.nan\n", DType.FLOAT32, (FP4,))
    with pytest.raises(EvaluatorError, match="has no NaN"):
        run_golden(operator.golden_path, operator, case_of(DType.FLOAT32), make_inputs("1", case_of(DType.FLOAT32), 0))


@every
def test_get_input_may_rebuild_inputs_of_every_type(tmp_path: Path, dtype: DType) -> None:
    operator = folder(tmp_path, "def op(x):\n    return x\ndef get_input(x):\n    return x.float().flip(0).to(x.dtype)\n", dtype, (dtype,))
    inputs = make_inputs("1", case_of(dtype), 0)
    rebuilt = build_inputs(operator.golden_path, operator, case_of(dtype), inputs, 0)
    np.testing.assert_array_equal(decode(np.asarray(rebuilt["x"]), dtype), decode(np.asarray(inputs["x"]), dtype)[::-1])


@every
def test_an_equal_output_passes_and_a_neighbouring_form_does_not(dtype: DType) -> None:
    golden = golden_output("y", decode(make_tensor(item(dtype, 0.5, 4, (8, 16)), 3), dtype), dtype)
    right = as_output(golden)
    assert check(right, golden) is Cause.NONE
    assert right.shape == ((8, 8) if dtype is FP4 else (8, 16))
    assert check(OutputBuffer("y", (8, 16, 1), right.dtype_name, (16, 1, 1), True, right.data), golden) is Cause.SHAPE_MISMATCH
    assert check(OutputBuffer("y", right.shape, "int8", right.strides, True, right.data), golden) is Cause.DTYPE_MISMATCH


def check(got: OutputBuffer, golden: GoldenOutput) -> Cause:
    return compare_output(got, golden, default_tolerance(golden.dtype)).outcome.cause


def test_the_message_says_what_carries_the_type() -> None:
    golden = golden_output("y", np.ones((2, 4)), FP4)
    unpacked = compare_output(OutputBuffer("y", (2, 4), "uint8", (4, 1), True, golden.data), golden, default_tolerance(FP4)).outcome.message
    assert "expected [2, 2] ([2, 4] elements of float4_e2m1, two in a byte)" in unpacked
    wrong = compare_output(OutputBuffer("y", (2, 2), "float4_e2m1fn_x2", (2, 1), True, golden.data), golden, default_tolerance(FP4)).outcome.message
    assert "expected uint8 (which carries float4_e2m1)" in wrong


def changed(golden: GoldenOutput, place: int, code: int) -> OutputBuffer:
    data = bytearray(golden.data)
    data[place] = code
    return as_output(GoldenOutput(golden.name, golden.dtype, golden.shape, memoryview(bytes(data))))


def test_one_scale_off_by_one_code_fails() -> None:
    golden = golden_output("scale", np.exp2(np.arange(-20, 20, dtype=np.float64)), E8M0)
    assert check(changed(golden, 11, golden.data[11] + 1), golden) is Cause.MAX_ERROR
    assert check(changed(golden, 11, 0xFF), golden) is Cause.NAN_MISMATCH


def test_hifloat8_bytes_are_compared_by_value_and_not_as_integers() -> None:
    golden = golden_output("y", np.linspace(-8, 8, 100), HIF8)
    next_code = int(golden.data[99]) + 1
    assert check(changed(golden, 99, next_code), golden) is Cause.NONE  # one step of 2^-3 at one position
    assert check(changed(golden, 99, golden.data[99] ^ 0x80), golden) is Cause.MAX_ERROR
    assert check(changed(golden, 99, 0x6F), golden) is Cause.MAX_ERROR
    assert check(changed(golden, 99, 0x80), golden) is Cause.NAN_MISMATCH


def test_both_halves_of_a_packed_byte_are_compared() -> None:
    golden = golden_output("y", np.full((1, 64), 6.0), FP4)
    for code in (0x71, 0x17, 0x7F, 0xF7):
        packed = bytearray(golden.data)
        packed[::2] = bytes([code]) * 16
        assert check(OutputBuffer("y", (1, 32), "uint8", (32, 1), True, memoryview(bytes(packed))), golden) is not Cause.NONE, hex(code)


@every_number
def test_the_impostors_of_every_type_are_rejected(dtype: DType) -> None:
    case = case_of(DType.FLOAT32, (40, 64))
    inputs = make_inputs("1", case, 0)
    values = np.asarray(inputs["x"]).astype(np.float64)
    golden, stale = (golden_output("y", factor * values, dtype) for factor in (1.25, -1.0))
    made = impostors(golden, inputs, stale)
    assert set(made) >= {"zeros", "constant", "mean", "input_copy", "first_row_only", "stale"}
    for name in ("zeros", "constant", "mean", "first_row_only", "stale"):
        assert rejects(golden, made[name], default_tolerance(dtype)), name
    assert not rejects(golden, golden, default_tolerance(dtype))


@every
def test_an_input_of_every_type_can_be_an_impostor(dtype: DType) -> None:
    inputs = make_inputs("1", case_of(dtype), 0)
    golden = golden_output("y", np.ones((6, 10)), DType.FLOAT32)
    np.testing.assert_array_equal(impostors(golden, inputs)["input_copy"].values(), decode(np.asarray(inputs["x"]), dtype))


@every
def test_equal_runs_have_no_special_disagreement(dtype: DType) -> None:
    golden = golden_output("y", decode(make_tensor(item(dtype, 0.5, 2), 0), dtype), dtype)
    assert special_disagreements(golden, golden) == 0


@pytest.mark.parametrize("shape", [(), (5,), (4, 3)])
def test_a_packed_tensor_with_an_odd_last_axis_is_our_error(shape: tuple[int, ...]) -> None:
    with pytest.raises(EvaluatorError, match="even last axis"):
        draw(FP4, -1, 1, shape)
    with pytest.raises(EvaluatorError, match="even last axis"):
        GoldenOutput("y", FP4, shape, memoryview(bytes(FP4.bytes_of(math.prod(shape)))))


def test_storage_never_mixes_up_a_byte_of_hifloat8_with_an_integer() -> None:
    assert storage_dtype(HIF8) != storage_dtype(DType.UINT8)
    assert (
        Verdict.PASSED
        is compare_output(as_output(golden_output("y", np.ones(4), HIF8)), golden_output("y", np.ones(4), HIF8), default_tolerance(HIF8)).outcome.verdict
    )
