"""Describe worker: runs the code of one foreign task to learn its signature, and writes what it learned into a memory file. One process per task."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from piton.core.errors import PitonError
from piton.core.foreign import ForeignTask, SizeBudget, TaskFacts

_TEXT = 4000


class DescribeRequest(BaseModel):
    """Which task, where its files lie, and how large it may be."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: ForeignTask
    folder: str
    budget: SizeBudget


class DescribeReply(BaseModel):
    """Facts, or why there are none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    facts: TaskFacts | None = None
    error: str = ""


def serve(arguments: Mapping[str, str], fds: Mapping[str, int]) -> None:
    """Describe the task of the argument `request` into the descriptor `reply`."""
    reply = _describe(DescribeRequest.model_validate_json(arguments["request"]))
    with os.fdopen(fds["reply"], "wb") as target:
        target.write(reply.model_dump_json().encode())


def _describe(request: DescribeRequest) -> DescribeReply:
    from piton.numerics.foreign.describe import describe
    from piton.numerics.golden import prepare_process

    prepare_process(threads=1)
    try:
        return DescribeReply(facts=describe(request.task, Path(request.folder), request.budget))
    except PitonError as error:
        return DescribeReply(error=str(error)[:_TEXT])
    except Exception as error:  # noqa: BLE001 - the task is foreign code and may break anything of ours; one task must not cost the others
        return DescribeReply(error=f"describing it raised {type(error).__name__}: {error}"[:_TEXT])
