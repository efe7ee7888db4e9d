"""The two shared memories of a session: inputs that the kernel's process can only read, outputs that it fills; slots of equal layout in both.

Problem: inputs change for every call, at addresses that stay, and no message may carry them: the time of a batch has to be that of its calls.
Approach: the parent maps both files before it seals the first one against every further writable mapping (F_SEAL_FUTURE_WRITE), so that it
alone can write there.
Limits: a case of which two calls do not fit is not evaluated.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.errors import EvaluatorError
from piton.core.execution import TensorArgument

ARENA_BYTES = 1 << 30
"""Of each of the two files: address space; memory is taken as slots are used."""
WANTED_BYTES = 96 << 20
"""Memory that the slots of a case take together unless two calls need more: a few times the last-level cache of a large processor."""
FEWEST_SLOTS = 2
MOST_CALLS = 32
"""Calls of a batch at most (facts: batches of 1 to 32 calls measured kernels of 115 us within 3 %)."""
POISON = 0xA5
"""What outputs hold before a call. No float that an honest kernel computes throughout."""
OTHER_POISON = 0x5A
_ALIGNMENT = 64
"""Bytes: a cache line, and the width of the widest vector register."""
_F_SEAL_FUTURE_WRITE = 0x10
"""linux/fcntl.h, since Linux 5.1; not in Python's fcntl before 3.13."""
_SIZE_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


@dataclass(frozen=True)
class Layout:
    """Where the tensors of one call lie in a slot."""

    input_offsets: tuple[int, ...]
    output_offsets: tuple[int, ...]
    input_stride: int
    output_stride: int
    slots: int

    @property
    def call_bytes(self) -> int:
        """Inputs and outputs of one call."""
        return self.input_stride + self.output_stride


def layout_of(inputs: Sequence[TensorArgument], outputs: Sequence[TensorArgument]) -> Layout:
    """The layout of a case. Raises EvaluatorError for one of which two calls do not fit."""
    input_offsets, input_stride = _offsets(inputs)
    output_offsets, output_stride = _offsets(outputs)
    largest = max(input_stride, output_stride)
    if largest * FEWEST_SLOTS > ARENA_BYTES:
        raise EvaluatorError(
            "the case is too large for target cpu", expected=f"at most {ARENA_BYTES // FEWEST_SLOTS} bytes of inputs or outputs", found=f"{largest}"
        )
    wanted = WANTED_BYTES // (input_stride + output_stride)
    return Layout(input_offsets, output_offsets, input_stride, output_stride, min(MOST_CALLS, max(FEWEST_SLOTS, wanted)))


class Arena:
    """Both files, mapped here."""

    def __init__(self) -> None:
        """Raises EvaluatorError on a kernel without F_SEAL_FUTURE_WRITE."""
        self.inputs_fd, self._inputs = _shared("piton-cpu-inputs")
        self.outputs_fd, self._outputs = _shared("piton-cpu-outputs")
        try:
            fcntl.fcntl(self.inputs_fd, fcntl.F_ADD_SEALS, _SIZE_SEALS | _F_SEAL_FUTURE_WRITE | fcntl.F_SEAL_SEAL)
            fcntl.fcntl(self.outputs_fd, fcntl.F_ADD_SEALS, _SIZE_SEALS | fcntl.F_SEAL_SEAL)
        except OSError as error:
            self.close()
            raise EvaluatorError("inputs can't be sealed against the kernel", expected="Linux 5.1 or later", found=str(error)) from None

    def write_inputs(self, layout: Layout, slot: int, data: Sequence[memoryview]) -> None:
        """Put the inputs of one call into a slot."""
        for offset, part in zip(layout.input_offsets, data, strict=True):
            start = slot * layout.input_stride + offset
            self._inputs[start : start + part.nbytes] = part.cast("B") if part.nbytes else b""

    def read_inputs(self, layout: Layout, slot: int) -> bytes:
        """All input bytes of a slot."""
        return self._inputs[slot * layout.input_stride : (slot + 1) * layout.input_stride]

    def poison(self, layout: Layout, slot: int, value: int) -> None:
        """Fill the outputs of a slot with one byte value."""
        start = slot * layout.output_stride
        self._outputs[start : start + layout.output_stride] = bytes((value,)) * layout.output_stride

    def read_outputs(self, layout: Layout, slot: int) -> bytes:
        """A copy of all output bytes of a slot."""
        return self._outputs[slot * layout.output_stride : (slot + 1) * layout.output_stride]

    def close(self) -> None:
        """Give the memory back; safe to call twice."""
        self._inputs.close()
        self._outputs.close()
        for name in ("inputs_fd", "outputs_fd"):
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
            setattr(self, name, -1)


def can_seal() -> bool:
    """True where this kernel can close a memory file against further writable mappings."""
    fd = os.memfd_create("piton-cpu-probe", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _F_SEAL_FUTURE_WRITE)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def nbytes(tensor: TensorArgument) -> int:
    """Bytes of a dense tensor."""
    return tensor.dtype.bytes_of(math.prod(tensor.shape))


def _offsets(tensors: Sequence[TensorArgument]) -> tuple[tuple[int, ...], int]:
    """Offset of each, and the size of a slot, which is never 0 so that it can be mapped."""
    offsets, end = [], 0
    for tensor in tensors:
        offsets.append(end)
        end += -(-nbytes(tensor) // _ALIGNMENT) * _ALIGNMENT
    return tuple(offsets), max(end, _ALIGNMENT)


def _shared(name: str) -> tuple[int, mmap.mmap]:
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, ARENA_BYTES)
    return fd, mmap.mmap(fd, ARENA_BYTES)
