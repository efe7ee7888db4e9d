"""Runs that met a full disk, a kill at a bad moment, a spoilt file or a stop: what was done is kept, and they can be gone on with."""

from __future__ import annotations

import sqlite3
import threading
from argparse import Namespace
from pathlib import Path
from typing import cast

import pytest
from agent_world import OPERATOR, TextEvaluator, kernel, new_run

from piton.agent.candidate import Tree
from piton.agent.loop import Driver, Plan
from piton.agent.loop.evaluation import PitonEvaluator
from piton.agent.loop.proposals import Proposal, Proposed, Refused
from piton.agent.loop.side_by_side import side_by_side
from piton.agent.model import Budget, Ledger, Limits, Spending
from piton.agent.model.budget import BudgetStopError
from piton.agent.model.ledger import read_rows
from piton.agent.model.metered import MeteredModel
from piton.agent.model.protocol import Answer, Message, Request, Speaker
from piton.agent.runs import NewVariant, RunStore, State
from piton.agent.search import controller_of
from piton.cli.evolving import EvolveOptions, _resumed
from piton.cli.runs import export_variant, list_runs, show_stored
from piton.core.errors import FormatError, PitonError, TargetUnavailableError, UsageError
from piton.evaluate.policy import EvaluationRequest


class Numbered:
    """Proposes a faster kernel at every call; `before` hears its number."""

    name = "numbered"

    def __init__(self, budget: Budget) -> None:
        self.count = 0
        self._budget = budget
        self._lock = threading.Lock()

    def propose(self, proposal: Proposal) -> Proposed | Refused:
        del proposal
        with self._budget.reserve(Spending(calls=1)), self._lock:
            self.count += 1
            return Proposed(kernel(f"// ratio {4 - self.count / 10}"))


def test_answers_that_were_paid_for_are_measured_when_the_budget_ends_the_round(tmp_path: Path) -> None:
    store, budget = new_run(tmp_path / "run"), Budget(Limits(calls=2))
    Driver(store, controller_of("direct"), Numbered(budget), TextEvaluator(budget), budget).run(Plan(rounds=5, parallel=3))
    assert store.state[0] is State.STOPPED
    assert [item.measured is not None for item in store.variants()] == [True, True, True]


def test_a_failure_of_one_proposal_leaves_the_others_and_their_errors_apart() -> None:
    def work(number: int) -> int:
        if number == 1:
            raise BudgetStopError("calls", 1, 1, 1)
        return number

    found = side_by_side(work, [0, 1, 2])
    assert [future.exception() is None for future in found] == [True, False, True]
    assert all(not thread.name.startswith("ThreadPoolExecutor") for thread in threading.enumerate())


def test_a_stop_does_not_wait_for_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr("piton.agent.loop.side_by_side.Future.exception", lambda future: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        side_by_side(lambda item: release.wait(600), [1, 2])
    release.set()


class Spoilt(TextEvaluator):
    """Takes no candidate that a model makes."""

    def refuses(self, tree: Tree) -> str:
        return "piton.yaml: not valid YAML"


def test_a_candidate_that_is_no_submission_is_an_event_and_no_end(tmp_path: Path) -> None:
    store, budget = new_run(tmp_path / "run"), Budget(Limits())
    Driver(store, controller_of("direct"), Numbered(budget), Spoilt(), budget).run(Plan(rounds=9, parallel=1))
    assert store.state == (State.FINISHED, "3 rounds in a row brought nothing new")
    assert [event.data["reason"] for event in store.events("no_submission")] == ["piton.yaml: not valid YAML"] * 3


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({f"csrc/ops/{OPERATOR}/op_kernel/k.cpp": ""}, ""),
        ({f"csrc/ops/{OPERATOR}/op_kernel/k.cpp": "", "piton.yaml": "track: [\n"}, "piton.yaml"),
        ({"README.md": ""}, "no submission"),
        ({"csrc/ops/other/op_kernel/k.cpp": ""}, "no sources of"),
    ],
)
def test_a_tree_is_looked_at_as_a_submission_before_it_is_a_candidate(tmp_path: Path, files: dict[str, str], what: str) -> None:
    request = EvaluationRequest(submission="", run_dir="", cache_dir="", operators=(OPERATOR,))
    found = PitonEvaluator(request, lambda asked: pytest.fail(str(asked)), tmp_path / "work", Budget(Limits())).refuses(Tree(files))
    assert what in found if what else not found
    assert str(tmp_path) not in found
    assert list((tmp_path / "work").iterdir()) == []


def test_a_full_disk_is_one_error_and_the_store_goes_on_when_there_is_room(tmp_path: Path) -> None:
    store = new_run(tmp_path / "run")
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    prompt = "".join(str(item * item) for item in range(100_000))
    with pytest.raises(TargetUnavailableError, match="full"):
        store.add(NewVariant(kernel("// 1"), 1, "model", prompt=prompt))
    store._connection.execute("PRAGMA max_page_count = 100000")
    assert store.add(NewVariant(kernel("// last"), 1, "model")) is not None
    assert store.problems() == []


def test_a_folder_whose_run_never_began_takes_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with sqlite3.connect(tmp_path / "run" / "run.db") as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    assert len(new_run(tmp_path / "run").variants()) == 1


def test_a_run_that_was_killed_before_its_start_was_written_gets_it_when_it_is_resumed(tmp_path: Path) -> None:
    kernel("// ratio 2").write(tmp_path / "in")
    store = new_run(tmp_path / "run")
    store._connection.execute("DELETE FROM variants")
    store.close()
    values = {"operator": OPERATOR, "suite": "piton", "target": "t", "cases": (), "max_elements": None, "is_fast": False, "seed": 1, "controller": "direct"}
    with sqlite3.connect(tmp_path / "run" / "run.db") as connection:
        head = connection.execute("SELECT value FROM meta WHERE name = 'head'").fetchone()[0]
        fixed = '{"operator": "%s", "suite": "piton", "target": "t", "cases": [], "max_elements": null, "is_fast": false, "seed": 1, "controller": "direct"}'
        connection.execute("UPDATE meta SET value = ? WHERE name = 'head'", (head.replace('"options": {}', f'"options": {fixed % OPERATOR}'),))
    options = cast("EvolveOptions", Namespace(out=str(tmp_path / "run"), submission=str(tmp_path / "in"), **values))
    again = _resumed(options)
    assert [item.origin for item in again.variants()] == ["start"]
    again.close()


@pytest.mark.parametrize(
    ("damage", "variant"),
    [
        ("UPDATE meta SET value = '{}' WHERE name = 'head'", None),
        ("UPDATE meta SET value = 'asleep' WHERE name = 'state'", None),
        ("DELETE FROM meta WHERE name = 'state'", None),
        ("UPDATE variants SET parents = 'x'", None),
        ("UPDATE texts SET body = 'x'", 1),
    ],
)
def test_a_spoilt_file_is_one_clear_error_and_hides_no_other_run(
    tmp_path: Path, damage: str, variant: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    for name in ("good", "[red]spoilt"):
        new_run(tmp_path / name).close()
    with sqlite3.connect(tmp_path / "[red]spoilt" / "run.db") as connection:
        connection.execute(damage)
    with pytest.raises(FormatError, match="damaged"):
        show_stored(str(tmp_path / "[red]spoilt"), variant, prints_json=False)
    assert list_runs(str(tmp_path), prints_json=False) == 0
    said = capsys.readouterr().out
    assert "/good" in said
    assert "[red]spoilt" in said


def test_a_run_is_shown_where_nothing_can_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new_run(tmp_path / "run").close()
    (tmp_path / "run" / "run.db-shm").mkdir()
    assert show_stored(str(tmp_path / "run"), None, prints_json=False) == 1
    assert "0 calls" in capsys.readouterr().out
    assert read_rows(tmp_path / "run" / "run.db") == ()


def test_looking_at_a_run_does_not_change_its_file(tmp_path: Path) -> None:
    new_run(tmp_path / "run").close()
    before = (tmp_path / "run" / "run.db").read_bytes()
    show_stored(str(tmp_path / "run"), None, prints_json=False)
    assert (tmp_path / "run" / "run.db").read_bytes() == before


@pytest.mark.parametrize("number", [2, 2**63, 2**80])
def test_a_variant_that_is_not_there_is_one_clear_error(tmp_path: Path, number: int) -> None:
    new_run(tmp_path / "run").close()
    with pytest.raises(UsageError, match="no variant"):
        export_variant(str(tmp_path / "run"), str(tmp_path / "out"), number)
    assert not (tmp_path / "out").exists()


def test_a_call_that_a_kill_ended_stays_in_the_count(tmp_path: Path) -> None:
    seen: list[int] = []

    class Watched:
        name = "watched"

        def ask(self, request: Request) -> Answer:
            seen.append(len(read_rows(tmp_path / "l.db")))
            return Answer("x")

    ledger = Ledger(tmp_path / "l.db")
    MeteredModel(Watched(), Budget(Limits()), ledger, None).ask(Request((Message(Speaker.USER, "x"),)))
    assert seen == [1]
    assert [row.outcome for row in ledger.rows()] == ["answered"]


def test_a_run_in_use_is_not_taken_by_a_second_process(tmp_path: Path) -> None:
    store = new_run(tmp_path / "run")
    with pytest.raises(PitonError):
        RunStore.open(tmp_path / "run", writes=True)
    store.close()
