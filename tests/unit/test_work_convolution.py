"""Work of convolutions that are matrix products, against small cases counted by hand."""

from __future__ import annotations

import pytest
from work_cases import BRAIN, CHIP, HALF, SINGLE, call, moved, tensor

from piton.anchors.convolution import (
    Axis,
    conv_2d_convention,
    conv_2d_silicon,
    conv_3d_backprop_filter_convention,
    conv_3d_backprop_filter_silicon,
    windows,
)
from piton.core.case import Case
from piton.core.dtype import DType

UNPADDED = (0, 0, 0, 0)


def conv(dtype: DType = HALF, *, taps: int = 3, stride: int = 1, pads: tuple[int, ...] = UNPADDED, images: int = 1) -> Case:
    """2 channels of 4 x 4, 3 filters."""
    tensors = (tensor("x", (images, 2, 4, 4), dtype), tensor("filter", (3, 2, taps, taps), dtype), tensor("bias", (3,), dtype))
    return call(*tensors, strides=(stride, stride), pads=pads, dilations=(1, 1))


def test_a_convolution_reads_pixels_and_filters_once_and_multiplies_every_tap() -> None:
    for work in conv_2d_silicon(conv(), CHIP):
        assert moved(work) == (2 * 4 * 4 * 2 + 3 * 2 * 9 * 2 + 3 * 2, 3 * (2 * 2) * 2)
        assert work.cube_flops == {HALF: 2 * 3 * (2 * 2) * 2 * 9}
        assert (work.vector_lanes, work.writes_from_cube) == ({}, True)


def test_windows_or_filters_may_be_the_rows_of_the_product() -> None:
    assert [work.choice.split(",")[0] for work in conv_2d_silicon(conv(BRAIN), CHIP)] == ["windows as rows", "filters as rows"]


def test_a_float32_convolution_has_hf32_besides() -> None:
    kinds = [work.choice.split(",")[0] for work in conv_2d_silicon(conv(SINGLE), CHIP)]
    assert kinds == ["HF32 products"] * 2 + ["float32 products"] * 2


def test_taps_in_the_padding_are_not_multiplied() -> None:
    """4 positions, 3 taps, one zero at either end: the outer taps meet 3 pixels, the middle one 4, 10 of 12 pairs; 10 x 10 of 12 x 12 in both axes."""
    work, _swapped = conv_2d_silicon(conv(pads=(1, 1, 1, 1)), CHIP)
    assert work.cube_flops[HALF] == pytest.approx(2 * 3 * 2 * (10 * 10))
    assert conv_2d_convention(conv(pads=(1, 1, 1, 1)), "910b2").cube_flops == {HALF: 2 * 3 * 2 * (12 * 12)}


def test_pixels_between_windows_are_not_read() -> None:
    """Windows of one pixel at 0 and 3 of 4: 2 x 2 of 4 x 4 pixels."""
    work, _swapped = conv_2d_silicon(conv(taps=1, stride=3), CHIP)
    assert moved(work) == (2 * (2 * 2) * 2 + 3 * 2 * 2 + 3 * 2, 3 * (2 * 2) * 2)


def test_twice_the_images_are_twice_the_pixels_and_products() -> None:
    one, two = (conv_2d_silicon(conv(images=images), CHIP)[0] for images in (1, 2))
    assert two.read_bytes - one.read_bytes == 2 * 4 * 4 * 2
    assert two.write_bytes == 2 * one.write_bytes
    assert two.cube_flops[HALF] == 2 * one.cube_flops[HALF]


def test_an_axis_knows_what_its_windows_see() -> None:
    """Size 5, 2 taps 3 apart, one zero before: windows at -1, 0, 1 see -1+0, 2 | 0, 3 | 1, 4: pixels 0 to 4, five pairs inside."""
    axis = Axis(size=5, taps=2, stride=1, before=1, after=0, dilation=3)
    assert axis.results == (5 + 1 - 3 * 1 - 1) // 1 + 1
    assert axis.seen() == (frozenset({0, 1, 2, 3, 4}), 2, 5)
    assert windows((axis,)).share == 5 / (3 * 2)


def test_a_tap_that_only_meets_padding_takes_no_part() -> None:
    """Size 1, 3 taps, two zeros before: the one window is at -2, and of its taps only the last meets the pixel."""
    assert Axis(size=1, taps=3, stride=1, before=2, after=0, dilation=1).seen() == (frozenset({0}), 1, 1)


def backprop(groups: int = 1, pads: tuple[int, ...] = (0,) * 6) -> Case:
    """2 channels of 3 x 3 x 3, 4 filters of 2 x 2 x 2 taps, so that grad has 2 x 2 x 2 positions (3 x 3 x 3 with one zero at each front)."""
    size = 2 + (pads[0] > 0)
    tensors = (tensor("x", (1, 2, 3, 3, 3), HALF), tensor("grad", (1, 4, size, size, size), HALF))
    filters = (4, 2 // groups, 2, 2, 2)
    return call(*tensors, strides=(1, 1, 1), pads=pads, dilations=(1, 1, 1), groups=groups, filter_size=filters)


def test_a_filter_gradient_multiplies_every_position_of_grad_with_every_tap() -> None:
    work, _swapped = conv_3d_backprop_filter_silicon(backprop(), CHIP)
    assert moved(work) == (2 * 27 * 2 + 4 * 8 * 2, 4 * 2 * 8 * 2)
    assert work.cube_flops == {HALF: 2 * 4 * 2 * 8 * 8}


def test_groups_multiply_their_own_channels_only() -> None:
    work, _swapped = conv_3d_backprop_filter_silicon(backprop(groups=2), CHIP)
    assert moved(work) == (2 * 27 * 2 + 4 * 8 * 2, 4 * 1 * 8 * 2)
    assert work.cube_flops == {HALF: 2 * 4 * 1 * 8 * 8}


def test_a_filter_gradient_leaves_out_pairs_in_the_padding() -> None:
    """3 positions and 2 taps an axis, one zero in front: the first tap meets 2 pixels, the second 3, 5 of 6 pairs."""
    case = backprop(pads=(1, 0, 1, 0, 1, 0))
    work, _swapped = conv_3d_backprop_filter_silicon(case, CHIP)
    assert work.cube_flops[HALF] == pytest.approx(2 * 4 * 2 * 5**3)
    assert conv_3d_backprop_filter_convention(case, "950pr").cube_flops == {HALF: 2 * (4 * 27) * 2 * 8}
