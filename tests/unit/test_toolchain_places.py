"""Are places that come out of a submission's libraries inside the submission, and nothing else?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from piton.core.errors import EvaluatorError
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role, RunningProcess
from piton.core.verdict import Place
from piton.targets.vnpu.log import CallLog, LoggedDiagnostic, LoggedLaunch
from piton.targets.vnpu.places import SourceFinder, calls_text, short_name

WORK = "./work/" + "0f" * 32 + "/"


class AnsweringRunner:
    """A Runner whose every job answers the same text; None stands for a program that is not there."""

    isolation: tuple[str, ...] = ()

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.jobs: list[ProcessJob] = []

    def run(self, job: ProcessJob) -> ProcessResult:
        """Answer at once."""
        self.jobs.append(job)
        if self.answer is None:
            raise EvaluatorError("no program 'addr2line' to start")
        return ProcessResult(0, None, False, self.answer, "", 0.0)

    def start(self, job: ProcessJob) -> RunningProcess:
        """Never asked for."""
        raise NotImplementedError

    def fork_worker(
        self, role: Role, entry: str, arguments: Mapping[str, str], fds: Mapping[str, int], limits: Limits, readable: Sequence[str] = ()
    ) -> RunningProcess:
        """Never asked for."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sub" / "csrc").mkdir(parents=True)
    (tmp_path / "sub" / "csrc" / "k.cpp").write_text("\n")
    (tmp_path / "outside.cpp").write_text("\n")
    return tmp_path / "sub"


def found(root: Path, answer: str | None, offsets: Sequence[int] = (0x10,)) -> list[tuple[str, int, str]]:
    places = SourceFinder(AnsweringRunner(answer), str(root)).find("/lib/device.so", offsets)
    return [(place.file, place.line, place.instruction) for place in places]


def test_inlined_headers_are_skipped_and_callers_follow(root: Path) -> None:
    answer = (
        f"0x0010\nTQue::EnQue()\n/piton/include/queue.h:7\nK<float>::Process(int)\n{WORK}csrc/k.cpp:42 (discriminator 3)\n0x0020\nentry\n{WORK}csrc/k.cpp:50\n"
    )
    assert found(root, answer) == [("csrc/k.cpp", 42, "K<float>::Process"), ("csrc/k.cpp", 50, "entry")]


@pytest.mark.parametrize("name", ["csrc/k.cpp", "./csrc/k.cpp", "src/csrc/k.cpp", "./src/csrc/k.cpp"])
def test_a_source_is_known_as_it_stands_and_in_the_folder_of_copies(root: Path, name: str) -> None:
    assert found(root, f"0x0010\nentry\n{WORK}{name}:7\n") == [("csrc/k.cpp", 7, "entry")]


@pytest.mark.parametrize(
    "spot",
    [
        "??:0",
        "??:?",
        "csrc/k.cpp:0",
        "csrc/k.cpp:-1",
        "csrc/k.cpp:99999999",
        "csrc/none.cpp:1",
        "../outside.cpp:1",
        "csrc/../../outside.cpp:1",
        "/etc/passwd:1",
    ],
)
def test_what_is_no_line_of_the_submission_is_no_place(root: Path, spot: str) -> None:
    assert found(root, f"0x0010\nf\n{spot}\n") == []


def test_odd_answers_and_a_missing_program_give_no_place(root: Path) -> None:
    for answer in (None, "", "0x0010", "f\n", "\n\n\n", "\0" * 100):
        assert found(root, answer) == []


def test_offsets_of_a_liar_are_bounded_and_never_options(root: Path) -> None:
    runner = AnsweringRunner("")
    SourceFinder(runner, str(root)).find("/lib/device.so", [-1, 1 << 64, *range(100)])
    (job,) = runner.jobs
    assert job.role is Role.BUILD
    assert job.readable == ("/lib/device.so",)
    assert job.argv[job.argv.index("-C") + 1 :] == tuple(hex(number) for number in range(14))
    assert SourceFinder(runner, str(root)).find("/lib/device.so", [-1]) == ()
    assert len(runner.jobs) == 1


def test_only_the_violation_that_cut_the_call_is_placed_by_its_code() -> None:
    numbers = {"cycles": 0, "instructions": 0, "blocks": 1, "gm_read_bytes": 0, "gm_written_bytes": 0}
    diagnostic = LoggedDiagnostic(
        is_finding=False, cause="device_budget", kind="", message="still running", file="", line=0, core=0, instruction="", numbers={}, occurrences=1, code=[16]
    )
    launch = LoggedLaunch(kernel="k", is_copy=False, is_cut=True, busy_cycles={}, stall_cycles={}, diagnostics=[diagnostic] * 3, **numbers)
    asked: list[Sequence[int]] = []

    def locate(offsets: Sequence[int]) -> tuple[Place, ...]:
        asked.append(offsets)
        return (Place(file="k.cpp", line=4, instruction="f"), Place(file="k.cpp", line=9))

    (outcome, last) = CallLog(launches=[launch, launch], is_cut=True).placed(locate).outcomes("")[-2:]
    assert len(asked) == 1
    assert (outcome.place.line, last.place.line, last.place.instruction) == (0, 4, "f")
    assert last.message == "still running; calls, innermost first: k.cpp:4, k.cpp:9"


def test_names_are_short_and_printable() -> None:
    assert short_name("ns::(anonymous namespace)::f(int, at::Tensor const&)") == "ns::f"
    assert short_name("a\x1b[31mb" + "x" * 500) == "a[31mb" + "x" * 94
    assert calls_text([Place(file="a", line=1), Place(file="a", line=1)]) == ""
