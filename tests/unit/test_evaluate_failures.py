"""Reproducers of failed cases: what is in a folder, how much they may take, and that they never cost a result."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from piton.core.case import Case, CaseInput, SizeClass
from piton.core.dtype import DType
from piton.core.execution import Build, OutputBuffer
from piton.core.report import CaseResult
from piton.core.submission import Manifest, Submission
from piton.core.verdict import PASSED, Cause, outcome
from piton.evaluate.cache import StoredTensor
from piton.evaluate.failures import CallTensors, FailureKeeper, folder_name, is_failure
from piton.evaluate.golden_service import CaseData, TensorData
from piton.evaluate.policy import Bounds, EvaluationRequest
from piton.evaluate.progress import Event, Notice
from piton.numerics.tensors import GoldenOutput

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


def case(case_id: str = "3") -> Case:
    return Case(operator="grow", id=case_id, inputs=(CaseInput(argument="x", shape=(2, 3), dtype=DType.FLOAT32),))


def result(case_id: str = "3", cause: Cause = Cause.MAX_ERROR) -> CaseResult:
    return CaseResult(operator="grow", case=case(case_id), size=SizeClass.SMALL, outcome=outcome(cause, "off by one") if cause is not Cause.NONE else PASSED)


def tensors(dtype_name: str = "float32") -> CallTensors:
    data = memoryview(VALUES.tobytes())
    given = StoredTensor(name="x", dtype=DType.FLOAT32, shape=(2, 3), offset=0, nbytes=24)
    bf16 = memoryview(bytes(range(12)))
    outputs = (GoldenOutput("y", DType.FLOAT32, (2, 3), data), GoldenOutput("z[1]", DType.BFLOAT16, (2, 3), bf16))
    got = (OutputBuffer("", (2, 3), dtype_name, (3, 1), True, data), OutputBuffer("", (2, 3), "bfloat16", (3, 1), True, None))
    return CallTensors(CaseData((TensorData(given, data),), outputs), got)


class World:
    """A keeper with what it said."""

    def __init__(self, root: Path, bound: int = 1 << 20, reserve: int = 0) -> None:
        self.root = root
        self.events: list[Event] = []
        request = EvaluationRequest(submission="s", run_dir=str(root), cache_dir="", bounds=Bounds(failure_bytes=bound))
        submission = Submission(root=str(root / "submission" / "abc"), manifest=Manifest(), files=())
        self.keeper = FailureKeeper(root, request, submission, self.events.append, reserve)

    def fail(self, case_id: str = "3", dtype_name: str = "float32") -> None:
        self.keeper.keep_tensors("grow", case(case_id), 1, tensors(dtype_name))
        self.keeper.keep_result(result(case_id))

    def description(self, name: str = "grow-3") -> dict[str, object]:
        found: dict[str, object] = json.loads((self.root / "failures" / name / "failure.json").read_text())
        return found


def test_a_failed_case_leaves_its_tensors_its_outcome_and_a_script(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.fail()
    folder = tmp_path / "failures" / "grow-3"
    assert sorted(path.name for path in folder.iterdir()) == [
        "expected-y.npy",
        "expected-z.1.bfloat16.raw",
        "failure.json",
        "got-y.npy",
        "input-x.npy",
        "rerun.sh",
    ]
    assert np.array_equal(np.load(folder / "got-y.npy"), VALUES)
    assert (folder / "expected-z.1.bfloat16.raw").read_bytes() == bytes(range(12))
    found = world.description()
    assert (found["piton_failure"], found["operator"], found["trial"], found["result"]["outcome"]["cause"]) == (1, "grow", 1, "max_error")
    listed = {(item["role"], item["name"]): item for item in found["tensors"]}
    assert listed["input", "x"] == {
        "role": "input",
        "name": "x",
        "dtype": "float32",
        "shape": [2, 3],
        "nbytes": 24,
        "file": "input-x.npy",
        "encoding": "npy",
    }
    assert (listed["expected", "z.1"]["encoding"], "file" in listed["got", "z.1"]) == ("raw", False)


@pytest.mark.parametrize("dtype_name", ["complex64", "float64", "no such type; rm -rf"])
def test_an_output_whose_bytes_do_not_fit_its_claim_is_kept_raw(tmp_path: Path, dtype_name: str) -> None:
    world = World(tmp_path)
    world.fail(dtype_name=dtype_name)
    files = [path.name for path in (tmp_path / "failures" / "grow-3").glob("got-*")]
    assert len(files) == 1
    assert files[0].endswith(".raw")
    assert (tmp_path / "failures" / "grow-3" / files[0]).read_bytes() == VALUES.tobytes()


def test_tensors_beyond_the_bound_are_left_out_and_the_rest_is_there(tmp_path: Path) -> None:
    world = World(tmp_path, bound=100)
    for case_id in ("3", "4"):
        world.fail(case_id)
    assert "left_out" not in world.description("grow-3")["tensors"][0]
    assert "left out: the tensors of this case take 84 bytes" in world.description("grow-4")["tensors"][0]["left_out"]
    assert not list((tmp_path / "failures" / "grow-4").glob("*.npy"))
    assert (tmp_path / "failures" / "grow-4" / "rerun.sh").is_file()


def test_what_an_earlier_run_kept_counts_against_the_bound(tmp_path: Path) -> None:
    World(tmp_path, bound=100).fail("3")
    later = World(tmp_path, bound=200)
    later.fail("4")
    assert "left_out" in later.description("grow-4")["tensors"][0], "files on disk have headers, too"


def test_a_disk_without_room_keeps_no_tensors(tmp_path: Path) -> None:
    world = World(tmp_path, reserve=1 << 62)
    world.fail()
    assert "the disk has room for 0" in world.description()["tensors"][0]["left_out"]


def test_a_folder_that_cannot_be_written_is_said_once_and_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "failures").write_text("in the way")
    world = World(tmp_path)
    world.fail("3")
    world.fail("4")
    assert [type(event) for event in world.events] == [Notice]
    assert "can't be kept" in world.events[0].message
    assert world.keeper.lacks(result("3"))


def test_a_disk_that_fills_up_in_the_middle_leaves_no_half_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    world.keeper.keep_tensors("grow", case(), 1, tensors())
    assert "No space left on device" in world.events[0].message
    assert list((tmp_path / "failures").iterdir()) == []
    monkeypatch.undo()
    world.keeper.keep_result(result())
    assert world.description()["tensors"] == [], "the outcome and the script still find their place"


def test_what_was_begun_and_never_finished_is_swept(tmp_path: Path) -> None:
    World(tmp_path).keeper.keep_tensors("grow", case(), 1, tensors())
    World(tmp_path)
    assert list((tmp_path / "failures").iterdir()) == []


@pytest.mark.parametrize("found", [result(cause=Cause.NONE), result(cause=Cause.FILTERED_OUT), result().model_copy(update={"void": "device away"})])
def test_only_failures_of_the_submission_have_a_folder(tmp_path: Path, found: CaseResult) -> None:
    world = World(tmp_path)
    world.keeper.keep_result(found)
    assert not is_failure(found)
    assert not world.keeper.lacks(found)
    assert not (tmp_path / "failures").exists()


def test_a_failed_build_has_one_folder(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.keeper.keep_build(Build(operator="grow", outcome=outcome(Cause.COMPILE_ERROR, "expected ;")))
    assert world.description("grow-build")["outcome"]["message"] == "expected ;"
    assert "--op grow --out" in (tmp_path / "failures" / "grow-build" / "rerun.sh").read_text()


def test_a_case_id_never_leaves_the_folder_and_no_two_share_one() -> None:
    names = [folder_name("grow", case_id) for case_id in ("../../x", "a/b", "a_b", ".", "..", "x" * 300, "x" * 301, "3", "$(id)")]
    assert len(set(names)) == len(names)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") and len(name) < 150 for name in names)
    assert names[-2] == "grow-3"
