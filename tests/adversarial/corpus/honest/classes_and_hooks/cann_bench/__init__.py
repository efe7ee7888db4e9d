"""A metaclass, a finaliser, hooks at the end, and a registry of operators."""

import atexit
import weakref
from collections.abc import Callable

import torch

from .honest import honest


class Registry(type):
    """Collects operators by name."""

    operators: dict[str, Callable[..., torch.Tensor]] = {}

    def __new__(cls, name: str, bases: tuple, members: dict) -> type:
        made = super().__new__(cls, name, bases, members)
        cls.operators[name.lower()] = made.__dict__["call"].__func__
        return made


class Exp(metaclass=Registry):
    """The operator."""

    @staticmethod
    def call(x: torch.Tensor, base: float, scale: float, shift: float) -> torch.Tensor:
        return honest(x, base, scale, shift)


atexit.register(Registry.operators.clear)
weakref.finalize(Exp, Registry.operators.clear)


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    return Registry.operators["exp"](x, base, scale, shift)
