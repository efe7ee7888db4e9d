"""An evaluation fanned out to workers is the evaluation: same report, same folder, same errors. Workers in this process, on the null target."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from null_world import make_submission, make_suite

from piton.core.errors import TargetUnavailableError, UsageError
from piton.core.execution import Build
from piton.core.protocols import Runner
from piton.core.report import Report
from piton.core.timeline import TimelineRequest
from piton.evaluate.cluster.node import NodeWork
from piton.evaluate.cluster.order import make_order
from piton.evaluate.execute import CaseTask
from piton.evaluate.journal import NAME as JOURNAL
from piton.evaluate.pipeline import evaluate_on, load
from piton.evaluate.policy import Bounds, EvaluationRequest, HiddenRequest
from piton.evaluate.progress import CaseFinished, CaseStarted, Event, Planned, ignore
from piton.targets.null import NullTarget

FAILS = {"grow": {"default": {"compute": "exp"}, "cases": {"2": {"compute": "wrong_by_little"}, "3": {"evaluator_error": "the device is away"}}}}
EXTRAS = {"keeps_failures": True, "timelines": TimelineRequest(), "trials": 2}
KEY = "a key of the tests, no secret 0122"
"""Under it the first two hidden cases of `twice` are small and ordinary."""
RULES = "rules:\n  layouts:\n  - shapes: {x: [..., N]}\n"


class World:
    """Evaluations of one submission, here (`ray` empty) or by workers."""

    def __init__(self, runner: Runner, root: Path) -> None:
        self.runner, self.root = runner, root
        make_suite(root / "suite")
        for name in ("grow", "twice"):
            (root / "suite" / "level1" / name / "rules.yaml").write_text(RULES)
        self.submission = make_submission(root / "submission", FAILS)
        (root / "key").write_text(KEY)
        (root / "key").chmod(0o600)

    def request(self, folder: str, **options: object) -> EvaluationRequest:
        fixed = {"suite": str(self.root / "suite"), "cache_dir": str(self.root / "cache"), "run_dir": str(self.root / folder), "is_trusted": True}
        return EvaluationRequest(submission=str(self.submission), target="null", **{**fixed, **options})

    def run(self, folder: str, events: object = ignore, **options: object) -> Report:
        return evaluate_on(NullTarget(), self.runner, self.request(folder, **options), events)

    def extras(self, folder: str) -> dict[str, object]:
        """What a run left beside report and journal, by path; of a reproducer's description everything but the time it took."""
        root = self.root / folder
        return {path.relative_to(root).as_posix(): content(path) for name in ("failures", "traces") for path in (root / name).rglob("*") if path.is_file()}


def content(path: Path) -> object:
    if path.suffix != ".json":
        return path.read_bytes()
    found = json.loads(path.read_text())
    found.get("result", {}).pop("wall_s", None)
    return found


@pytest.fixture(scope="module")
def world(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(runner, tmp_path_factory.mktemp("fanned-out"))


@pytest.fixture(scope="module")
def local(world: World) -> Report:
    return world.run("local", **EXTRAS)


@pytest.fixture(scope="module")
def heard() -> list[Event]:
    return []


@pytest.fixture(scope="module")
def fanned(world: World, local: Report, heard: list[Event]) -> Report:
    return world.run("fanned", heard.append, ray="threads:2", **EXTRAS)


def test_report_reproducers_and_timelines_of_workers_are_those_of_one_machine(world: World, local: Report, fanned: Report) -> None:
    assert fanned.result_digest == local.result_digest
    assert [case.void for case in fanned.operators[0].cases if case.void] == ["grow/3: the device is away"]
    assert world.extras("fanned") == world.extras("local")
    assert any(name.startswith("failures/grow-2/input-") for name in world.extras("fanned"))
    assert fanned.environment.isolation == local.environment.isolation


def test_progress_is_told_as_for_lanes_of_this_machine(fanned: Report, heard: list[Event]) -> None:
    planned = next(event for event in heard if isinstance(event, Planned))
    started = sorted((event.operator, event.case_id) for event in heard if isinstance(event, CaseStarted))
    finished = sorted((event.result.operator, event.result.case.id) for event in heard if isinstance(event, CaseFinished))
    assert planned.cases == sum(len(item.cases) for item in fanned.operators)
    assert started == finished == [(name, str(number)) for name in ("grow", "twice") for number in range(1, 5)]


def test_workers_leave_no_folder_of_a_run_behind(world: World, fanned: Report) -> None:
    assert list((world.root / "cache" / "cluster" / "runs").iterdir()) == []
    assert len(list((world.root / "cache" / "cluster" / "parcels").iterdir())) == 3  # sources, suite, the lock


def test_workers_go_on_with_a_run_that_was_cut_short(world: World, local: Report) -> None:
    whole = (world.root / "local" / JOURNAL).read_bytes().splitlines(keepends=True)
    (world.root / "resumed").mkdir()
    (world.root / "resumed" / JOURNAL).write_bytes(b"".join(whole[:3]))
    events: list[Event] = []
    resumed = world.run("resumed", events.append, ray="threads:1", is_resumed=True, trials=2)
    assert resumed.result_digest == local.result_digest
    assert next(event for event in events if isinstance(event, Planned)).resumed_cases == 2


def test_hidden_cases_of_workers_are_sealed_and_leave_nothing_on_the_disk(world: World) -> None:
    hidden = {"hidden": HiddenRequest(key_file=str(world.root / "key"), count=2), "operators": ("twice",), "cache_dir": str(world.root / "hidden-cache")}
    reports = [world.run(f"hidden-{len(ray)}", ray=ray, **hidden) for ray in ("", "threads:1")]
    assert reports[0].result_digest == reports[1].result_digest
    assert all(case.is_sealed for item in reports[1].operators for case in item.cases)
    assert list((world.root / "hidden-cache" / "golden").iterdir()) == []


def test_the_order_of_a_worker_has_neither_the_key_nor_the_cases(world: World) -> None:
    subject = load(world.request("ordered", hidden=HiddenRequest(key_file=str(world.root / "key"), count=2), operators=("twice",)), NullTarget())
    sent = pickle.dumps(make_order(subject, Bounds()))
    seeds = {case.seed for member in subject.selection.members for case in member.cases}
    assert KEY.encode() not in sent
    assert seeds
    assert not any(member.cases for member in make_order(subject, Bounds())[0].suite.members)


def test_a_worker_that_would_build_something_else_or_has_other_hardware_refuses(world: World) -> None:
    subject = load(world.request("other"), NullTarget())
    order, parcels = make_order(subject, Bounds())
    contents = {parcel.digest: parcel.data for parcel in parcels}
    with pytest.raises(TargetUnavailableError, match="other hardware"):
        NodeWork(replace(order, hardware_digest="0" * 64), contents.__getitem__, world.root / "cache")
    member = subject.selection.members[0]
    work = NodeWork(order, contents.__getitem__, world.root / "cache")
    try:
        reply = work.evaluate(CaseTask(member.operator, member.cases[0], Build(member.operator.name, key="0" * 64), "key"))
    finally:
        work.close()
    assert reply.result is None
    assert "grow builds to something else there" in reply.refusal


def test_a_number_of_workers_that_is_none_is_an_error(world: World) -> None:
    with pytest.raises(UsageError, match="no number of workers"):
        world.run("none", ray="threads:many")
