"""Where a submission's sources lie: from paths to operators, and the package that carries them.

| layout | sources of `<op>` |
|---|---|
| direct launch | `csrc/ops/<op>/op_kernel/*.cpp, *.asc` with bindings in `csrc/ops/<op>/op_plugin/*.cpp` |
| operator project | `.../<op>/op_host` and `op_kernel`; `op_host/<op>/*.cpp` and `op_kernel/<op>/*.cpp`; `op_host/*.cpp` and `op_kernel/<op>.cpp` |
| single source | `csrc/ops/<op>/*.asc, *.cpp`; `csrc/<op>/<arch>/*.asc, *.cpp`; `<op>.asc` or `<op>.cpp` in the submission's folder |

Of the track `python` only `<op>.py` in the submission's folder counts. A submission without a word about its track is of the track `cpp` when a source of it
includes `piton/cpu.h`, and of `ascendc` otherwise.

An operator that has one layout is not looked for in the others. A folder with op_host is an operator project unless it has bindings (op_plugin) that launch its
kernels; bindings that call the vendor's generated interface (op_api beside them) are left out, since the virtual NPU generates its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from piton.core.submission import OperatorSources

ARCH = "dav-2201"
"""The compiler's name of the 910B's architecture, which all targets have so far."""
_HOST_PARTS = ("arch22", "op_tiling", "common")
"""Folders inside op_host and op_kernel that belong to the operator on the 910B; sources in any other (arch35, config ...) are for other chips and tools."""
KERNEL_SUFFIXES = (".cpp", ".asc")
DEFAULT_PACKAGE = "cann_bench"
NAMESPACE_MACRO = "EXTENSION_MODULE_NAME"
"""How public single-source files call the namespace that their build chooses."""
DEFAULT_TRACK = "ascendc"
_CPU_HEADER = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]piton/cpu\.h[>"]', re.MULTILINE)
_OTHER_CHIPS = re.compile(r"arch\d|config$|op_api$")
_ARCH_FOLDER = re.compile(r"dav-\w+")
_LIBRARY = re.compile(rb"^[ \t]*TORCH_LIBRARY(?:_FRAGMENT)?[ \t]*\([ \t]*([A-Za-z_]\w*)", re.MULTILINE)


def find_operators(names: Sequence[str]) -> tuple[OperatorSources, ...]:
    """The operators of a submission with these files, by name; those without a source are left out."""
    found: dict[str, OperatorSources] = {}
    for layout in (_projects, _direct_launch, _single_in_ops, _by_arch, _flat):
        for sources in layout(names):
            if sources.kernels or sources.plugins:
                found.setdefault(sources.operator, sources)
    return tuple(found[name] for name in sorted(found))


def find_python(names: Sequence[str]) -> tuple[OperatorSources, ...]:
    """The operators of a submission of the track `python`: every module in its folder could be one, and is asked for by name only."""
    found = sorted(name for name in names if "/" not in name and name.endswith(".py"))
    return tuple(OperatorSources(operator=PurePosixPath(name).stem, kernels=(name,), plugins=()) for name in found)


def find_track(root: Path, operators: Iterable[OperatorSources]) -> str:
    """The track when no manifest names it."""
    texts = ((root / path).read_bytes() for sources in operators for path in sources.kernels)
    return "cpp" if any(_CPU_HEADER.search(text) for text in texts) else DEFAULT_TRACK


def other_archs(names: Sequence[str]) -> tuple[str, ...]:
    """What a reader should know of sources for other chips, which are not looked at."""
    ignored = [name for name in names if (parts := PurePosixPath(name).parts)[:1] == ("csrc",) and len(parts) == 4 and _is_other_arch(parts[2])]
    if not ignored:
        return ()
    return (f"{len(ignored)} files are for another architecture than {ARCH} and were ignored, the first is {ignored[0]}",)


def find_package(names: Sequence[str], root: Path, operators: Iterable[OperatorSources]) -> str:
    """The package when no manifest names it: the only one that is there, else the one torch library that the sources register, else the default."""
    packages = {parts[0] for name in names if len(parts := PurePosixPath(name).parts) == 2 and parts[1] == "__init__.py"}
    if DEFAULT_PACKAGE in packages or len(packages) > 1:
        return DEFAULT_PACKAGE
    if packages:
        return packages.pop()
    registered = {library for sources in operators for path in (*sources.kernels, *sources.plugins) for library in _libraries(root / path)}
    return registered.pop() if len(registered) == 1 else DEFAULT_PACKAGE


def _libraries(path: Path) -> set[str]:
    """Namespaces that a source registers operators in; the macro is none."""
    return {match[1].decode() for match in _LIBRARY.finditer(path.read_bytes())} - {NAMESPACE_MACRO}


def _projects(names: Sequence[str]) -> list[OperatorSources]:
    """Operator projects, by the folder above op_host, else by the folder below it, else by the name of the kernel's source."""
    bound = {parts[:-2] for name in names if len(parts := PurePosixPath(name).parts) > 1 and parts[-2] == "op_plugin"}
    wrapped = {parts[:-2] for name in names if len(parts := PurePosixPath(name).parts) > 1 and parts[-2] == "op_api"}
    hosts, kernels = _by_project(names, "op_host"), _by_project(names, "op_kernel")
    found = [*hosts] if len(kernels) != 1 else [next(iter(kernels))]
    made = []
    for operator in found:
        own = tuple(path for paths in hosts.values() for path in paths) if len(kernels) == 1 else hosts.get(operator)
        above = {PurePosixPath(path).parts[:-2] for path in kernels.get(operator, ())}
        if own and operator in kernels and not (above & bound) - wrapped:
            made.append(OperatorSources(operator=operator, kernels=kernels[operator], plugins=(), hosts=own))
    return made


def _by_project(names: Sequence[str], folder: str) -> dict[str, tuple[str, ...]]:
    """Sources in folders of that name, by operator."""
    found: dict[str, list[str]] = {}
    for name in names:
        parts = PurePosixPath(name).parts
        if folder in parts[:-1] and name.endswith(KERNEL_SUFFIXES) and not _is_for_other_chips(name, names):
            at = parts.index(folder)
            inner = [part for part in parts[at + 1 : -1] if part not in _HOST_PARTS]
            operator = parts[at - 1] if at else inner[0] if inner else PurePosixPath(name).stem
            if len(inner) <= (at == 0) and not (at == 0 and _OTHER_CHIPS.match(operator)):
                found.setdefault(operator, []).append(name)
    return {operator: tuple(paths) for operator, paths in found.items()}


def _is_for_other_chips(path: str, beside: Sequence[str]) -> bool:
    """A `<op>_apt.cpp` is the kernel of newer chips, where there is an `<op>.cpp` beside it."""
    stem, suffix = PurePosixPath(path).stem, PurePosixPath(path).suffix
    return stem.endswith("_apt") and str(PurePosixPath(path).with_name(stem.removesuffix("_apt") + suffix)) in beside


def _direct_launch(names: Sequence[str]) -> list[OperatorSources]:
    found = sorted({parts[2] for name in names if len(parts := PurePosixPath(name).parts) > 3 and parts[:2] == ("csrc", "ops")})
    return [OperatorSources(operator=name, kernels=_in_folder(names, name, "op_kernel"), plugins=_in_folder(names, name, "op_plugin")) for name in found]


def _in_folder(names: Sequence[str], operator: str, folder: str) -> tuple[str, ...]:
    suffixes = KERNEL_SUFFIXES if folder == "op_kernel" else (".cpp",)
    prefix = ("csrc", "ops", operator, folder)
    return tuple(name for name in names if PurePosixPath(name).parts[:-1] == prefix and name.endswith(suffixes))


def _single_in_ops(names: Sequence[str]) -> list[OperatorSources]:
    return _grouped((parts[2], name) for name in names if len(parts := PurePosixPath(name).parts) == 4 and parts[:2] == ("csrc", "ops"))


def _by_arch(names: Sequence[str]) -> list[OperatorSources]:
    return _grouped((parts[1], name) for name in names if len(parts := PurePosixPath(name).parts) == 4 and parts[0] == "csrc" and parts[2] == ARCH)


def _flat(names: Sequence[str]) -> list[OperatorSources]:
    return _grouped((PurePosixPath(name).stem, name) for name in names if len(PurePosixPath(name).parts) == 1)


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[OperatorSources]:
    """Sources by operator."""
    found: dict[str, list[str]] = {}
    for operator, name in pairs:
        if name.endswith(KERNEL_SUFFIXES):
            found.setdefault(operator, []).append(name)
    return [OperatorSources(operator=operator, kernels=tuple(paths), plugins=()) for operator, paths in found.items()]


def _is_other_arch(folder: str) -> bool:
    return folder != ARCH and _ARCH_FOLDER.fullmatch(folder) is not None
