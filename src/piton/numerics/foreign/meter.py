"""What a golden run of a task costs: memory, work, and whether it draws random numbers. Measured on tensors without data (device `meta`) where that works.

Memory is an estimate: data at rest in their own type and in float64, and twice the largest single operation in float64. A convolution of the CPU in float64
first copies its input into columns, which is often the largest tensor of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten
from torch.utils.flop_counter import flop_registry

_ELEMENT_WORK = 10
"""Operations counted for each element that an operation without a formula reads or writes: a transcendental function takes tens of cycles."""
_REST_WORK = 100
"""Operations counted for each element of inputs, state and results: it is drawn, widened, stored, read again and compared."""
_WIDE = 8
_STEPS = 2
"""An operation's results live beside those of the one before it."""
_RANDOM = ("dropout", "bernoulli", "rand", "normal", "uniform", "multinomial", "poisson", "exponential", "rrelu")


@dataclass
class Cost:
    """Filled in while the task runs."""

    rest_elements: int = 0
    rest_bytes: int = 0
    """Inputs and state in their own types."""
    largest: int = 0
    """Elements that the largest single operation holds."""
    work: float = 0.0
    random: set[str] = field(default_factory=set)
    """Operations of `forward` that drew random numbers."""

    @property
    def memory_bytes(self) -> int:
        """Estimated peak of the golden run: what is drawn, its copy, the float64 form, and the operations."""
        return 2 * self.rest_bytes + _WIDE * (self.rest_elements + _STEPS * self.largest)

    def add_rest(self, tensors: Iterator[torch.Tensor]) -> None:
        """Count tensors that stay for the whole run."""
        for tensor in tensors:
            self.rest_elements += tensor.numel()
            self.work += _REST_WORK * tensor.numel()
            self.rest_bytes += tensor.numel() * tensor.element_size()


class Meter(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own hook of subclasses has no types
    """Counts into a `Cost` what runs below it."""

    def __init__(self, cost: Cost) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.cost = cost

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        """Run one operation and count it."""
        named = dict(kwargs or {})
        result = func(*args, **named)
        tensors = [item for item in tree_flatten((args, named, result))[0] if isinstance(item, torch.Tensor)]
        elements = sum(item.numel() for item in tensors)
        packet = func._overloadpacket
        self.cost.largest = max(self.cost.largest, elements + _columns(packet, args, result))
        self.cost.work += _work(packet, args, named, result) + _ELEMENT_WORK * elements
        if _is_random(packet.__name__, args, named):
            self.cost.random.add(packet.__name__)
        return result


def _work(packet: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> float:
    formula = flop_registry.get(packet)
    return 0.0 if formula is None else float(formula(*args, **kwargs, out_val=result))


def _columns(packet: Any, args: tuple[Any, ...], result: Any) -> int:
    """Elements of the columns that a convolution of the CPU makes of its input."""
    if packet is not torch.ops.aten.convolution:
        return 0
    source, weight, is_transposed = args[0], args[1], bool(args[6])
    small = source if is_transposed else result
    return int(small.numel() // max(small.shape[1], 1) * (weight.numel() // max(weight.shape[0], 1)))


def _is_random(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if not any(part in name for part in _RANDOM) or name.startswith("_fused"):
        return False
    probability = args[1] if len(args) > 1 else kwargs.get("p")
    return not ("dropout" in name and probability == 0)
