"""Two-dimensional convolution with bias: the defining code of `conv_2d`."""

import torch

_HALF = (torch.float16, torch.bfloat16)
_BAND_ELEMENTS = 1 << 22
"""Unfolded windows that exist at a time: those of all output rows would be as many copies of x as the filter has taps."""


def conv_2d(
    x: torch.Tensor,
    filter: torch.Tensor,
    bias: torch.Tensor,
    strides: list[int],
    pads: list[int],
    dilations: list[int] = [1, 1],  # noqa: B006  # the interface's default; it is only read
) -> torch.Tensor:
    """y[n, o, i, j] = bias[o] + sum over c, a, b of x[n, c, i SH + a DH - top, j SW + b DW - left] * filter[o, c, a, b]; x is 0 outside.

    x is [N, C, H, W], filter [O, C, KH, KW], bias [O]; strides and dilations are vertical, horizontal; pads is top, bottom, left, right. float16 and bfloat16
    are multiplied and summed in float32 and rounded once at the end. Raises ValueError when shapes do not fit.
    """
    if x.shape[1] != filter.shape[1] or len(bias) != len(filter):
        raise ValueError(f"x {list(x.shape)}, filter {list(filter.shape)}, bias {list(bias.shape)} do not fit: [N, C, H, W], [O, C, KH, KW], [O]")
    kernel, shift = (item.float() if item.dtype in _HALF else item for item in (filter, bias))
    rows, columns = ((x.shape[2 + a] + pads[2 * a] + pads[2 * a + 1] - dilations[a] * (filter.shape[2 + a] - 1) - 1) // strides[a] + 1 for a in (0, 1))
    if rows < 1 or columns < 1:
        raise ValueError(f"a filter of {list(filter.shape[2:])} does not fit into an image of {list(x.shape[2:])} with padding {pads}")
    y = x.new_empty(len(x), len(filter), rows, columns)
    reach = dilations[0] * (filter.shape[2] - 1) + 1
    band = max(1, _BAND_ELEMENTS // (columns * kernel[0].numel()))
    for image, result in zip(x, y, strict=True):
        padded = torch.nn.functional.pad(image.to(kernel.dtype), (pads[2], pads[3], pads[0], pads[1]))
        for first in range(0, rows, band):
            count = min(band, rows - first)
            seen = padded[None, :, first * strides[0] : (first + count - 1) * strides[0] + reach]
            windows = torch.nn.functional.unfold(seen, kernel.shape[2:], dilation=tuple(dilations), stride=tuple(strides))[0]
            result[:, first : first + count] = torch.addmm(shift[:, None], kernel.flatten(1), windows).view(-1, count, columns)
    return y
