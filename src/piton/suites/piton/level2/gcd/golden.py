"""Greatest common divisor of two integers, with broadcasting: the defining code of `gcd`."""

import torch


def gcd(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """Greatest common divisor of abs(x1) and abs(x2), element by element; their broadcast shape and their dtype.

    The least integer has no magnitude in its dtype: Euclid's remainders then carry a minus sign, which the last step takes away. Only a result that is that
    magnitude itself (of the least integer with itself or 0) wraps to the least integer. x1 and x2 are not changed. Raises RuntimeError when shapes do not fit.
    """
    return torch.gcd(x1, x2).abs_()
