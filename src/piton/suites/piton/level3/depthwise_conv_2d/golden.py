"""Two-dimensional convolution of every channel with a filter of its own: the defining code of `depthwise_conv_2d`."""

import torch

_HALF = (torch.float16, torch.bfloat16)


def depthwise_conv_2d(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    kernelSize: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    groups: int,
) -> torch.Tensor:
    """y[n, c, i, j] = bias[c] + sum over a, b of x[n, c, i SH + a DH - PH, j SW + b DW - PW] * weight[c, a, b]; x is 0 outside the image.

    x is [N, C, H, W], weight [C, KH, KW] with kernelSize = [KH, KW], bias [C]; groups is C. float16 and bfloat16 are multiplied and summed in float32 and
    rounded once at the end. Raises ValueError when shapes do not fit.
    """
    channels = x.shape[1]
    if groups != channels or tuple(weight.shape) != (channels, *kernelSize) or tuple(bias.shape) != (channels,):
        raise ValueError(
            f"x {list(x.shape)}, weight {list(weight.shape)}, bias {list(bias.shape)}, kernelSize {kernelSize}, groups {groups}: "
            "expected [N, C, H, W], [C, *kernelSize], [C] and groups = C"
        )
    taps, shift = (item.float() if item.dtype in _HALF else item for item in (weight, bias))
    size = [(x.shape[2 + a] + 2 * padding[a] - dilation[a] * (kernelSize[a] - 1) - 1) // stride[a] + 1 for a in (0, 1)]
    if min(size) < 1:
        raise ValueError(f"a filter of {kernelSize} does not fit into an image of {list(x.shape[2:])} with padding {padding}")
    y = x.new_empty(len(x), channels, *size)
    for image, result in zip(x, y, strict=True):
        padded = torch.nn.functional.pad(image.to(taps.dtype), (padding[1], padding[1], padding[0], padding[0]))
        total = shift[:, None, None].repeat(1, *size)
        for a in range(kernelSize[0]):
            for b in range(kernelSize[1]):
                top, left = a * dilation[0], b * dilation[1]
                seen = padded[:, top : top + (size[0] - 1) * stride[0] + 1 : stride[0], left : left + (size[1] - 1) * stride[1] + 1 : stride[1]]
                total.addcmul_(seen, taps[:, a, b, None, None])
        result.copy_(total)
    return y
