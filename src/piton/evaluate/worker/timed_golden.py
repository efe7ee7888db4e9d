"""Runs a golden's same-dtype run under the measurement of the target `cpu`: the process whose time is T_baseline there.

It answers the same messages as the process of a kernel (targets.cpu.words). Unlike a golden worker it takes torch's best code for this processor, since its
results are dropped and only its time counts.
"""

from __future__ import annotations

import math
import mmap
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

from piton.core.case import Case
from piton.core.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch

_ALIGNMENT = 64
"""Of tensors in a slot; targets.cpu.arena."""


def serve(arguments: Mapping[str, str], fds: Mapping[str, int]) -> None:
    """Answer batches until the parent closes the channel."""
    import torch

    from piton.targets.cpu.python_kernel import serve as answer

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    operator, case = Operator.model_validate_json(arguments["operator"]), Case.model_validate_json(arguments["case"])
    with socket.socket(fileno=fds["channel"]) as channel:
        answer(channel, _GoldenSlots(fds["inputs"], operator, case), (), lambda: _caller(operator))


class _GoldenSlots:
    """Implements `python_kernel.Bound`, with the golden's keyword arguments as the only argument of a call."""

    def __init__(self, inputs_fd: int, operator: Operator, case: Case) -> None:
        self._inputs_fd = inputs_fd
        self._operator = operator
        self._case = case
        self.calls: list[list[object]] = []

    def bind(self, message: Sequence[int], kinds: Sequence[str]) -> None:
        """Tensors over every slot."""
        del kinds
        from piton.numerics.golden import golden_arguments

        stride, _, slots = message[1:4]
        data = mmap.mmap(self._inputs_fd, stride * slots, prot=mmap.PROT_READ)
        self.calls = [[golden_arguments(self._operator, self._case, self._tensors(data, slot * stride))] for slot in range(slots)]

    def _tensors(self, data: mmap.mmap, start: int) -> dict[str, object]:
        made: dict[str, object] = {}
        for item in self._case.inputs:
            tensor = _tensor(data, start, item.dtype.value, item.shape)
            start += -(-tensor.nbytes // _ALIGNMENT) * _ALIGNMENT
            if item.list_index is None:
                made[item.argument] = tensor
            else:
                made[item.argument] = [*made.get(item.argument, []), tensor]  # type: ignore[misc]
        return made


def _tensor(data: mmap.mmap, offset: int, dtype: str, shape: Sequence[int]) -> torch.Tensor:
    """A tensor over the shared memory; it cannot be written to, and a golden that tries ends its process."""
    import warnings

    import torch

    count = math.prod(shape)
    kind = getattr(torch, dtype)
    if count == 0:
        return torch.empty(tuple(shape), dtype=kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is not writable is the point
        return torch.frombuffer(data, dtype=kind, count=count, offset=offset).reshape(tuple(shape))


def _caller(operator: Operator) -> Callable[..., object]:
    from piton.numerics.golden_module import load_golden

    golden = load_golden(operator.golden_path)

    def call(arguments: dict[str, object]) -> None:
        golden.call(operator.name, arguments)

    return call
