"""Golden worker: the only process that runs golden.py. It gets requests and an empty memory file over one socket and writes tensors into the file.

Started through `Runner.fork_worker`; it holds no secrets of the run beyond the case it is asked for, and its replies are checked like any other.
"""

from __future__ import annotations

import array
import json
import math
import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict

from piton.core import heap
from piton.core.canonical import digest
from piton.core.case import Case
from piton.core.errors import PitonError
from piton.core.operator import Operator

if TYPE_CHECKING:
    from piton.numerics.dtypes import AnyArray
    from piton.numerics.inputs import Inputs

MESSAGE_BYTES = 1 << 18
"""Bound on one request or reply; data goes through the memory file."""
OUTPUT_PREFIX = "output:"
"""Tells an output from an input in the index of an entry."""
_TEXT = 4000
_ALIGNMENT = 64


class GoldenRequest(BaseModel):
    """What to compute: inputs and golden in float64 (`float64`), or the same code in the outputs' own precision (`native`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    operator: Operator
    case: Case
    suite_version: str
    seed: int
    shift: float = 0.0
    """Added to every floating input (two-trial mode)."""
    precision: Literal["float64", "native"] = "float64"
    wanted: Literal["tensors", "trace", "given"] = "tensors"
    """Data of the case, or which operators its golden starts (JSON of an EagerTrace; `precision` does not matter then), or the outputs for inputs that lie in
    the memory file already: `calls` times those of the case, in its order, one behind the other."""
    calls: int = 1


def serve(arguments: Mapping[str, str], fds: Mapping[str, int]) -> None:
    """Answer requests until the parent closes the socket.

    A worker that has more than `idle_bytes` of memory when a golden is done, torch included, gives back what it does not use.
    """
    idle_bytes = int(arguments["idle_bytes"])
    from piton.numerics.golden import prepare_process

    heap.keep_all()
    capability = prepare_process(threads=1)  # the order of a parallel sum would depend on the machine; several workers use several cores
    if capability != "DEFAULT":
        raise RuntimeError(f"torch has already chosen {capability} code in this process; golden results would depend on the host")
    with socket.socket(fileno=fds["control"]) as control:
        while (message := _receive(control)) is not None:
            control.send(_answer(*message))
            if resident_bytes() > idle_bytes:
                heap.give_back()


def resident_bytes() -> int:
    """Memory that this process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _receive(control: socket.socket) -> tuple[bytes, int] | None:
    text, ancillary, _, _ = control.recvmsg(MESSAGE_BYTES, socket.CMSG_SPACE(array.array("i").itemsize))
    if not text:
        return None
    descriptors = array.array("i", ancillary[0][2])
    return text, descriptors[0]


def _answer(text: bytes, descriptor: int) -> bytes:
    try:
        with os.fdopen(descriptor, "r+b") as target:
            request = GoldenRequest.model_validate_json(text)
            index = _trace(request, target) if request.wanted == "trace" else _compute(request, target)
        return json.dumps({"tensors": index}).encode()
    except PitonError as error:
        return _failure(str(error))
    except Exception as error:  # noqa: BLE001 - golden.py is foreign code: whatever it raises is reported as our failure, never a verdict
        return _failure(f"golden raised {type(error).__name__}: {error}")


def _failure(message: str) -> bytes:
    return json.dumps({"error": message[:_TEXT]}).encode()


def _compute(request: GoldenRequest, target: BinaryIO) -> list[dict[str, object]]:
    """Write inputs and outputs (only outputs for a same-dtype run) to `target`; returns where each tensor lies."""
    from piton.numerics.golden import run_golden

    operator, case = request.operator, request.case
    is_given = request.wanted == "given"
    each = _given(request, target) if is_given else [_inputs(request)]
    index = _Writer(target)
    if request.precision == "float64" and not is_given:
        for name, value in each[0].items():
            index.add_input(case, name, value)
    for inputs in each:
        for output in run_golden(operator.golden_path, operator, case, inputs, request.precision):
            index.add(OUTPUT_PREFIX + output.name, None, output.dtype.value, output.shape, output.data)
    return index.tensors


def _trace(request: GoldenRequest, target: BinaryIO) -> list[dict[str, object]]:
    """Write the trace of the golden to `target`; no tensors come with it."""
    from piton.numerics.eager_trace import trace_golden

    operator, case = request.operator, request.case
    target.write(trace_golden(operator.golden_path, operator, case, lambda: _inputs(request)).model_dump_json().encode())
    return []


def _inputs(request: GoldenRequest) -> Inputs:
    from piton.numerics.golden import build_inputs, draw_own_inputs
    from piton.numerics.inputs import make_inputs

    operator, case = request.operator, request.case
    if operator.draws_own_inputs:
        return draw_own_inputs(operator.golden_path, operator, case, structure_seed(request))
    drawn = make_inputs(request.suite_version, case, request.seed, shift=request.shift)
    return build_inputs(operator.golden_path, operator, case, drawn, structure_seed(request))


def _given(request: GoldenRequest, target: BinaryIO) -> list[Inputs]:
    """The inputs of each call that the memory file holds, which is then empty again."""
    from piton.numerics.dtypes import carried_shape, view_raw

    data, at = memoryview(target.read()), 0
    made: list[Inputs] = [{} for _ in range(request.calls)]
    for inputs in made:
        for item in request.case.inputs:
            size = item.dtype.bytes_of(math.prod(item.shape))
            value = view_raw(data[at : at + size], item.dtype).reshape(carried_shape(item.dtype, item.shape))
            at += size
            inputs[item.argument] = value if item.list_index is None else [*inputs.get(item.argument, []), value]
    target.seek(0)
    target.truncate()
    return made


def structure_seed(request: GoldenRequest) -> int:
    """Seed of the operator's own `get_input`, 32 bits wide, from the same things as every other input."""
    return int(digest([request.suite_version, request.case.digest(), request.seed, "get_input"])[:8], 16)


class _Writer:
    """Appends tensors to a file and notes where they lie."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._offset = 0
        self.tensors: list[dict[str, object]] = []

    def add_input(self, case: Case, name: str, value: AnyArray | list[AnyArray]) -> None:
        """One input, or all elements of a list input."""
        from piton.numerics.dtypes import raw_bytes

        arrays = value if isinstance(value, list) else [value]
        forms = [item for item in case.inputs if item.argument == name]
        for form, values in zip(forms, arrays, strict=True):
            self.add(name, form.list_index, form.dtype.value, values.shape, raw_bytes(values))

    def add(self, name: str, list_index: int | None, dtype: str, shape: tuple[int, ...], data: memoryview) -> None:
        """Append one tensor, aligned so that it can be viewed in place."""
        padding = -self._offset % _ALIGNMENT
        self._target.write(b"\0" * padding)
        self._target.write(data)
        offset = self._offset + padding
        self._offset = offset + data.nbytes
        self.tensors.append({"name": name, "list_index": list_index, "dtype": dtype, "shape": shape, "offset": offset, "nbytes": data.nbytes})
