"""`piton eval --ray` on a Ray cluster of two nodes: the report is the single-machine one, also when a worker is killed; a stop ends all of it."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from null_world import command, environment, make_submission, make_suite, piton

pytest.importorskip("ray", reason="Ray is not installed: pip install 'piton[ray]'")

_WAIT_S = 0.3
"""Of each case, so that a worker is killed in the middle of one."""
_DEADLINE_S = 180
SLOW = {name: {"default": {"compute": compute, "wait_s": _WAIT_S}} for name, compute in (("grow", "exp"), ("twice", "double"))}
_READY = re.compile(r"worker on .* \(process (\d+)\) is ready")


@dataclass
class World:
    """A suite, a submission, and a cluster to evaluate it on."""

    root: Path
    address: str

    def options(self, out: str, *more: str) -> list[str]:
        return ["eval", "slow", "--suite", "suite", "--trust", "--target", "null", "--out", out, *more]

    def start(self, out: str, *more: str) -> subprocess.Popen[str]:
        arguments = command(*self.options(out, "--ray", self.address, *more))
        return subprocess.Popen(arguments, cwd=self.root, env=environment(self.root), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def digest(self, out: str) -> str:
        return str(json.loads((self.root / out / "report.json").read_text())["result_digest"])


@pytest.fixture(scope="module")
def token() -> Iterator[None]:
    """Ray's ports are open to the network, and who reaches them runs code here: nobody without this token does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        yield


@pytest.fixture(scope="module")
def world(token: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("ray")
    make_suite(root / "suite")
    make_submission(root / "slow", SLOW)
    nodes = Path(__file__).with_name("ray_nodes.py")
    quiet = {**environment(root), "RAY_raylet_start_wait_time_s": str(_DEADLINE_S), "RAY_USAGE_STATS_ENABLED": "0"}
    with subprocess.Popen(
        [sys.executable, str(nodes), "2"], cwd=root, env=quiet, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as cluster:
        assert cluster.stdout is not None
        said = next((line for line in cluster.stdout if line.startswith("address ")), "")
        assert said, "no cluster of Ray comes up here"
        yield World(root, said.split()[1])


@pytest.fixture(scope="module")
def single(world: World) -> str:
    """Digest of the report of this machine alone."""
    assert piton(world.root, *world.options("single")).returncode == 0
    return world.digest("single")


def test_a_worker_killed_in_the_middle_of_a_case_changes_nothing_in_the_report(world: World, single: str) -> None:
    process = world.start("killed", "--json")
    said = kill_after_a_case(process)
    out, rest = process.communicate(timeout=_DEADLINE_S)
    assert process.returncode == 0, rest
    assert "was lost" in said + rest
    assert world.digest("killed") == single
    assert json.loads(out)["result_digest"] == single  # Ray says nothing where the report is
    lines = (world.root / "killed" / "journal.jsonl").read_text().splitlines()
    assert len(lines) == 1 + 8  # nothing counted twice


def kill_after_a_case(process: subprocess.Popen[str]) -> str:
    """Kill the first worker that is ready, once a case has come back after that; what was said until then."""
    assert process.stderr is not None
    said, workers = "", []
    for line in process.stderr:
        said += line
        workers += _READY.findall(line)
        if workers and " passed " in line:
            os.kill(int(workers[0]), signal.SIGKILL)
            return said
    pytest.fail(f"no case came back: {said}")


@pytest.mark.slow
def test_a_stop_ends_the_workers_and_the_run_goes_on_where_it_was(world: World, single: str) -> None:
    process = world.start("stopped")
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if " passed " in line:
            process.send_signal(signal.SIGINT)
            break
    rest, _ = process.communicate(timeout=_DEADLINE_S)
    assert process.returncode == 130, said + rest
    workers = [int(pid) for pid in _READY.findall(said + rest)]
    assert workers
    assert all(is_gone(pid) for pid in workers)
    resumed = piton(world.root, *world.options("stopped", "--resume", "--ray", world.address))
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert "taken from the journal" in resumed.stdout
    assert world.digest("stopped") == single


def is_gone(pid: int) -> bool:
    """True when that process ends; the cluster reaps it in its own time."""
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
def test_a_cluster_of_another_piton_is_refused_by_name_and_version(world: World, tmp_path: Path) -> None:
    own = environment(world.root)
    copied = tmp_path / "source"
    shutil.copytree(own["PYTHONPATH"], copied, ignore=shutil.ignore_patterns("__pycache__"))
    (copied / "piton" / "added.py").write_text("")
    arguments = command(*world.options("never", "--ray", world.address))
    process = subprocess.run(
        arguments, cwd=world.root, env={**own, "PYTHONPATH": str(copied)}, capture_output=True, text=True, timeout=_DEADLINE_S, check=False
    )
    assert process.returncode == 2
    assert re.search(r"machines of the cluster differ from this one\n  expected: .*Piton [\d.]+ \(\w{12}\)", process.stderr)


@pytest.mark.slow
def test_an_address_where_no_cluster_answers_is_one_clear_error(world: World) -> None:
    done = piton(world.root, *world.options("never", "--ray", "127.0.0.1:1"))
    assert done.returncode == 3
    assert "no Ray cluster answers" in done.stderr
    assert len(done.stderr.splitlines()) == 3
