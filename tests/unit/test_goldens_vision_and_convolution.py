"""Do the goldens of sampling, pooling, boxes and convolutions compute what their texts say? Against plain loops in numpy, on tiny inputs in float64."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from piton.catalog import load_suite
from piton.numerics.golden_module import load_golden

SUITE = load_suite()
GENERATOR = torch.Generator()


def golden(name: str, function: str = "") -> Callable[..., Any]:
    member = SUITE.member(name)
    assert member is not None
    return load_golden(member.operator.golden_path).function(function or name)


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    GENERATOR.manual_seed(7)


def draw(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=GENERATOR, dtype=torch.float64) * 2 - 1


def assert_close(found: torch.Tensor, expected: np.ndarray[Any, Any]) -> None:
    assert tuple(found.shape) == expected.shape
    assert found.is_contiguous()
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-12)


# Convolutions


def loop_convolution(x: np.ndarray[Any, Any], filters: np.ndarray[Any, Any], strides: list[int], pads: list[int], dilations: list[int]) -> np.ndarray[Any, Any]:
    """Any number of spatial axes; pads is before and after for each."""
    spatial = x.ndim - 2
    padded = np.pad(x, [(0, 0), (0, 0), *((pads[2 * a], pads[2 * a + 1]) for a in range(spatial))])
    kernel = filters.shape[2:]
    size = [(padded.shape[2 + a] - dilations[a] * (kernel[a] - 1) - 1) // strides[a] + 1 for a in range(spatial)]
    y = np.zeros((len(x), len(filters), *size))
    for n, o, *place in np.ndindex(*y.shape):
        for tap in np.ndindex(*kernel):
            seen = tuple(place[a] * strides[a] + tap[a] * dilations[a] for a in range(spatial))
            y[(n, o, *place)] += (padded[(n, slice(None), *seen)] * filters[(o, slice(None), *tap)]).sum()
    return y


@pytest.mark.parametrize(("strides", "pads", "dilations"), [([1, 1], [0, 0, 0, 0], [1, 1]), ([2, 1], [1, 2, 0, 3], [1, 2]), ([3, 2], [2, 0, 1, 1], [2, 1])])
def test_conv_2d_is_a_sum_over_the_window_with_a_padding_for_every_side(strides: list[int], pads: list[int], dilations: list[int]) -> None:
    x, filters, bias = draw(2, 3, 7, 8), draw(4, 3, 3, 2), draw(4)
    expected = loop_convolution(x.numpy(), filters.numpy(), strides, pads, dilations) + bias.numpy()[:, None, None]
    assert_close(golden("conv_2d")(x, filters, bias, strides, pads, dilations), expected)


def test_conv_2d_in_bands_of_rows_is_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    convolve = golden("conv_2d")
    x, filters, bias = draw(1, 2, 9, 5), draw(3, 2, 3, 3), draw(3)
    whole = convolve(x, filters, bias, [2, 1], [1, 1, 1, 1], [1, 1])
    monkeypatch.setitem(convolve.__globals__, "_BAND_ELEMENTS", 1)
    assert_close(convolve(x, filters, bias, [2, 1], [1, 1, 1, 1], [1, 1]), whole.numpy())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_conv_2d_sums_half_types_in_float32(dtype: torch.dtype) -> None:
    """2048 + 1 is lost in float16, 256 + 1 in bfloat16."""
    x = torch.tensor([4096.0, *[1.0] * 63], dtype=dtype).view(1, 64, 1, 1)
    found = golden("conv_2d")(x, torch.ones(1, 64, 1, 1, dtype=dtype), torch.tensor([1.0], dtype=dtype), [1, 1], [0, 0, 0, 0])
    assert found.item() == torch.tensor(4160.0).to(dtype).item()


@pytest.mark.parametrize(("stride", "padding", "dilation"), [([1, 1], [0, 0], [1, 1]), ([2, 1], [2, 1], [1, 2]), ([1, 3], [3, 0], [2, 1])])
def test_depthwise_conv_2d_gives_every_channel_its_own_filter(stride: list[int], padding: list[int], dilation: list[int]) -> None:
    x, weight, bias = draw(2, 3, 7, 8), draw(3, 2, 3), draw(3)
    pads = [padding[0], padding[0], padding[1], padding[1]]
    parts = [loop_convolution(x.numpy()[:, c : c + 1], weight.numpy()[c : c + 1, None], stride, pads, dilation) for c in range(3)]
    expected = np.concatenate(parts, axis=1) + bias.numpy()[:, None, None]
    assert_close(golden("depthwise_conv_2d")(x, weight, bias, [2, 3], stride, padding, dilation, 3), expected)


def test_convolutions_refuse_sizes_that_do_not_fit() -> None:
    x, weight, bias = draw(1, 2, 4, 4), draw(2, 3, 3), draw(2)
    with pytest.raises(ValueError, match="groups 1"):
        golden("depthwise_conv_2d")(x, weight, bias, [3, 3], [1, 1], [0, 0], [1, 1], 1)
    with pytest.raises(ValueError, match="does not fit"):
        golden("depthwise_conv_2d")(x, weight, bias, [3, 3], [1, 1], [0, 0], [2, 2], 2)
    with pytest.raises(ValueError, match="does not fit"):
        golden("conv_2d")(x, draw(2, 2, 5, 1), bias, [1, 1], [0, 0, 0, 0])
    with pytest.raises(ValueError, match="do not fit"):
        golden("conv_2d")(x, draw(2, 3, 1, 1), bias, [1, 1], [0, 0, 0, 0])
    with pytest.raises(ValueError, match="expected"):
        golden("conv_3d_backprop_filter")(draw(1, 2, 2, 4, 4), draw(1, 2, 2, 4, 4), [1, 1, 1], [0] * 6, [1, 1, 1], 1, [2, 2, 1, 3, 3])


@pytest.mark.parametrize(
    ("groups", "strides", "pads", "dilations"),
    [(1, [1, 1, 1], [0] * 6, [1, 1, 1]), (2, [1, 2, 1], [1, 0, 0, 2, 1, 1], [1, 1, 2]), (4, [2, 1, 2], [1, 1, 1, 0, 0, 1], [1, 2, 1])],
)
def test_the_filter_gradient_is_what_a_change_of_the_filter_does_to_the_result(groups: int, strides: list[int], pads: list[int], dilations: list[int]) -> None:
    """A convolution is linear in its filter: the sum of grad times the result for a filter that is 1 at one place is the gradient there."""
    shape = (4, 4 // groups, 2, 2, 2)
    x = draw(2, 4, 4, 4, 5)
    groups_of = [(x.numpy()[:, g * shape[1] : (g + 1) * shape[1]], slice(g * 4 // groups, (g + 1) * 4 // groups)) for g in range(groups)]
    size = loop_convolution(groups_of[0][0], np.zeros((1, *shape[1:])), strides, pads, dilations).shape[2:]
    grad = draw(2, 4, *size)
    expected = np.zeros(shape)
    for part, outs in groups_of:
        for place in np.ndindex(*shape[1:]):
            unit = np.zeros((1, *shape[1:]))
            unit[(0, *place)] = 1
            response = loop_convolution(part, unit, strides, pads, dilations)
            expected[(outs, *place)] = (grad.numpy()[:, outs] * response).sum(axis=(0, 2, 3, 4))
    assert_close(golden("conv_3d_backprop_filter")(x, grad, strides, pads, dilations, groups, list(shape)), expected)


# Dilation


def loop_dilation(x: np.ndarray[Any, Any], taps: np.ndarray[Any, Any], steps: tuple[int, int], rates: tuple[int, int], pads: list[int]) -> np.ndarray[Any, Any]:
    """Every window that begins inside the padded image, NHWC."""
    padded = np.pad(x, [(0, 0), (pads[0], pads[1]), (pads[2], pads[3]), (0, 0)], constant_values=-math.inf)
    reach = [(taps.shape[a] - 1) * rates[a] + 1 for a in range(2)]
    size = [(padded.shape[1 + a] - reach[a]) // steps[a] + 1 for a in range(2)]
    y = np.full((len(x), *size, x.shape[3]), -math.inf)
    for (b, i, j, c), (dy, dx) in itertools.product(np.ndindex(*y.shape), np.ndindex(*taps.shape[:2])):
        y[b, i, j, c] = max(y[b, i, j, c], padded[b, i * steps[0] + dy * rates[0], j * steps[1] + dx * rates[1], c] + taps[dy, dx, c])
    return y


@pytest.mark.parametrize(("steps", "rates"), [((1, 1), (1, 1)), ((2, 1), (1, 2)), ((3, 2), (2, 1))])
def test_dilation_2d_valid_is_the_largest_sum_over_the_window_in_both_formats(steps: tuple[int, int], rates: tuple[int, int]) -> None:
    x, taps, pads = draw(2, 8, 7, 3), draw(2, 3, 3), [1, 0, 2, 1]
    expected = loop_dilation(x.numpy(), taps.numpy(), steps, rates, pads)
    dilate, lists = golden("dilation_2d"), ([1, *steps, 1], [1, *rates, 1])
    assert_close(dilate(x, taps, *lists, "VALID", pads), expected)
    turned = dilate(x.permute(0, 3, 1, 2), taps.permute(2, 0, 1), *lists, "VALID", pads, False, "NCHW")
    assert_close(turned, expected.transpose(0, 3, 1, 2))


def test_dilation_2d_same_has_a_row_per_step_and_its_odd_padding_at_the_end() -> None:
    x, taps = draw(1, 7, 8, 2), draw(3, 2, 2)
    expected = loop_dilation(x.numpy(), taps.numpy(), (2, 1), (2, 1), [2, 2, 0, 1])
    assert expected.shape == (1, 4, 8, 2)
    for ceil_mode in (False, True):
        assert_close(golden("dilation_2d")(x, taps, [1, 2, 1, 1], [1, 2, 1, 1], "SAME", [5, 5, 5, 5], ceil_mode), expected)


def test_dilation_2d_with_ceil_mode_has_a_last_window_beyond_the_image() -> None:
    x, taps = draw(1, 6, 5, 1), draw(3, 3, 1)
    found = golden("dilation_2d")(x, taps, [1, 2, 2, 1], [1, 1, 1, 1], "VALID", [0, 0, 0, 0], True)
    assert_close(found, loop_dilation(x.numpy(), taps.numpy(), (2, 2), (1, 1), [0, 1, 0, 0]))


def test_dilation_2d_keeps_nan_and_refuses_words_it_does_not_know() -> None:
    x = torch.zeros(1, 3, 3, 1, dtype=torch.float16)
    x[0, 0, 0, 0] = math.nan
    y = golden("dilation_2d")(x, torch.zeros(2, 2, 1, dtype=torch.float16), [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
    assert y.isnan().sum() == 1
    assert y.dtype is torch.float16
    with pytest.raises(ValueError, match="WRAP"):
        golden("dilation_2d")(x, torch.zeros(2, 2, 1), [1, 1, 1, 1], [1, 1, 1, 1], "WRAP")


# Pooling and resizing


@pytest.mark.parametrize("size", [[2, 3, 4], [1, 1, 1], [4, 7, 3]])
def test_adaptive_avg_pool_3d_is_the_mean_of_windows_that_may_overlap(size: list[int]) -> None:
    x = draw(2, 2, 3, 5, 4)
    expected = np.zeros((2, 2, *size))
    for i, j, k in np.ndindex(*size):
        window = tuple(slice(place * old // new, -(-(place + 1) * old // new)) for place, old, new in zip((i, j, k), x.shape[2:], size, strict=True))
        expected[:, :, i, j, k] = x.numpy()[(slice(None), slice(None), *window)].mean(axis=(2, 3, 4))
    assert_close(golden("adaptive_avg_pool_3d")(x, size), expected)


def test_adaptive_avg_pool_3d_sums_half_types_in_float32() -> None:
    x = torch.full((1, 1, 4, 8, 8), 60000.0, dtype=torch.float16)
    assert golden("adaptive_avg_pool_3d")(x, [1, 1, 1]).item() == x[0, 0, 0, 0, 0].item()
    with pytest.raises(ValueError, match="4 axes"):
        golden("adaptive_avg_pool_3d")(x[0], [1, 1, 1])


def position(place: int, old: int, new: int, align_corners: bool, scale: float) -> float:
    return place * (old - 1) / max(new - 1, 1) if align_corners else max((place + 0.5) * scale - 0.5, 0)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize(("size", "factors"), [([7, 3], None), (None, [1.5, 0.4]), ([1, 9], None)])
def test_resize_bilinear_weighs_four_pixels(align_corners: bool, size: list[int] | None, factors: list[float] | None) -> None:
    x = draw(1, 2, 5, 6)
    rows, columns = size or [math.floor(5 * 1.5), math.floor(6 * 0.4)]
    scales = (1 / factors[0], 1 / factors[1]) if factors else (5 / rows, 6 / columns)
    expected = np.zeros((1, 2, rows, columns))
    for i, j in np.ndindex(rows, columns):
        r, q = position(i, 5, rows, align_corners, scales[0]), position(j, 6, columns, align_corners, scales[1])
        (r0, a), (q0, b) = (int(r), r % 1), (int(q), q % 1)
        r1, q1 = min(r0 + 1, 4), min(q0 + 1, 5)
        image = x.numpy()[..., :, :]
        upper, lower = ((1 - b) * image[..., r, q0] + b * image[..., r, q1] for r in (r0, r1))
        expected[..., i, j] = (1 - a) * upper + a * lower
    assert_close(golden("resize_bilinear")(x, size, align_corners, factors), expected)


@pytest.mark.parametrize("given", [{}, {"output_size": [2, 2], "scale_factor": [1.0, 1.0]}])
def test_resize_bilinear_wants_one_way_to_say_the_size(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="either"):
        golden("resize_bilinear")(draw(1, 1, 4, 4), **given)


# Sampling at points


def voxel_at(volume: np.ndarray[Any, Any], place: tuple[int, ...], padding_mode: str) -> Any:
    inside = all(0 <= index < size for index, size in zip(place, volume.shape[1:], strict=True))
    return volume[(slice(None), *place)] if inside else np.zeros(len(volume)) if padding_mode == "zeros" else math.nan


def padded_position(g: float, size: int, padding_mode: str, align_corners: bool) -> float:
    p = (g + 1) / 2 * (size - 1) if align_corners else ((g + 1) * size - 1) / 2
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
        p = (p - low) % (2 * span) if span else 0.0
        p = low + min(p, 2 * span - p)
    return p if padding_mode == "zeros" else min(max(p, 0.0), size - 1.0)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [False, True])
def test_grid_sampler_3d_reads_the_voxels_around_a_point(mode: str, padding_mode: str, align_corners: bool) -> None:
    x, grid = draw(2, 2, 3, 4, 5), draw(2, 2, 3, 2, 3) * 2.3
    expected = np.zeros((2, 2, 2, 3, 2))
    for n, *place in np.ndindex(*grid.shape[:4]):
        point = grid.numpy()[(n, *place)][::-1]
        exact = [padded_position(g, size, padding_mode, align_corners) for g, size in zip(point, x.shape[2:], strict=True)]
        if mode == "nearest":
            expected[(n, slice(None), *place)] = voxel_at(x.numpy()[n], tuple(round(p) for p in exact), padding_mode)
            continue
        for corner in np.ndindex(2, 2, 2):
            voxel = tuple(math.floor(p) + c for p, c in zip(exact, corner, strict=True))
            weight = math.prod(1 - abs(p - v) for p, v in zip(exact, voxel, strict=True))
            if weight:
                expected[(n, slice(None), *place)] += weight * voxel_at(x.numpy()[n], voxel, padding_mode)
    assert_close(golden("grid_sampler_3d")(x, grid, mode, padding_mode, align_corners), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("align_corners", [False, True])
def test_points_of_nearest_stay_away_from_ties_and_inside_their_range(dtype: torch.dtype, align_corners: bool) -> None:
    x, grid = torch.zeros(2, 1, 13, 64, 128, dtype=dtype), draw(2, 16, 16, 16, 3).to(dtype)
    built = golden("grid_sampler_3d", "get_input")(x, grid, "nearest", align_corners)[1]
    sizes = torch.tensor([128, 64, 13], dtype=torch.float64)
    voxel = (built.double() + 1) / 2 * (sizes - 1) if align_corners else ((built.double() + 1) * sizes - 1) / 2
    assert ((voxel - voxel.floor() - 0.5).abs() > 1 / 40).all()
    assert built.abs().max() <= 1
    assert built.dtype is dtype
    assert (built != grid).double().mean() < 0.2
    assert torch.equal(golden("grid_sampler_3d", "get_input")(x, grid, "bilinear", align_corners)[1], grid)


# Regions


def loop_roi_align(x: np.ndarray[Any, Any], box: np.ndarray[Any, Any], bins: tuple[int, int], scale: float, ratio: int, aligned: bool) -> np.ndarray[Any, Any]:
    """One region, sample by sample."""
    image, shift = x[int(box[0])], 0.5 if aligned else 0.0
    start = [box[2] * scale - shift, box[1] * scale - shift]
    length = [box[4] * scale - shift - start[0], box[3] * scale - shift - start[1]]
    length = length if aligned else [max(value, 1.0) for value in length]
    count = [ratio if ratio > 0 else math.ceil(length[a] / bins[a]) for a in range(2)]
    y = np.zeros((len(image), *bins))
    for i, j in np.ndindex(*bins):
        for s in np.ndindex(*count):
            at = [start[a] + ((i, j)[a] + (s[a] + 0.5) / count[a]) * length[a] / bins[a] for a in range(2)]
            y[:, i, j] += loop_bilinear(image, at) / max(count[0] * count[1], 1)
    return y


def loop_bilinear(image: np.ndarray[Any, Any], at: list[float]) -> Any:
    sizes = image.shape[1:]
    if any(not -1 <= p <= size for p, size in zip(at, sizes, strict=True)):
        return np.zeros(len(image))
    r, q = (min(max(p, 0.0), size - 1.0) for p, size in zip(at, sizes, strict=True))
    near = [(v, w, (1 - abs(r - v)) * (1 - abs(q - w))) for v in (int(r), int(r) + 1) for w in (int(q), int(q) + 1)]
    return sum(image[:, v, w] * weight for v, w, weight in near if weight)


@pytest.mark.parametrize("ratio", [2, 0, -1, 1])
@pytest.mark.parametrize("aligned", [False, True])
def test_roi_align_is_the_mean_of_bilinear_samples(ratio: int, aligned: bool) -> None:
    x = draw(2, 3, 9, 11)
    boxes = torch.tensor([[0, 1, 2, 20, 15], [1, 0, 0, 21, 17], [1, 7, 5, 7.5, 5.5], [0, -9, -3, 40, 33]], dtype=torch.float64)
    expected = np.stack([loop_roi_align(x.numpy(), box, (3, 2), 0.49, ratio, aligned) for box in boxes.numpy()])
    assert_close(golden("roi_align")(x, boxes, 3, 2, 0.49, ratio, aligned), expected)


@pytest.mark.parametrize("box", [[0, 5, 3, 2, 6], [0, 2, 6, 5, 3], [0, 5, 6, 2, 3], [0, 4, 4, 4, 4]])
def test_an_aligned_region_without_size_or_with_swapped_corners_has_no_samples(box: list[float]) -> None:
    boxes = torch.tensor([box], dtype=torch.float64)
    assert torch.equal(golden("roi_align")(draw(1, 2, 9, 11), boxes, 3, 2, 1.0, -1, True), torch.zeros(1, 2, 3, 2, dtype=torch.float64))


def test_roi_align_reads_only_the_pixels_of_its_samples() -> None:
    x = draw(1, 1, 8, 8)
    x[0, 0, 0, 0], x[0, 0, 7, 7] = math.inf, math.nan
    boxes = torch.tensor([[0, 2, 2, 5, 5], [0, 0, 0, 3, 3]], dtype=torch.float64)
    found = golden("roi_align")(x, boxes, 2, 2, 1.0, 2, False)
    assert found[0].isfinite().all()
    assert found[1].isinf().tolist() == [[[True, False], [False, False]]]


def test_a_region_without_samples_is_zero() -> None:
    found = golden("roi_align")(draw(1, 2, 8, 8), torch.tensor([[0, 3, 3, 3, 3]], dtype=torch.float64), 2, 2, 1.0, -1, True)
    assert torch.equal(found, torch.zeros(1, 2, 2, 2, dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_drawn_regions_lie_inside_follow_the_seed_and_have_a_clear_number_of_samples(dtype: torch.dtype) -> None:
    build, x, empty = golden("roi_align", "get_input"), torch.zeros(3, 1, 37, 61, dtype=dtype), torch.zeros(500, 5, dtype=dtype)
    boxes = build(x, empty, 7, 3, 0.1, 0, False, 1)[1]
    wide = boxes.double()
    assert set(wide[:, 0].tolist()) == {0, 1, 2}
    assert (wide[:, 1] < wide[:, 3]).all()
    assert (wide[:, 2] < wide[:, 4]).all()
    assert (wide[:, 1:] >= 0).all()
    assert (wide[:, 3] <= 600).all()
    assert (wide[:, 4] <= 360).all()
    for low, high, bins in ((1, 3, 3), (2, 4, 7)):
        per_bin = (wide[:, high] - wide[:, low]) * 0.1 / bins
        assert ((per_bin - per_bin.round()).abs() >= 1e-3).all()
    assert boxes.dtype is dtype
    assert not torch.equal(boxes, build(x, empty, 7, 3, 0.1, 0, False, 2)[1])


# Suppression


def loop_nms(boxes: np.ndarray[Any, Any], scores: np.ndarray[Any, Any], threshold: float) -> list[int]:
    kept: list[int] = []
    for index in sorted(range(len(scores)), key=lambda item: -scores[item]):
        if all(overlap(boxes[other], boxes[index]) <= threshold for other in kept):
            kept.append(index)
    return kept


def overlap(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    width, height = (max(min(a[2 + d], b[2 + d]) - max(a[d], b[d]), 0.0) for d in range(2))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return float(width * height / (sum(areas) - width * height + 1e-6))


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.8])
def test_nms_keeps_what_no_better_box_overlaps_too_much(threshold: float) -> None:
    """More boxes than are looked at together, so that suppression crosses the borders of blocks."""
    corner = draw(200, 2) * 5
    boxes, scores = torch.cat([corner, corner + 1 + draw(200, 2).abs() * 3], dim=1), draw(200)
    found = golden("nms")(boxes, scores, threshold)
    assert found.tolist() == loop_nms(boxes.numpy(), scores.numpy(), threshold)
    assert found.dtype is torch.int64


def test_nms_edge_cases_are_as_the_text_says() -> None:
    nms, box = golden("nms"), [0.0, 0.0, 1.0, 1.0]
    scores = torch.tensor([0.5, 0.9, 0.9])
    assert nms(torch.tensor([box] * 3), scores, 0.5).tolist() == [1]  # equal boxes and scores
    assert nms(torch.zeros(3, 4), scores, 0.5).tolist() == [1, 2, 0]  # empty boxes
    assert nms(torch.tensor([box, [1.0, 0.0, 2.0, 1.0], [5.0, 5.0, 6.0, 6.0]]), scores, 0.1).tolist() == [1, 2, 0]  # touching
    assert nms(torch.tensor([[0.0, 0.0, 2.0, 1.0], box, box]), torch.tensor([0.9, 0.8, 0.1]), 0.5).tolist() == [0, 1]  # 1 / (2 + 1e-6), just under
    assert nms(torch.tensor([box, [math.nan] * 4, box]), torch.tensor([0.9, 0.8, 0.1]), 0.5).tolist() == [0]
    assert nms(torch.tensor([[5.0, 5.0, 6.0, 6.0], [math.nan] * 4, box]), torch.tensor([0.1, 0.8, 0.3]), 0.5).tolist() == [1]
    assert nms(torch.zeros(0, 4), torch.zeros(0), 0.5).tolist() == []
    with pytest.raises(ValueError, match=r"\[N, 4\]"):
        nms(torch.zeros(3, 5), scores, 0.5)


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.82])
@pytest.mark.parametrize(("low", "high"), [(-0.3, 0.3), (400.0, 1000.0)])
def test_drawn_boxes_give_float32_and_float64_the_same_answer(threshold: float, low: float, high: float) -> None:
    build, nms = golden("nms", "get_input"), golden("nms")
    given = (draw(20000, 4).float() + 1) / 2 * (high - low) + low
    given[:3] = math.nan
    boxes, scores = build(given, torch.zeros(20000), threshold, 3)
    kept = nms(boxes, scores, threshold)
    assert torch.equal(kept, nms(boxes.double(), scores.double(), threshold))
    assert 50 < len(kept) < 3000
    assert scores.unique().numel() == 20000
    assert (boxes[3:, :2] <= boxes[3:, 2:]).all()
    assert boxes[:3].isnan().all()
    assert boxes[3:].min() < low + (high - low) / 20
    assert boxes[3:].max() > high - (high - low) / 20
    other = build(given, torch.zeros(20000), threshold, 4)
    assert not torch.equal(boxes[3:], other[0][3:])
    assert not torch.equal(scores, other[1])


@pytest.mark.parametrize("name", ["resize_bilinear", "grid_sampler_3d", "roi_align"])
@pytest.mark.parametrize(("low", "high", "signs"), [(-3.0, 3.0, {-1, 1}), (-8.0, -0.1, {-1}), (0.0, 5.0, {1}), (-60000.0, 50000.0, {-1, 1}), (0.0, 0.0, {0})])
def test_values_to_be_interpolated_have_one_sign_in_a_channel_and_stay_in_their_range(name: str, low: float, high: float, signs: set[int]) -> None:
    x = ((draw(2, 3, 4, 5) + 1) / 2 * (high - low) + low).half()
    x[0, 0, 0, 0], x[1, 2, 3, 4] = -math.inf, math.nan
    built = golden(name, "_one_sign")(x)
    is_ordinary = x.isfinite()
    assert torch.equal(built.isfinite(), is_ordinary)
    found = set()
    for channel in range(3):
        values = built[:, channel][is_ordinary[:, channel]]
        found |= set(values.sign().tolist())
        assert len(values.sign().unique()) == 1
        assert values.abs().max() <= 4.01 * values.abs().min()
        assert x[is_ordinary].min() <= values.min()
        assert values.max() <= x[is_ordinary].max()
    assert found == signs
