"""A world worth attacking, and the running of attacks in it at any strength of isolation, down to none at all."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from cage_attacks import Attack, alone, together
from cage_traces import LEFT_KEY, MARK, QUEUE, TRACES, clear_traces

import piton
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role
from piton.evaluate.sandbox import bounds, control_groups, make_runner, process, runner
from piton.evaluate.sandbox.levels import HIGHEST_IN_PROCESS, reached
from piton.evaluate.sandbox.probe import Mechanisms

SECRET = "piton-attack-secret"
_SHM_KEY = 0x72000000 + os.getpid()
_TMP_BYTES = 64 << 20
_libc = ctypes.CDLL(None, use_errno=True)
_MACHINE_BYTES = 256 << 20
_INSIDE = Limits(wall_s=120, cpu_s=20, memory_bytes=160 << 20, file_bytes=16 << 20, flood_bytes=2 << 20, processes=100, may_start_processes=False)
LIMITS = {"host": _INSIDE, "device": _INSIDE, "build": replace(_INSIDE, may_start_processes=True)}
LEAK = "'the environment leaks'"
NOTHING = "; ".join(
    (
        LEAK,
        "from piton.evaluate.sandbox import confine, limits, supervise, users",
        "users.become = lambda uid: None",
        "limits.apply_rlimits = lambda values: None",
        "confine._close_all_but = lambda kept: None",
        "supervise._children = lambda pid: []",
        "supervise._Output.is_flooded = property(lambda stream: False)",
        "supervise._Disk.is_overfull = lambda disk: False",
    )
)
"""Said to the process that starts jobs, it leaves out even what is always in force: only where an attack gets through then does its refusal mean something."""


@cache
def strongest() -> Mechanisms:
    """What this machine has, found as a runner finds it."""
    probed = make_runner()
    probed.close()
    return probed.mechanisms


def level_here() -> int:
    """The highest level that this machine reaches with the engine beside device code."""
    return reached(strongest().names)


def mechanisms_at(level: int) -> Mechanisms:
    """What makes up a level, as far as this machine has it. Level 4 differs in where device code runs, which cage_code.py does."""
    full = strongest()
    filters = Mechanisms(no_new_processes=full.no_new_processes, allow_list=full.allow_list, landlock=full.landlock)
    steps = (Mechanisms(), filters, replace(filters, namespaces=full.namespaces, user_namespace=full.user_namespace), full)
    return steps[min(level, HIGHEST_IN_PROCESS)]


@dataclass(frozen=True)
class World:
    """What an attacker knows of its surroundings, and what is shown to it."""

    knows: dict[str, object]
    shown: str
    scratch: str
    top: str
    """Folder of it all; stands in the command line of every attacking process."""


@contextmanager
def world() -> Iterator[World]:
    """Goldens, journals and caches in a folder that everybody may enter, open sockets, a terminal, shared memory, a parent with something to steal."""
    clear_traces()
    top = Path(tempfile.mkdtemp(prefix="piton-world-"))
    segment = _libc.shmget(_SHM_KEY, 4096, 0o1666)
    ends = os.openpty()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        name = f"piton-{os.getpid()}"
        abstract.bind("\0" + name)
        abstract.listen()
        try:
            there = {
                "port": server.getsockname()[1],
                "abstract": name,
                "shm_key": _SHM_KEY,
                "left_key": LEFT_KEY,
                "queue": QUEUE,
                "terminal": os.ttyname(ends[1]),
            }
            yield World({**_files(top), **_parent(), **there}, str(top / "shown"), str(top / "scratch"), str(top))
        finally:
            _libc.shmctl(segment, 0, None)
            shutil.rmtree(top)
            for end in ends:
                os.close(end)
            clear_traces()


def _files(top: Path) -> dict[str, object]:
    for name in ("run", "cache", "shown", "scratch", "outside"):
        (top / name).mkdir()
    texts = {"golden": "int golden;", "journal": "{}", "key": "secret", "shown/closed": "words"}
    for name, text in texts.items():
        (top / name).write_text(text)
    for path in (top, *top.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    (top / "shown" / "closed").chmod(0o600)
    (top / "shown" / "setuid").write_bytes(Path("/bin/sh").read_bytes())
    (top / "shown" / "setuid").chmod(0o4755)
    own = next(Path(piton.__file__).parent.glob("suites/**/golden.py"))
    paths = {name: str(top / name) for name in ("golden", "journal", "key", "run", "cache", "outside", "scratch")}
    devices = {"shm_device": os.stat("/dev/shm").st_dev, "tmp_device": os.stat("/tmp").st_dev}
    shown = {name: str(top / "shown" / name) for name in ("closed", "setuid")}
    return {**paths, **devices, **shown, "own_golden": str(own), "mark": MARK, "group": _group()}


def _group() -> str:
    """Folder of a control group that processes could be moved to; any folder where there are no groups."""
    try:
        return control_groups.open_hierarchies()[0].folder
    except OSError:
        return "/nonexistent"


_STOLEN, _SPARE = ctypes.create_string_buffer(b"seed 42!", 64), ctypes.create_string_buffer(64)


def _parent() -> dict[str, object]:
    addresses = {"address": ctypes.addressof(_STOLEN), "spare": ctypes.addressof(_SPARE)}
    return {"parent": os.getpid(), **addresses, "descriptor": 0, "name": os.uname().nodename, "secret": SECRET}


_SIBLING = "import os, time; open(os.environ['TMPDIR'] + '/sibling', 'w').write('x'); time.sleep(300)"


class Cage:
    """A runner of one strength, in which another job is at work already."""

    def __init__(self, mechanisms: Mechanisms, surroundings: World) -> None:
        self._world = surroundings
        self.runner = make_runner(mechanisms, readable=(surroundings.shown,))
        self._sibling = self.runner.start(ProcessJob(Role.HOST, (*_python(), _SIBLING), cwd="/"))
        self.knows = {**surroundings.knows, "sibling": self._sibling.pid, "sibling_tmp": f"{self.runner._folder}/*/sibling"}

    def batch(self, attacks: Sequence[Attack], role: str) -> set[str]:
        """Names of those that got through."""
        result = self._run(together(attacks), role)
        assert result.exit_code == 0, result.stderr
        return {attacks[index].name for index in json.loads(result.stdout)}

    def gets_through(self, attack: Attack, role: str) -> bool:
        """One by itself: it may end its process, or show only afterwards."""
        if not attack.runs_alone:
            return attack.name in self.batch([attack], role)
        clear_traces()
        result = self._run(alone(attack), role)
        if attack.aftermath:
            return bool(TRACES[attack.aftermath](self._world))
        return "as a shell" in result.stdout + result.stderr and result.exit_code == 0

    def bare(self, program: str) -> str:
        """What a few lines of Python print as device code; for a cage that holds nothing back."""
        result = self._run(program, "device")
        return result.stdout + result.stderr

    def _run(self, program: str, role: str) -> ProcessResult:
        writable = (self._world.scratch,) if role == "build" else ()
        argv = (*_python(), program, json.dumps(self.knows))
        return self.runner.run(ProcessJob(Role(role), argv, cwd="/", writable=writable, limits=LIMITS[role]))


def _python() -> tuple[str, ...]:
    """The system's interpreter, which every view shows and which starts fastest."""
    return (shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable, "-I", "-S", "-c")


@contextmanager
def cage(mechanisms: Mechanisms, surroundings: World, sabotage: str = "") -> Iterator[Cage]:
    """A cage with a small private /tmp on a small machine, so that bombs need not be large; `sabotage` is told to the process that starts its jobs.

    With LEAK among it jobs get this process's environment, too.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "_TMP_BYTES", _TMP_BYTES)
        patch.setattr(bounds, "machine_bytes", lambda: _MACHINE_BYTES)
        if LEAK in sabotage:
            environment = runner._environment
            patch.setattr(runner, "_environment", lambda private: {**os.environ, **environment(private)})
            patch.setenv("PITON_SECRET", SECRET)
        if sabotage:
            patch.setattr(process, "_BOOT", process._BOOT.replace("from piton.evaluate.sandbox.zygote", f"{sabotage}; from piton.evaluate.sandbox.zygote"))
        made = Cage(mechanisms, surroundings)
        try:
            yield made
        finally:
            made.runner.close()
