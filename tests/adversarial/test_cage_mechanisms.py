"""Is there for each mechanism an attack that it alone stops? Switched off, it lets that attack through; everything else of its level stays on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from cage_attacks import Attack
from cage_list import ATTACKS
from cage_rig import LEAK, World, cage, mechanisms_at, world

from piton.evaluate.sandbox.levels import HIGHEST_IN_PROCESS, LEVELS, reached
from piton.evaluate.sandbox.probe import ALWAYS, NAMESPACES, Mechanisms

_FULL = mechanisms_at(HIGHEST_IN_PROCESS)


@dataclass(frozen=True)
class Alone:
    """What is left when one mechanism is switched off, and the attack that then gets through."""

    weaker: Mechanisms
    attack: str
    role: str = "host"
    sabotage: str = ""
    """How one is switched off that is always in force: said to the process that starts jobs."""


def _without_namespace(name: str) -> Mechanisms:
    return replace(_FULL, namespaces=tuple(held for held in NAMESPACES if held != name))


def _always(attack: str, sabotage: str, role: str = "host", weaker: Mechanisms = Mechanisms()) -> Alone:  # noqa: B008 - frozen
    return Alone(weaker, attack, role, sabotage if sabotage == LEAK else f"from piton.evaluate.sandbox import confine, limits, supervise, users; {sabotage}")


OPTIONAL = {
    "separate_users": Alone(replace(_FULL, users=False), "read a file that its owner has closed, in a folder that is shown"),
    "mount_namespace": Alone(_without_namespace("mount"), "ask whether a hidden case exists and how large it is"),
    "net_namespace": Alone(_without_namespace("net"), "see the sockets of the machine"),
    "ipc_namespace": Alone(_without_namespace("ipc"), "see the shared memory of others", "build"),
    "uts_namespace": Alone(_without_namespace("uts"), "learn the name of the machine", "build"),
    "pid_namespace": Alone(_without_namespace("pid"), "read the parent's command line", "device"),
    "landlock": Alone(replace(_FULL, landlock=False), "write to its own code by /proc/self/mem"),
    "system_call_filter": Alone(replace(_FULL, allow_list=False), "choose its cores"),
    "no_new_processes": Alone(replace(_FULL, no_new_processes=False), "start a process"),
    "control_group": Alone(replace(_FULL, control_group=False), "take all memory by shared pages"),
}
"""Each is looked at with all others on."""

_KEEP_PRIVILEGES = "prctl = users.prctl; users.prctl = lambda option, value=0: 0 if option == users.PR_SET_NO_NEW_PRIVS else prctl(option, value)"
BASIC = {
    "no_new_privs": _always("gain rights by a setuid program", _KEEP_PRIVILEGES, weaker=Mechanisms(users=True)),
    "no_capabilities": _always("mount a file system", "users.become = lambda uid: None"),
    "clean_environment": _always("read secrets in its environment, or in that of what started it", LEAK),
    "closed_descriptors": _always("use a descriptor that it was not given", "confine._close_all_but = lambda kept: None"),
    "rlimits": _always("write one file without end", "limits.apply_rlimits = lambda values: None"),
    "process_tree_kill": _always("leave a process behind", "supervise._children = lambda pid: []"),
    "output_cap": _always("print without end", "supervise._Output.is_flooded = property(lambda stream: False)"),
}
"""Those that are always in force are looked at where nothing else is: level 0 has to hold by itself."""


@pytest.fixture(scope="module")
def surroundings() -> Iterator[World]:
    if reached(_FULL.names) < HIGHEST_IN_PROCESS:
        pytest.skip("this machine does not reach the level")
    with world() as made:
        yield made


def _named(name: str) -> Attack:
    return next(attack for attack in ATTACKS if attack.name == name)


@pytest.mark.parametrize("name", [*OPTIONAL, *BASIC])
def test_a_mechanism_alone_stops_its_attack(name: str, surroundings: World) -> None:
    case = {**OPTIONAL, **BASIC}[name]
    attack = _named(case.attack)
    with cage(case.weaker, surroundings, case.sabotage) as held:
        assert held.gets_through(attack, case.role), "it is stopped by something else, too"
    with cage(_FULL if name in OPTIONAL else case.weaker, surroundings) as held:
        assert not held.gets_through(attack, case.role)


def test_every_mechanism_in_process_has_its_attack() -> None:
    named = {name for level in LEVELS[1 : HIGHEST_IN_PROCESS + 1] for name in level.mechanisms}
    assert named - {"read_only_view"} == set(OPTIONAL)  # the view comes with the mount namespace
    assert set(ALWAYS) == set(BASIC)
