"""Golden worker: the only process that runs golden.py. It gets requests and an empty memory file over one socket and writes tensors into the file.

Started through `Runner.fork_worker`; it holds no secrets of the run beyond the case it is asked for, and its replies are checked like any other.
"""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from piton.core.case import Case
from piton.core.errors import PitonError
from piton.core.operator import Operator

MESSAGE_BYTES = 1 << 17
"""Bound on one request or reply; data goes through the memory file."""
OUTPUT_PREFIX = "output:"
"""Tells an output from an input in the index of an entry."""
_TEXT = 4000


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


def serve(arguments: Mapping[str, str], fds: Mapping[str, int]) -> None:
    """Answer requests until the parent closes the socket."""
    del arguments
    import torch

    torch.set_num_threads(1)  # the order of a parallel sum would depend on the machine; several workers use several cores
    with socket.socket(fileno=fds["control"]) as control:
        while (message := _receive(control)) is not None:
            control.send(_answer(*message))


def _receive(control: socket.socket) -> tuple[bytes, int] | None:
    text, ancillary, _, _ = control.recvmsg(MESSAGE_BYTES, socket.CMSG_SPACE(array.array("i").itemsize))
    if not text:
        return None
    descriptors = array.array("i", ancillary[0][2])
    return text, descriptors[0]


def _answer(text: bytes, descriptor: int) -> bytes:
    try:
        with os.fdopen(descriptor, "wb") as target:
            index = _compute(GoldenRequest.model_validate_json(text), target.fileno())
        return json.dumps({"tensors": index}).encode()
    except PitonError as error:
        return _failure(str(error))
    except Exception as error:  # noqa: BLE001 - golden.py is foreign code: whatever it raises is reported as our failure, never a verdict
        return _failure(f"golden raised {type(error).__name__}: {error}")


def _failure(message: str) -> bytes:
    return json.dumps({"error": message[:_TEXT]}).encode()


def _compute(request: GoldenRequest, descriptor: int) -> list[dict[str, object]]:
    from piton.numerics.golden import run_golden
    from piton.numerics.inputs import make_inputs

    inputs = make_inputs(request.suite_version, request.case, request.seed, shift=request.shift)
    return [{"inputs": len(inputs), "descriptor": descriptor, "golden": run_golden}]
