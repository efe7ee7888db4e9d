"""Does a run's file keep everything, once, whatever happens to the process that writes it?"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from piton.agent.candidate import Tree
from piton.agent.model import Ledger
from piton.agent.model.ledger import Row
from piton.agent.runs import Head, Measured, NewVariant, RunStore, State
from piton.core.errors import FormatError, PitonError, UsageError

HEAD = Head("evolve", "exp", "piton", "ascend910b2-sim", 7, {"rounds": 3}, 1.0, "0.1")


def tree(text: str) -> Tree:
    return Tree({"csrc/ops/exp/op_kernel/exp.cpp": text, "piton.yaml": "name: x\n"})


def measured(ratio: float | None = 1.5, report: str = '{"a": 1}') -> Measured:
    return Measured(ratio is not None, 3, 3, ratio, "3 of 3 passed", report, "digest", 2.5)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore.create(tmp_path / "run", HEAD, lambda: 5.0)


def test_a_variant_comes_back_with_its_lineage_texts_and_measurement(store: RunStore, tmp_path: Path) -> None:
    first = store.add(NewVariant(tree("int a;"), 0, "start"))
    second = store.add(NewVariant(tree("int b;"), 1, "model", (1,), "P3", {"tile": 64}, "make it fast", "as you wish", "n"))
    assert first is not None
    assert second is not None
    store.measure(2, measured())
    store.close()
    again = RunStore.open(tmp_path / "run")
    assert again.head == HEAD
    found = again.variants()[1]
    assert (found.id, found.round, found.origin, found.parents, found.strategy, found.genes, found.note) == (2, 1, "model", (1,), "P3", {"tile": 64}, "n")
    assert found.measured == measured(report="")
    assert (again.prompt(2), again.answer(2), again.report(2), again.tree(2)) == ("make it fast", "as you wish", '{"a": 1}', tree("int b;"))
    assert [item.id for item in again.waiting()] == [1]
    assert again.problems() == []


def test_a_duplicate_is_refused_whatever_its_layout(store: RunStore) -> None:
    assert store.add(NewVariant(tree("int a;"), 0, "start")) is not None
    assert store.add(NewVariant(tree("int  a; // again"), 1, "model")) is None
    assert len(store.variants()) == 1


def test_nothing_is_measured_twice(store: RunStore) -> None:
    store.add(NewVariant(tree("int a;"), 0, "start"))
    store.measure(1, measured(1.5))
    with pytest.raises(UsageError, match="measured already"):
        store.measure(1, measured(9.0))
    assert store.variants()[0].measured == measured(1.5, report="")


def test_the_same_text_is_kept_once(store: RunStore) -> None:
    for number in range(5):
        store.add(NewVariant(tree(f"int a{number};"), 0, "model", prompt="a long prompt" * 100))
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("SELECT COUNT(*) FROM texts").fetchone()[0] == 5 + 5 + 1 + 1 + 1, "kernels, manifests, the prompt, the manifest's yaml, empty"


def test_one_process_writes_and_others_read(store: RunStore, tmp_path: Path) -> None:
    store.add(NewVariant(tree("int a;"), 0, "start"))
    with pytest.raises(UsageError, match="another process"):
        RunStore.open(tmp_path / "run", writes=True)
    assert len(RunStore.open(tmp_path / "run").variants()) == 1
    store.close()
    RunStore.open(tmp_path / "run", writes=True).close()


def test_the_ledger_of_calls_lies_in_the_same_file(store: RunStore) -> None:
    ledger = Ledger(store.path)
    ledger.add(Row("propose", "m", "d", "answered", 0.0, 1.0, 5, 6))
    store.note("hint", text="use two buffers")
    assert ledger.spent().tokens == 11
    assert [(event.kind, event.data) for event in store.events()] == [("hint", {"text": "use two buffers"})]
    assert store.problems() == []


def test_states_have_reasons(store: RunStore, tmp_path: Path) -> None:
    assert store.state == (State.RUNNING, "")
    store.set_state(State.STOPPED, "the budget of tokens is used up")
    assert RunStore.open(tmp_path / "run").state == (State.STOPPED, "the budget of tokens is used up")


def test_wrong_folders_and_files_are_one_clear_error(tmp_path: Path, store: RunStore) -> None:
    with pytest.raises(UsageError, match="no run"):
        RunStore.open(tmp_path)
    with pytest.raises(UsageError, match="holds a run"):
        RunStore.create(tmp_path / "run", HEAD)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.db").write_text("this is no database" * 100)
    with pytest.raises(FormatError):
        RunStore.open(tmp_path / "other")
    with pytest.raises(PitonError):
        store.tree(99)


def test_damage_is_found(store: RunStore) -> None:
    store.add(NewVariant(tree("int a;"), 0, "start"))
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE variants SET source_digest = 'other', parents = '[4]'")
    assert store.problems() == ["variant 1 descends from 4, which is not older", "variant 1 has other files than it had"]


WORK = """
import sys, itertools
from pathlib import Path
from piton.agent.candidate import Tree
from piton.agent.runs import Measured, NewVariant, RunStore
store = RunStore.open(Path(sys.argv[1]), writes=True)
log = open(sys.argv[2], "a", buffering=1)
print("ready", flush=True)
def measure(variant):
    log.write(f"begin {variant.id}\\n")
    store.measure(variant.id, Measured(True, 1, 1, 1.0, "", f"report {variant.id}", "d", 0.0))
    log.write(f"end {variant.id}\\n")
for variant in store.waiting():
    measure(variant)
for number in itertools.count(len(store.variants())):
    variant = store.add(NewVariant(Tree({"a.cpp": f"int a{number};"}), number, "rules", (number,) if number else ()))
    store.note("added", id=variant.id)
    measure(variant)
"""


def test_after_kills_at_random_moments_every_variant_is_whole_and_none_that_ended_begins_again(store: RunStore, tmp_path: Path) -> None:
    store.close()
    log, moments = tmp_path / "log", random.Random(5)
    for _ in range(10):
        command = [sys.executable, "-c", WORK, str(tmp_path / "run"), str(log)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ}) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(moments.uniform(0.0, 0.15))
            process.send_signal(signal.SIGKILL)
    found = RunStore.open(tmp_path / "run")
    assert found.problems() == []
    assert len(found.variants()) >= 10
    assert len(found.waiting()) <= 1
    ended: set[str] = set()
    for line in log.read_text().splitlines():
        word, number = line.split()
        assert not (word == "begin" and number in ended), f"variant {number} was measured again"
        ended |= {number} if word == "end" else set()
    assert {str(item.id) for item in found.variants() if item.measured} >= ended
