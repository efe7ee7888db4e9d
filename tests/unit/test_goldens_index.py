"""Do the goldens that compare, select and sum by index (arg_max, cummin, top_k, unique, unsorted_segment_sum) compute what their texts define?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from piton.catalog import load_suite
from piton.numerics.golden_module import load_golden

SUITE = load_suite()
NAN, INF = math.nan, math.inf
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def golden(name: str, *arguments: object, **named: object) -> Any:
    member = SUITE.member(name)
    assert member is not None
    return load_golden(member.operator.golden_path).function(name)(*arguments, **named)


def lines(tensor: torch.Tensor, dim: int) -> list[list[float]]:
    """The lines of a tensor along an axis, each a list."""
    return tensor.movedim(dim, -1).reshape(-1, tensor.shape[dim]).tolist()


def wide(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


@pytest.mark.parametrize("dim", [0, 1, -1, -3])
def test_arg_max_points_at_the_largest_value_of_each_line(dim: int) -> None:
    x = wide(4, 5, 6)
    expected = [line.index(max(line)) for line in lines(x, dim)]
    found = golden("arg_max", x, dim)
    assert (found.dtype, found.reshape(-1).tolist()) == (torch.int64, expected)
    kept = golden("arg_max", x, dim, keepdim=True)
    assert (kept.shape[dim], kept.dim(), kept.reshape(-1).tolist()) == (1, 3, expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_arg_max_takes_nan_for_the_largest_and_keeps_the_ends_of_its_dtype_apart(dtype: torch.dtype) -> None:
    assert golden("arg_max", torch.tensor([1.0, INF, NAN, 2.0], dtype=dtype), 0).item() == 2
    largest = torch.finfo(dtype).max
    assert golden("arg_max", torch.tensor([-INF, largest, INF, -largest], dtype=dtype), 0).item() == 2


def test_arg_max_tells_large_integers_apart() -> None:
    assert golden("arg_max", torch.tensor([2**62, 2**62 + 1, -(2**63)]), 0).item() == 1


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cummin_is_the_smallest_value_so_far_and_points_back_at_it(dim: int) -> None:
    x = torch.from_numpy(np.random.default_rng(1).integers(-4, 5, (5, 7, 6))).double()
    values, indices = golden("cummin", x, dim)
    for line, found, places in zip(lines(x, dim), lines(values, dim), lines(indices, dim), strict=True):
        assert found == [min(line[: end + 1]) for end in range(len(line))]
        assert all(0 <= place <= end and line[int(place)] == found[end] for end, place in enumerate(places))


@pytest.mark.parametrize("dtype", FLOATS)
def test_cummin_is_nan_from_the_first_nan_on(dtype: torch.dtype) -> None:
    x = torch.tensor([3.0, 2.0, NAN, 1.0, -INF], dtype=dtype)
    values, indices = golden("cummin", x, 0)
    torch.testing.assert_close(values, torch.tensor([3.0, 2.0, NAN, NAN, NAN], dtype=dtype), equal_nan=True)
    assert indices.tolist() == [0, 1, 2, 2, 2]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(("dim", "k"), [(0, 1), (1, 3), (-1, 6)])
def test_top_k_is_the_head_of_the_sorted_line(largest: bool, dim: int, k: int) -> None:
    x = torch.from_numpy(np.random.default_rng(2).integers(-3, 4, (4, 5, 6))).double()
    y, idx = golden("top_k", x, k, dim, largest)
    assert (y.shape[dim], idx.dtype) == (k, torch.int64)
    for line, best, places in zip(lines(x, dim), lines(y, dim), lines(idx, dim), strict=True):
        assert best == sorted(line, reverse=largest)[:k]
        assert [line[int(place)] for place in places] == best
        assert len(set(places)) == k


@pytest.mark.parametrize("dtype", FLOATS)
def test_top_k_takes_nan_for_the_largest(dtype: torch.dtype) -> None:
    x = torch.tensor([1.0, NAN, INF, -INF], dtype=dtype)
    assert golden("top_k", x, 2, 0)[1].tolist() == [1, 2]
    assert golden("top_k", x, 4, 0, largest=False)[1].tolist() == [3, 0, 2, 1]


def test_top_k_keeps_integers_exact_and_refuses_a_k_beyond_the_axis() -> None:
    assert golden("top_k", torch.tensor([2**62, 2**62 + 1, 0]), 2, 0)[0].tolist() == [2**62 + 1, 2**62]
    assert golden("top_k", torch.tensor([255, 0, 254], dtype=torch.uint8), 2, -1, True)[0].tolist() == [255, 254]
    with pytest.raises(RuntimeError):
        golden("top_k", wide(3), 4, 0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int64])
def test_unique_is_the_sorted_set_and_the_inverse_gives_the_input_back(dtype: torch.dtype) -> None:
    x = torch.from_numpy(np.random.default_rng(3).integers(0, 30, (4, 5, 6))).to(dtype)
    y, inverse = golden("unique", x, True)
    assert y.tolist() == sorted(set(x.reshape(-1).tolist()))
    assert (y.dtype, inverse.dtype, inverse.shape) == (dtype, torch.int64, x.shape)
    assert torch.equal(y[inverse], x)
    assert torch.equal(golden("unique", x), y)


def test_unique_sorts_infinities_like_numbers_and_knows_one_zero() -> None:
    y = golden("unique", torch.tensor([INF, 0.0, -INF, -0.0, 1.0, INF]), False)
    assert y.tolist() == [-INF, 0.0, 1.0, INF]


@pytest.mark.parametrize("ids", [torch.int32, torch.int64])
@pytest.mark.parametrize("shape", [(9,), (9, 4), (9, 2, 3, 2)])
def test_segments_are_the_sums_of_their_rows_and_empty_ones_are_zero(ids: torch.dtype, shape: tuple[int, ...]) -> None:
    data, segments = wide(*shape), torch.tensor([5, 0, 2, 5, 5, 0, 3, 2, 5], dtype=ids)
    y = golden("unsorted_segment_sum", data, segments, 7)
    expected = np.zeros((7, *shape[1:]))
    for row, segment in zip(data.numpy(), segments.tolist(), strict=True):
        expected[segment] += row
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-14, atol=1e-15)
    assert not y[[1, 4, 6]].any()


def test_segments_of_half_numbers_are_summed_in_float32() -> None:
    rows = torch.tensor([2048.0, 1.0, 1.0, 1.0, 1.0], dtype=torch.float16)
    assert golden("unsorted_segment_sum", rows, torch.zeros(5, dtype=torch.int32), 1).tolist() == [2052.0]


def test_segments_of_integers_wrap_and_special_values_stay_in_their_segment() -> None:
    assert golden("unsorted_segment_sum", torch.tensor([2**31 - 1, 1], dtype=torch.int32), torch.tensor([0, 0]), 1).tolist() == [-(2**31)]
    y = golden("unsorted_segment_sum", torch.tensor([NAN, INF, -INF, INF, 2.0]), torch.tensor([0, 1, 2, 2, 3]), 4)
    torch.testing.assert_close(y, torch.tensor([NAN, INF, NAN, 2.0]), equal_nan=True)


def test_an_id_outside_of_the_segments_is_refused() -> None:
    for wrong in (-1, 3):
        with pytest.raises((IndexError, RuntimeError)):
            golden("unsorted_segment_sum", wide(1), torch.tensor([wrong]), 3)
