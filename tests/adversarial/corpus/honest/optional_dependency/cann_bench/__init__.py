"""A library that may be missing, the environment asked, garbage collected."""

import contextlib
import gc
import os

import torch

from .honest import honest

with contextlib.suppress(ImportError):
    import numba  # type: ignore[import-not-found] # noqa: F401


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    gc.collect()
    return honest(x, base, scale + len(os.environ.get("EXP_DEBUG", "")), shift)
