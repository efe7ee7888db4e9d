"""Do the goldens that move data (gather, scatter, transpose, strided_slice) compute what their texts define? Checked element by element and against NumPy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from types import EllipsisType
from typing import Any

import numpy as np
import pytest
import torch

from piton.catalog import load_suite
from piton.curate.slices import draw_slice
from piton.curate.stream import Stream
from piton.numerics.golden_module import GoldenModule, load_golden

SUITE = load_suite()
PARTS = frozenset({"begin", "end", "strides", "begin_mask", "end_mask", "ellipsis_mask", "shrink_axis_mask", "new_axis_mask"})


def module(name: str) -> GoldenModule:
    member = SUITE.member(name)
    assert member is not None
    return load_golden(member.operator.golden_path)


def golden(name: str, *arguments: object, **named: object) -> Any:
    return module(name).function(name)(*arguments, **named)


def wide(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def whole(high: int, *shape: int, seed: int = 1) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).integers(0, high, shape))


def positions(tensor: torch.Tensor) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, tensor.shape))


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
def test_gather_picks_the_element_at_each_index(dim: int, dtype: torch.dtype) -> None:
    x, shape = wide(4, 5, 3), [2, 3, 2]
    shape[dim] = 7
    index = whole(x.shape[dim], *shape).to(dtype)
    y = golden("gather", x, index, dim)
    assert y.shape == index.shape
    for place in positions(index):
        source = list(place)
        source[dim] = int(index[place])
        assert y[place] == x[tuple(source)]


def test_gather_copies_special_values_and_integers_and_picks_along_the_first_axis_by_default() -> None:
    x = torch.tensor([math.nan, math.inf, -math.inf, 1.5], dtype=torch.float16)
    torch.testing.assert_close(golden("gather", x, torch.tensor([2, 0, 0, 3, 1])), x[[2, 0, 0, 3, 1]], equal_nan=True)
    large = torch.tensor([2**63 - 1, -(2**63), 7])
    assert golden("gather", large, torch.tensor([1, 0])).tolist() == [-(2**63), 2**63 - 1]


def test_gather_refuses_an_index_beyond_the_axis() -> None:
    with pytest.raises(RuntimeError, match="out of bounds"):
        golden("gather", wide(4), torch.tensor([4]))


COMBINE = {
    None: lambda old, new: new,
    "update": lambda old, new: new,
    "add": lambda old, new: old + new,
    "multiply": lambda old, new: old * new,
    "amin": min,
    "amax": max,
}


@pytest.mark.parametrize("reduce", list(COMBINE))
@pytest.mark.parametrize("dim", [0, 2, -2])
def test_scatter_combines_each_update_with_its_element(reduce: str | None, dim: int) -> None:
    data, updates = wide(5, 6, 4), wide(3, 4, 3, seed=2)
    indices = whole(data.shape[dim], *updates.shape)
    data_again = data.clone()
    _, indices, _ = module("scatter").function("get_input")(data, dim, indices, updates, reduce, seed=3)
    expected = data.clone()
    for place in positions(indices):
        target = list(place)
        target[dim] = int(indices[place])
        expected[tuple(target)] = COMBINE[reduce](float(expected[tuple(target)]), float(updates[place]))
    torch.testing.assert_close(golden("scatter", data, dim, indices, updates, reduce), expected, rtol=1e-14, atol=1e-15)
    assert torch.equal(data, data_again)


def test_scatter_adds_half_numbers_in_float32_and_rounds_once() -> None:
    data, updates = torch.tensor([2048.0], dtype=torch.float16), torch.ones(5, dtype=torch.float16)
    y = golden("scatter", data, 0, torch.zeros(5, dtype=torch.int64), updates, "add")
    assert (y.dtype, y.tolist()) == (torch.float16, [2052.0])  # 2053 is a tie between 2052 and 2054; rounding each step would stay at 2048


def test_scatter_keeps_integers_exact_and_lets_them_wrap() -> None:
    data = torch.tensor([2**31 - 1, 5], dtype=torch.int32)
    y = golden("scatter", data, 0, torch.tensor([0, 1]), torch.tensor([1, 2], dtype=torch.int32), "add")
    assert y.tolist() == [-(2**31), 7]


def test_scatter_lets_nan_win_and_refuses_what_it_does_not_know() -> None:
    data, nan = torch.tensor([1.0, math.nan]), torch.tensor([math.nan, 3.0])
    for reduce in ("add", "multiply", "amin", "amax"):
        assert golden("scatter", data, 0, torch.tensor([0, 1]), nan, reduce).isnan().all()
    with pytest.raises(ValueError, match="mean"):
        golden("scatter", data, 0, torch.tensor([0]), nan[:1], "mean")


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_indices_of_scatter_are_distinct_along_the_axis_follow_the_seed_and_stay_random_under_a_reduction(dim: int) -> None:
    build = module("scatter").function("get_input")
    data, shape = wide(9, 11, 8), [6, 7, 5]
    indices, updates = whole(8, *shape).int(), wide(*shape)
    first, second = (build(data, dim, indices, updates, None, seed=seed)[1] for seed in (4, 5))
    for made in (first, second):
        assert (made.dtype, list(made.shape)) == (torch.int32, shape)
        assert 0 <= int(made.min()) <= int(made.max()) < data.shape[dim]
        ordered = made.sort(dim).values
        assert (ordered.diff(dim=dim) > 0).all()
    assert not torch.equal(first, second)
    assert build(data, dim, indices, updates, "add", seed=4)[1] is indices


def test_more_indices_than_places_stay_as_they_are() -> None:
    indices = torch.tensor([0, 1, 0])
    assert module("scatter").function("get_input")(wide(2), 0, indices, wide(3), None, seed=1)[1] is indices


@pytest.mark.parametrize("perm", [[1, 0, 2], [2, 1, 0], [2, 0, 1], [0, -1, 1], [0, 1, 2]])
def test_transpose_is_numpys_and_a_contiguous_copy(perm: list[int]) -> None:
    x = wide(3, 4, 5)
    y = golden("transpose", x, perm)
    np.testing.assert_array_equal(y.numpy(), np.transpose(x.numpy(), perm))
    assert y.is_contiguous()
    assert y.data_ptr() != x.data_ptr()


def test_transpose_refuses_axes_that_are_no_permutation() -> None:
    for perm in ([0, 0], [0], [0, 2]):
        with pytest.raises((RuntimeError, IndexError)):
            golden("transpose", wide(3, 4), perm)


def index_of(attributes: dict[str, Any]) -> tuple[int | slice | EllipsisType | None, ...]:
    """The NumPy index that a slice means."""
    made: list[int | slice | EllipsisType | None] = []
    for place, (begin, end, step) in enumerate(zip(attributes["begin"], attributes["end"], attributes["strides"], strict=True)):
        has = {name for name in PARTS if name.endswith("mask") and attributes[name] >> place & 1}
        if has & {"new_axis_mask", "ellipsis_mask"}:
            made.append(None if "new_axis_mask" in has else ...)
        elif "shrink_axis_mask" in has:
            made.append(begin)
        else:
            made.append(slice(None if "begin_mask" in has else begin, None if "end_mask" in has else end, step))
    return tuple(made)


def test_drawn_slices_are_numpys_slices_and_contiguous_copies() -> None:
    seen = dict.fromkeys(PARTS - {"begin", "end", "strides"}, 0)
    for number in range(300):
        stream = Stream(b"slices", number)
        shape = [stream.between(1, 9) for _ in range(stream.between(1, 5))]
        if math.prod(shape) < 8:
            continue
        attributes: dict[str, Any] = draw_slice(shape, PARTS, stream)
        for name in seen:
            seen[name] += bool(attributes[name])
        x = torch.arange(math.prod(shape)).reshape(shape)
        y = golden("strided_slice", x, **{name: list(value) if isinstance(value, tuple) else value for name, value in attributes.items()})
        np.testing.assert_array_equal(y.numpy(), x.numpy()[index_of(attributes)], err_msg=f"{shape} {attributes}")
        assert y.is_contiguous()
    assert all(times > 20 for times in seen.values()), seen


@pytest.mark.parametrize(
    ("begin", "end", "strides", "masks", "expected"),
    [
        ([0], [-1], [1], {}, [0, 1, 2, 3]),
        ([-2], [99], [1], {}, [3, 4]),
        ([-99], [2], [1], {}, [0, 1]),
        ([3], [0], [-1], {}, [3, 2, 1]),
        ([-1], [-1], [-1], {}, []),
        ([7], [-99], [-2], {}, [4, 2, 0]),
        ([2], [2], [1], {}, []),
        ([4], [0], [1], {"begin_mask": 1, "end_mask": 1}, [0, 1, 2, 3, 4]),
        ([0, 0], [0, 0], [1, 1], {"ellipsis_mask": 1, "shrink_axis_mask": 2, "begin_mask": 2}, 0),
        ([-1], [0], [1], {"shrink_axis_mask": 1}, 4),
    ],
)
def test_bounds_of_a_slice_are_as_described(begin: list[int], end: list[int], strides: list[int], masks: dict[str, int], expected: object) -> None:
    assert golden("strided_slice", torch.arange(5), begin, end, strides, **masks).tolist() == expected


def test_a_slice_of_everything_is_a_copy_and_an_axis_without_an_entry_stays_whole() -> None:
    x = wide(3, 4)
    whole_copy = golden("strided_slice", x, [0, 0], [3, 4], [1, 1])
    assert torch.equal(whole_copy, x)
    assert whole_copy.data_ptr() != x.data_ptr()
    assert torch.equal(golden("strided_slice", x, [1], [3], [1]), x[1:])
    assert golden("strided_slice", x, [0], [3], [1], new_axis_mask=1).shape == (1, 3, 4)


@pytest.mark.parametrize(
    ("arguments", "masks", "error"),
    [
        (([0], [1, 1], [1]), {}, ValueError),
        (([0], [1], [0]), {}, ValueError),
        (([0] * 3, [1] * 3, [1] * 3), {}, ValueError),
        (([0, 0], [1, 1], [1, 1]), {"ellipsis_mask": 3}, ValueError),
        (([9], [10], [1]), {"shrink_axis_mask": 1}, IndexError),
    ],
)
def test_a_slice_that_means_nothing_is_refused(arguments: tuple[list[int], ...], masks: dict[str, int], error: type[Exception]) -> None:
    with pytest.raises(error):
        golden("strided_slice", wide(3, 4), *arguments, **masks)
