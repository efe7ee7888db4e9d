"""What code inside a sandboxed process may try to get out of it, at every level of isolation; and the one mechanism that stops each when all others are on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from cage_attacks import ATTACKS, Attack
from cage_rig import World, cage, mechanisms_at, world
from cage_table import Through, table_text, try_all, written_table

from piton.evaluate.sandbox.levels import HIGHEST_IN_PROCESS, LEVELS, reached
from piton.evaluate.sandbox.probe import NAMESPACES, Mechanisms


@pytest.fixture(scope="module")
def surroundings() -> Iterator[World]:
    with world() as made:
        yield made


@pytest.fixture(scope="module")
def by_level(surroundings: World) -> list[Through]:
    if reached(mechanisms_at(HIGHEST_IN_PROCESS).names) < HIGHEST_IN_PROCESS:
        pytest.skip("this machine does not reach the level")
    return [try_all(level, surroundings) for level in range(HIGHEST_IN_PROCESS + 1)]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda item: item.name.replace(" ", "_"))
def test_an_attack_is_refused_at_the_highest_level(attack: Attack, by_level: list[Through]) -> None:
    assert by_level[-1][attack.name] == set()


def test_there_are_enough_attacks_and_most_of_them_work_without_isolation(by_level: list[Through]) -> None:
    assert len(ATTACKS) >= 30
    assert sum(bool(roles) for roles in by_level[0].values()) >= 30


def test_no_level_lets_through_what_one_below_it_refuses(by_level: list[Through]) -> None:
    counts = [sum(len(roles) for roles in through.values()) for through in by_level]
    assert counts == sorted(counts, reverse=True)


def test_the_page_says_what_each_level_stops(by_level: list[Through]) -> None:
    assert written_table() == table_text(by_level), "write it again: python tests/adversarial/cage_table.py"


def _without_namespace(name: str) -> Mechanisms:
    full = mechanisms_at(HIGHEST_IN_PROCESS)
    return replace(full, namespaces=tuple(held for held in NAMESPACES if held != name))


_FULL = mechanisms_at(HIGHEST_IN_PROCESS)
ALONE = {
    "separate_users": (replace(_FULL, users=False), "read a file that its owner has closed, in a folder that is shown", "host"),
    "mount_namespace": (_without_namespace("mount"), "ask whether a hidden case exists and how large it is", "host"),
    "net_namespace": (_without_namespace("net"), "see the sockets of the machine", "host"),
    "ipc_namespace": (_without_namespace("ipc"), "see the shared memory of others", "build"),
    "uts_namespace": (_without_namespace("uts"), "learn the name of the machine", "build"),
    "pid_namespace": (_without_namespace("pid"), "read the parent's command line", "device"),
    "landlock": (replace(_FULL, landlock=False), "write to its own code by /proc/self/mem", "host"),
    "system_call_filter": (replace(_FULL, allow_list=False), "choose its cores", "host"),
    "no_new_processes": (replace(_FULL, no_new_processes=False), "start a process", "host"),
    "control_group": (replace(_FULL, control_group=False), "take all memory by shared pages", "host"),
}
"""What is left when one mechanism is switched off, and the attack that then gets through."""


@pytest.mark.parametrize("name", ALONE)
def test_a_mechanism_alone_stops_its_attack(name: str, surroundings: World) -> None:
    if reached(_FULL.names) < HIGHEST_IN_PROCESS:
        pytest.skip("this machine does not reach the level")
    weaker, attack_name, role = ALONE[name]
    attack = next(item for item in ATTACKS if item.name == attack_name)
    with cage(weaker, surroundings) as held:
        assert held.gets_through(attack, role), "it is stopped by something else, too"
    with cage(_FULL, surroundings) as held:
        assert not held.gets_through(attack, role)


def test_every_mechanism_of_the_levels_in_process_has_its_attack() -> None:
    named = {name for level in LEVELS[1 : HIGHEST_IN_PROCESS + 1] for name in level.mechanisms}
    assert named - {"read_only_view"} == set(ALONE)  # the view comes with the mount namespace
