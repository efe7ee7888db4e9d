"""What golden workers answer, read as what it is: the words of a process that runs code from outside."""

from __future__ import annotations

import json
import os

from pydantic import TypeAdapter, ValidationError

from piton.core.eager import EagerTrace
from piton.core.errors import EvaluatorError, GoldenError, ProcessLostError
from piton.core.protocols import RunningProcess
from piton.evaluate.cache import StoredTensor

_MOST_TRACE_BYTES = 16 << 20
"""Far above the longest trace of ours: 4096 different launches take 3 MB."""
_TENSORS = TypeAdapter(tuple[StoredTensor, ...])


def parse_reply(reply: bytes, where: str, process: RunningProcess) -> tuple[StoredTensor, ...]:
    """Where the tensors lie that a worker wrote. Raises EvaluatorError for an error, an end, and nonsense."""
    if not reply:
        ended = process.wait(5.0)
        found = _ending(ended.stderr if ended else "")
        raise ProcessLostError("the golden worker died", where=where, found=found, action="see whether golden.py ends its process or needs too much memory")
    try:
        content = json.loads(reply)
        if "error" in content:
            raise GoldenError("the golden could not be run", where=where, found=str(content["error"]))
        return _TENSORS.validate_python(content["tensors"])
    except (ValueError, TypeError, KeyError, ValidationError) as error:
        raise GoldenError("the golden worker answered nonsense", where=where, found=str(error).splitlines()[0]) from None


def read_all(descriptor: int, _tensors: tuple[StoredTensor, ...]) -> bytes:
    """What a worker wrote, up to one byte more than a trace may have."""
    return os.pread(descriptor, _MOST_TRACE_BYTES + 1, 0)


def parse_trace(text: bytes, where: str) -> EagerTrace:
    """The trace that a worker wrote. Raises EvaluatorError for anything else."""
    if len(text) > _MOST_TRACE_BYTES:
        raise EvaluatorError("the trace of a golden is too long", expected=f"at most {_MOST_TRACE_BYTES} bytes", found="more", where=where)
    try:
        return EagerTrace.model_validate_json(text)
    except ValidationError as error:
        raise EvaluatorError("the golden worker wrote no trace", where=where, found=str(error).splitlines()[0]) from None


def _ending(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-3:]) or "no message"
