"""The engine of `engine_rig` with its kernels in another process: product code on both sides of the ring, without a sandbox."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import struct
import subprocess
from functools import cache
from pathlib import Path

from engine_rig import HERE, VNPU, Report, Rig, build, engine_library

from piton.targets.vnpu import wire
from piton.targets.vnpu.code_process import shared_memory

_SHARED = ("block_locals.cpp", "fibre.cpp", "registry.cpp", "static_data.cpp", "device/signals.cpp")


@cache
def code_program() -> Path:
    """`piton-code`."""
    sources = [*sorted((VNPU / "code").glob("*.cpp")), *(VNPU / "engine" / name for name in _SHARED)]
    return build(sources, ["-I", str(VNPU / "code")], ["-rdynamic", "-ldl"], "piton-code")


@cache
def kernel_library() -> Path:
    """The kernels of the engine's tests, the very objects that lie beside the engine otherwise."""
    sources = [path for pattern in ("engine_kernels*.cpp", "engine_attacks*.cpp", "apart_library.cpp") for path in sorted(HERE.glob(pattern))]
    return build(sources, [], ["-shared"], "kernels.so")


class ApartRig(Rig):
    """A rig whose kernels run in a process of their own, started afresh for a launch after one that was cut."""

    def __init__(self, **options: int) -> None:
        super().__init__(**options)
        self._process: subprocess.Popen[bytes] | None = None
        self.exit_code: int | None = None
        """Of the last process; -9 when it did not end by itself."""

    def close(self) -> None:
        """End the process too."""
        self._end()
        super().close()

    def run_kernel(self, name: str, source: int, out: int, a: int, b: int = 0, *, blocks: int = 1) -> Report:
        """As `Rig.run_kernel`, in the other process."""
        if self._process is None:
            self._start()
        arguments = name.encode().ljust(64, b"\0") + struct.pack("<QQII", source, out, a, b)
        text = self._library.rig_run_apart(self._rig, arguments, len(arguments), blocks)
        report = Report(**json.loads(text.decode()))
        if report.is_cut:
            self._end()
        return report

    def _start(self) -> None:
        ring = shared_memory()
        engine_end, code_end = socket.socketpair()
        ours, theirs = socket.socketpair()
        fds = (ring, code_end.fileno(), theirs.fileno())
        with code_end, theirs, ours:
            self._process = subprocess.Popen([str(code_program()), *map(str, fds), str(kernel_library())], pass_fds=fds)
            wire.receive_frame(ours, 60.0)
        self._control = engine_end
        failure = engine_library().rig_connect(self._rig, ring, ctypes.c_int(engine_end.fileno()))
        os.close(ring)
        assert failure == b"", failure

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()  # one that has ended by itself keeps its exit code
            self.exit_code = self._process.wait()
            self._control.close()
        self._process = None
