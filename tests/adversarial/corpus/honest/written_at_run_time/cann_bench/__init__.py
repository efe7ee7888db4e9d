"""The host's code is written and compiled at run time."""

import torch

from .honest import run

namespace: dict = {"run": run}
exec("def call(x, y, factor, offset):\n    run(x, y, None, factor, offset)", namespace)


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    y = torch.empty_like(x)
    namespace["call"](x, y, scale, shift)
    return y
