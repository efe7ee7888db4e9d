"""The compile and link steps of one operator: which flags, which inputs, which key.

Flags are Piton's, never the submission's. What decides a result is in its key by content, so that the folder of a build is not part of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from piton.core.canonical import digest, digest_bytes
from piton.core.submission import Manifest, OperatorSources
from piton.targets.vnpu.compiler import PLAIN_OUTPUT, Step
from piton.targets.vnpu.device_functions import ALLOWED
from piton.targets.vnpu.device_pass import cut
from piton.targets.vnpu.diagnostics import undefined_symbols
from piton.targets.vnpu.launches import launched_kernels, names_in, registrations
from piton.targets.vnpu.own import HOST_FLAGS, OwnParts
from piton.targets.vnpu.sources import EXTENSION, SourceTree, alone, device_tree

_KERNEL_FLAGS = ("-std=c++17", "-g1", "-fPIC", "-ffp-contract=off", "-U_FORTIFY_SOURCE", "-fno-stack-protector", *PLAIN_OUTPUT)
"""Without what some distributions' compilers add of themselves: checking forms of library calls (`__snprintf_chk`), which device code may not link."""
LAUNCH_FLAGS = (*_KERNEL_FLAGS, "-O1", "-DPITON_HOST_PASS")
"""Of the host pass of a kernel's source: what runs on the host is not measured, so that a quick compile counts more."""
DEVICE_FLAGS = (
    *_KERNEL_FLAGS,
    "-O2",
    "-DPITON_DEVICE_PASS",
    "-DPITON_COUNTS_BLOCKS",
    "-fvisibility=hidden",
    "-ffunction-sections",
    "-fno-jump-tables",
    "-fsanitize-coverage=trace-pc",
    "-fno-tree-vectorize",
)
"""Sections, so that host functions of the unit, which the device never calls, drop out of the link with what they refer to. Every basic block of the kernel
calls the engine, which ends code that does not, and charges the scalar unit for it: a loop is to keep its blocks, which vectorising would merge. Jump tables
of all functions share a section, so that they would keep host functions with a `switch` in the link."""
EXPECTED_ON_HOST = re.compile(r"_?Py[A-Z_]|piton_host_|acl(?:rt)?[A-Z]")
EXPECTED_ON_DEVICE = ALLOWED
BY_CORE = "-DPITON_BY_CORE"
"""In every pass of a source that asks the preprocessor for the kind of core."""
PASS_FLAGS = (
    (BY_CORE, "-DPITON_VECTOR_PASS", "-D__DAV_VEC__=1", "-D__DAV_C220_VEC__=1", "-fwhole-program"),
    (BY_CORE, "-DPITON_CUBE_PASS", "-D__DAV_CUBE__=1", "-D__DAV_C220_CUBE__=1", "-fwhole-program"),
)
"""Of its two compiles for the device. They define the same names, each its own, so that all of them stay in their
object; the device library has both, and a core runs that of its kind."""
_CCE_AICORE = {2201: 220}
"""The older number of an architecture, by the newer one; public kernels compare it with 220 for the Ascend 910B."""
NOTHING = re.compile(r"(?!)")
"""Everything has to be there."""
_LENIENT = ("-Wl,--unresolved-symbols=report-all", "-Wl,--warn-unresolved-symbols")
"""Report undefined symbols without failing: some are provided at run time, and which those are is decided by the names above."""
DEVICE_LINK = ("-shared", "-nodefaultlibs", "-Wl,--gc-sections", *_LENIENT)
"""Of the device library, before its objects and -lgcc: without the machine's libraries, so that everything it needs of them is named."""
_BLOCK_LOCAL = "block_local.ld"
"""Beside the seams: brings the variables that every core has for itself together."""


@dataclass(frozen=True)
class Unit:
    """One compile of one source."""

    source: str
    """Path inside the submission, or a name of ours."""
    side: Literal["host", "device"]
    step: Step
    has_device_pass_to_come: bool = False
    """A single-source file: what its device pass is depends on what this pass launches."""
    host_names: frozenset[str] = frozenset()
    """Names that device code cannot use."""


def architecture_macros(arch: int) -> tuple[str, ...]:
    """What the vendor's compiler says about the chip before the first line; kernels choose by either number, also ahead of any header."""
    return (f"-D__NPU_ARCH__={arch}", *((f"-D__CCE_AICORE__={_CCE_AICORE[arch]}",) if arch in _CCE_AICORE else ()))


class OperatorSteps:
    """The steps of one operator of one submission."""

    def __init__(self, own: OwnParts, manifest: Manifest, sources: OperatorSources, tree: SourceTree, defines: tuple[str, ...] = ()) -> None:
        """`defines` are macros as `NAME` or `NAME=VALUE`."""
        self._own = own
        self._sources = sources
        self._tree = tree
        self._namespace = f"-DEXTENSION_MODULE_NAME={manifest.package}"
        self._defines = tuple(f"-D{name}" for name in defines)
        flags = (LAUNCH_FLAGS, DEVICE_FLAGS, PASS_FLAGS, HOST_FLAGS, defines)
        self.key = digest([own.headers_digest, own.arch, manifest.auto_sync, manifest.package, flags])
        """Identity of everything but the sources."""

    def units(self) -> list[Unit]:
        """Every compile, the long ones first."""
        plugins = [self._plugin(path) for path in self._sources.plugins]
        kernels = [unit for path in self._sources.kernels for unit in self._passes(path)]
        return [*plugins, *kernels, *([self._plugin(EXTENSION)] if self._tree.has_extension else [])]

    @property
    def is_project(self) -> bool:
        """Is it an operator project, with a generated binding?"""
        return bool(self._sources.hosts)

    def project_host(self, path: str) -> Unit:
        """Definition, inference and tiling of an operator project, which know nothing of torch."""
        return self._unit(path, "host", (*HOST_FLAGS, "-DPITON_HOST_PASS", "-DPITON_PROJECT_HOST"))

    def project_frame(self, path: str) -> Unit:
        """A source that includes nothing of the submission: the describing program, the Python module."""
        return self._unit(path, "host", (*HOST_FLAGS, "-DPITON_HOST_PASS", "-DPITON_PROJECT_HOST"), alone(self._tree, path))

    def project_binding(self, path: str) -> Unit:
        """The generated binding, which launches the entries."""
        made = (*HOST_FLAGS, "-DPITON_HOST_PASS", "-DPITON_PROJECT_HOST", self._namespace, "-include", self._own.torch_header)
        return self._unit(path, "host", (*made, *self._launch_macros(self._sources.operator)), alone(self._tree, path))

    def project_entry(self, path: str) -> list[Unit]:
        """A generated entry with the kernel it calls. Entries define the same names for different element types, so that all of them stay in their unit."""
        return self._device_units(path, (*DEVICE_FLAGS, "-fwhole-program", *self._launch_macros(self._sources.operator)))

    def project_describer(self, objects: list[str]) -> Step:
        """The program that prints what the host code has registered."""
        return self._link_step("describe", (*_LENIENT, *objects), objects, NOTHING)

    def host_link(self, objects: list[str], module: str) -> Step:
        """The Python module `module` of the host library."""
        arguments = ("-shared", *_LENIENT, *objects, *self._own.torch_libraries())
        return self._link_step(f"{module}.abi3.so", arguments, objects, EXPECTED_ON_HOST)

    def program_link(self, objects: list[str]) -> Step:
        """A whole program with what connects it to the device."""
        everything = [*objects, *self._own.program_objects]
        return self._link_step("program", (*_LENIENT, "-pthread", *everything, "-ldl"), everything, NOTHING)

    def device_link(self, objects: list[str]) -> Step:
        """The device library."""
        return self._link_step("device.so", (*DEVICE_LINK, f"-Wl,-T,{self._own.paths.seams / _BLOCK_LOCAL}", *objects, "-lgcc"), objects, EXPECTED_ON_DEVICE)

    def device_pass(self, unit: Unit, host_object: Path) -> list[Unit]:
        """The device pass of a single-source file whose host pass is compiled: kernels are what that pass launches."""
        path = unit.source
        kernels = launched_kernels(host_object)
        texts = {name: self._tree.text(name) for name in self._tree.included_by(path)}
        found = cut(texts, names_in(kernels))
        texts = {name: text for name, text in found.texts.items() if name == path or self._tree.mentions_torch(name)}
        texts[path] += registrations(kernels, path)
        tree = device_tree(self._tree, path, texts, self._tree.root.parent / "device" / digest(path)[:16])
        flags = (*DEVICE_FLAGS, *(("-std=c++20",) if self._tree.mentions_torch(path) else ()), *self._launch_macros(path))
        return [replace(made, host_names=found.host_names) for made in self._device_units(path, flags, tree)]

    def _device_units(self, path: str, flags: tuple[str, ...], other: SourceTree | None = None) -> list[Unit]:
        """The compile of device code, or one for each kind of core where the source tells them apart while it is compiled."""
        passes = PASS_FLAGS if self._tree.tells_cores_apart(path) else ((),)
        return [self._unit(path, "device", (*flags, *more), other) for more in passes]

    def _passes(self, path: str) -> list[Unit]:
        if self._tree.is_single_source(path):
            return [replace(self._host_kernel(path), has_device_pass_to_come=True)]
        return [*self._device_units(path, (*DEVICE_FLAGS, *self._launch_macros(path))), self._host_kernel(path)]

    def _launch_macros(self, path: str) -> tuple[str, ...]:
        return (f'-DPITON_TU="{path}"', *architecture_macros(self._own.arch))

    def _host_kernel(self, path: str) -> Unit:
        is_torch = self._tree.mentions_torch(path)
        flags = (*HOST_FLAGS, "-DPITON_HOST_PASS", "-include", self._own.torch_header) if is_torch else LAUNCH_FLAGS
        by_core = (BY_CORE,) if self._tree.tells_cores_apart(path) else ()
        return self._unit(path, "host", (*flags, *by_core, self._namespace, *self._launch_macros(path)))

    def _plugin(self, path: str) -> Unit:
        header = ("-include", self._own.torch_header) if self._tree.mentions_torch(path) else ()
        return self._unit(path, "host", (*HOST_FLAGS, "-DPITON_HOST_PASS", self._namespace, *header))

    def _unit(self, path: str, side: Literal["host", "device"], flags: tuple[str, ...], other: SourceTree | None = None) -> Unit:
        """One compile of a file of the tree, or of `other`, a copy of it."""
        tree = other or self._tree
        quoted = tuple(part for folder in tree.folders(self._sources) for part in ("-iquote", folder))
        declared = tuple(part for name in tree.declared.get(path, ()) for part in ("-include", tree.path(name)))
        arguments = (
            *flags,
            *self._defines,
            *declared,
            *quoted,
            *self._own.system_includes(),
            f"-ffile-prefix-map={self._tree.root.parent}=.",
            "-x",
            "c++",
            "-c",
            tree.path(path),
        )
        name = f"{PurePosixPath(path).stem}.{side}.o"
        key = digest([self.key, [self._without_folders(argument) for argument in arguments], tree.unit_key(path), path, side])
        readable = (str(tree.root), str(self._own.paths.root), str(self._own.torch), str(self._own.python))
        return Unit(path, side, Step(name, arguments, key, readable))

    def _without_folders(self, argument: str) -> str:
        """An argument as it is in a key: the same wherever Piton and the build lie."""
        return argument.replace(str(self._tree.root.parent), "").replace(str(self._own.paths.root), "")

    def _link_step(self, name: str, arguments: tuple[str, ...], objects: list[str], expected: re.Pattern[str]) -> Step:
        shown = [self._without_folders(argument) for argument in arguments if argument not in objects]
        key = digest([self.key, name, shown, expected.pattern, [digest_bytes(Path(item).read_bytes()) for item in objects]])
        return Step(
            name,
            arguments,
            key,
            readable=(str(self._own.torch), str(self._own.paths.root)),
            is_acceptable=lambda output: not unexpected(output, expected),
            is_product=True,
        )


def unexpected(output: str, expected: re.Pattern[str]) -> list[str]:
    """Symbols that a linker's `output` reports as undefined and that nothing will provide."""
    return [symbol for symbol in undefined_symbols(output) if not expected.match(symbol)]
