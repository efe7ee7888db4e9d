"""Does an ordinary case reject every impostor, and does the lint see one that does not?"""

from __future__ import annotations

import numpy as np
import pytest

from piton.core.dtype import DType
from piton.core.verdict import Verdict
from piton.numerics.impostors import impostors, leading_makers, rejects
from piton.numerics.lint import check_native_run, special_disagreements
from piton.numerics.tensors import GoldenOutput, golden_output
from piton.numerics.thresholds import default_tolerance

NAMES = {"zeros", "constant", "mean", "input_copy", "first_row_only", "lower_precision", "stale"}
X = np.random.default_rng(3).uniform(-3, 3, (64, 33))


def made(dtype: DType, values: np.ndarray) -> tuple[GoldenOutput, dict[str, GoldenOutput]]:
    golden = golden_output("y", np.tanh(values), dtype)
    return golden, impostors(golden, {"x": values.astype(np.float32)}, golden_output("y", np.tanh(-values[::-1]), dtype))


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16])
def test_an_ordinary_case_rejects_every_impostor(dtype: DType) -> None:
    golden, all_of_them = made(dtype, X)
    assert set(all_of_them) == NAMES
    accepted = [name for name, impostor in all_of_them.items() if not rejects(golden, impostor, default_tolerance(dtype), native=golden)]
    assert accepted == []


def test_the_golden_itself_is_accepted() -> None:
    golden, _ = made(DType.FLOAT32, X)
    assert not rejects(golden, golden, default_tolerance(DType.FLOAT32))


def test_a_degenerate_case_is_seen_to_accept_its_impostors() -> None:
    golden, all_of_them = made(DType.FLOAT32, np.zeros((4, 4)))
    for name in ("zeros", "constant", "mean", "input_copy", "first_row_only"):
        assert not rejects(golden, all_of_them[name], default_tolerance(DType.FLOAT32)), name


def test_integer_outputs_have_impostors_too() -> None:
    golden = golden_output("y", np.arange(12, dtype=np.int32).reshape(3, 4), DType.INT32)
    all_of_them = impostors(golden, {"x": np.ones((3, 4), dtype=np.float32)})
    assert set(all_of_them) == {"zeros", "constant", "mean", "input_copy", "first_row_only"}
    assert all(rejects(golden, impostor, default_tolerance(DType.INT32)) for impostor in all_of_them.values())


def test_impostors_that_do_not_exist_are_left_out() -> None:
    golden = golden_output("y", np.array([[1.5, 2.5]]), DType.FLOAT8_E4M3)
    other_shape = golden_output("y", np.array([1.5, 2.0]), DType.FLOAT8_E4M3)
    assert set(impostors(golden, {"x": np.ones((3, 4))}, other_shape)) == {"zeros", "constant", "mean"}


def test_one_number_has_no_constant_and_no_mean_that_is_not_the_number_itself() -> None:
    golden = golden_output("y", np.array([1.5]), DType.FLOAT32)
    assert set(impostors(golden, {"x": np.ones((3, 4))}, golden_output("y", np.array([2.5]), DType.FLOAT32))) == {"zeros", "lower_precision", "stale"}


def test_the_mean_of_the_largest_integers_is_one_that_the_dtype_has() -> None:
    golden = golden_output("y", np.full(3, 2**63 - 1), DType.INT64)
    assert (impostors(golden, {})["mean"].array() > 2**62).all()


def test_the_lint_counts_special_values_on_which_golden_and_native_run_disagree() -> None:
    golden = golden_output("y", np.array([1.0, np.nan, np.inf, 65504.0, 1.0, np.inf]), DType.FLOAT16)
    native = golden_output("y", np.array([1.5, np.nan, np.inf, np.inf, np.nan, -np.inf]), DType.FLOAT16)
    assert (special_disagreements(golden, golden), special_disagreements(golden, native)) == (0, 3)


def test_integer_outputs_cannot_disagree_in_special_values() -> None:
    golden = golden_output("y", np.arange(3, dtype=np.int32), DType.INT32)
    assert special_disagreements(golden, golden) == 0


def test_outputs_of_unequal_form_are_no_pair() -> None:
    with pytest.raises(ValueError, match="no pair"):
        special_disagreements(golden_output("y", np.ones(3), DType.FLOAT16), golden_output("y", np.ones(3), DType.FLOAT32))


def test_the_lint_sees_a_case_that_its_own_dtype_cannot_do() -> None:
    golden = golden_output("y", np.full(100, 1.0), DType.FLOAT16)
    hopeless = golden_output("y", np.full(100, 1.1), DType.FLOAT16)
    assert check_native_run(golden, golden, default_tolerance(DType.FLOAT16)).outcome.verdict is Verdict.PASSED
    assert check_native_run(golden, hopeless, default_tolerance(DType.FLOAT16)).outcome.verdict is Verdict.WRONG_VALUE


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.BFLOAT16, DType.INT32, DType.FLOAT8_E4M3])
def test_the_start_of_an_impostor_is_made_without_the_rest_of_it(dtype: DType) -> None:
    drawn = np.random.default_rng(3)
    values = [drawn.normal(size=(7, 300)) * 50 if dtype.is_floating else drawn.integers(-99, 99, (7, 300), np.int32) for _ in range(2)]
    golden, stale = (golden_output("y", item, dtype) for item in values)
    inputs = {"x": drawn.normal(size=2100)}
    whole, start = impostors(golden, inputs, stale), leading_makers(golden, inputs, stale, 700)
    assert set(start) == set(whole)
    for name, make in start.items():
        assert np.array_equal(make().array(), whole[name].array()[:700]), name
