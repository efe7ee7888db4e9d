"""Compiles and links for the coverage table: describing programs, and device libraries of one kernel for one row.

Approach: the flags of a real build but for the optimiser, which no answer depends on; the vendor's build gathers the op_kernel folders of all operators side
by side, so that `../other_operator/header.h` is found; a folder of links does the same here. Results are kept by content in the work folder.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from selection import Kernel

from piton.targets.vnpu.compiler import PLAIN_OUTPUT
from piton.targets.vnpu.rewrite import find_launches, rewrite
from piton.targets.vnpu.steps import DEVICE_FLAGS, DEVICE_LINK, EXPECTED_ON_DEVICE, architecture_macros, unexpected

TIMEOUT_S = 400
_SLOW = frozenset({"-O2", "-g1", "-fsanitize-coverage=trace-pc", "-fno-tree-vectorize", "-DPITON_COUNTS_BLOCKS"})
_QUICK = ("-O1", *(flag for flag in DEVICE_FLAGS if flag not in _SLOW))
"""Flags of an evaluation without what costs time and decides nothing but which calls the optimiser finds to be dead; without any optimiser most inline
functions of the standard library would be calls, which the link refuses."""
_HOST = ("-std=c++17", "-O0", "-DPITON_HOST_PASS", "-DPITON_PROJECT_HOST", *PLAIN_OUTPUT)
_HOST_FOLDERS = ("project", "host", "vnpu", "ascendc/matmul", "ascendc/norms")
"""Where the headers lie that host code includes, directly or not."""
_DESCRIBE = '#include "piton_project/describe.h"\n#include "ascendc/host_api/tiling/template_argument.h"\n'
_ENTRY = '#include "piton_project/kernel_numbers.h"\n#include "kernel_operator.h"\n#include "piton_project/entry.h"\n'
_SOURCES = (".h", ".hpp", ".cpp", ".asc", ".cce", ".cc", ".inl")
_COMMON = ("common/inc/op_kernel", "common/inc", "common", "")


@dataclass(frozen=True)
class Built:
    """What came of one compile and link."""

    is_linked: bool
    output: str = ""
    undefined: tuple[str, ...] = ()
    is_timed_out: bool = False


class Builder:
    """Runs g++ below `work`; `headers` is the include folder of the virtual NPU."""

    def __init__(self, headers: Path, work: Path, arch: int) -> None:
        self._headers = headers
        self._work = work
        self._system = tuple(part for name in ("host", "project", ".") for part in ("-isystem", str((headers / name).resolve())))
        self._arch = arch
        self._identity = _digest_of(headers)
        self._host_identity = "".join(_digest_of(headers / name) for name in _HOST_FOLDERS)
        self._describe_header = self._precompiled("describe", _DESCRIBE, _HOST)
        self._entry_header = self._precompiled("entry", _ENTRY, (*_QUICK, *architecture_macros(arch), "-w"))

    @property
    def identity(self) -> str:
        """Digest of the headers."""
        return self._identity

    def describer(self, source: str) -> tuple[Path | None, str]:
        """The program made of host code `source`, or what the compiler said."""
        folder = self._work / "describe" / hashlib.sha256((self._host_identity + source).encode()).hexdigest()[:20]
        program = folder / "describe"
        if program.exists():
            return program, ""
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:  # kernels of one operator have the same source, and may be tried at the same time
            unit, made = Path(scratch) / "describe.cpp", Path(scratch) / "describe"
            unit.write_text(source, "utf-8")
            result = self._run([*_HOST, "-include", str(self._describe_header), *self._system, str(unit), "-o", str(made)])
            if made.exists():
                os.replace(made, program)
        return (program, "") if program.exists() else (None, _first_error(result.output))

    def kernel(self, kernel: Kernel, source: str, name: str, *, is_entry: bool) -> Built:
        """Compile and link the `source` of a kernel, a generated entry or a file that launches; if that does not link, as an evaluation does it."""
        folder = self._work / "build"
        folder.mkdir(parents=True, exist_ok=True)
        unit = folder / f"{name}.cpp"
        unit.write_text(source, "utf-8")
        quick = (*_QUICK, "-include", str(self._entry_header)) if is_entry else _QUICK
        built = self._library(kernel, unit, quick)
        if built.undefined:
            built = self._library(kernel, unit, (*DEVICE_FLAGS, *(("-fwhole-program",) if is_entry else ())))
        unit.unlink(missing_ok=True)
        return built

    def _library(self, kernel: Kernel, unit: Path, flags: tuple[str, ...]) -> Built:
        """The device library of one unit, which does not stay."""
        made, library = unit.with_suffix(".o"), unit.with_suffix(".so")
        compiled = self._run(
            [*flags, *architecture_macros(self._arch), "-w", "-fmax-errors=300", *self._quoted(kernel), *self._system, "-c", str(unit), "-o", str(made)]
        )
        if compiled.is_timed_out or not made.exists():
            return compiled
        linked = self._run([*DEVICE_LINK, str(made), "-lgcc", "-o", str(library)])
        undefined = tuple(unexpected(linked.output, EXPECTED_ON_DEVICE))
        is_linked = library.exists() and not undefined
        for path in (made, library):
            path.unlink(missing_ok=True)
        return Built(is_linked, linked.output, undefined)

    def gather(self, kernels: list[Kernel]) -> None:
        """Lay the op_kernel folders of these kernels' checkouts side by side, experimental ones apart, with launches rewritten."""
        for root in {kernel.root for kernel in kernels}:
            for folder in sorted(root.rglob("op_kernel")):
                if folder.is_dir() and "tests" not in folder.relative_to(root).parts:
                    place = self._side_by_side(root, folder.relative_to(root).parts[0] == "experimental") / folder.parent.name
                    for item in sorted(folder.rglob("*")):
                        _lay(item, place / item.relative_to(folder))

    def placed(self, kernel: Kernel) -> Path:
        """The kernel's file where it is compiled: beside the other operators' folders, as in the vendor's build, so that `../other/header.h` is found."""
        place = self._side_by_side(kernel.root, kernel.path.startswith("experimental")) / kernel.folder.name
        own = kernel.folder / "op_kernel"
        copy = place / kernel.file.relative_to(own) if own in kernel.file.parents else kernel.file
        is_same = copy.is_file() and (copy.resolve() == kernel.file.resolve() or not copy.is_symlink())
        return copy if is_same else kernel.file

    def _side_by_side(self, root: Path, is_experimental: bool) -> Path:
        return self._work / "side_by_side" / root.name / ("experimental" if is_experimental else "main")

    def _quoted(self, kernel: Kernel) -> list[str]:
        own = kernel.folder / "op_kernel"
        beside = [self._side_by_side(kernel.root, is_experimental) / kernel.folder.name for is_experimental in (kernel.path.startswith("experimental"), False)]
        for folder in beside:
            folder.mkdir(parents=True, exist_ok=True)
        folders = [self.placed(kernel).parent, *beside, kernel.file.parent, own, kernel.folder, *(kernel.root / name for name in _COMMON)]
        return [part for folder in dict.fromkeys(folders) if folder.is_dir() for part in ("-I", str(folder))]

    def _precompiled(self, name: str, includes: str, flags: tuple[str, ...]) -> Path:
        header = self._work / f"{name}_{self._identity[:12]}.h"
        if not Path(f"{header}.gch").exists():
            self._work.mkdir(parents=True, exist_ok=True)
            header.write_text(includes, "utf-8")
            self._run([*flags, *self._system, "-x", "c++-header", str(header), "-o", f"{header}.gch"])
        return header

    def _run(self, arguments: list[str]) -> Built:
        try:
            plain = {**os.environ, "LC_ALL": "C"}
            result = subprocess.run(["g++", *arguments], capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False, env=plain)
        except subprocess.TimeoutExpired:
            return Built(False, is_timed_out=True)
        return Built(False, result.stdout + result.stderr)


def _lay(item: Path, place: Path) -> None:
    """A link to a file, or a copy where the compiler has to see something else; the first of two operators of one name stays."""
    if not item.is_file() or place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    text = item.read_text("utf-8", errors="replace") if item.suffix in _SOURCES else ""
    if "<<<" in text and find_launches(text):
        place.write_text(rewrite(text, str(item)), "utf-8")
    else:
        place.symlink_to(item)


def _digest_of(folder: Path) -> str:
    made = hashlib.sha256()
    for path in sorted(folder.rglob("*.h")):
        made.update(str(path.relative_to(folder)).encode())
        made.update(path.read_bytes())
    return made.hexdigest()


def _first_error(text: str) -> str:
    return next((line for line in text.splitlines() if "error" in line or "undefined" in line), text[:300])
