"""Grey-scale dilation of images by a structuring element: the defining code of `dilation_2d`."""

import math

import torch

_EXPLICIT = ("VALID", "CALCULATED")


def dilation_2d(
    x: torch.Tensor,
    filter: torch.Tensor,
    strides: list[int],
    rates: list[int],
    padding_mode: str = "SAME",
    pads: list[int] = [0, 0, 0, 0],  # noqa: B006  # the interface's default; it is only read
    ceil_mode: bool = False,
    data_format: str = "NHWC",
) -> torch.Tensor:
    """y[b, i, j, c] = max over dy, dx of x[b, i SH + dy RH - PT, j SW + dx RW - PL, c] + filter[dy, dx, c]; x outside the image is -infinity.

    x is [N, H, W, C] and filter [KH, KW, C] (NHWC), or [N, C, H, W] and [C, KH, KW] (NCHW); strides and rates are [1, vertical, horizontal, 1]; pads is top,
    bottom, left, right and counts for VALID. float16 is added in float32 and rounded once. Raises ValueError for other modes, formats and channels.
    """
    if padding_mode not in ("SAME", *_EXPLICIT) or data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"padding_mode {padding_mode!r}, data_format {data_format!r}: SAME or VALID, NHWC or NCHW")
    images, taps = (x, filter) if data_format == "NHWC" else (x.permute(0, 2, 3, 1), filter.permute(1, 2, 0))
    if images.shape[3] != taps.shape[2]:
        raise ValueError(f"x has {images.shape[3]} channels, filter {taps.shape[2]}")
    taps = taps.float() if taps.dtype is torch.float16 else taps
    pairs = ((0, pads[0], pads[1]), (1, pads[2], pads[3]))
    rows, columns = (_extent(images.shape[1 + a], (taps.shape[a], strides[1 + a], rates[1 + a]), padding_mode, ends, ceil_mode) for a, *ends in pairs)
    y = x.new_empty(len(images), rows[0], columns[0], images.shape[3])
    for image, result in zip(images, y, strict=True):
        wide = image.to(taps.dtype)
        padded = torch.nn.functional.pad(wide, (0, 0, *columns[1:], *rows[1:]), value=-math.inf)
        result.copy_(_dilated(padded, taps, (strides[1], strides[2]), (rates[1], rates[2]), (rows[0], columns[0])))
    return y if data_format == "NHWC" else y.permute(0, 3, 1, 2).contiguous()


def _extent(size: int, window: tuple[int, int, int], padding_mode: str, ends: list[int], ceil_mode: bool) -> tuple[int, int, int]:
    """Output size along an axis, and padding before and after it; `window` is taps, stride, rate."""
    taps, stride, rate = window
    reach = (taps - 1) * rate + 1
    if padding_mode == "SAME":
        count = -(-size // stride)
        missing = max((count - 1) * stride + reach - size, 0)
        return count, missing // 2, missing - missing // 2
    free = size + sum(ends) - reach
    if free < 0:
        raise ValueError(f"a window of {reach} does not fit into {size + sum(ends)} padded rows or columns")
    count = (-(-free // stride) if ceil_mode else free // stride) + 1
    return count, ends[0], ends[1] + max((count - 1) * stride - free, 0)


def _dilated(padded: torch.Tensor, taps: torch.Tensor, stride: tuple[int, int], rate: tuple[int, int], size: tuple[int, int]) -> torch.Tensor:
    """The largest sum over all taps for one padded image [H, W, C]: tap by tap, so that no window is ever written out."""
    best: torch.Tensor | None = None
    for dy in range(taps.shape[0]):
        for dx in range(taps.shape[1]):
            top, left = dy * rate[0], dx * rate[1]
            seen = padded[top : top + (size[0] - 1) * stride[0] + 1 : stride[0], left : left + (size[1] - 1) * stride[1] + 1 : stride[1]]
            shifted = seen + taps[dy, dx]
            best = shifted if best is None else torch.maximum(best, shifted, out=best)
    assert best is not None
    return best
