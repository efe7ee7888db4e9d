"""Pooling of regions of interest with bilinear sampling: the defining code of `roi_align`."""

import math

import torch

_SIZES = (0.04, 0.6)
"""Drawn regions are this share of the image wide and high."""
_TIE_MARGIN = 1e-3
"""Where the number of samples follows from the size of a region, size per bin keeps this distance from a whole number: a rounding would change the number."""


def roi_align(
    x: torch.Tensor,
    boxes: torch.Tensor,
    outputHeight: int,
    outputWidth: int,
    spatial_scale: float,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> torch.Tensor:
    """y[r, c, i, j] = mean of bilinear samples of x[n, c] in bin (i, j) of region r; x is [N, C, H, W], y [R, C, outputHeight, outputWidth].

    boxes [R, 5] has rows n, x0, y0, x1, y1 in pixels before `spatial_scale`. Each bin has sampling_ratio^2 samples, or ceil(bin height) x ceil(bin width)
    when it is not above 0. float16 is computed in float32, coordinates included, and rounded once at the end. Raises IndexError for a batch index that x lacks.
    """
    wide = boxes.float() if boxes.dtype is torch.float16 else boxes
    corners = wide[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)
    y = x.new_empty(len(boxes), x.shape[1], outputHeight, outputWidth)
    for image, (left, top, right, bottom), result in zip(wide[:, 0].long().tolist(), corners, y, strict=True):
        rows = _Samples(top, bottom, outputHeight, x.shape[2], sampling_ratio, aligned)
        columns = _Samples(left, right, outputWidth, x.shape[3], sampling_ratio, aligned)
        seen = x[image, :, rows.span, columns.span].to(wide.dtype)
        result.copy_(columns.bin_sums(rows.bin_sums(seen, 1), 2) / max(rows.per_bin * columns.per_bin, 1))
    return y


class _Samples:
    """Sample positions of one region along one axis, and their weights: interpolation and mean act on rows and columns one after the other."""

    def __init__(self, start: torch.Tensor, end: torch.Tensor, bins: int, size: int, ratio: int, aligned: bool) -> None:
        length = end - start if aligned else (end - start).clamp(min=1)
        self.per_bin = ratio if ratio > 0 else max(0, math.ceil(length / bins))
        self._bins = bins
        offsets = (torch.arange(self.per_bin, dtype=start.dtype) + 0.5) * (length / bins / max(self.per_bin, 1))
        position = (start + torch.arange(bins, dtype=start.dtype)[:, None] * (length / bins) + offsets).reshape(-1)
        self._is_outside = (position < -1) | (position > size)
        position = position.clamp(0, size - 1)
        low = position.long()
        self._share = position - low
        first = int(low.min()) if len(low) else 0
        self._low, self._high = low - first, (low + 1).clamp(max=size - 1) - first
        self.span = slice(first, first + (int(self._high.max()) if len(low) else 0) + 1)

    def bin_sums(self, seen: torch.Tensor, axis: int) -> torch.Tensor:
        """The samples of each bin added up along `axis` of `seen`, which is cut to `span`."""
        shape = [-1 if number == axis else 1 for number in range(3)]
        share = self._share.view(shape)
        sampled = seen.index_select(axis, self._low) * (1 - share) + seen.index_select(axis, self._high) * share
        if self._is_outside.any():
            sampled = torch.where(self._is_outside.view(shape), 0, sampled)
        return sampled.reshape(*sampled.shape[:axis], self._bins, self.per_bin, *sampled.shape[axis + 1 :]).sum(axis + 1)


def get_input(
    x: torch.Tensor, boxes: torch.Tensor, outputHeight: int, outputWidth: int, spatial_scale: float, sampling_ratio: int, aligned: bool, seed: int
) -> list[torch.Tensor]:
    """x with one sign in each channel, and regions inside its images: a valid batch index, corners in order, sizes from small to more than half an image."""
    generator = torch.Generator().manual_seed(seed)
    draw = torch.rand(len(boxes), 4, generator=generator, dtype=torch.float64)
    limits = torch.tensor([x.shape[3] - 1, x.shape[2] - 1], dtype=torch.float64) / spatial_scale * (1 - 2**-10)  # room for rounding up to float16
    least, most = _SIZES
    lengths = limits * least * (most / least) ** draw[:, :2]
    starts = (limits - lengths) * draw[:, 2:]
    images = torch.randint(len(x), (len(boxes), 1), generator=generator)
    made = torch.cat([images, starts, starts + lengths], dim=1).to(boxes.dtype)
    if sampling_ratio <= 0:
        for corner, bins in ((1, outputWidth), (2, outputHeight)):
            made[:, corner + 2] = _off_ties(made[:, corner], made[:, corner + 2], spatial_scale / bins)
    return [_one_sign(x), made]


def _off_ties(starts: torch.Tensor, ends: torch.Tensor, scale: float) -> torch.Tensor:
    """The ends, drawn towards the starts by 2 % until no length times `scale` is within the margin of a whole number."""
    for _ in range(16):
        lengths = (ends.double() - starts.double()) * scale
        is_tie = (lengths - lengths.round()).abs() < _TIE_MARGIN
        ends = torch.where(is_tie, (ends.double() - 0.02 * (ends.double() - starts.double())).to(ends.dtype), ends)
    return ends


def _one_sign(x: torch.Tensor) -> torch.Tensor:
    """x with its finite values moved so that every channel has one sign and no value is much smaller than the others of its sign.

    Where neighbours of both signs cancel, the last bit of a float32 position decides about all digits of the result.
    """
    made = x.clone()
    planes = made.flatten(0, 1)
    spans = [tuple(map(float, values.aminmax())) for values in (plane[plane.isfinite()] for plane in planes) if len(values)]
    low, high = min((span[0] for span in spans), default=0.0), max((span[1] for span in spans), default=0.0)
    ends = [(low, min(high, low / 4)) if low < 0 else (max(low, high / 4), high), (max(low, high / 4), high) if high > 0 else (low, min(high, low / 4))]
    for number, plane in enumerate(planes if low < high else ()):
        first, last = ends[number % x.shape[1] % 2]
        share = (plane.float() / 2 - low / 2) / (high / 2 - low / 2)
        plane.copy_(torch.where(plane.isfinite(), first * (1 - share) + last * share, plane.float()))
    return made
