"""Where workers go, and which machines may work together."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from piton.core.errors import UsageError
from piton.evaluate.cluster import probe
from piton.evaluate.cluster.seats import Machine, Placement, placements

PLAIN = Machine("a", "plain", {"CPU": 2.0, "memory": 1e9})
EMPTY = Machine("b", "no processors", {"memory": 1e9})
TWO = Machine("c", "two simulators", {"CPU": 8.0, "piton-ascend910b2-sim": 2.0})


def where(found: tuple[Placement, ...]) -> list[tuple[str, int, float, dict[str, float]]]:
    return [(item.machine.name, item.seat.lanes, item.processors, dict(item.resources)) for item in found]


def test_machines_that_declare_the_target_take_that_many_workers_and_no_other_takes_one() -> None:
    found = placements([PLAIN, EMPTY, TWO], "ascend910b2-sim", 3, is_measured=False)
    assert where(found) == [("two simulators", 3, 0, {"piton-ascend910b2-sim": 1.0})] * 2
    assert [item.seat.number for item in found] == [0, 1]


def test_without_a_declaration_every_machine_with_processors_takes_a_worker_of_as_many_lanes_as_it_can() -> None:
    found = placements([PLAIN, EMPTY, TWO], "ascend910b1-sim", 3, is_measured=False)
    assert where(found) == [("plain", 2, 2, {}), ("two simulators", 3, 3, {})]


def test_a_measured_target_runs_on_declared_machines_only() -> None:
    with pytest.raises(UsageError, match="piton-ascend910b2\n") as caught:
        placements([PLAIN, TWO], "ascend910b2", 1, is_measured=True)
    assert "processors" not in caught.value.expected


def test_a_cluster_without_processors_is_an_error_that_says_how_to_start_nodes() -> None:
    with pytest.raises(UsageError, match="ray start") as caught:
        placements([EMPTY], "ascend910b2-sim", 1, is_measured=False)
    assert "no processors: memory" in caught.value.found


def test_the_digest_of_an_installation_follows_every_path_and_every_byte(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    file = tmp_path / "module.py"
    file.write_text("a = 1")
    first = probe.tree_digest(str(tmp_path))
    (tmp_path / "__pycache__" / "module.pyc").write_text("noise")
    assert probe.tree_digest(str(tmp_path)) == first
    file.write_text("a = 2")
    second = probe.tree_digest(str(tmp_path))
    file.rename(tmp_path / "other.py")
    assert len({first, second, probe.tree_digest(str(tmp_path))}) == 3


def test_a_difference_names_what_is_there_and_what_is_here() -> None:
    here = probe.describe()
    assert probe.differences(here, here) == []
    assert probe.differences(here, {**here, "torch": "1.0"}) == [f"torch 1.0 instead of {here['torch']}"]
    assert probe.differences(here, {}) == [f"{name} none instead of {value}" for name, value in here.items()]


def test_what_is_sent_to_an_unknown_machine_needs_nothing_of_pitons_to_be_loaded() -> None:
    tree = ast.parse(Path(str(probe.__file__)).read_text(encoding="utf-8"))
    imported = [node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [name for name in imported if name.startswith("piton")] == []
