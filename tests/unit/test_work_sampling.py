"""Are bytes and instructions of grid_sampler_3d and roi_align those that one counts by hand?"""

from __future__ import annotations

import math

import pytest
from vector_work_cases import A2, by_choice, case_of

from piton.anchors.sampling import grid_sampler_3d_convention, grid_sampler_3d_silicon, roi_align_convention, roi_align_silicon
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType

F16, F32 = DType.FLOAT16, DType.FLOAT32


def grid_case(dtype: DType, *, batch: int = 1, mode: str = "bilinear", padding: str = "zeros", volume: tuple[int, int, int] = (3, 4, 5)) -> Case:
    """Two channels, 2 x 3 points per volume."""
    tensors = [("x", dtype, (batch, 2, *volume)), ("grid", dtype, (batch, 1, 2, 3, 3))]
    return case_of("grid_sampler_3d", tensors, interpolation_mode=mode, padding_mode=padding, align_corners=False)


def test_bilinear_samples_read_the_grid_and_weigh_eight_taps() -> None:
    works = by_choice(grid_sampler_3d_silicon(grid_case(F32), A2))
    assert list(works) == ["float32 arithmetic"]
    work = works["float32 arithmetic"]
    assert work.read_bytes == 6 * 3 * 4  # six points (w, h, d) in float32; all may lie outside of x
    assert work.write_bytes == 2 * 6 * 4  # y [1, 2, 1, 2, 3]
    # 12 samples of 8 taps; 6 points of 3 axes x (scale, floor, back, fraction) and 4 products + 8 differences for the weights.
    assert work.vector_lanes == {F32: 12 * 8 + 6 * (3 * 4 + 12)}
    assert not work.cube_flops


def test_float16_samples_may_stay_in_half_or_are_rounded_once_at_the_end() -> None:
    works = by_choice(grid_sampler_3d_silicon(grid_case(F16), A2))
    assert works["half arithmetic"].vector_lanes == {F16: 12 * 8 + 6 * 24}
    assert works["float32 arithmetic"].vector_lanes == {F32: 12 * 8 + 6 * 24 + 12}  # and a Cast per sample
    assert {work.read_bytes for work in works.values()} == {6 * 3 * 2}


def test_nearest_samples_are_copied() -> None:
    works = by_choice(grid_sampler_3d_silicon(grid_case(F32, mode="nearest"), A2))
    assert works["float32 arithmetic"].vector_lanes == {F32: 6 * 3 * 2}  # per point and axis: scale, round


def line_case(low: float, high: float, *, mode: str = "nearest", length: int = 400, points: int = 40_000) -> Case:
    """Two channels of one row of voxels, and points whose coordinates are drawn from this range."""
    case = case_of("grid_sampler_3d", [("x", F32, (1, 2, 1, 1, length))], interpolation_mode=mode, padding_mode="zeros", align_corners=False)
    grid = CaseInput(argument="grid", dtype=F32, shape=(1, 1, 1, points, 3), low=low, high=high)
    return case.model_copy(update={"inputs": (*case.inputs, grid)})


def volume_bytes(case: Case) -> int:
    """Bytes that are read of x."""
    return grid_sampler_3d_silicon(case, A2)[0].read_bytes - case.inputs[1].nbytes


def test_so_many_points_reach_every_voxel() -> None:
    # A voxel's chance is (15/16)^3 / 400 for each of 40000 points: exp(-82) to be missed.
    assert volume_bytes(line_case(-1, 1)) == 2 * 400 * 4


def test_corners_that_are_centres_spread_points_over_one_voxel_less() -> None:
    case = line_case(-0.5, 0.5, length=401)
    aligned = case.model_copy(update={"attributes": {**case.attributes, "align_corners": True}})
    assert volume_bytes(aligned) == 2 * 201 * 4  # from 100 to 300, the outer ones for half a voxel


def test_float16_points_lie_on_coordinates_of_their_own() -> None:
    # 1/1024 apart below 2, which is 40000 / 2 / 1024 = 20 voxels: most voxels can't be reached, and none is certain.
    case = line_case(-1, 1, length=40_000)
    half = case.model_copy(update={"inputs": tuple(item.model_copy(update={"dtype": F16}) for item in case.inputs)})
    assert volume_bytes(half) == 0


def test_points_from_the_middle_half_reach_that_half() -> None:
    assert volume_bytes(line_case(-0.5, 0.5)) == 2 * 200 * 4  # from 99.5 to 299.5: voxels 100 to 299


def test_trilinear_points_reach_one_voxel_further() -> None:
    # Voxels 99 to 300 are less than 1 away from these points; half a voxel's chance in 200 for each of the outer ones is plenty.
    assert volume_bytes(line_case(-0.5, 0.5, mode="bilinear")) == 2 * 202 * 4


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_points_that_all_lie_on_one_voxel_read_its_block(mode: str) -> None:
    assert volume_bytes(line_case(0, 0, mode=mode, length=399)) == 2 * 32  # (0 + 1) / 2 * 399 - 1 / 2 = 199: 4 bytes of 32 in each channel


def test_points_outside_and_points_of_no_range_read_nothing_for_sure() -> None:
    assert volume_bytes(line_case(2, 3)) == 0
    assert volume_bytes(line_case(-math.inf, math.inf)) == 0


def test_a_touched_block_of_memory_is_read_whole() -> None:
    case = line_case(-1, 1, length=80_000, points=40_000)
    # A block of 8 has the chance (15/16)^2 (7 + 15/16) / 80000. Of the 10000 - 1 that surely lie whole in the row, 40000 points miss 3.05 %, or 305;
    # t^2 / (2 (305 + t / 3)) = 32 adds t = 32/3 + sqrt((32/3)^2 + 64 x 305) = 151.
    missed = 9999 * math.exp(-40_000 * (15 / 16) ** 2 * (7 + 15 / 16) / 80_000)
    certain = 9999 - missed - (32 / 3 + math.sqrt((32 / 3) ** 2 + 64 * missed))
    assert volume_bytes(case) == pytest.approx(2 * certain * 32, rel=1e-3)


def test_twice_the_batch_is_twice_the_bytes_of_grid_sampling() -> None:
    one, two = (grid_sampler_3d_silicon(grid_case(F16, batch=batch), A2)[0] for batch in (1, 2))
    assert (two.read_bytes, two.write_bytes) == (2 * one.read_bytes, 2 * one.write_bytes)


def test_the_950pr_convention_reads_no_more_voxels_than_the_samples_have_taps() -> None:
    case = grid_case(F32, volume=(10, 10, 10))
    grid = 6 * 3 * 4
    assert grid_sampler_3d_convention(case, "910b2").read_bytes == 2 * 1000 * 4 + grid
    assert grid_sampler_3d_convention(case, "950pr").read_bytes == 12 * 8 * 4 + grid


@pytest.mark.parametrize(("mode", "count"), [("bilinear", 12 * 23 + 6 * 37), ("nearest", 12 * 1 + 6 * 20)])
def test_the_convention_of_grid_sampling_counts_by_sample_and_by_point(mode: str, count: int) -> None:
    for edition in ("910b2", "950pr"):
        assert grid_sampler_3d_convention(grid_case(F16, mode=mode), edition).vector_lanes == {F16: count}
    nearest = grid_sampler_3d_convention(grid_case(F32, mode="nearest", volume=(10, 10, 10)), "950pr")
    assert nearest.read_bytes == 12 * 4 + 6 * 3 * 4  # one voxel a sample


def test_reflection_costs_the_convention_six_more_per_point() -> None:
    zeros, reflected = (grid_sampler_3d_convention(grid_case(F32, padding=padding), "910b2") for padding in ("zeros", "reflection"))
    assert reflected.vector_lanes[F32] - zeros.vector_lanes[F32] == 6 * 6


def roi_case(dtype: DType, ratio: int, *, regions: int = 4, side: int = 8) -> Case:
    """Three channels, 2 x 3 bins a region."""
    tensors = [("x", dtype, (2, 3, side, side)), ("boxes", dtype, (regions, 5))]
    return case_of("roi_align", tensors, outputHeight=2, outputWidth=3, spatial_scale=0.5, sampling_ratio=ratio, aligned=False)


def test_regions_are_read_and_every_result_is_weighed_once() -> None:
    works = by_choice(roi_align_silicon(roi_case(F16, 2), A2))
    results = 4 * 3 * 2 * 3
    assert works["half arithmetic"].read_bytes == 4 * 5 * 2  # four regions of five numbers; all may lie outside of x
    assert works["half arithmetic"].write_bytes == results * 2
    assert works["half arithmetic"].vector_lanes == {F16: results}
    assert works["float32 arithmetic"].vector_lanes == {F32: results + results}  # a Cast back each


def test_more_samples_per_bin_do_not_move_the_bound_of_regions() -> None:
    assert roi_align_silicon(roi_case(F32, 1), A2) == roi_align_silicon(roi_case(F32, 4), A2)


def test_twice_the_regions_are_twice_the_bytes() -> None:
    one, two = (roi_align_silicon(roi_case(F32, 2, regions=regions), A2)[0] for regions in (4, 8))
    assert (two.read_bytes, two.write_bytes) == (2 * one.read_bytes, 2 * one.write_bytes)


@pytest.mark.parametrize(("ratio", "samples"), [(1, 1), (3, 9), (0, 4), (-1, 4)])
def test_the_convention_takes_two_by_two_samples_where_the_number_is_open(ratio: int, samples: int) -> None:
    work = roi_align_convention(roi_case(F32, ratio), "950pr")
    assert work.vector_lanes == {F32: 8 * samples * 72}  # 4 regions x 3 channels x 6 bins = 72 results


def test_the_910b2_convention_of_regions_converts_float16_and_reads_all_of_x() -> None:
    case = roi_case(F16, 1, side=64)
    work = roi_align_convention(case, "910b2")
    assert work.vector_lanes[F16] == 2 * 3 * 64 * 64 + 72
    assert work.vector_lanes[F32] == pytest.approx(72 * (8 + 4 + 10 / 3))
    assert work.read_bytes == 2 * 3 * 64 * 64 * 2 + 4 * 5 * 2
    assert roi_align_convention(case, "950pr").read_bytes == 72 * 4 * 2 + 4 * 5 * 2
