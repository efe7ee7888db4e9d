"""What a case leaves beside its result gets from a worker's folder to the run's, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.core.case import Case
from piton.core.errors import EvaluatorError
from piton.core.execution import Build
from piton.core.operator import Operator
from piton.core.verdict import PASSED
from piton.evaluate.build import Workplace
from piton.evaluate.cluster.brought import bring, collect
from piton.evaluate.cluster.open import Taker
from piton.evaluate.cluster.order import Reply
from piton.evaluate.execute import CaseTask
from piton.evaluate.progress import Event, Notice
from piton.evaluate.unrun import unrun_case
from piton.targets.null import NullTarget

LEFT = {"failures/.exp-1/input-x.npy": b"x", "failures/.exp-1/failure.json": b"{}", "traces/exp-1-1.json": b"[]", "traces/exp-1-2.json": b"[1]"}
OTHERS = {"failures/.exp-2/input-x.npy": b"y", "traces/exp-2-1.json": b"[2]", "journal.jsonl": b"no part of it"}


def write(root: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


def read(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_files_of_one_case_are_taken_and_those_of_others_stay(tmp_path: Path) -> None:
    write(tmp_path, {**LEFT, **OTHERS})
    assert dict(collect(tmp_path, "exp", "1")) == LEFT
    assert read(tmp_path) == OTHERS


def test_what_was_taken_arrives_under_the_same_names(tmp_path: Path) -> None:
    bring(tmp_path, tuple(LEFT.items()))
    assert read(tmp_path) == LEFT


@pytest.mark.parametrize("name", ["journal.jsonl", "failures/../journal.jsonl", "/failures/x", "build/x"])
def test_a_file_that_belongs_nowhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(EvaluatorError, match="belongs nowhere"):
        bring(tmp_path / "run", ((name, b""),))
    assert read(tmp_path) == {}


def test_a_worker_is_heard_and_a_folder_that_cannot_be_written_costs_no_result(tmp_path: Path) -> None:
    (tmp_path / "failures").write_text("a file where a folder should be")
    events: list[Event] = []
    place = Workplace(target=NullTarget(), runner=None, run_dir=tmp_path, events=events.append)  # type: ignore[arg-type] - nothing is started
    operator = Operator(name="exp", title="Exp", level=1, category="Elementwise", schema_text="exp() -> Tensor y", inputs=(), outputs=())
    task = CaseTask(operator, Case(operator="exp", id="1", inputs=()), Build("exp"), "key")
    result = unrun_case(operator, task.case, PASSED)
    kept: list[object] = []
    Taker(place, None, lambda done, found: kept.append((done, found))).take(task, Reply(result, notices=("a word",), files=tuple(LEFT.items())))
    assert kept == [(task, result)]
    said = [event.message for event in events if isinstance(event, Notice)]
    assert said[0] == "a word"
    assert "what came with exp/1 can't be written" in said[1]
