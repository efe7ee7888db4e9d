"""Is there for each mechanism an attack that it alone stops? Switched off, it lets that attack through; everything else of its level stays on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pytest
from cage_attacks import Attack
from cage_list import ATTACKS
from cage_rig import LEAK, World, cage, strongest, world
from cage_table import PAGE, written_as_open

from piton.evaluate.sandbox.levels import HIGHEST_IN_PROCESS, LEVELS
from piton.evaluate.sandbox.probe import ALWAYS, Mechanisms

_NEEDS_ROOT = {"no_new_privs", "no_capabilities"}
"""An ordinary user's jobs have no rights to lose."""


@dataclass(frozen=True)
class Alone:
    """What is left of everything when one mechanism is switched off, and the attack that then gets through."""

    changes: Mapping[str, object]
    """Fields of Mechanisms."""
    attack: str
    role: str = "host"

    def weaker(self) -> Mechanisms:
        """This machine's mechanisms without the one."""
        full = strongest()
        lost = self.changes.get("namespaces")
        kept = {"namespaces": tuple(name for name in full.namespaces if name != lost)} if lost else self.changes
        return replace(full, **kept)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Basic:
    """How a mechanism that is always in force is switched off, told to the process that starts jobs; and the attack that then gets through."""

    sabotage: str
    attack: str
    mechanisms: Mechanisms = Mechanisms()  # noqa: RUF009 - frozen


OPTIONAL = {
    "separate_users": Alone({"users": False}, "read a file that its owner has closed, in a folder that is shown"),
    "mount_namespace": Alone({"namespaces": "mount"}, "ask whether a hidden case exists and how large it is"),
    "net_namespace": Alone({"namespaces": "net"}, "see the sockets of the machine"),
    "ipc_namespace": Alone({"namespaces": "ipc"}, "see the shared memory of others", "build"),
    "uts_namespace": Alone({"namespaces": "uts"}, "learn the name of the machine", "build"),
    "pid_namespace": Alone({"namespaces": "pid"}, "read the parent's command line", "device"),
    "landlock": Alone({"landlock": False}, "write to its own code by /proc/self/mem"),
    "system_call_filter": Alone({"allow_list": False}, "choose its cores"),
    "no_new_processes": Alone({"no_new_processes": False}, "start a process"),
    "control_group": Alone({"control_group": False}, "take all memory by shared pages"),
}
"""Each is looked at with all others on."""

_IN_SUPERVISOR = "from piton.evaluate.sandbox import confine, limits, supervise, users; "
_KEEP_PRIVILEGES = "prctl = users.prctl; users.prctl = lambda option, value=0: 0 if option == users.PR_SET_NO_NEW_PRIVS else prctl(option, value)"
BASIC = {
    "no_new_privs": Basic(_IN_SUPERVISOR + _KEEP_PRIVILEGES, "gain rights by a setuid program", Mechanisms(users=True)),
    "no_capabilities": Basic(_IN_SUPERVISOR + "users.become = lambda uid: None", "mount a file system"),
    "clean_environment": Basic(LEAK, "read secrets in its environment, or in that of what started it"),
    "closed_descriptors": Basic(_IN_SUPERVISOR + "confine._close_all_but = lambda kept: None", "use a descriptor that it was not given"),
    "rlimits": Basic(_IN_SUPERVISOR + "limits.apply_rlimits = lambda values: None", "write one file without end"),
    "process_tree_kill": Basic(_IN_SUPERVISOR + "supervise._children = lambda pid: []", "leave a process behind"),
    "output_cap": Basic(_IN_SUPERVISOR + "supervise._Output.is_flooded = property(lambda stream: False)", "print without end"),
}
"""Those that are always in force are looked at where nothing else is: level 0 has to hold by itself."""


@pytest.fixture(scope="module")
def surroundings() -> Iterator[World]:
    with world() as made:
        yield made


def _named(name: str) -> Attack:
    return next(attack for attack in ATTACKS if attack.name == name)


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_mechanism_alone_stops_its_attack(name: str, surroundings: World) -> None:
    if name not in strongest().names:
        pytest.skip("this machine or this user does not have it")
    case = OPTIONAL[name]
    with cage(case.weaker(), surroundings) as held:
        assert held.gets_through(_named(case.attack), case.role), "it is stopped by something else, too"
    with cage(strongest(), surroundings) as held:
        assert not held.gets_through(_named(case.attack), case.role)


@pytest.mark.parametrize("name", BASIC)
def test_what_is_always_in_force_alone_stops_its_attack_where_nothing_else_is(name: str, surroundings: World) -> None:
    if name in _NEEDS_ROOT and os.geteuid() != 0:
        pytest.skip("an ordinary user's jobs have no rights to lose")
    case = BASIC[name]
    with cage(case.mechanisms, surroundings, case.sabotage) as held:
        assert held.gets_through(_named(case.attack), "host"), "it is stopped by something else, too"
    with cage(case.mechanisms, surroundings) as held:
        assert not held.gets_through(_named(case.attack), "host")


def test_every_mechanism_in_process_has_its_attack() -> None:
    named = {name for level in LEVELS[1 : HIGHEST_IN_PROCESS + 1] for name in level.mechanisms}
    assert named - {"read_only_view"} == set(OPTIONAL)  # the view comes with the mount namespace
    assert set(ALWAYS) == set(BASIC)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the page tells of root")
@pytest.mark.parametrize("name", [name for name in BASIC if name != "no_new_privs"])
def test_the_page_says_what_a_mechanism_alone_refuses_at_level_0(name: str, surroundings: World) -> None:
    refused = [attack for attack in ATTACKS if not written_as_open(attack, 0) and "build" in attack.roles]
    with cage(Mechanisms(), surroundings, BASIC[name].sabotage) as held:
        through = held.batch([attack for attack in refused if not attack.runs_alone], "build")
        through |= {attack.name for attack in refused if attack.runs_alone and held.gets_through(attack, "build")}
    assert f"| `{name}` | {'; '.join(sorted(through))} |" in PAGE.read_text()
