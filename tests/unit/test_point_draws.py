"""Do evenly drawn points reach at least as many voxels as the bound says?"""

from __future__ import annotations

import math

import numpy as np
import pytest

from piton.anchors.point_draws import PointAxis, least_reached

SHAPE = (6, 10, 40)


def axes_of(reach: float) -> tuple[PointAxis, PointAxis, PointAxis]:
    """Points from the outer edge of the first voxel to the outer edge of the last."""
    depth, rows, columns = (PointAxis(size, -0.5, size - 0.5, reach, 0.0) for size in SHAPE)
    return depth, rows, columns


def reached_by(points: np.ndarray, reach: float) -> np.ndarray:
    """Voxels that are less than `reach` from a point on every axis; points is [P, 3]."""
    hit = np.zeros(SHAPE, dtype=bool)
    near = [np.abs(points[:, axis, None] - np.arange(SHAPE[axis])) < reach for axis in range(3)]
    for depth, rows, columns in zip(*near, strict=True):
        hit |= depth[:, None, None] & rows[:, None] & columns
    return hit


@pytest.mark.parametrize(("reach", "classes", "count"), [(0.5, 1, 500), (0.5, 1, 3000), (1.0, 8, 300), (1.0, 8, 3000)])
def test_drawn_points_reach_at_least_the_bound(reach: float, classes: int, count: int) -> None:
    depth, rows, columns = axes_of(reach)
    voxels = least_reached((depth.voxels(), rows.voxels(), columns.voxels()), count, 1, classes)
    blocks = least_reached((depth.voxels(), rows.voxels(), columns.blocks(8)), count, 1, classes)
    for seed in range(5):
        points = np.random.default_rng(seed).uniform(-0.5, np.array(SHAPE) - 0.5, (count, 3))
        hit = reached_by(points, reach)
        assert voxels <= hit.sum()
        for shift in (0, 3):
            starts = range(shift, SHAPE[2] - 7, 8)
            assert blocks <= sum(hit[..., start : start + 8].any(axis=-1).sum() for start in starts)


def test_the_bound_is_near_to_what_many_points_reach() -> None:
    depth, rows, columns = (axis.voxels() for axis in axes_of(0.5))
    assert least_reached((depth, rows, columns), 40 * math.prod(SHAPE), 1, 1) == math.prod(SHAPE)
    assert least_reached((depth, rows, columns), 3 * math.prod(SHAPE), 1, 1) > 0.85 * math.prod(SHAPE)  # 1 - exp(-3) is 0.95


def test_chances_are_lengths_over_the_range() -> None:
    axis = PointAxis(4, 0.0, 3.0, 1.0, 0.0)
    assert sorted(axis.voxels().elements()) == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])  # the outer voxels are reached from one side


def test_coordinates_that_rounding_may_move_take_a_step_off() -> None:
    sharp, coarse = (PointAxis(9, -0.5, 8.5, 0.5, step).voxels() for step in (0.0, 0.25))
    assert sum(count * chance for chance, count in sharp.items()) == pytest.approx(1.0, abs=1e-8)
    assert sum(count * chance for chance, count in coarse.items()) == pytest.approx(0.75, abs=1e-8)


def test_two_volumes_are_twice_the_places() -> None:
    places = [{1.0: 3}, {1.0: 1}, {1.0: 5}]
    assert [least_reached(places, 1, volumes, 1) for volumes in (1, 2)] == [15, 30]


def test_an_axis_shorter_than_two_blocks_has_none_that_surely_lies_in_it() -> None:
    assert not PointAxis(15, -0.5, 14.5, 1.0, 0.0).blocks(8)
