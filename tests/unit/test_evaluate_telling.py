"""The three telling cases of an operator follow from the cases alone."""

from __future__ import annotations

import math
import random

import pytest

from piton.catalog import load_suite
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.evaluate.telling import telling_cases

H, F, B, WHOLE = DType.FLOAT16, DType.FLOAT32, DType.BFLOAT16, DType.INT32


def case(number: int, shape: tuple[int, ...], dtype: DType = F, low: float = -1.0, high: float = 1.0) -> Case:
    return Case(operator="op", id=str(number), inputs=(CaseInput(argument="x", shape=shape, dtype=dtype, low=low, high=high),))


def ids(*cases: Case) -> list[str]:
    return [item.id for item in telling_cases(cases)]


def test_of_three_or_fewer_all_are_telling() -> None:
    assert ids(case(1, (8,)), case(2, (16,)), case(3, (24,))) == ["1", "2", "3"]
    assert ids(case(1, (8,))) == ["1"]
    assert ids() == []


def test_odd_is_the_smallest_ordinary_case_whose_rows_do_not_fill_blocks() -> None:
    others = [case(8, (64, 64), H), case(9, (64, 64), B, high=math.inf)]
    assert ids(case(1, (4, 8)), case(2, (99,)), case(3, (97,)), case(4, (5,), high=math.nan), *others)[0] == "3"
    assert ids(case(1, (8, 8)), case(2, (4, 8)), case(3, (16, 8)), *others)[0] == "2", "no odd one: the smallest"


def test_odd_looks_at_bytes_and_not_at_elements() -> None:
    others = [case(8, (640,), F), case(9, (640,), B, high=math.inf)]
    assert ids(case(1, (3, 16), H), case(2, (8, 8), H), *others)[0] == "2", "16 float16 fill a block, 8 do not"


def test_middle_is_of_another_dtype_and_in_the_middle_by_size() -> None:
    odd, edge = case(1, (3,), F), case(9, (3,), B, low=-math.inf)
    assert ids(odd, case(2, (500,), H), case(3, (200,), H), case(4, (300,), H), case(5, (250,), F), edge) == ["1", "4", "9"]
    assert ids(odd, case(2, (500,), F), case(3, (200,), F), case(4, (300,), F), edge) == ["1", "4", "9"], "no other dtype: the one there is"


def test_edge_prefers_a_dtype_not_seen_then_special_values_then_size() -> None:
    odd, middle = case(1, (3,), F), case(2, (300,), H)
    ordinary = [case(3, (310,), H), case(4, (290,), H)]
    assert ids(odd, middle, *ordinary, case(5, (9,), F, high=math.inf), case(6, (999,), B, low=-3e38))[-1] == "6"
    assert ids(odd, middle, *ordinary, case(5, (9,), F, high=3e38), case(6, (99,), F, high=math.nan), case(7, (100,), H, low=-math.inf))[-1] == "6"


@pytest.mark.parametrize(("dtype", "high", "is_edge"), [(H, 32753.0, True), (H, 32000.0, False), (F, 65504.0, False), (WHOLE, 2**31, False)])
def test_a_range_is_an_edge_when_it_comes_near_the_end_of_its_dtype(dtype: DType, high: float, is_edge: bool) -> None:
    cases = [case(1, (3,), F), case(2, (300,), B), case(3, (310,), B), case(4, (5,), dtype, high=high), case(5, (999,), F, high=math.inf)]
    assert (ids(*cases)[-1] == "5") == (not is_edge or dtype is F)


def test_without_an_edge_the_widest_range_is_taken() -> None:
    assert ids(case(1, (3,), F), case(2, (300,), H), case(3, (310,), H, high=50), case(4, (320,), H, low=-700), case(5, (310,), H)) == ["1", "3", "4"]


def test_the_choice_does_not_depend_on_the_order_of_the_file() -> None:
    for member in load_suite("piton").members:
        expected = {item.id for item in telling_cases(member.cases)}
        shuffled = list(member.cases)
        random.Random(1).shuffle(shuffled)
        assert {item.id for item in telling_cases(shuffled)} == expected


def test_telling_cases_of_our_suite_are_small_and_of_several_dtypes() -> None:
    for member in load_suite("piton").members:
        found = telling_cases(member.cases)
        assert max(item.elements for item in found) < 17_000_000, "an answer in seconds"
        assert len({item.inputs[0].dtype for item in found}) >= min(2, len({item.inputs[0].dtype for item in member.cases}))
