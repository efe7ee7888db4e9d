"""Attacks by device code whose engine is in a process of its own (level 4): the real `piton-code` in its cage is told to load a library that makes them."""

from __future__ import annotations

import mmap
import struct
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cage_attacks import Attack
from cage_list import ATTACKS
from cage_native import FORMS, Knows, Script
from cage_rig import LIMITS, Cage
from processes_rig import Programs

from piton.core.protocols import ProcessJob, ProcessResult, Runner, RunningProcess
from piton.targets.vnpu.code_process import RING_BYTES, CodeProcess, CodeProgram

_COMMAND, _SLOTS = 128, 69824
"""Where engine/remote/channel.h has the command to the device side, and the first slot that it fills."""
_LOAD, _TEXT_SLOT, _LOAD_FAILED_SLOT = 1, 5, 12
_END_S = 20.0


def through_from_code(held: Cage, programs: Programs) -> set[str]:
    """Names of the attacks of device code that got through."""
    return {attack.name for attack in by_device_code() if gets_through(attack, held, programs)}


def by_device_code() -> Sequence[Attack]:
    """Those that are tried."""
    return [attack for attack in ATTACKS if "device" in attack.roles]


def gets_through(attack: Attack, held: Cage, programs: Programs) -> bool:
    """One attack in a fresh process, which is given three descriptors. To have made a process, or shared memory, counts."""
    with _scripted(attack, {**held.knows, "given": 3, "first": 1}, programs) as library:
        result = _run(held.runner, CodeProgram(programs.code, library, LIMITS["device"]))
    return "as a shell" in result.stdout + result.stderr


def gets_through_without_a_cage(attack: Attack, held: Cage, programs: Programs) -> bool:
    """The same library in a process that nothing holds back."""
    with _scripted(attack, {**held.knows, "given": 0, "first": held.knows["parent"]}, programs) as library:
        return "as a shell" in held.bare(f"import ctypes; ctypes.CDLL({library!r})")


@contextmanager
def _scripted(attack: Attack, knows: Knows, programs: Programs) -> Iterator[str]:
    """A copy of the library with the attack behind it."""
    script = Script()
    FORMS[attack.name](script, knows)
    with tempfile.NamedTemporaryFile(prefix="piton-script-", suffix=".so") as file:
        file.write(Path(programs.script).read_bytes() + script.packed())
        file.flush()
        Path(file.name).chmod(0o644)
        yield file.name


class _Keeping:
    """A runner that remembers the process that it started last."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.process: RunningProcess | None = None

    def start(self, job: ProcessJob) -> RunningProcess:
        self.process = self._runner.start(job)
        return self.process


def _run(runner: Runner, program: CodeProgram) -> ProcessResult:
    """Start the process, order it to load its library, and wait until it has or is gone."""
    keeping = _Keeping(runner)
    code = CodeProcess(program, keeping)  # type: ignore[arg-type]
    try:
        with mmap.mmap(code.ring, RING_BYTES) as ring:
            struct.pack_into("<I", ring, _COMMAND + 4, _LOAD)
            struct.pack_into("<I", ring, _COMMAND, 1)
            _await_answer(keeping, ring)
        assert keeping.process is not None
        return keeping.process.kill()
    finally:
        code.close()


def _await_answer(keeping: _Keeping, ring: mmap.mmap) -> None:
    """The first slot is filled when the library is loaded. Without one the process has ended."""
    deadline = time.monotonic() + _END_S
    assert keeping.process is not None
    while keeping.process.poll() is None and time.monotonic() < deadline:
        if struct.unpack_from("<I", ring, 0)[0] > 0:
            assert struct.unpack_from("<I", ring, _SLOTS)[0] not in (_TEXT_SLOT, _LOAD_FAILED_SLOT), "the library of the attack could not be loaded"
            return
        time.sleep(0.002)
