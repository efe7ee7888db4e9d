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
from piton.targets.vnpu.compiler import APT_LINE, PLAIN_OUTPUT, Compiler, Step, Workshop, find_compiler, required, tree_digest

TORCH_HEADER = "piton_torch.h"
_TORCH_SHIMS = (TORCH_HEADER, "torch/", "ATen/", "c10/")
ENGINE_FLAGS = ("-std=c++17", "-O3", "-g1", "-fPIE", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", *PLAIN_OUTPUT)
"""No contraction: two instructions of a kernel never become one rounding. Without errno and traps, which nobody reads, roots are vectorised; no bit changes."""
HOST_FLAGS = ("-std=c++20", "-O1", "-g1", "-fPIC", *PLAIN_OUTPUT)
"""C++20 because torch's headers ask for it; host code of a submission is never what is measured.
Line numbers, to say where it crashed."""
_SHARED_WITH_CODE = ("block_locals.cpp.o", "fibre.cpp.o", "registry.cpp.o", "static_data.cpp.o", "device-signals.cpp.o")
"""Units of the engine that piton-code consists of too."""
_WITHOUT_TORCH = ("acl", "fault", "transport")
"""Units of the host library that whole programs are linked with too."""


@dataclass(frozen=True)
class Paths:
    """Piton's own C++ sources."""

    root: Path

    @property
    def include(self) -> Path:
        """Headers of the device language and the seams."""
        return self.root / "include"

    @property
    def seams(self) -> Path:
        """The headers that the engine and the host library share with submissions: all that they include of `include`."""
        return self.include / "vnpu"

    @property
    def shims(self) -> Path:
        """Headers that stand in for torch_npu and the vendor's host libraries."""
        return self.include / "host"

    @property
    def project(self) -> Path:
        """Headers of operator projects and of the CPU debug interface; the engine and the host library know nothing of them."""
        return self.include / "project"

    @property
    def engine(self) -> Path:
        """Sources of vnpu-device."""
        return self.root / "engine"

    @property
    def code(self) -> Path:
        """Sources of piton-code, which also takes some of the engine's."""
        return self.root / "code"

    @property
    def host(self) -> Path:
        """Sources of libpiton_npu.so."""
        return self.root / "host"

    @property
    def program(self) -> Path:
        """Sources that only whole programs are linked with."""
        return self.root / "program"


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


def simulator_digest(paths: Paths) -> str:
    """Identity of engine, timing model and torch device, from their sources."""
    return digest([tree_digest(paths.engine, paths.code, paths.host, paths.include), ENGINE_FLAGS])


@dataclass(frozen=True)
class OwnParts:
    """Where everything is that a submission's build needs; the products are empty until they are made."""

    paths: Paths
    compiler: Compiler
    torch: Path
    python: Path
    arch: int
    """Number of the compiler's architecture, such as 2201."""
    host_library: str = ""
    device_program: str = ""
    code_program: str = ""
    torch_header: str = ""
    """`piton_torch.h` with its precompiled form beside it."""
    program_objects: tuple[str, ...] = ()
    """What a whole program is linked with."""

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
        return digest([tree_digest(self.paths.include), self._outside])

    @cached_property
    def _outside(self) -> list[str]:
        """What comes from elsewhere and decides results: compiler, torch and Python's headers."""
        return [self.compiler.identity, metadata.version("torch"), str(self.torch), str(self.python)]

    @cached_property
    def simulator_digest(self) -> str:
        """Identity of what runs a build: engine, timing model, torch device. No compile of a submission depends on it, but every result does."""
        return simulator_digest(self.paths)

    @cached_property
    def known_names(self) -> frozenset[str]:
        """Every identifier in our headers but those in comments: a name that an error points at and that is here is no missing API."""
        texts = (re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text("utf-8"), flags=re.DOTALL) for path in sorted(self.paths.include.rglob("*.h")))
        return frozenset(word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text))

    def system_includes(self) -> tuple[str, ...]:
        """Our headers before everybody's, then torch's and Python's, all without their warnings."""
        torch_include = self.torch / "include"
        folders = (self.paths.shims, self.paths.project, self.paths.include, torch_include, torch_include / "torch" / "csrc" / "api" / "include", self.python)
        return tuple(part for folder in folders for part in ("-isystem", str(folder)))

    def torch_libraries(self) -> tuple[str, ...]:
        """Link arguments for torch's libraries, which are loaded already when the result is."""
        folder = self.torch / "lib"
        return (f"-L{folder}", f"-Wl,-rpath,{folder}", "-Wl,--as-needed", "-ltorch_python", "-ltorch_cpu", "-ltorch", "-lc10")

    def made(self, workshop: Workshop, progress: Callable[[str], None]) -> OwnParts:
        """The same with the three products built. Raises TargetUnavailableError with the compiler's words when one cannot be."""
        header, engine, code, host = self._torch_header_step(), self._engine_steps(), self._code_steps(), self._host_steps()
        compiles = [header, *engine, *code, *host]
        if workshop.lacks(compiles):
            progress(f"building the virtual NPU for this machine: {len(compiles)} compiles, once per version (kept in {workshop.kept_in})")
        made = required(workshop.make_all(compiles, progress))
        device_objects, host_objects = made[1 : 1 + len(engine) + len(code)], made[1 + len(engine) + len(code) :]
        links = [*self._device_links(device_objects, len(engine)), self._host_link(host_objects)]
        device_program, code_program, host_library = required(workshop.make_all(links, progress))
        torch_header = workshop.put_beside(made[0], self.paths.shims / TORCH_HEADER)
        products = replace(self, device_program=device_program, code_program=code_program, host_library=host_library)
        return replace(products, torch_header=torch_header)

    def made_for_programs(self, workshop: Workshop, progress: Callable[[str], None]) -> OwnParts:
        """The same with the parts that run whole programs: the engine, and what they are linked with; nothing of torch."""
        engine, code, program = self._engine_steps(), self._code_steps(), self._program_steps()
        compiles = [*engine, *code, *program]
        if workshop.lacks(compiles):
            progress(f"building the virtual NPU for this machine: {len(compiles)} compiles, once per version (kept in {workshop.kept_in})")
        made = required(workshop.make_all(compiles, progress))
        device_objects, program_objects = made[: len(engine) + len(code)], made[len(engine) + len(code) :]
        device_program, code_program = required(workshop.make_all(self._device_links(device_objects, len(engine)), progress))
        return replace(self, device_program=device_program, code_program=code_program, program_objects=tuple(program_objects))

    def _program_steps(self) -> list[Step]:
        """Host library and connection without torch."""
        flags = (*HOST_FLAGS, "-isystem", str(self.paths.shims), "-isystem", str(self.paths.include))
        units = [self.paths.host / f"{name}.cpp" for name in _WITHOUT_TORCH] + sorted(self.paths.program.rglob("*.cpp"))
        return self._steps_of(units, flags, lambda unit: f"program-{unit.stem}.o")

    def _engine_steps(self) -> list[Step]:
        return self._unit_steps(self.paths.engine, self._engine_flags())

    def _code_steps(self) -> list[Step]:
        return self._steps_of(sorted(self.paths.code.rglob("*.cpp")), self._engine_flags(), lambda unit: f"code-{_object_name(unit, self.paths.code)}")

    def _engine_flags(self) -> tuple[str, ...]:
        return (*ENGINE_FLAGS, "-I", str(self.paths.engine), "-I", str(self.paths.include))

    def _host_steps(self) -> list[Step]:
        return self._unit_steps(self.paths.host, (*HOST_FLAGS, "-I", str(self.paths.host), *self.system_includes()))

    def _torch_header_step(self) -> Step:
        arguments = (*HOST_FLAGS, *self.system_includes(), "-x", "c++-header", str(self.paths.shims / TORCH_HEADER))
        return replace(self._own_step(f"{TORCH_HEADER}.gch", arguments, self._seen_by_torch()), is_product=True)

    def _seen_by_torch(self) -> list[str]:
        """The header itself, and our headers that stand in for some of torch's: by name all of them, since a new one may hide one of torch's."""
        shims = sorted(path for path in self.paths.shims.rglob("*") if path.is_file())
        names = [path.relative_to(self.paths.shims).as_posix() for path in shims]
        return [*names, *(digest_bytes(path.read_bytes()) for path, name in zip(shims, names, strict=True) if name.startswith(_TORCH_SHIMS))]

    def _device_links(self, objects: list[str], engine_count: int) -> list[Step]:
        """vnpu-device of the first `engine_count` objects, piton-code of the others and a few of these."""
        engine, code = objects[:engine_count], objects[engine_count:]
        shared = [item for item in engine if Path(item).name in _SHARED_WITH_CODE]
        return [self._device_link("vnpu-device", engine), self._device_link("piton-code", [*code, *shared])]

    def _device_link(self, name: str, objects: list[str]) -> Step:
        """`-rdynamic`, so that device libraries find the functions they call in it; `--no-as-needed`, so that they find scalar maths (device_functions.py)."""
        return self._own_link(name, ("-rdynamic", "-pthread", "-Wl,--no-as-needed", *objects, "-ldl", "-lm"), objects)

    def _host_link(self, objects: list[str]) -> Step:
        arguments = ("-shared", "-Wl,-soname,libpiton_npu.so", *objects, *self.torch_libraries(), "-ldl")
        return self._own_link("libpiton_npu.so", arguments, objects)

    def _unit_steps(self, folder: Path, flags: tuple[str, ...]) -> list[Step]:
        units = sorted(folder.rglob("*.cpp"))
        if not units:
            raise TargetUnavailableError("Piton's own C++ sources are missing", expected=f"C++ files in {folder}", action="reinstall Piton")
        return self._steps_of(units, flags, lambda unit: _object_name(unit, folder))

    def _steps_of(self, units: list[Path], flags: tuple[str, ...], name: Callable[[Path], str]) -> list[Step]:
        folders = (self.paths.engine, self.paths.code, self.paths.host, self.paths.shims)
        headers = [path for folder in folders for path in sorted(folder.rglob("*.h"))]
        shared = [tree_digest(self.paths.seams), *(digest_bytes(path.read_bytes()) for path in headers)]
        return [self._own_step(name(unit), (*flags, "-c", str(unit)), [*shared, digest_bytes(unit.read_bytes())]) for unit in units]

    def _own_link(self, name: str, arguments: tuple[str, ...], objects: list[str]) -> Step:
        """A link; objects of the store are known by the folders that their keys name."""
        step = self._own_step(name, arguments, objects)
        shown = [argument for argument in arguments if argument not in objects]
        return replace(step, key=digest([name, shown, [Path(item).parent.name for item in objects], self._outside]), is_product=True)

    def _own_step(self, name: str, arguments: tuple[str, ...], inputs: list[str]) -> Step:
        """A step whose key does not depend on where Piton lies: two checkouts with the same sources share what is built."""
        root = str(self.paths.root)
        key = digest([name, [argument.replace(root, "") for argument in arguments], inputs, self._outside])
        mapped = (*arguments, f"-ffile-prefix-map={root}=piton")
        return Step(name, mapped, key, readable=(root, str(self.torch), str(self.python)))


def _object_name(unit: Path, folder: Path) -> str:
    return f"{unit.relative_to(folder).as_posix().replace('/', '-')}.o"
