"""Are index outputs free in ties and in nothing else?"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.verdict import Cause, Verdict
from piton.numerics.impostors import as_output
from piton.numerics.index import IndexRule, compare_index_output
from piton.numerics.tensors import GoldenOutput, golden_output

SOURCE = np.array([[1.0, 5.0, 5.0, 2.0], [7.0, 7.0, 0.0, 7.0]], dtype=np.float32)
ARG_MAX = IndexRule(axis=1)


def indices(values: object, dtype: DType = DType.INT64) -> GoldenOutput:
    return golden_output("indices", np.asarray(values, dtype=dtype.value), dtype)


def cause(got: object, golden: object, rule: IndexRule = ARG_MAX, source: np.ndarray = SOURCE) -> Cause:
    return compare_index_output(as_output(indices(got)), indices(golden), source, rule).outcome.cause


def test_the_golden_indices_pass() -> None:
    assert cause([1, 0], [1, 0]) is Cause.NONE


def test_another_index_of_the_same_value_passes() -> None:
    assert cause([2, 3], [1, 0]) is Cause.NONE


def test_an_index_of_another_value_fails() -> None:
    result = compare_index_output(as_output(indices([0, 0])), indices([1, 0]), SOURCE, ARG_MAX)
    assert (result.outcome.cause, result.outcome.numbers["wrong_value"], result.mismatches) == (Cause.INDEX_MISMATCH, 1, 1)


@pytest.mark.parametrize("junk", [4, -1, 2**62])
def test_an_index_out_of_range_fails(junk: int) -> None:
    result = compare_index_output(as_output(indices([1, junk])), indices([1, 0]), SOURCE, ARG_MAX)
    assert result.outcome.numbers["out_of_range"] == 1


def test_a_kept_axis_and_a_dropped_one_mean_the_same() -> None:
    assert cause([[2], [1]], [[1], [0]]) is Cause.NONE
    assert cause([[0], [1]], [[1], [0]]) is Cause.INDEX_MISMATCH


@pytest.mark.parametrize(("got", "expected"), [(0, Cause.NONE), (1, Cause.INDEX_MISMATCH), (-1, Cause.INDEX_MISMATCH)])
def test_a_number_without_axes_has_index_0(got: int, expected: Cause) -> None:
    assert cause(got, 0, IndexRule(axis=0), np.array(5.0)) is expected


def test_axes_count_from_the_end_and_from_the_start() -> None:
    columns = SOURCE.T.copy()
    assert cause([2, 3], [1, 0], IndexRule(axis=0), columns) is Cause.NONE
    assert cause([2, 3], [1, 0], IndexRule(axis=-2), columns) is Cause.NONE
    assert cause([0, 3], [1, 0], IndexRule(axis=0), columns) is Cause.INDEX_MISMATCH


def test_repeated_indices_fail_where_uniqueness_is_promised() -> None:
    top = IndexRule(axis=1, is_unique=True)
    assert cause([[2, 1], [3, 0]], [[1, 2], [0, 1]], top) is Cause.NONE
    assert cause([[1, 1], [3, 0]], [[1, 2], [0, 1]], top) is Cause.INDEX_MISMATCH
    assert cause([[1, 1], [3, 0]], [[1, 2], [0, 1]], ARG_MAX) is Cause.NONE


def test_order_counts_unless_it_is_free() -> None:
    golden, swapped = [[1, 3], [0, 2]], [[3, 1], [2, 0]]
    assert cause(swapped, golden, IndexRule(axis=1)) is Cause.INDEX_MISMATCH
    assert cause(swapped, golden, IndexRule(axis=1, is_ordered=False)) is Cause.NONE


def test_a_running_reduction_may_not_look_ahead() -> None:
    source = np.array([[3.0, 1.0, 1.0]], dtype=np.float32)
    assert cause([[0, 1, 2]], [[0, 1, 1]], IndexRule(axis=1, is_prefix=True), source) is Cause.NONE
    assert cause([[0, 2, 1]], [[0, 1, 1]], IndexRule(axis=1, is_prefix=True), source) is Cause.INDEX_MISMATCH


def test_nan_equals_nan_at_the_gathered_values() -> None:
    source = np.array([[np.nan, 1.0, np.nan, 0.0]], dtype=np.float32)
    assert cause([2], [0], ARG_MAX, source) is Cause.NONE
    assert cause([1], [0], ARG_MAX, source) is Cause.INDEX_MISMATCH


def test_a_flat_source_is_indexed_as_a_whole() -> None:
    assert cause(7, 4, IndexRule(axis=None)) is Cause.NONE
    assert cause(6, 4, IndexRule(axis=None)) is Cause.INDEX_MISMATCH


def test_the_form_of_an_index_output_is_checked_first() -> None:
    got = dataclasses.replace(as_output(indices([1, 0], DType.INT32)))
    assert compare_index_output(got, indices([1, 0]), SOURCE, ARG_MAX).outcome.verdict is Verdict.WRONG_DTYPE


def test_golden_indices_outside_the_source_are_our_error() -> None:
    with pytest.raises(EvaluatorError, match="golden's own"):
        cause([1, 0], [1, 9])


def test_shapes_that_do_not_fit_are_our_error() -> None:
    with pytest.raises(EvaluatorError, match="does not fit"):
        cause([1, 0, 0], [1, 0, 0])


def test_large_outputs_are_looked_at_in_every_block() -> None:
    source = np.random.default_rng(0).random((3, 5, 700_000), dtype=np.float32)
    golden = np.argmax(source, axis=1)
    got = golden.copy()
    assert cause(got, golden, IndexRule(axis=1), source) is Cause.NONE
    got[2, 699_999] = (got[2, 699_999] + 1) % 5
    assert cause(got, golden, IndexRule(axis=1), source) is Cause.INDEX_MISMATCH


@pytest.mark.parametrize("shape", [(700, 1500, 1), (3, 5, 70_000), (40_000, 3, 2)])
def test_faults_are_counted_alike_however_the_blocks_fall(shape: tuple[int, int, int]) -> None:
    source = np.random.default_rng(1).permutation(np.arange(np.prod(shape))).reshape(shape).astype(np.float32)
    golden = source.argmax(1)
    got = golden.copy()
    wrong = np.random.default_rng(2).integers(0, got.size, 50)
    got.reshape(-1)[wrong] = (got.reshape(-1)[wrong] + 1) % shape[1]
    result = compare_index_output(as_output(indices(got)), indices(golden), source, ARG_MAX)
    assert result.mismatches == np.count_nonzero(got != golden)


def test_values_within_the_tolerance_count_as_equal() -> None:
    source = np.array([[1.0, 1.25, 3.0]], dtype=np.float32)
    close = IndexRule(axis=1, is_unique=True, tolerance=0.25)
    assert cause([[0, 1]], [[1, 0]], close, source) is Cause.NONE
    assert cause([[0, 1]], [[1, 0]], dataclasses.replace(close, tolerance=0.2), source) is Cause.INDEX_MISMATCH
    assert cause([[0, 0]], [[1, 0]], close, source) is Cause.INDEX_MISMATCH


def test_marks_have_to_be_the_same_numbers() -> None:
    marked = IndexRule(axis=1, is_unique=True, has_marks=True)
    golden = [[1, 2], [4, 4]]
    assert cause([[2, 1], [4, 4]], golden, marked) is Cause.NONE
    assert cause([[2, 1], [4, 5]], golden, marked) is Cause.INDEX_MISMATCH
    assert cause([[2, 1], [4, 0]], golden, marked) is Cause.INDEX_MISMATCH
    assert cause([[4, 1], [4, 4]], golden, marked) is Cause.INDEX_MISMATCH
    with pytest.raises(EvaluatorError, match="leave the source"):
        cause(golden, golden, dataclasses.replace(marked, has_marks=False))


@pytest.mark.filterwarnings("error")
def test_infinities_are_within_a_tolerance_of_themselves_only() -> None:
    rule, source = IndexRule(axis=0, tolerance=1e-4), np.array([np.inf, np.inf, -np.inf, 1.0])
    assert [cause([got], [0], rule, source) for got in range(4)] == [Cause.NONE, Cause.NONE, Cause.INDEX_MISMATCH, Cause.INDEX_MISMATCH]
