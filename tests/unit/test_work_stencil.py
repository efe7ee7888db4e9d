"""Are bytes and instructions of dilation_2d and depthwise_conv_2d those that one counts by hand?"""

from __future__ import annotations

import pytest
from vector_work_cases import A2, A5, by_choice, case_of

from piton.anchors.stencil import depthwise_conv_2d_convention, depthwise_conv_2d_silicon, dilation_2d_convention, dilation_2d_silicon
from piton.core.case import Case
from piton.core.dtype import DType

F16, F32, BF16 = DType.FLOAT16, DType.FLOAT32, DType.BFLOAT16
CUBE = {F16: "products with banded matrices", F32: "float32 products with banded matrices"}
HF32 = DType.HIFLOAT32


def dilation_case(size: tuple[int, int], taps: tuple[int, int], *, stride: int = 1, mode: str = "SAME", ceil: bool = False, images: int = 1) -> Case:
    """Two channels, channels last; the same stride for rows and columns."""
    tensors = [("x", F16, (images, *size, 2)), ("filter", F16, (*taps, 2))]
    steps = {"strides": (1, stride, stride, 1), "rates": (1, 1, 1, 1), "pads": (0, 0, 0, 0)}
    return case_of("dilation_2d", tensors, padding_mode=mode, ceil_mode=ceil, data_format="NHWC", **steps)


def test_dilation_adds_every_tap_on_the_image_and_takes_the_largest() -> None:
    work = by_choice(dilation_2d_silicon(dilation_case((3, 3), (2, 2)), A2))["half arithmetic"]
    assert work.read_bytes == 2 * 9 * 2 + 2 * 4 * 2  # x [1, 3, 3, 2], filter [2, 2, 2]
    assert work.write_bytes == 2 * 9 * 2  # SAME with stride 1
    # Along an axis the three places see 2 + 2 + 1 taps (one row is padded after): 25 pairs a channel. An Add each, a Max each but the first of 9 results.
    assert work.vector_lanes == {F16: 2 * (25 + 25 - 9)}


def test_dilation_in_float32_converts_what_it_reads_and_writes() -> None:
    work = by_choice(dilation_2d_silicon(dilation_case((3, 3), (2, 2)), A2))["float32 arithmetic"]
    assert work.vector_lanes == {F32: 2 * 41 + 2 * (9 + 9)}


def test_strides_leave_pixels_between_windows_unread() -> None:
    work = by_choice(dilation_2d_silicon(dilation_case((5, 5), (1, 1), stride=2, mode="VALID"), A2))["half arithmetic"]
    assert work.read_bytes == 2 * 9 * 2 + 2 * 2  # rows and columns 0, 2, 4; one tap a channel
    assert work.vector_lanes == {F16: 2 * 9}  # a tap is added, nothing compared


@pytest.mark.parametrize(("ceil", "results"), [(False, 1), (True, 2)])
def test_ceil_mode_lets_a_last_window_reach_beyond_the_image(ceil: bool, results: int) -> None:
    work = by_choice(dilation_2d_silicon(dilation_case((4, 4), (3, 3), stride=2, mode="VALID", ceil=ceil), A2))["half arithmetic"]
    assert work.write_bytes == 2 * results**2 * 2


def test_padding_by_pads_moves_taps_off_the_image() -> None:
    plain = dilation_case((4, 4), (2, 2), mode="VALID")
    padded = plain.model_copy(update={"attributes": {**plain.attributes, "pads": (1, 0, 0, 2)}})
    work = by_choice(dilation_2d_silicon(padded, A2))["half arithmetic"]
    # Rows: 4 + 1 - 2 + 1 = 4 windows from row -1 on see 1 + 2 + 2 + 2 taps. Columns: 4 + 2 - 2 + 1 = 5 windows see 2 + 2 + 2 + 1 + 0.
    assert work.write_bytes == 2 * 20 * 2
    assert work.vector_lanes == {F16: 2 * (2 * 49 - 20)}


def test_same_pads_half_of_what_is_missing_before_the_image() -> None:
    plain = dilation_case((5, 5), (3, 3))
    wide = plain.model_copy(update={"attributes": {**plain.attributes, "rates": (1, 2, 2, 1)}})
    work = by_choice(dilation_2d_silicon(wide, A2))["half arithmetic"]
    # Taps at -2, 0 and 2 from each of five places: 2 + 2 + 3 + 2 + 2 on the image.
    assert work.vector_lanes == {F16: 2 * (2 * 121 - 25)}
    # Of an odd number the smaller half: two windows of three over four rows with stride 2 miss one row, after the image: 3 + 2 taps.
    assert by_choice(dilation_2d_silicon(dilation_case((4, 4), (3, 3), stride=2), A2))["half arithmetic"].vector_lanes == {F16: 2 * (2 * 25 - 4)}
    # Windows that miss nothing: one of one over each second of three rows.
    assert by_choice(dilation_2d_silicon(dilation_case((3, 3), (1, 1), stride=2), A2))["half arithmetic"].vector_lanes == {F16: 2 * 4}


def test_channels_first_is_the_same_work() -> None:
    last = dilation_case((4, 6), (3, 2))
    first = case_of("dilation_2d", [("x", F16, (1, 2, 4, 6)), ("filter", F16, (2, 3, 2))], **{**last.attributes, "data_format": "NCHW"})
    assert dilation_2d_silicon(first, A2) == dilation_2d_silicon(last, A2)
    assert dilation_2d_convention(first, "910b2") == dilation_2d_convention(last, "910b2")


def test_the_convention_of_dilation_counts_taps_outside_of_the_image_too() -> None:
    assert dilation_2d_convention(dilation_case((3, 3), (2, 2)), "910b2").vector_lanes == {F16: 2 * 9 * (4 + 4 - 1)}


def depthwise_case(dtype: DType, size: tuple[int, int], side: int, padding: int, *, images: int = 1) -> Case:
    """Two channels, square filters, stride and dilation 1."""
    tensors = [("x", dtype, (images, 2, *size)), ("weight", dtype, (2, side, side)), ("bias", dtype, (2,))]
    return case_of("depthwise_conv_2d", tensors, kernelSize=(side, side), stride=(1, 1), padding=(padding, padding), dilation=(1, 1), groups=2)


def test_depthwise_convolution_multiplies_and_adds_once_per_tap_on_the_image() -> None:
    works = by_choice(depthwise_conv_2d_silicon(depthwise_case(F32, (3, 3), 3, 1), A2))
    work = works["float32 arithmetic"]
    assert work.read_bytes == 2 * 9 * 4 + 2 * 9 * 4 + 2 * 4  # x, weight, bias
    assert work.write_bytes == 2 * 9 * 4
    assert work.vector_lanes == {F32: 2 * 7 * 7}  # along an axis the three places see 2 + 3 + 2 taps
    assert works[CUBE[F32]].cube_flops == {F32: 2 * (2 * 9) * 8}  # 18 results, a contraction of at least 8 float32
    assert works["HF32 products with banded matrices"].cube_flops == {HF32: 2 * (2 * 9) * 8}


def test_the_contraction_on_the_cube_is_as_long_as_the_taps_of_a_result() -> None:
    works = by_choice(depthwise_conv_2d_silicon(depthwise_case(F16, (9, 9), 5, 0), A2))
    assert works[CUBE[F16]].cube_flops == {F16: 2 * (2 * 25) * 25}  # 5 x 5 results of 25 taps in two channels
    assert works["half arithmetic"].vector_lanes == {F16: 2 * 25 * 25}


def test_bfloat16_is_converted_for_the_older_vector_unit() -> None:
    case = depthwise_case(BF16, (3, 3), 3, 1)
    assert by_choice(depthwise_conv_2d_silicon(case, A2))["float32 arithmetic"].vector_lanes == {F32: 98 + 18 + 18}
    assert by_choice(depthwise_conv_2d_silicon(case, A5))["bfloat16 arithmetic"].vector_lanes == {BF16: 98}


def test_taps_that_only_meet_the_padding_are_not_read() -> None:
    work = by_choice(depthwise_conv_2d_silicon(depthwise_case(F32, (1, 1), 3, 1), A2))["float32 arithmetic"]
    assert work.read_bytes == 2 * 4 + 2 * 4 + 2 * 4  # one pixel, the middle tap and the bias of each channel
    assert work.vector_lanes == {F32: 2}


def test_rows_and_columns_of_a_depthwise_window_have_steps_of_their_own() -> None:
    tensors = [("x", F32, (1, 2, 5, 7)), ("weight", F32, (2, 3, 1)), ("bias", F32, (2,))]
    case = case_of("depthwise_conv_2d", tensors, kernelSize=(3, 1), stride=(2, 3), padding=(1, 0), dilation=(2, 1), groups=2)
    work = by_choice(depthwise_conv_2d_silicon(case, A2))["float32 arithmetic"]
    # Rows: (5 + 2 - 4 - 1) / 2 + 1 = 2 windows at -1, 1, 3 and 1, 3, 5: two taps each, on rows 1 and 3. Columns: 0, 3 and 6.
    assert work.write_bytes == 2 * 2 * 3 * 4
    assert work.read_bytes == 2 * (2 * 3) * 4 + 2 * 3 * 4 + 2 * 4
    assert work.vector_lanes == {F32: 2 * 4 * 3}


@pytest.mark.parametrize("images", [2, 3])
def test_more_images_are_more_bytes_and_the_same_filters(images: int) -> None:
    one, many = (depthwise_conv_2d_silicon(depthwise_case(F16, (4, 4), 3, 1, images=count), A2)[0] for count in (1, images))
    filters = 2 * 9 * 2 + 2 * 2
    assert many.read_bytes - filters == images * (one.read_bytes - filters)
    assert many.write_bytes == images * one.write_bytes


def test_the_convention_of_depthwise_takes_float32_lanes_for_bfloat16_on_the_910b2_only() -> None:
    case = depthwise_case(BF16, (3, 3), 3, 1)
    assert depthwise_conv_2d_convention(case, "910b2").vector_lanes == {F32: 18 * (2 * 9 + 1)}
    assert depthwise_conv_2d_convention(case, "950pr").vector_lanes == {BF16: 18 * (2 * 9 + 1)}
