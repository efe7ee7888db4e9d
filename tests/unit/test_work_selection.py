"""Are bytes and instructions of top_k, unique and nms those that one counts by hand?"""

from __future__ import annotations

import math

import pytest
from vector_work_cases import A2, case_of

from piton.anchors.selection import nms_convention, nms_silicon, top_k_convention, top_k_silicon, unique_convention, unique_silicon
from piton.core.case import Case
from piton.core.dtype import DType

F16, F32, BF16, I16, I32, I64, U8 = DType.FLOAT16, DType.FLOAT32, DType.BFLOAT16, DType.INT16, DType.INT32, DType.INT64, DType.UINT8
I8, NAN, INF = DType.INT8, math.nan, math.inf


def ranged(case: Case, low: float, high: float) -> Case:
    """The same case with values of x between these."""
    return case.model_copy(update={"inputs": (case.inputs[0].model_copy(update={"low": low, "high": high}),)})


def top_k_case(dtype: DType, *, dim: int = -1, k: int = 2, rows: int = 3, largest: bool = True) -> Case:
    return case_of("top_k", [("x", dtype, (rows, 5))], k=k, dim=dim, largest=largest)


@pytest.mark.parametrize(("dim", "selected"), [(-1, 3 * 2), (1, 3 * 2), (0, 2 * 5), (-2, 2 * 5)])
def test_top_k_reads_all_and_writes_k_values_with_indices_per_line(dim: int, selected: int) -> None:
    (work,) = top_k_silicon(top_k_case(F32, dim=dim), A2)
    assert work.read_bytes == 15 * 4
    assert work.write_bytes == selected * 4 + selected * 8  # values, int64 indices
    assert work.vector_lanes == {F32: 15}  # each element is compared once


@pytest.mark.parametrize(("dtype", "lanes"), [(F16, F16), (BF16, I16), (I32, I32), (I64, I64), (U8, U8)])
def test_elements_are_compared_in_their_own_type_or_as_integers(dtype: DType, lanes: DType) -> None:
    (work,) = top_k_silicon(top_k_case(dtype), A2)
    assert work.vector_lanes == {lanes: 15}
    assert work.read_bytes == 15 * dtype.bits // 8


@pytest.mark.parametrize(
    ("dtype", "largest", "low", "high"), [(U8, True, 9, 255), (I8, True, -9, 127), (I8, False, -128, 9), (F16, True, NAN, NAN), (F16, False, -INF, 1)]
)
def test_a_search_of_few_may_end_with_values_that_none_exceeds(dtype: DType, largest: bool, low: float, high: float) -> None:
    (work,) = top_k_silicon(ranged(top_k_case(dtype, largest=largest), low, high), A2)
    assert sum(work.vector_lanes.values()) == 3 * 2  # k of each line
    assert work.read_bytes == 6 * dtype.bits // 8


@pytest.mark.parametrize(
    ("dtype", "largest", "low", "high"), [(U8, True, 0, 254), (I8, True, -128, 126), (I8, False, -127, 127), (F16, True, -INF, INF), (I32, True, 0, 2**31 - 1)]
)
def test_a_search_goes_on_where_a_better_value_may_come(dtype: DType, largest: bool, low: float, high: float) -> None:
    (work,) = top_k_silicon(ranged(top_k_case(dtype, largest=largest), low, high), A2)
    assert work.read_bytes == 15 * dtype.bits // 8


def test_many_values_that_none_exceeds_take_their_time_to_be_met() -> None:
    case = case_of("top_k", [("x", U8, (4, 100_000))], k=100, dim=-1, largest=True)
    (work,) = top_k_silicon(ranged(case, 0, 255), A2)
    # One in 256 is 255. To have 100 of them by chance at all, 100 - t have to be expected: t^2 = 64 (100 - 2 t / 3), t = -64/3 + sqrt((64/3)^2 + 6400) = 61.5.
    assert work.read_bytes == pytest.approx(4 * 256 * (100 - 61.46), rel=1e-3)
    (short,) = top_k_silicon(ranged(case_of("top_k", [("x", U8, (4, 2000))], k=100, dim=-1, largest=True), 0, 255), A2)
    assert short.read_bytes == 4 * 2000  # 7.8 are expected


def test_special_values_stand_in_few_lines() -> None:
    case = case_of("top_k", [("x", F16, (1000, 500))], k=100, dim=-1, largest=True)
    (work,) = top_k_silicon(ranged(case, 0, NAN), A2)
    assert work.read_bytes == (1000 * 500 - 20 * 400) * 2  # 2048 NaN at most: 100 of them in 20 lines, which may leave 400 of 500 elements unread


def test_twice_the_rows_are_twice_the_bytes_of_top_k() -> None:
    (one,), (two,) = (top_k_silicon(top_k_case(F16, rows=rows), A2) for rows in (3, 6))
    assert (two.read_bytes, two.write_bytes) == (2 * one.read_bytes, 2 * one.write_bytes)


@pytest.mark.parametrize(("k", "rounds"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_the_convention_of_top_k_counts_a_heap_of_k(k: int, rounds: int) -> None:
    assert top_k_convention(top_k_case(BF16, k=k), "910b2").vector_lanes == {F32: 15 * rounds}


def unique_case(dtype: DType, *, has_inverse: bool) -> Case:
    return case_of("unique", [("x", dtype, (4, 4))], return_inverse=has_inverse)


@pytest.mark.parametrize("has_inverse", [False, True])
def test_unique_writes_at_least_one_value_and_the_inverse_of_all(has_inverse: bool) -> None:
    (work,) = unique_silicon(unique_case(F16, has_inverse=has_inverse), A2)
    assert work.read_bytes == 16 * 2
    assert work.write_bytes == 2 + (16 * 8 if has_inverse else 0)  # one value; int64 positions
    assert work.vector_lanes == {F16: 16}


@pytest.mark.parametrize(
    ("low", "high", "has_inverse", "seen"), [(-128, 127, False, 256), (-128, 127, True, 400), (-128, 126, False, 400), (-127, 127, False, 400)]
)
def test_reading_may_end_when_every_byte_has_been_met(low: float, high: float, has_inverse: bool, seen: int) -> None:
    case = case_of("unique", [("x", I8, (400,))], return_inverse=has_inverse)
    (work,) = unique_silicon(ranged(case, low, high), A2)
    assert work.read_bytes == seen
    assert work.vector_lanes == {I8: seen}


@pytest.mark.parametrize(("has_inverse", "per_element", "written"), [(False, 4 + 1, 16 * 4), (True, 4 + 1 + 2, 16 * 4 + 16 * 8)])
def test_the_convention_of_unique_sorts_and_takes_all_values_for_different(has_inverse: bool, per_element: int, written: int) -> None:
    work = unique_convention(unique_case(I32, has_inverse=has_inverse), "910b2")
    assert work.vector_lanes == {I32: 16 * per_element}
    assert work.write_bytes == written


def nms_case(threshold: float, boxes: int = 10) -> Case:
    return case_of("nms", [("boxes", F32, (boxes, 4)), ("scores", F32, (boxes,))], iou_threshold=threshold)


def test_nms_compares_every_box_with_one_that_is_kept() -> None:
    (work,) = nms_silicon(nms_case(0.5), A2)
    assert work.read_bytes == 10 * 4 * 4 + 10 * 4
    assert work.write_bytes == 8  # one int64 index
    # Max of the scores; Maxs, Mins, SubRelu for x and for y, Mul; Sub, Sub, Mul for the area; Axpy and CompareScalar.
    assert work.vector_lanes == {F32: 10 * (1 + 3 + 3 + 1 + 3 + 2)}


def test_a_threshold_that_no_box_reaches_leaves_the_order_of_scores() -> None:
    (work,) = nms_silicon(nms_case(1.0), A2)
    assert work.vector_lanes == {F32: 10}
    assert work.read_bytes == 10 * 5 * 4  # a NaN suppresses


def test_a_threshold_that_every_box_exceeds_leaves_the_boxes_unread() -> None:
    (work,) = nms_silicon(nms_case(-0.1), A2)
    assert work.read_bytes == 10 * 4


def test_the_convention_of_nms_has_no_arithmetic_on_the_950pr() -> None:
    older, later = nms_convention(nms_case(0.5), "910b2"), nms_convention(nms_case(0.5), "950pr")
    assert older.vector_lanes == {F32: 9 * 10 * 10}
    assert not later.vector_lanes
    assert older.write_bytes == later.write_bytes == 10 * 8


def test_the_convention_of_unique_takes_no_logarithm_of_nothing() -> None:
    empty = case_of("unique", [("x", F32, (0,))], return_inverse=False)
    assert not math.isnan(unique_convention(empty, "910b2").vector_lanes[F32])
