"""Work of operators that move elements, against small cases counted by hand."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest
from work_cases import BRAIN, CHIP, HALF, LONG, SINGLE, WORD, call, lanes_by_choice, moved, only, tensor

from piton.anchors.data_movement import (
    gather_convention,
    gather_silicon,
    scatter_convention,
    scatter_silicon,
    strided_slice_convention,
    strided_slice_silicon,
    transpose_silicon,
)
from piton.anchors.draws import contiguous_elements
from piton.anchors.slices import SliceEntries, handed_over_bytes, positions
from piton.core.case import Case
from piton.core.dtype import DType

NO_MASKS = {"begin": 0, "end": 0, "ellipsis": 0, "shrink_axis": 0, "new_axis": 0}
Entries = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def gather(ends: tuple[float, float], length: int = 100) -> Case:
    """3 lines of 1000 draws from an axis of `length`."""
    return call(tensor("x", (3, length), HALF), tensor("index", (3, 1000), LONG, ends), dim=-1)


def scatter(reduce: str | None, updates: tuple[int, int] = (2, 3), dtype: DType = SINGLE) -> Case:
    """Into data of 4 x 5, along the last axis."""
    return call(tensor("data", (4, 5), dtype), tensor("indices", updates, WORD, (0, 4)), tensor("updates", updates, dtype), dim=1, reduce=reduce)


def slice_of(shape: tuple[int, ...], dtype: DType, entries: Entries, **masks: int) -> Case:
    begin, end, strides = entries
    named = {f"{name}_mask": value for name, value in {**NO_MASKS, **masks}.items()}
    return call(tensor("x", shape, dtype), begin=begin, end=end, strides=strides, **named)


def taken(shape: tuple[int, ...], entries: Entries, **masks: int) -> list[list[int]]:
    return [list(kept) for kept in positions(shape, SliceEntries(*entries, {**NO_MASKS, **masks}))]


def test_transpose_reads_and_writes_every_byte_once() -> None:
    work = only(transpose_silicon(call(tensor("x", (3, 5), HALF), perm=(1, 0)), CHIP))
    assert (moved(work), work.vector_lanes) == ((30, 30), {})


def test_gather_reads_an_element_once_however_often_it_is_picked() -> None:
    work = only(gather_silicon(gather((7, 7)), CHIP))
    assert (moved(work), work.vector_lanes) == ((3 * 1000 * 8 + 3 * 1 * 2, 3 * 1000 * 2), {})  # one place per line


def test_gather_counts_the_different_elements_that_even_draws_name() -> None:
    # rows of 8 halves: no block of 16 lies in one of them
    case = call(tensor("x", (600, 8), HALF), tensor("index", (500, 8), LONG, (0, 599)), dim=0)
    read, _ = moved(only(gather_silicon(case, CHIP)))
    # 8 lines of 500 draws from 600 places: 600 (1 - (599/600)^500) = 339.39 different ones each; 4 sqrt(4000) = 252.98 less by chance
    assert read == 4000 * 8 + math.floor(8 * 339.39 - 252.98) * 2


def test_gather_along_the_last_axis_touches_blocks_of_the_line() -> None:
    read, _ = moved(only(gather_silicon(gather((0, 15_999), length=16_000), CHIP)))
    # 999 of 1000 blocks of 16 halves per line, each hit by 1000 draws of a chance of 1/1000: 999 (1 - 0.999^1000) = 631.67; 4 sqrt(3000) = 219.09 less
    assert read == 3 * 1000 * 8 + math.floor(3 * 631.67 - 219.09) * 32


def test_gather_along_another_axis_touches_blocks_of_the_rows() -> None:
    case = call(tensor("x", (100, 4, 20), SINGLE), tensor("index", (10, 4, 20), WORD, (0, 99)), dim=0)
    read, _ = moved(only(gather_silicon(case, CHIP)))
    # rows of 80 floats lie together, 9 blocks of 8 whole for sure, with 80 draws into their columns: 900 (1 - 0.99^80) = 497.21; 4 sqrt(800) = 113.14
    assert read == 800 * 4 + math.floor(497.21 - 113.14) * 32


@pytest.mark.parametrize(("shape", "part"), [((100, 4, 20), (10, 4, 20)), ((100, 4, 20), (10, 3, 20)), ((100, 4, 20), (10, 4, 9))])
def test_rows_of_which_a_part_is_picked_lie_together_as_far_as_they_are_whole(shape: tuple[int, ...], part: tuple[int, ...]) -> None:
    expected = {(4, 20): 80, (3, 20): 60, (4, 9): 9}  # the last row of 20 need not be the last of 4
    assert contiguous_elements(shape[1:], part[1:]) == expected[part[1:]]


@pytest.mark.parametrize(
    ("shape", "part", "axis"),
    [((3, 2000), (3, 1000), 1), ((3, 40_000), (3, 1000), 1), ((400, 50), (300, 50), 0), ((400, 90), (30, 70), 0)],
)
def test_real_draws_touch_at_least_what_gather_counts(shape: tuple[int, int], part: tuple[int, int], axis: int) -> None:
    drawn = random.Random(3)
    touched = set()
    for place in product(range(part[0]), range(part[1])):
        picked = list(place)
        picked[axis] = drawn.randrange(shape[axis])
        touched.add((picked[0] * shape[1] + picked[1]) * 2 // 32)
    case = call(tensor("x", shape, HALF), tensor("index", part, LONG, (0, shape[axis] - 1)), dim=axis)
    counted = only(gather_silicon(case, CHIP)).read_bytes - part[0] * part[1] * 8
    assert 0.4 * 32 * len(touched) < counted <= 32 * len(touched)


def test_a_few_draws_pick_one_element_per_line_at_least() -> None:
    case = call(tensor("x", (3, 900), HALF), tensor("index", (3, 2), LONG, (0, 899)), dim=-1)
    assert only(gather_silicon(case, CHIP)).read_bytes == 6 * 8 + 3 * 2


def test_a_range_beside_the_axis_leaves_one_place() -> None:
    assert only(gather_silicon(gather((200, 300)), CHIP)).read_bytes == 3 * 1000 * 8 + 3 * 2


def test_the_published_count_of_gather_reads_all_of_the_source_on_one_edition_only() -> None:
    case = call(tensor("x", (3, 50), HALF), tensor("index", (3, 4), WORD, (0, 49)), dim=-1)
    assert moved(gather_convention(case, "910b2")) == (3 * 50 * 2 + 12 * 4, 12 * 2)
    assert moved(gather_convention(case, "950pr")) == (12 * 2 + 12 * 4, 12 * 2)


@pytest.mark.parametrize("reduce", [None, "update"])
def test_scatter_does_not_read_what_it_overwrites(reduce: str | None) -> None:
    work = only(scatter_silicon(scatter(reduce), CHIP))
    assert (moved(work), work.vector_lanes) == ((6 * 4 + (20 - 6) * 4 + 6 * 4, 20 * 4), {})  # indices, data that stays, updates


@pytest.mark.parametrize("reduce", ["add", "amin", "amax"])
def test_scatter_with_a_reduction_reads_all_of_data_and_lets_the_stores_combine(reduce: str) -> None:
    work = only(scatter_silicon(scatter(reduce), CHIP))
    assert (moved(work), work.vector_lanes) == ((6 * 4 + 20 * 4 + 6 * 4, 20 * 4), {})


def test_scatter_multiplies_with_one_instruction_per_update() -> None:
    assert lanes_by_choice(scatter_silicon, scatter("multiply")) == {"float32 arithmetic": {SINGLE: 6}}
    assert lanes_by_choice(scatter_silicon, scatter("multiply", dtype=BRAIN))["float32 arithmetic"] == {SINGLE: 6 * (1 + 2)}


def test_more_updates_than_places_overwrite_a_line_once() -> None:
    work = only(scatter_silicon(scatter(None, updates=(2, 9)), CHIP))
    assert work.read_bytes == 18 * 4 + (20 - 2 * 5) * 4 + 2 * 5 * 4


def test_scatter_reads_no_more_updates_than_indices_name() -> None:
    case = call(tensor("data", (4, 5), SINGLE), tensor("indices", (2, 3), WORD), tensor("updates", (4, 5), SINGLE), dim=1, reduce="add")
    assert only(scatter_silicon(case, CHIP)).read_bytes == 6 * 4 + 20 * 4 + 6 * 4
    assert scatter_convention(case, "910b2").read_bytes == 6 * 4 + 20 * 4 + 20 * 4


@pytest.mark.parametrize(
    ("entries", "masks", "expected"),
    [
        (((1,), (3,), (1,)), {}, [[1, 2], [0, 1, 2, 3, 4]]),
        (((1, 0), (4, 5), (2, 3)), {}, [[1, 3], [0, 3]]),
        (((-1, 4), (0, 0), (-1, -2)), {}, [[3, 2, 1], [4, 2]]),
        (((1, 1), (3, 3), (1, 1)), {"begin": 1, "end": 2}, [[0, 1, 2], [1, 2, 3, 4]]),
        (((1, 1), (3, 3), (-1, -1)), {"begin": 3, "end": 3}, [[3, 2, 1, 0], [4, 3, 2, 1, 0]]),
        (((-9, 2), (9, 99), (1, 1)), {}, [[0, 1, 2, 3], [2, 3, 4]]),
        (((2, 0), (0, 2), (1, 1)), {"shrink_axis": 1}, [[2], [0, 1]]),
        (((-1,), (0,), (1,)), {"shrink_axis": 1}, [[3], [0, 1, 2, 3, 4]]),
        (((7, 1), (7, 2), (1, 1)), {"new_axis": 1}, [[1], [0, 1, 2, 3, 4]]),
        (((0, 2), (0, 4), (1, 1)), {"ellipsis": 1}, [[0, 1, 2, 3], [2, 3]]),
        (((0, 1, 2), (0, 2, 4), (1, 1, 1)), {"ellipsis": 1}, [[1], [2, 3]]),
        (((3, 0), (3, 5), (1, 1)), {}, [[], [0, 1, 2, 3, 4]]),
    ],
)
def test_the_positions_of_a_slice(entries: Entries, masks: dict[str, int], expected: list[list[int]]) -> None:
    assert taken((4, 5), entries, **masks) == expected


def test_strided_slice_reads_and_writes_rows_that_lie_together() -> None:
    work = only(strided_slice_silicon(slice_of((8, 16), SINGLE, ((2,), (5,), (1,))), CHIP))
    assert (moved(work), work.vector_lanes) == ((3 * 16 * 4, 3 * 16 * 4), {})


def test_a_step_within_a_block_of_memory_saves_nothing() -> None:
    work = only(strided_slice_silicon(slice_of((2, 64), HALF, ((0, 0), (2, 64), (1, 2))), CHIP))
    assert moved(work) == (2 * (62 + 1) * 2, 2 * 32 * 2)  # from the first element of a row to the last one that is taken


def test_a_step_beyond_a_block_of_memory_brings_a_block_per_element() -> None:
    work = only(strided_slice_silicon(slice_of((2, 64), SINGLE, ((0, 0), (2, 64), (1, 16))), CHIP))
    assert moved(work) == (2 * (4 * 32 - 32), 2 * 4 * 4)  # 4 elements of a row in 4 blocks, of which two rows may share one


@pytest.mark.parametrize("is_named", [True, False])
def test_masks_without_a_value_are_none(is_named: bool) -> None:
    """A checkout declares no defaults for them."""
    case = slice_of((8, 16), SINGLE, ((2,), (5,), (1,)))
    given = {name: None if name.endswith("_mask") else value for name, value in case.attributes.items() if is_named or not name.endswith("_mask")}
    bare = case.model_copy(update={"attributes": given})
    assert moved(strided_slice_convention(bare, "910b2")) == moved(strided_slice_convention(case, "910b2"))


def test_a_column_brings_a_block_per_row() -> None:
    work = only(strided_slice_silicon(slice_of((10, 64), SINGLE, ((0, 5), (0, 6), (1, 1)), begin=1, end=1, shrink_axis=2), CHIP))
    assert moved(work) == (10 * 32 - 32, 10 * 4)


@pytest.mark.parametrize(
    ("shape", "kept", "expected"),
    [
        ((4, 8, 2), (range(4), range(0, 8, 2), range(2)), 4 * (3 * 16 + 8)),  # pieces of 8 bytes, 16 apart, in 4 lines
        ((6, 4, 8), (range(0, 6, 2), range(1, 2), range(8)), 3 * 32),  # pieces of 32 bytes, 256 apart
        ((6, 4, 2), (range(0, 6, 2), range(4), range(2)), 3 * 32),  # pieces of 32 bytes, 32 apart: each may be a block
        ((5, 4, 16), (range(5), range(2), range(16)), 5 * 2 * 64),  # 2 rows of 64 bytes together in 5 places
        ((5, 2, 16), (range(5), range(2), range(0, 16, 15)), 10 * (2 * 32 - 32)),  # both ends of every row
        ((4, 5), (range(3, 3), range(5)), 0),
        ((4, 5), (range(4), range(3, 3)), 0),
    ],
)
def test_memory_hands_over_pieces_or_the_blocks_that_they_lie_in(shape: tuple[int, ...], kept: tuple[range, ...], expected: int) -> None:
    assert handed_over_bytes(shape, kept, 4) == expected


def test_the_published_count_of_a_slice_is_of_its_elements() -> None:
    assert moved(strided_slice_convention(slice_of((2, 64), HALF, ((0, 0), (2, 64), (1, 2))), "910b2")) == (2 * 32 * 2, 2 * 32 * 2)


def blocks_touched(shape: tuple[int, ...], kept: tuple[range, ...], element_bytes: int, start: int) -> int:
    """Bytes of the blocks of 32 that the positions lie in, one position after another, for a tensor that begins at byte `start`."""
    strides = [element_bytes]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    first = [start + sum(place * stride for place, stride in zip(places, strides, strict=True)) for places in product(*kept)]
    return 32 * len({byte // 32 for begin in first for byte in range(begin, begin + element_bytes)})


def test_no_slice_brings_fewer_blocks_than_are_counted() -> None:
    drawn = random.Random(5)
    for _ in range(300):
        shape = tuple(drawn.randint(1, 12) for _ in range(drawn.randint(1, 3)))
        kept = tuple(range(size)[:: drawn.choice((1, 1, 2, 3, -1))][: drawn.randint(1, size)] for size in shape)
        element_bytes = drawn.choice((1, 2, 4, 8))
        counted = handed_over_bytes(shape, kept, element_bytes)
        elements = 1
        for places in kept:
            elements *= len(places)
        assert elements * element_bytes <= counted, (shape, kept, element_bytes)
        assert counted <= blocks_touched(shape, kept, element_bytes, start=element_bytes * drawn.randint(0, 40)), (shape, kept, element_bytes)
