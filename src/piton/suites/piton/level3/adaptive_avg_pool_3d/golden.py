"""Average pooling to a given size: the defining code of `adaptive_avg_pool_3d`."""

import torch

_HALF = (torch.float16, torch.bfloat16)


def adaptive_avg_pool_3d(x: torch.Tensor, output_size: list[int]) -> torch.Tensor:
    """y[n, c, i, j, k] = mean of x[n, c] over the window of (i, j, k); x is [N, C, D, H, W], y [N, C, *output_size].

    Along an axis of size S the window of index i of O goes from floor(i S / O) to ceil((i + 1) S / O). float16 and bfloat16 are summed in float32 and rounded
    once at the end. Raises ValueError unless x has five axes and output_size three numbers.
    """
    if x.dim() != 5 or len(output_size) != 3:
        raise ValueError(f"x has {x.dim()} axes and output_size {len(output_size)} numbers, not 5 and 3")
    depth, rows, columns = output_size
    wide = x.float() if x.dtype in _HALF else x
    return torch.nn.functional.adaptive_avg_pool3d(wide, (depth, rows, columns)).to(x.dtype)
