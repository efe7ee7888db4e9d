"""A world worth attacking, and the running of attacks in it at any strength of isolation."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from cage_attacks import Attack, alone, together

import piton
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role
from piton.evaluate.sandbox import bounds, make_runner, runner
from piton.evaluate.sandbox.probe import Mechanisms, candidates

MARK = "piton-attack-mark"
_SHM_KEY = 0x7170746E
_TMP_BYTES = 64 << 20
_MACHINE_BYTES = 256 << 20
_LIMITS = {
    "host": Limits(wall_s=30, cpu_s=20, memory_bytes=160 << 20, processes=100, may_start_processes=False),
    "device": Limits(wall_s=30, cpu_s=20, memory_bytes=160 << 20, processes=100, may_start_processes=False),
    "build": Limits(wall_s=30, cpu_s=20, memory_bytes=160 << 20, file_bytes=16 << 20, processes=100),
}


def mechanisms_at(level: int) -> Mechanisms:
    """What makes up a level, as far as this machine has it."""
    strongest = candidates(os.geteuid() == 0)[0]
    filters = {"no_new_processes": strongest.no_new_processes, "allow_list": strongest.allow_list, "landlock": strongest.landlock}
    steps = (
        Mechanisms(),
        Mechanisms(**filters),  # type: ignore[arg-type]
        Mechanisms(namespaces=strongest.namespaces, user_namespace=strongest.user_namespace, **filters),  # type: ignore[arg-type]
        strongest,
    )
    return steps[level]


@dataclass(frozen=True)
class World:
    """What an attacker knows of its surroundings, and what is shown to it."""

    knows: dict[str, object]
    shown: str
    scratch: str


@contextmanager
def world() -> Iterator[World]:
    """Goldens, journals and caches in a folder that everybody may enter, open sockets, shared memory, a parent with something to steal."""
    top = Path(tempfile.mkdtemp(prefix="piton-world-"))
    libc = ctypes.CDLL(None, use_errno=True)
    segment = libc.shmget(_SHM_KEY, 4096, 0o1666)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        name = f"piton-{os.getpid()}"
        abstract.bind("\0" + name)
        abstract.listen()
        try:
            knows = {**_files(top), **_parent(), "port": server.getsockname()[1], "abstract": name, "shm_key": _SHM_KEY}
            yield World(knows, str(top / "shown"), str(top / "scratch"))
        finally:
            libc.shmctl(segment, 0, None)
            shutil.rmtree(top)
            for left in (Path("/dev/shm") / MARK, Path("/tmp") / MARK):
                with suppress(OSError):
                    left.unlink()


def _files(top: Path) -> dict[str, object]:
    for name in ("run", "cache", "shown", "scratch", "outside"):
        (top / name).mkdir()
    texts = {"golden": "int golden;", "journal": "{}", "key": "secret", "shown/closed": "words"}
    for name, text in texts.items():
        (top / name).write_text(text)
    for path in (top, *top.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    (top / "shown" / "closed").chmod(0o600)
    own = next(Path(piton.__file__).parent.glob("suites/**/golden.py"))
    paths = {name: str(top / name) for name in ("golden", "journal", "key", "run", "cache", "outside", "scratch")}
    devices = {"shm_device": os.stat("/dev/shm").st_dev, "tmp_device": os.stat("/tmp").st_dev}
    return {**paths, **devices, "closed": str(top / "shown" / "closed"), "own_golden": str(own), "mark": MARK}


_STOLEN = ctypes.create_string_buffer(b"seed 42!", 64)


def _parent() -> dict[str, object]:
    return {"parent": os.getpid(), "address": ctypes.addressof(_STOLEN), "descriptor": 0, "name": os.uname().nodename}


class Cage:
    """A runner of one strength."""

    def __init__(self, mechanisms: Mechanisms, surroundings: World) -> None:
        self._world = surroundings
        self.runner = make_runner(mechanisms, readable=(surroundings.shown,))

    def batch(self, attacks: Sequence[Attack], role: str) -> set[str]:
        """Names of those that got through."""
        result = self._run(together(list(attacks)), role)
        assert result.exit_code == 0, result.stderr
        return {attacks[index].name for index in json.loads(result.stdout)}

    def gets_through(self, attack: Attack, role: str) -> bool:
        """One that may end its process."""
        if not attack.runs_alone:
            return attack.name in self.batch([attack], role)
        result = self._run(alone(attack), role)
        return "as a shell" in result.stdout and result.exit_code == 0

    def left_behind(self) -> list[str]:
        """Folders of control groups of this process that still exist."""
        return [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/piton-{os.getpid()}-*")]

    def _run(self, program: str, role: str) -> ProcessResult:
        writable = (self._world.scratch,) if role == "build" else ()
        argv = (shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable, "-I", "-S", "-c", program, json.dumps(self._world.knows))
        return self.runner.run(ProcessJob(Role(role), argv, cwd="/", writable=writable, limits=_LIMITS[role]))


@contextmanager
def cage(mechanisms: Mechanisms, surroundings: World) -> Iterator[Cage]:
    """A cage with a small private /tmp on a small machine, so that bombs need not be large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "_TMP_BYTES", _TMP_BYTES)
        patch.setattr(bounds, "machine_bytes", lambda: _MACHINE_BYTES)
        made = Cage(mechanisms, surroundings)
        try:
            yield made
        finally:
            made.runner.close()
