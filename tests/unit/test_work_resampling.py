"""Are bytes and instructions of resize_bilinear and adaptive_avg_pool_3d those that one counts by hand?"""

from __future__ import annotations

import pytest
from vector_work_cases import A2, A5, by_choice, case_of

from piton.anchors.resampling import (
    adaptive_avg_pool_3d_convention,
    adaptive_avg_pool_3d_silicon,
    resize_bilinear_convention,
    resize_bilinear_silicon,
)
from piton.core.case import Case
from piton.core.dtype import DType

F16, F32, BF16 = DType.FLOAT16, DType.FLOAT32, DType.BFLOAT16
CUBE = {BF16: "products with share matrices", F32: "float32 products with share matrices"}


def resize_case(dtype: DType, old: tuple[int, int], new: tuple[int, int] | None, *, factors: tuple[float, float] | None = None, aligned: bool = False) -> Case:
    """Two planes."""
    return case_of("resize_bilinear", [("x", dtype, (1, 2, *old))], output_size=new, align_corners=aligned, scale_factor=factors)


def test_halving_an_image_adds_neighbours_first_in_rows_and_then_in_columns() -> None:
    works = by_choice(resize_bilinear_silicon(resize_case(F32, (4, 4), (2, 2)), A2))
    work = works["float32 arithmetic"]
    assert work.read_bytes == 2 * 16 * 4  # results at 0.5 and 2.5: every pixel has a weight
    assert work.write_bytes == 2 * 4 * 4
    instructions = 2 * (2 * 4 + 2 * 2)  # two rows of four, then two rows of two, in each plane
    assert work.vector_lanes == {F32: instructions}
    assert works[CUBE[F32]].cube_flops == {F32: instructions * 2 * 8}  # a contraction of 32 bytes is 8 long
    assert works["HF32 products with share matrices"].cube_flops == {DType.HIFLOAT32: instructions * 2 * 8}
    assert not works[CUBE[F32]].vector_lanes


def test_results_that_fall_on_pixels_are_copies_and_leave_the_other_pixels_unread() -> None:
    work = by_choice(resize_bilinear_silicon(resize_case(F32, (9, 9), (3, 3)), A2))["float32 arithmetic"]
    assert work.read_bytes == 2 * 9 * 4  # positions 1, 4, 7 in rows and columns: 9 of 81 pixels a plane
    assert work.vector_lanes == {F32: 0}


def test_rows_are_read_in_blocks_of_memory() -> None:
    work = by_choice(resize_bilinear_silicon(resize_case(F32, (9, 90), (3, 10)), A2))["float32 arithmetic"]
    # Columns 4, 13 ... 85 of rows 1, 4 and 7: each lies in a block of 8 of its own, wherever a row begins; the tenth block may be its neighbour's too.
    assert work.read_bytes == 2 * 3 * (10 - 1) * 32


def test_align_corners_puts_corners_on_corners() -> None:
    work = by_choice(resize_bilinear_silicon(resize_case(F32, (9, 5), (3, 2), aligned=True), A2))["float32 arithmetic"]
    assert work.read_bytes == 2 * (3 * 2) * 4  # rows 0, 4, 8 and columns 0, 4
    assert work.vector_lanes == {F32: 0}


def test_a_scale_factor_of_two_interpolates_between_the_edges_only() -> None:
    work = by_choice(resize_bilinear_silicon(resize_case(F32, (2, 2), None, factors=(2.0, 2.0)), A2))["float32 arithmetic"]
    assert (work.read_bytes, work.write_bytes) == (2 * 4 * 4, 2 * 16 * 4)
    # Positions 0, 0.25, 0.75, 1: two between. Rows first: 2 rows of 2 pixels, then 2 columns of 4 rows.
    assert work.vector_lanes == {F32: 2 * (2 * 2 + 4 * 2)}


def test_rows_and_columns_have_scale_factors_of_their_own() -> None:
    work = by_choice(resize_bilinear_silicon(resize_case(F32, (2, 4), None, factors=(3.0, 0.5)), A2))["float32 arithmetic"]
    assert work.write_bytes == 2 * (6 * 2) * 4
    # Rows at 0, 0, 1/3, 2/3, 1, 1: two between. Columns at 0.5 and 2.5: both. Rows first: 2 x 4 + 6 x 2 = 20; columns first: 2 x 2 + 2 x 2 = 8.
    assert work.vector_lanes == {F32: 2 * 8}


def test_sixteen_bit_images_are_converted_where_the_chip_has_no_arithmetic_for_them() -> None:
    case = resize_case(BF16, (4, 4), (2, 2))
    instructions, conversions = 2 * 12, 2 * (16 + 4)  # both planes: 16 pixels in, 4 out
    older, later = by_choice(resize_bilinear_silicon(case, A2)), by_choice(resize_bilinear_silicon(case, A5))
    assert older["float32 arithmetic"].vector_lanes == {F32: instructions + conversions}
    assert "bfloat16 arithmetic" not in older
    assert later["bfloat16 arithmetic"].vector_lanes == {BF16: instructions}
    assert older[CUBE[BF16]].cube_flops == {BF16: instructions * 2 * 16}


def test_the_editions_of_the_convention_of_resizing_differ_in_lanes_and_pixels() -> None:
    case = resize_case(F16, (10, 10), (2, 2))
    older, later = resize_bilinear_convention(case, "910b2"), resize_bilinear_convention(case, "950pr")
    assert older.vector_lanes == {F32: 8 * 12}
    assert later.vector_lanes == {F16: 8 * 12}
    assert (older.read_bytes, later.read_bytes) == (2 * 100 * 2, 8 * 4 * 2)


def pool_case(dtype: DType, old: tuple[int, int, int], new: tuple[int, int, int], *, planes: int = 2) -> Case:
    return case_of("adaptive_avg_pool_3d", [("x", dtype, (1, planes, *old))], output_size=new)


def test_a_global_mean_adds_all_elements_and_scales_once() -> None:
    work = by_choice(adaptive_avg_pool_3d_silicon(pool_case(F32, (2, 2, 4), (1, 1, 1)), A2))["float32 arithmetic"]
    assert (work.read_bytes, work.write_bytes) == (2 * 16 * 4, 2 * 4)
    assert work.vector_lanes == {F32: 2 * (15 + 1)}


def test_windows_that_overlap_add_their_common_elements_twice() -> None:
    work = by_choice(adaptive_avg_pool_3d_silicon(pool_case(F32, (3, 1, 1), (2, 1, 1)), A2))["float32 arithmetic"]
    assert work.vector_lanes == {F32: 2 * (2 * 1 + 2)}  # windows [0, 2) and [1, 3): an addition each, and two scalings


def test_means_are_taken_along_the_axis_that_shrinks_before_the_one_that_grows() -> None:
    work = by_choice(adaptive_avg_pool_3d_silicon(pool_case(F32, (4, 1, 1), (1, 1, 3)), A2))["float32 arithmetic"]
    assert work.vector_lanes == {F32: 2 * (3 + 3)}  # three additions, then three copies, each scaled; the other order would add nine times


def test_pooling_to_the_same_size_is_a_copy() -> None:
    for work in adaptive_avg_pool_3d_silicon(pool_case(F16, (2, 3, 4), (2, 3, 4)), A2):
        assert sum(work.vector_lanes.values()) == 0
        assert (work.read_bytes, work.write_bytes) == (2 * 24 * 2, 2 * 24 * 2)


def test_bfloat16_means_are_summed_in_float32_on_the_older_chip() -> None:
    case = pool_case(BF16, (2, 2, 4), (1, 1, 1))
    assert by_choice(adaptive_avg_pool_3d_silicon(case, A2))["float32 arithmetic"].vector_lanes == {F32: 2 * (15 + 1) + 2 * (16 + 1)}
    assert by_choice(adaptive_avg_pool_3d_silicon(case, A5))["bfloat16 arithmetic"].vector_lanes == {BF16: 2 * 16}


def test_twice_the_planes_are_twice_the_bytes_of_pooling() -> None:
    one, two = (adaptive_avg_pool_3d_silicon(pool_case(F16, (2, 3, 4), (1, 2, 2), planes=planes), A2)[0] for planes in (2, 4))
    assert (two.read_bytes, two.write_bytes) == (2 * one.read_bytes, 2 * one.write_bytes)


@pytest.mark.parametrize(("new", "count"), [((1, 1, 1), 2 * 24 + 2), ((4, 4, 4), 2 * 64 + 2 * 64)])
def test_the_convention_of_pooling_counts_the_larger_side_and_the_results(new: tuple[int, int, int], count: int) -> None:
    case = pool_case(F16, (2, 3, 4), new)
    assert adaptive_avg_pool_3d_convention(case, "910b2").vector_lanes == {F32: count}
    assert adaptive_avg_pool_3d_convention(case, "950pr").vector_lanes == {F16: count}
