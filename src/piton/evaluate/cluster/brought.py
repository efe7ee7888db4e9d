"""What a case leaves beside its result, on its way from a worker to the run folder: tensors of a failure, timelines."""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath

from piton.core.errors import EvaluatorError
from piton.core.report import CaseResult
from piton.evaluate.failures import FOLDER as FAILURES
from piton.evaluate.failures import FailureKeeper, folder_name
from piton.evaluate.traces import FOLDER as TRACES

Files = tuple[tuple[str, bytes], ...]
"""Paths below the run folder, and contents."""


class TensorsOnly(FailureKeeper):
    """The keeper of a worker: the driver makes the folder whole, since scripts and origin name its paths."""

    def keep_result(self, result: CaseResult) -> None:
        """Nothing: the result is on its way to the driver."""


def collect(run_dir: Path, operator: str, case_id: str) -> Files:
    """Take what a case left in a worker's folder; it is not there any more afterwards."""
    name = folder_name(operator, case_id)
    tensors = run_dir / FAILURES / f".{name}"
    found = [*sorted(tensors.glob("*")), *sorted((run_dir / TRACES).glob(f"{name}-*.json"))]
    files = tuple((path.relative_to(run_dir).as_posix(), path.read_bytes()) for path in found)
    for path in found:
        path.unlink()
    shutil.rmtree(tensors, ignore_errors=True)
    return files


def bring(run_dir: Path, files: Files) -> None:
    """Write what came from a worker. Raises OSError when it can't be written, EvaluatorError for a path that no worker of ours sends."""
    for name, data in files:
        parts = PurePosixPath(name).parts
        if parts[0] not in (FAILURES, TRACES) or ".." in parts:
            raise EvaluatorError("a worker sent a file that belongs nowhere", found=name)
        path = run_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        staging = path.with_name(f".new-{path.name}")
        staging.write_bytes(data)
        staging.replace(path)
