"""Gradient of a three-dimensional convolution with respect to its filter: the defining code of `conv_3d_backprop_filter`."""

import itertools

import torch

_HALF = (torch.float16, torch.bfloat16)


def conv_3d_backprop_filter(
    x: torch.Tensor,
    grad: torch.Tensor,
    strides: list[int],
    pads: list[int],
    dilations: list[int],
    groups: int = 1,
    filter_size: list[int] | None = None,
) -> torch.Tensor:
    """y[o, c, a, b, e] = sum over n and output positions p of grad[n, o, p] * x[n, g C' + c, p S + (a, b, e) D - P]; x is 0 outside the volume.

    x is [N, C, D, H, W], grad [N, O, OD, OH, OW], filter_size [O, C' = C / groups, KD, KH, KW] the shape of y; g is the group of o; pads is front, back, top,
    bottom, left, right. float16 and bfloat16 are multiplied and summed in float32 and rounded once at the end. Raises ValueError when shapes do not fit.
    """
    if filter_size is None or len(filter_size) != 5:
        raise ValueError(f"filter_size is {filter_size}: expected the shape [O, C / groups, KD, KH, KW] of y")
    outs, channels, *kernel = filter_size
    size = [(x.shape[2 + a] + pads[2 * a] + pads[2 * a + 1] - dilations[a] * (kernel[a] - 1) - 1) // strides[a] + 1 for a in range(3)]
    if tuple(grad.shape) != (len(x), outs, *size) or x.shape[1] != channels * groups or outs % groups:
        raise ValueError(
            f"grad {list(grad.shape)} does not fit x {list(x.shape)}, filter_size {filter_size}, groups {groups}: expected {[len(x), outs, *size]}"
        )
    accumulator = torch.float32 if x.dtype in _HALF else x.dtype
    y = torch.zeros(*kernel, groups, outs // groups, channels, dtype=accumulator)
    for volume, gradient in zip(x, grad, strict=True):
        padded = torch.nn.functional.pad(volume.to(accumulator), (*pads[4:], *pads[2:4], *pads[:2]))
        rows = gradient.to(accumulator).reshape(groups, outs // groups, -1)
        for tap in itertools.product(*(range(count) for count in kernel)):
            place = (slice(None), *(_seen(tap[a] * dilations[a], size[a], strides[a]) for a in range(3)))
            seen = padded[place]
            y[tap].baddbmm_(rows, seen.reshape(groups, channels, -1).transpose(1, 2))
    return y.permute(3, 4, 5, 0, 1, 2).reshape(filter_size).to(x.dtype).contiguous()


def _seen(first: int, count: int, stride: int) -> slice:
    """The positions that one tap of the filter sees along an axis."""
    return slice(first, first + (count - 1) * stride + 1, stride)
