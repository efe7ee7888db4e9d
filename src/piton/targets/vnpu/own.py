"""What Piton brings itself and builds once per machine: the engine, the torch device, and the precompiled torch header."""

from __future__ import annotations

import importlib.util
import re
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path

from piton.core.canonical import digest, digest_bytes
from piton.core.errors import TargetUnavailableError
from piton.core.hardware import Hardware
from piton.targets.vnpu.compiler import APT_LINE, PLAIN_OUTPUT, Compiler, Step, Workshop, find_compiler, required, tree_digest, vector_flags

TORCH_HEADER = "piton_torch.h"
ENGINE_FLAGS = ("-std=c++17", "-O3", "-g1", "-fPIE", "-ffp-contract=off", *PLAIN_OUTPUT)
"""No contraction: two instructions of a kernel never become one rounding."""
HOST_FLAGS = ("-std=c++20", "-O1", "-fPIC", *PLAIN_OUTPUT)
"""C++20 because torch's headers ask for it; host code of a submission is never what is measured."""


@dataclass(frozen=True)
class Paths:
    """Piton's own C++ sources."""

    root: Path

    @property
    def include(self) -> Path:
        """Headers of the device language and the seams."""
        return self.root / "include"

    @property
    def shims(self) -> Path:
        """Headers that stand in for torch_npu and the vendor's host libraries."""
        return self.include / "host"

    @property
    def engine(self) -> Path:
        """Sources of vnpu-device."""
        return self.root / "engine"

    @property
    def host(self) -> Path:
        """Sources of libpiton_npu.so."""
        return self.root / "host"


def torch_folder() -> Path | None:
    """Folder of the installed torch if it has C++ headers; found without importing it."""
    spec = importlib.util.find_spec("torch")
    folders = list(spec.submodule_search_locations or []) if spec else []
    folder = Path(folders[0]) if folders else None
    return folder if folder and (folder / "include" / "ATen" / "ATen.h").is_file() else None


def python_include() -> Path | None:
    """Folder of Python.h, or None."""
    folder = Path(sysconfig.get_paths()["include"])
    return folder if (folder / "Python.h").is_file() else None


@dataclass(frozen=True)
class OwnParts:
    """Where everything is that a submission's build needs; the three products are empty until `made`."""

    paths: Paths
    compiler: Compiler
    torch: Path
    python: Path
    arch: int
    """Number of the compiler's architecture, such as 2201."""
    host_library: str = ""
    device_program: str = ""
    torch_header: str = ""
    """`piton_torch.h` with its precompiled form beside it."""

    @staticmethod
    def locate(paths: Paths, hardware: Hardware) -> OwnParts:
        """Find the compiler and the headers. Raises TargetUnavailableError for what is missing."""
        compiler, torch, python = find_compiler(), torch_folder(), python_include()
        if compiler is None or torch is None or python is None:
            raise TargetUnavailableError("the virtual NPU cannot be built here", expected="g++, Python.h and torch's headers", action=APT_LINE)
        numbers = re.findall(r"\d+", hardware.arch)
        return OwnParts(paths, compiler, torch, python, arch=int(numbers[-1]) if numbers else 0)

    @cached_property
    def headers_digest(self) -> str:
        """Identity of every header a submission is compiled against."""
        return digest([tree_digest(self.paths.include), metadata.version("torch"), str(self.python)])

    @cached_property
    def known_names(self) -> frozenset[str]:
        """Every identifier in our headers but those in comments: a name that an error points at and that is here is no missing API."""
        texts = (re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text("utf-8"), flags=re.DOTALL) for path in sorted(self.paths.include.rglob("*.h")))
        return frozenset(word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text))

    def system_includes(self) -> tuple[str, ...]:
        """Our headers before everybody's, then torch's and Python's, all without their warnings."""
        torch_include = self.torch / "include"
        folders = (self.paths.shims, self.paths.include, torch_include, torch_include / "torch" / "csrc" / "api" / "include", self.python)
        return tuple(part for folder in folders for part in ("-isystem", str(folder)))

    def torch_libraries(self) -> tuple[str, ...]:
        """Link arguments for torch's libraries, which are loaded already when the result is."""
        folder = self.torch / "lib"
        return (f"-L{folder}", f"-Wl,-rpath,{folder}", "-Wl,--as-needed", "-ltorch_python", "-ltorch_cpu", "-ltorch", "-lc10")

    def made(self, workshop: Workshop, progress: Callable[[str], None]) -> OwnParts:
        """The same with the three products built."""
        progress("building the engine of the virtual NPU")
        device_program = self._device_program(workshop)
        progress("building the torch device npu")
        host_library = self._host_library(workshop)
        progress("precompiling torch's headers")
        return replace(self, device_program=device_program, host_library=host_library, torch_header=self._torch_header(workshop))

    def _device_program(self, workshop: Workshop) -> str:
        flags = (*ENGINE_FLAGS, *vector_flags(), "-I", str(self.paths.engine), "-I", str(self.paths.include))
        objects = self._objects(workshop, self.paths.engine, flags, "the engine")
        link = ("-rdynamic", "-pthread", *objects, "-ldl")
        return required(workshop.make(self._own_step("vnpu-device", link, [*objects])), "vnpu-device")

    def _host_library(self, workshop: Workshop) -> str:
        flags = (*HOST_FLAGS, "-I", str(self.paths.host), *self.system_includes())
        objects = self._objects(workshop, self.paths.host, flags, "the torch device npu")
        link = ("-shared", "-Wl,-soname,libpiton_npu.so", *objects, *self.torch_libraries())
        return required(workshop.make(self._own_step("libpiton_npu.so", link, [*objects])), "libpiton_npu.so")

    def _torch_header(self, workshop: Workshop) -> str:
        arguments = (*HOST_FLAGS, *self.system_includes(), "-x", "c++-header", str(self.paths.shims / TORCH_HEADER))
        made = required(workshop.make(self._own_step(f"{TORCH_HEADER}.gch", arguments, [self.headers_digest])), "the precompiled torch header")
        return workshop.put_beside(made, self.paths.shims / TORCH_HEADER)

    def _objects(self, workshop: Workshop, folder: Path, flags: tuple[str, ...], what: str) -> list[str]:
        units = sorted(folder.rglob("*.cpp"))
        if not units:
            raise TargetUnavailableError(f"the sources of {what} are missing", expected=f"C++ files in {folder}", action="reinstall Piton")
        shared = [tree_digest(self.paths.include), *(digest_bytes(path.read_bytes()) for path in sorted(folder.parent.rglob("*.h")))]
        steps = [
            self._own_step(f"{unit.relative_to(folder).as_posix().replace('/', '-')}.o", (*flags, "-c", str(unit)), [*shared, digest_bytes(unit.read_bytes())])
            for unit in units
        ]
        return [required(result, what) for result in workshop.make_all(steps)]

    def _own_step(self, name: str, arguments: tuple[str, ...], inputs: list[str]) -> Step:
        key = digest([name, arguments, inputs, self.compiler.version, metadata.version("torch")])
        return Step(name, arguments, key, readable=(str(self.paths.root), str(self.torch), str(self.python)))
