"""Sampling of volumes at the points of a grid: the defining code of `grid_sampler_3d`."""

import torch

_TIE_MARGIN = 1 / 32
"""Nearest-neighbour points keep this distance, in voxels, from the middle between two voxels, where a rounding decides which one is read."""


def grid_sampler_3d(
    x: torch.Tensor, grid: torch.Tensor, interpolation_mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> torch.Tensor:
    """y[n, c, p] = x[n, c] at the point grid[n, p] = (w, h, d) in [-1, 1]; y is [N, C, OD, OH, OW] for x [N, C, D, H, W] and grid [N, OD, OH, OW, 3].

    float16 is computed in float32 and rounded once at the end. Raises RuntimeError or ValueError for other shapes and for an unknown mode.
    """
    wide, points = (item.float() if item.dtype is torch.float16 else item for item in (x, grid))
    sampled = torch.nn.functional.grid_sample(wide, points, mode=interpolation_mode, padding_mode=padding_mode, align_corners=align_corners)
    return sampled.to(x.dtype)


def get_input(x: torch.Tensor, grid: torch.Tensor, interpolation_mode: str, align_corners: bool) -> list[torch.Tensor]:
    """x with one sign in each channel; for `nearest`, coordinates of the grid near a tie moved to that of both voxels nearer to the middle."""
    if interpolation_mode != "nearest":
        return [_one_sign(x), grid]
    sizes = torch.tensor(x.shape[:1:-1], dtype=torch.float64)
    exact = grid.double()
    voxel = (exact + 1) / 2 * (sizes - 1) if align_corners else ((exact + 1) * sizes - 1) / 2
    inner = torch.where(exact < 0, voxel.ceil(), voxel.floor())
    moved = 2 * inner / (sizes - 1).clamp(min=1) - 1 if align_corners else (2 * inner + 1) / sizes - 1
    is_near = (voxel - voxel.round()).abs() > 0.5 - _TIE_MARGIN
    return [_one_sign(x), torch.where(is_near, moved, exact).to(grid.dtype)]


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
