"""Does a machine that lacks a mechanism get the level that is left, with one sentence for each that lacks? Machines are fakes of the probes."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

from piton.cli.doctor import check_isolation
from piton.core.errors import UsageError
from piton.evaluate.sandbox import control_groups, landlock, make_runner, syscalls
from piton.evaluate.sandbox.levels import HIGHEST_IN_PROCESS, LEVELS, missing, reached
from piton.evaluate.sandbox.probe import NAMESPACES, Mechanisms
from piton.evaluate.sandbox.runner import SandboxRunner


@dataclass(frozen=True)
class Machine:
    """What a machine allows."""

    is_root: bool = True
    may_change_user: bool = True
    namespaces: tuple[str, ...] = NAMESPACES
    user_namespaces: bool = True
    seccomp: bool = True
    landlock: int = 6
    groups: str = ""
    """Why no control group can be made."""
    list_breaks_python: bool = False

    def attempt(self, tried: Mechanisms) -> str:
        """What a job under these mechanisms complains of."""
        needs_privilege = tried.namespaces and not tried.user_namespace and not self.is_root
        refusals = {
            "setresuid: Operation not permitted": tried.users and not (self.is_root and self.may_change_user),
            "unshare: Operation not permitted": needs_privilege or set(tried.namespaces) - set(self.namespaces),
            "unshare: No space left on device": tried.user_namespace and not self.user_namespaces,
            "exit None, signal 31: ": tried.allow_list and self.list_breaks_python,
        }
        return "; ".join(text for text, is_refused in refusals.items() if is_refused)


WITHOUT_PID = NAMESPACES[:-1]
MACHINES = {
    "root with everything": (Machine(), 3),
    "an ordinary user": (Machine(is_root=False, groups="/sys/fs/cgroup may not be written to"), 2),
    "an ordinary user with control groups": (Machine(is_root=False), 2),
    "an ordinary user without user namespaces": (Machine(is_root=False, user_namespaces=False, groups="not delegated"), 1),
    "root in a container that may not unshare": (Machine(namespaces=(), user_namespaces=False), 1),
    "root in a container with one user": (Machine(may_change_user=False), 2),
    "root without control groups": (Machine(groups="no hierarchy of control groups with memory and pids is mounted"), 2),
    "root without namespaces of process ids": (Machine(namespaces=WITHOUT_PID), 1),
    "a kernel without landlock": (Machine(landlock=0), 0),
    "a kernel or processor without seccomp": (Machine(seccomp=False), 0),
    "a C library that needs a call that the list lacks": (Machine(list_breaks_python=True), 0),
    "nothing at all": (Machine(False, False, (), False, False, 0, "no cgroup file system"), 0),
}


@pytest.fixture(params=MACHINES, ids=lambda name: name.replace(" ", "_"))
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Machine, int]:
    made, level = MACHINES[request.param]
    monkeypatch.setattr(os, "geteuid", lambda: 0 if made.is_root else 1000)
    monkeypatch.setattr(syscalls, "is_available", lambda: made.seccomp)
    monkeypatch.setattr(landlock, "version", lambda: made.landlock)
    monkeypatch.setattr(control_groups, "complaint", lambda: made.groups)

    def attempt(runner: SandboxRunner, tried: Mechanisms) -> str:
        runner.mechanisms = tried
        return made.attempt(tried)

    monkeypatch.setattr(SandboxRunner, "attempt", attempt)
    return made, level


def test_a_machine_gets_the_level_that_is_left(machine: tuple[Machine, int]) -> None:
    runner = make_runner()
    runner.close()
    assert reached(runner.isolation) == machine[1]
    assert machine[0].attempt(runner.mechanisms) == ""


def test_what_lacks_has_one_sentence_each(machine: tuple[Machine, int]) -> None:
    runner = make_runner()
    runner.close()
    assert set(missing(HIGHEST_IN_PROCESS, runner.isolation)) == set(runner.complaints)
    for name, why in runner.complaints.items():
        assert why, name
        assert "\n" not in why
    told = check_isolation()
    assert f"level {machine[1]} of" in told.found
    assert all(told.how.count(f"{name}: ") == 1 for name in runner.complaints)
    assert not told.is_required


def test_a_demand_above_it_is_one_error(machine: tuple[Machine, int]) -> None:
    level = machine[1]
    make_runner(demanded=level).close()
    if level < HIGHEST_IN_PROCESS:
        with pytest.raises(UsageError, match=f"isolation level {level + 1} is not reached") as told:
            make_runner(demanded=level + 1)
        lacks = [name for name in LEVELS[level + 1].mechanisms if name in str(told.value)]
        assert lacks
        assert "not chosen" not in str(told.value)
