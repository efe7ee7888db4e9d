"""Operators of the reference kernels; `torch.ops.cann_bench.<operator>` works as well."""

import torch

from . import _C  # noqa: F401 - loading the library registers the operators


def apply_adam_w(  # noqa: PLR0913 - the arguments of the schema
    var: torch.Tensor,
    grad: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    weight_decay: float,
    epsilon: float = 1e-8,
    step: int = 1,
    maximize: bool = False,
) -> torch.Tensor:
    """Parameters after one step of AdamW; dense tensors of one shape and type: float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.apply_adam_w(var, grad, m, v, lr, beta1, beta2, weight_decay, epsilon, step, maximize)
    return y


def apply_rotary_pos_emb(
    query: torch.Tensor,
    key: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    layout: int = 0,
    rotaryMode: str = "half",  # noqa: N803 - the schema's name
) -> tuple[torch.Tensor, torch.Tensor]:
    """query and key with the pairs of each head turned by the angles of their position; dense and of one type: float16, bfloat16 or float32.

    Heads have an even number of elements, at most 4096.
    """
    turned: tuple[torch.Tensor, torch.Tensor] = torch.ops.cann_bench.apply_rotary_pos_emb(query, key, cos, sin, layout, rotaryMode)
    return turned


def arg_max(input: torch.Tensor, dim: int, keepdim: bool = False) -> torch.Tensor:  # noqa: A002 - the name of the schema
    """Index of the largest value along `dim`, as int64; dense input of float16, bfloat16, float32, int32 or int64."""
    indices: torch.Tensor = torch.ops.cann_bench.arg_max(input, dim, keepdim)
    return indices


def cross_entropy_loss(
    input: torch.Tensor,  # noqa: A002 - the name of the schema
    target: torch.Tensor,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> torch.Tensor:
    """-log(softmax(input, dim 1)[target]) per position, or their mean or sum; dense input of float16, bfloat16 or float32.

    `target` holds classes (int32, int64) or class probabilities in shape and dtype of input.
    """
    loss: torch.Tensor = torch.ops.cann_bench.cross_entropy_loss(input, target, reduction, ignore_index)
    return loss


def cummin(input: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: A002 - the name of the schema
    """Smallest value up to each position along `dim`, and its index as int64; dense input of float16, bfloat16, float32 or int32."""
    values, indices = torch.ops.cann_bench.cummin(input, dim)
    return values, indices


def dynamic_quant(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """int8 rows and the float32 scale of each: scale = max(largest magnitude, 1e-12) / 127, y = round(x / scale).

    Dense x of float16 or bfloat16, with rows of at most 16384 elements.
    """
    y, scale = torch.ops.cann_bench.dynamic_quant(x)
    return y, scale


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """e^(scale * x + shift), or base^(scale * x + shift) for a positive base; dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.exp(x, base, scale, shift)
    return y


def foreach_addcdiv_scalar(x1: list[torch.Tensor], x2: list[torch.Tensor], x3: list[torch.Tensor], scalar: float) -> list[torch.Tensor]:
    """x1[i] + x2[i] / x3[i] * scalar for every i; dense tensors of one type: float16, bfloat16 or float32."""
    y: list[torch.Tensor] = torch.ops.cann_bench.foreach_addcdiv_scalar(x1, x2, x3, scalar)
    return y


def foreach_norm(x: list[torch.Tensor], scalar: float) -> list[torch.Tensor]:
    """The norm of order `scalar` of each tensor, without axes; dense tensors of one type: float16, bfloat16 or float32."""
    y: list[torch.Tensor] = torch.ops.cann_bench.foreach_norm(x, scalar)
    return y


def gather(x: torch.Tensor, index: torch.Tensor, dim: int = 0) -> torch.Tensor:
    """x[..., index[..., i, ...], ...] with i on axis `dim`; dense x of float16, bfloat16, float32, int8, int32 or int64, index of int8, int32 or int64."""
    y: torch.Tensor = torch.ops.cann_bench.gather(x, index, dim)
    return y


def gcd(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """Greatest common divisors of x1 and x2, broadcast; dense and of one type: int16, int32 or int64."""
    y: torch.Tensor = torch.ops.cann_bench.gcd(x1, x2)
    return y


def gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """x * Phi(x) ("none") or its tanh form ("tanh"); dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.gelu(x, approximate)
    return y


def grid_sampler_3d(
    x: torch.Tensor, grid: torch.Tensor, interpolation_mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> torch.Tensor:
    """Volumes x [N, C, D, H, W] sampled at the points of grid [N, OD, OH, OW, 3]; dense, both float16 or both float32."""
    y: torch.Tensor = torch.ops.cann_bench.grid_sampler_3d(x, grid, interpolation_mode, padding_mode, align_corners)
    return y


def group_norm(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, num_groups: int, epsilon: float) -> torch.Tensor:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, by groups of channels; dense tensors of one type: float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.group_norm(x, gamma, beta, num_groups, epsilon)
    return y


def masked_scale(x: torch.Tensor, mask: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """x * mask * scale; dense x of float16, bfloat16 or float32, dense mask of its shape and of these types, int8 or uint8."""
    y: torch.Tensor = torch.ops.cann_bench.masked_scale(x, mask, scale)
    return y


def maximum(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """The larger elements of x1 and x2, broadcast, NaN where either is NaN; dense and of one type: bfloat16, float16, float32, int8, int32 or int64."""
    y: torch.Tensor = torch.ops.cann_bench.maximum(x1, x2)
    return y


def mish(x: torch.Tensor) -> torch.Tensor:
    """x * tanh(ln(1 + e^x)); dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.mish(x)
    return y


def resize_bilinear(
    x: torch.Tensor, output_size: list[int] | None = None, align_corners: bool = False, scale_factor: list[float] | None = None
) -> torch.Tensor:
    """Images x [N, C, H, W] interpolated bilinearly at `output_size` or floor(H, W times `scale_factor`); dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.resize_bilinear(x, output_size, align_corners, scale_factor)
    return y


def rms_norm(x: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6) -> torch.Tensor:
    """x / sqrt(mean(x^2) + epsilon) * gamma along the last axis; dense x and gamma of one type: float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.rms_norm(x, gamma, epsilon)
    return y


def scatter(data: torch.Tensor, dim: int, indices: torch.Tensor, updates: torch.Tensor, reduce: str | None = None) -> torch.Tensor:
    """data with updates at, or combined with, the places that indices names along `dim`; dense float16, bfloat16, float32, int32 or int64."""
    y: torch.Tensor = torch.ops.cann_bench.scatter(data, dim, indices, updates, reduce)
    return y


def sigmoid(x: torch.Tensor) -> torch.Tensor:
    """1 / (1 + e^-x); dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.sigmoid(x)
    return y


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Exponentials of x along `dim`, divided by their sum; dense x of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.softmax(x, dim)
    return y


def swi_glu(input: torch.Tensor, dim: int = -1) -> torch.Tensor:  # noqa: A002 - the name of the schema
    """a * sigmoid(a) * b for the halves a and b of `input` along `dim`; dense input of float16, bfloat16 or float32."""
    y: torch.Tensor = torch.ops.cann_bench.swi_glu(input, dim)
    return y


def unsorted_segment_sum(data: torch.Tensor, segment_ids: torch.Tensor, num_segments: int) -> torch.Tensor:
    """Sums of the rows of data with equal id; dense data of float16, bfloat16, float32, int32 or int64, segment_ids of int32 or int64."""
    y: torch.Tensor = torch.ops.cann_bench.unsorted_segment_sum(data, segment_ids, num_segments)
    return y
