"""What goes into a delivery, and where: the operators' own files, the common ones they use, the package.

Problem: submissions come in several layouts, and most hold more than the operators that are wanted.
Approach: a file in the project's own layout (`csrc/`, the package) keeps its path, so that relative includes hold. Sources that lie elsewhere go below
`csrc/ops/<operator>/` with the path they had, and the folders that the submission's compile looked for includes in are named to the compiler.
Limits: an operator project with `op_host/` is refused: its binding calls an interface that the vendor's generator makes on the machine itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from piton.catalog import list_binaries
from piton.core.errors import UsageError
from piton.core.submission import OperatorSources, Submission
from piton.targets.vnpu.package import module_name
from piton.targets.vnpu.sources import EXTENSION, files_of

TRACK = "ascendc"
_PLAIN = re.compile(r"[A-Za-z0-9_./+-]+")


@dataclass(frozen=True)
class OperatorPart:
    """One operator of the delivered project; paths inside it."""

    name: str
    kernels: tuple[str, ...]
    """Device code with its launches, for bisheng."""
    plugins: tuple[str, ...]
    """torch bindings, for the host compiler; empty for an operator in single-source files, which hold theirs."""
    include_folders: tuple[str, ...]
    """Where a quoted include is looked for beside the including file's own folder; `.` is the project."""


@dataclass(frozen=True)
class Plan:
    """Everything that is written but the build's own files."""

    package: str
    module: str
    """The extension module inside the package, `_C` by default."""
    auto_sync: bool
    operators: tuple[OperatorPart, ...]
    files: dict[str, str]
    """Path in the delivery to path in the submission."""
    left_out: tuple[str, ...]
    """Files of the submission that are not delivered, such as its own build files."""


def plan_delivery(submission: Submission, names: Sequence[str]) -> Plan:
    """The plan for these operators, all of them by default.

    Raises UsageError for an operator that is not there, a track other than Ascend C, an operator project, compiled files, and a submission without operators.
    """
    _check(submission)
    chosen = [_sources(submission, name) for name in names] if names else list(submission.operators)
    files: dict[str, str] = {}
    parts = tuple(_part(submission, sources, files) for sources in chosen)
    package = submission.manifest.package
    own = [item.path for item in submission.files if item.path.startswith(f"{package}/") or item.path == EXTENSION]
    readme = [path for sources in chosen for path in _readmes(submission, sources)]
    files.update({path: path for path in [*own, *readme]})
    _check_paths(files)
    taken = set(files.values())
    left_out = tuple(item.path for item in submission.files if item.path not in taken)
    return Plan(package, module_name(submission), submission.manifest.auto_sync, parts, dict(sorted(files.items())), left_out)


def _check(submission: Submission) -> None:
    track = submission.manifest.track
    if track != TRACK:
        raise UsageError("only Ascend C submissions can be delivered", expected=f"track {TRACK}", found=track)
    if not submission.operators:
        raise UsageError("there is nothing to deliver", expected="sources of an operator, such as csrc/ops/exp/op_kernel/exp_kernel.cpp", found="none")
    binaries = list_binaries(submission)
    if binaries:
        action = "remove them: the delivery is built from its sources"
        raise UsageError("the submission holds compiled files", expected="sources only", found=", ".join(binaries[:5]), action=action)


def _check_paths(files: Mapping[str, str]) -> None:
    """Only paths that read the same in a shell, in CMake and in a wheel."""
    odd = next((path for path in files if not _PLAIN.fullmatch(path)), None)
    if odd is not None:
        raise UsageError("a file has a name that build tools would misread", expected="letters, digits and ._+- in every name", found=odd, action="rename it")


def _sources(submission: Submission, name: str) -> OperatorSources:
    found = next((item for item in submission.operators if item.operator == name), None)
    if found is None:
        there = ", ".join(item.operator for item in submission.operators)
        raise UsageError(f"the submission has no operator {name!r}", expected=f"one of {there}", action="check --op")
    return found


def _part(submission: Submission, sources: OperatorSources, files: dict[str, str]) -> OperatorPart:
    """The operator's part; its files are added to `files`."""
    if sources.hosts:
        raise UsageError(
            f"{sources.operator} is an operator project (op_host), which is built by the vendor's generator, not launched directly",
            expected="sources with launches (<<<...>>>) and a torch binding",
            found=sources.hosts[0],
            action="build it with npu_op_package of CANN, or add op_plugin/ with a binding that launches the kernel; --op chooses the other operators",
        )
    if not sources.kernels:
        raise UsageError(f"{sources.operator} has a binding and no device code", expected=f"csrc/ops/{sources.operator}/op_kernel/*.cpp", found="none")
    prefix = _prefix(sources)
    files.update({f"{prefix}{item.path}": item.path for item in files_of(submission, sources) if item.path != EXTENSION})
    folders = dict.fromkeys(str(PurePosixPath(prefix + path).parent) for path in (*sources.kernels, *sources.plugins))
    roots = (f"{prefix}csrc", prefix.rstrip("/") or ".")
    kernels, plugins = (tuple(prefix + path for path in paths) for paths in (sources.kernels, sources.plugins))
    return OperatorPart(sources.operator, kernels, plugins, (*folders, *(folder for folder in roots if folder not in folders)))


def _prefix(sources: OperatorSources) -> str:
    """What is put before the paths of an operator whose sources do not lie in `csrc/ops`."""
    is_at_home = all(PurePosixPath(path).parts[:2] == ("csrc", "ops") for path in (*sources.kernels, *sources.plugins))
    return "" if is_at_home else f"csrc/ops/{sources.operator}/"


def _readmes(submission: Submission, sources: OperatorSources) -> list[str]:
    wanted = f"csrc/ops/{sources.operator}/README.md"
    return [item.path for item in submission.files if item.path == wanted]
