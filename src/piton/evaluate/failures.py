"""Reproducers of failed cases: `<run>/failures/<operator>-<case>/` with the tensors of the call, what was found, and a script that runs just that again.

Layout (docs/formats.md): `failure.json` says everything and lists the tensors; `input-*`, `expected-*`, `got-*` hold them; `rerun.sh` evaluates the case again
from the run's own copy of the submission. A failed build has one folder, `<operator>-build`, without tensors.

A folder is written under a name that begins with a dot and renamed when it is whole. Bounded: when the tensors of a case would take more than the run may use,
or leave too little room on the disk, the folder comes without them and says so. A disk that is full or closed
costs reproducers only, with one message; the run goes on.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from piton.core.canonical import digest, plain
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.execution import Build, OutputBuffer
from piton.core.report import CaseResult
from piton.core.submission import Submission
from piton.core.verdict import Verdict
from piton.evaluate.golden_service import CaseData
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import Events, Notice
from piton.evaluate.rerun import rerun_script
from piton.numerics.dtypes import from_torch_name, storage_dtype

FOLDER = "failures"
DESCRIPTION = "failure.json"
SCRIPT = "rerun.sh"
_RESERVE_BYTES = 1 << 28
"""Room that stays free on the disk for the journal, the report and everybody else."""
_NUMPYS_OWN = 1
"""`isbuiltin` of dtypes that .npy can name; everything else (bfloat16, 8-bit floats) is raw bytes."""
_MAX_NAME = 100


@dataclass(frozen=True)
class CallTensors:
    """What a failed call was given and what it left; the bytes of the outputs are valid until the session's next call."""

    data: CaseData
    outputs: tuple[OutputBuffer, ...]


@dataclass(frozen=True)
class _Tensor:
    """One tensor on its way to a file."""

    role: str
    """input, expected or got."""
    name: str
    dtype: str
    """Piton's name, or torch's where Piton has none."""
    shape: tuple[int, ...]
    data: memoryview | None

    @property
    def stem(self) -> str:
        return f"{self.role}-{_file_name(self.name)}"


class FailureKeeper:
    """Writes the reproducers of one run; safe to call from several lanes."""

    def __init__(self, run_dir: Path, request: EvaluationRequest, submission: Submission, events: Events, reserve_bytes: int = _RESERVE_BYTES) -> None:
        self._root = run_dir / FOLDER
        self._request = request
        self._submission = submission
        self._events = events
        self._reserve_bytes = reserve_bytes
        self._left_bytes = request.bounds.failure_bytes - _bytes_under(self._root)
        self._lock = threading.Lock()
        self._is_broken = False
        self._sweep()

    def lacks(self, result: CaseResult) -> bool:
        """True for a failed case without a folder."""
        return is_failure(result) and not (self._root / folder_name(result.operator, result.case.id) / DESCRIPTION).is_file()

    def keep_tensors(self, operator: str, case: Case, trial: int, tensors: CallTensors) -> None:
        """Write the tensors of a call that failed; `keep_result` makes the folder whole."""
        with self._lock, self._no_harm():
            staging = self._staging(folder_name(operator, case.id))
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir(parents=True)
            listed = self._write_tensors(staging, list(_tensors(tensors)))
            (staging / DESCRIPTION).write_text(json.dumps({"trial": trial, "tensors": listed}))

    def keep_result(self, result: CaseResult) -> None:
        """Finish the folder of a failed case; does nothing for one that passed or that we could not evaluate."""
        if is_failure(result):
            found = {"case": plain(result.case), "result": plain(result)}
            self._finish(folder_name(result.operator, result.case.id), result.operator, result.case.id, found)

    def keep_build(self, build: Build) -> None:
        """Write the folder of a failed build."""
        found = {"outcome": plain(build.outcome), "diagnostics": plain(build.diagnostics)}
        self._finish(f"{build.operator}-build", build.operator, "", found)

    def _finish(self, name: str, operator: str, case_id: str, found: dict[str, object]) -> None:
        with self._lock, self._no_harm():
            staging, place = self._staging(name), self._root / name
            staging.mkdir(parents=True, exist_ok=True)
            description = {"piton_failure": 1, "operator": operator, **self._origin(), **_read(staging / DESCRIPTION), **found}
            (staging / DESCRIPTION).write_text(json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
            (staging / SCRIPT).write_text(rerun_script(self._request, Path(self._submission.root).name, operator, case_id), encoding="utf-8")
            (staging / SCRIPT).chmod(0o755)
            shutil.rmtree(place, ignore_errors=True)
            staging.rename(place)

    def _origin(self) -> dict[str, object]:
        request = self._request
        chosen = {"suite": request.suite, "target": request.target, "seed": request.seed, "trials": request.trials, "auto_sync": request.auto_sync}
        return {"submission_digest": self._submission.digest(), **chosen, "precision_profile": request.precision_profile, "accuracy": request.accuracy}

    def _write_tensors(self, staging: Path, tensors: list[_Tensor]) -> list[dict[str, object]]:
        wanted = sum(tensor.data.nbytes for tensor in tensors if tensor.data is not None)
        why = self._why_too_much(wanted)
        if not why:
            self._left_bytes -= wanted
        return [_describe(tensor, staging, why) for tensor in tensors]

    def _why_too_much(self, wanted: int) -> str:
        if wanted > self._left_bytes:
            return f"left out: the tensors of this case take {wanted} bytes, and the reproducers of this run may take {max(self._left_bytes, 0)} more"
        free = shutil.disk_usage(self._root).free - self._reserve_bytes
        return f"left out: the tensors of this case take {wanted} bytes, and the disk has room for {max(free, 0)}" if wanted > free else ""

    def _staging(self, name: str) -> Path:
        return self._root / f".{name}"

    def _no_harm(self) -> _NoHarm:
        return _NoHarm(self)

    def give_up(self, error: OSError) -> None:
        """Say once that reproducers can't be written; what was begun is removed."""
        self._sweep()
        if not self._is_broken:
            self._is_broken = True
            found = error.strerror or str(error)
            self._events(Notice(f"failures can't be kept in {self._root}: {found}; the run goes on, --resume --keep-failures writes what is missing"))

    def _sweep(self) -> None:
        """Remove what was begun and never made whole."""
        for staging in self._root.glob(".*") if self._root.is_dir() else ():
            shutil.rmtree(staging, ignore_errors=True)


class _NoHarm:
    """Reproducers are an extra: what keeps them from being written must not cost a result."""

    def __init__(self, keeper: FailureKeeper) -> None:
        self._keeper = keeper

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, OSError):
            self._keeper.give_up(error)
            return True
        return False


def is_failure(result: CaseResult) -> bool:
    """True when the submission failed the case: neither passed, nor left out, nor void."""
    return not result.void and result.outcome.verdict not in (Verdict.PASSED, Verdict.NOT_RUN)


def folder_name(operator: str, case_id: str) -> str:
    """`<operator>-<case>`; an id that is no plain name gets one, with a digest so that no two share it."""
    return f"{operator}-{_file_name(case_id)}"


def _file_name(text: str) -> str:
    kept = re.sub(r"[^A-Za-z0-9_.-]", "_", text)[:_MAX_NAME]
    return kept if kept == text and not kept.startswith(".") else f"{kept.lstrip('.')}-{digest(text)[:8]}"


def _tensors(found: CallTensors) -> Iterator[_Tensor]:
    for item in found.data.inputs:
        part = item.tensor
        name = part.name if part.list_index is None else f"{part.name}.{part.list_index}"
        yield _Tensor("input", name, part.dtype.value, part.shape, item.data)
    names = [_element_name(golden.name) for golden in found.data.outputs]
    for name, golden in zip(names, found.data.outputs, strict=True):
        yield _Tensor("expected", name, golden.dtype.value, golden.shape, golden.data)
    for number, output in enumerate(found.outputs):
        name = names[number] if number < len(names) else f"surplus.{number}"
        yield _Tensor("got", name, _dtype_name(output.dtype_name), output.shape, output.data)


def _element_name(name: str) -> str:
    """`y.2` for the element `y[2]` of a list."""
    return name.replace("[", ".").replace("]", "")


def _dtype_name(torch_name: str) -> str:
    known = from_torch_name(torch_name)
    return known.value if known else torch_name


def _describe(tensor: _Tensor, staging: Path, why_not: str) -> dict[str, object]:
    entry: dict[str, object] = {"role": tensor.role, "name": tensor.name, "dtype": tensor.dtype, "shape": list(tensor.shape)}
    if tensor.data is None:
        return {**entry, "left_out": "there were no bytes to look at"}
    if why_not:
        return {**entry, "nbytes": tensor.data.nbytes, "left_out": why_not}
    return {**entry, "nbytes": tensor.data.nbytes, **_write(tensor, tensor.data, staging)}


def _write(tensor: _Tensor, data: memoryview, staging: Path) -> dict[str, str]:
    """The file of one tensor and how it is encoded: `npy`, or `raw` for what numpy has no name for (little-endian, dense, C order)."""
    dtype = _numpy_dtype(tensor, data.nbytes)
    file = f"{tensor.stem}.npy" if dtype is not None else f"{tensor.stem}.{_file_name(tensor.dtype)}.raw"
    with open(staging / file, "wb") as stream:
        if dtype is not None:
            np.save(stream, np.frombuffer(data, dtype=dtype).reshape(tensor.shape), allow_pickle=False)
        else:
            stream.write(data)
    return {"file": file, "encoding": "npy" if dtype is not None else "raw"}


def _numpy_dtype(tensor: _Tensor, nbytes: int) -> np.dtype[Any] | None:
    """The dtype that .npy names, when the bytes fit shape and dtype."""
    try:
        dtype = storage_dtype(DType(tensor.dtype))
    except (ValueError, EvaluatorError):  # a name of torch's that we have none for, or a packed format
        return None
    fits = dtype.itemsize * math.prod(tensor.shape) == nbytes
    return dtype if fits and dtype.isbuiltin == _NUMPYS_OWN else None


def _read(path: Path) -> dict[str, object]:
    """What `keep_tensors` wrote; a failure without a call (a crash on loading) has nothing."""
    if not path.is_file():
        return {"tensors": []}
    content: dict[str, object] = json.loads(path.read_text())
    return content


def _bytes_under(folder: Path) -> int:
    return sum(os.path.getsize(path) for kind in ("npy", "raw") for path in folder.glob(f"*/*.{kind}"))
