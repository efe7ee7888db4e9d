"""Suites: ours by name, and any folder in the published layout."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

import piton
from piton.catalog.cases import read_cases
from piton.catalog.proto import read_proto
from piton.catalog.source import Form, check_form, read_text, read_yaml
from piton.core.errors import FormatError, PitonError, UsageError
from piton.core.operator import Operator
from piton.core.suite import Suite, SuiteOperator

SUITES_ROOT = Path(piton.__file__).parent / "suites"
"""Where Piton's own suites lie in the installed package."""
DEFAULT_SUITE = "piton"

_LEVEL = re.compile(r"level(\d+)")


class SuiteForm(Form):
    """suite.yaml: makes a folder a named suite whose files are read strictly (unknown keys are errors)."""

    name: str
    version: str
    memory_ceiling_gib: float = Field(default=0.0, ge=0, le=1 << 20)
    """Most memory that a golden run of one case may need."""


@dataclass(frozen=True)
class _Place:
    """A folder with proto.yaml, and the level its parent's name implies."""

    folder: Path
    level: int | None


@dataclass(frozen=True)
class SuitePart:
    """One operator folder of a suite: what was read, or why it could not be."""

    folder: Path
    member: SuiteOperator | None
    error: PitonError | None = None


def load_suite(path_or_name: str | Path = DEFAULT_SUITE) -> Suite:
    """The suite called `path_or_name` (one of ours), or the one in that folder.

    A folder may be a suite with suite.yaml, a checkout with `tasks/`, a folder of `level<n>/<operator>`, one level, or one operator. The name of one of our
    suites goes before a folder of that name (`./piton` is the folder). Raises UsageError when there is nothing there, FormatError with file and line for a
    file of another form; of several operators without suite.yaml those that can't be read are in `Suite.left_out` instead, unless none is left.
    """
    root = suite_root(path_or_name)
    members, left_out = _readable(_parts(root), is_strict=_is_described(root))
    _refuse_repeats(members, root)
    return _suite(root, members, left_out)


def load_parts(path_or_name: str | Path = DEFAULT_SUITE) -> tuple[Suite, tuple[SuitePart, ...]]:
    """The suite with those operators that can be read, and every folder with what was read of it. Raises UsageError when there is nothing there."""
    root = suite_root(path_or_name)
    parts = _parts(root)
    return _suite(root, tuple(part.member for part in parts if part.member is not None)), parts


def load_operator(path_or_name: str | Path, name: str) -> tuple[Suite, Operator]:
    """One operator by the name of its folder, with or without cases, and its suite as far as that can be read. Raises UsageError, FormatError."""
    root = suite_root(path_or_name)
    places = _places(root)
    found = next((place for place in places if place.folder.name == name), None)
    if found is None:
        names = ", ".join(place.folder.name for place in places)
        raise UsageError(f"no operator {name!r} in {root.name}", expected=f"one of: {names}", action="check --op")
    suite = _suite(root, tuple(part.member for part in _parts(root) if part.member is not None))
    return suite, _operator(found, is_strict=_is_described(root))


def is_strict(suite: Suite) -> bool:
    """True for a suite with suite.yaml: its files keep Piton's own form."""
    return _is_described(Path(suite.root))


def _parts(root: Path) -> tuple[SuitePart, ...]:
    is_described = _is_described(root)
    return tuple(_part(place, is_strict=is_described) for place in _places(root))


def _part(place: _Place, *, is_strict: bool) -> SuitePart:
    try:
        return SuitePart(place.folder, _member(place, is_strict=is_strict))
    except PitonError as error:
        return SuitePart(place.folder, None, error)


def _suite(root: Path, members: tuple[SuiteOperator, ...], left_out: dict[str, str] | None = None) -> Suite:
    form = check_form(SuiteForm, read_yaml(root / "suite.yaml"), is_strict=True) if _is_described(root) else None
    name, version = (form.name, form.version) if form else foreign_identity(root)
    return Suite(
        name=name,
        version=version,
        root=str(root),
        is_foreign=not root.is_relative_to(SUITES_ROOT.resolve()),
        memory_ceiling_bytes=int(form.memory_ceiling_gib * 2**30) if form else 0,
        members=members,
        left_out=left_out or {},
    )


def suite_names() -> tuple[str, ...]:
    """Names of Piton's own suites."""
    return tuple(sorted(path.parent.name for path in SUITES_ROOT.glob("*/suite.yaml")))


def operator_names(path_or_name: str | Path = DEFAULT_SUITE) -> tuple[str, ...]:
    """Names of a suite's operators in its order, from the names of folders alone: nothing is read. Raises UsageError when there is nothing there."""
    return tuple(place.folder.name for place in _places(suite_root(path_or_name)))


def suite_root(path_or_name: str | Path) -> Path:
    """The folder of a suite, by name or path. Raises UsageError when there is nothing there."""
    if str(path_or_name) in suite_names():
        return (SUITES_ROOT / path_or_name).resolve()
    path = Path(path_or_name).expanduser()
    if not path.is_dir():
        raise UsageError(
            f"no suite {str(path_or_name)!r}",
            expected=f"a folder, or one of {', '.join(suite_names())}",
            found="a file" if path.is_file() else "nothing there",
            action="give the folder that holds level1/<operator>/proto.yaml",
        )
    root = path.resolve()
    return root / "tasks" if _has_levels(root / "tasks") and not (root / "suite.yaml").is_file() else root


def _has_levels(folder: Path) -> bool:
    return any(folder.glob("level*/*/proto.yaml"))


def _is_described(root: Path) -> bool:
    return (root / "suite.yaml").is_file()


def foreign_identity(root: Path) -> tuple[str, str]:
    """Name and version of a folder that says neither: its own name (or its parent's for `tasks`), and metadata/VERSION."""
    name = root.parent.name if root.name == "tasks" else root.name
    file = root / "metadata" / "VERSION"
    lines = read_text(file).splitlines() if file.is_file() else []
    stated = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return name or "unnamed", stated[0] if stated else "0"


def _places(root: Path) -> list[_Place]:
    """Operator folders under `root` in the order level, name."""
    if (root / "proto.yaml").is_file():
        return [_Place(root, _level(root.parent))]
    own_level = _level(root)
    found = [_Place(file.parent, own_level) for file in root.glob("*/proto.yaml")]
    found += [_Place(file.parent, _level(file.parent.parent)) for file in root.glob("level*/*/proto.yaml")]
    if not found:
        raise UsageError("no operators in the suite", expected="level<n>/<operator>/proto.yaml", where=str(root), action="give the folder that holds level1")
    return sorted(found, key=lambda place: (place.level or 0, place.folder.name))


def _level(folder: Path) -> int | None:
    match = _LEVEL.fullmatch(folder.name)
    return int(match[1]) if match else None


def _readable(parts: tuple[SuitePart, ...], *, is_strict: bool) -> tuple[tuple[SuiteOperator, ...], dict[str, str]]:
    """The operators, and why others of a published set can't be read: one odd file does not cost the rest. Raises the first error when none is left."""
    members = tuple(part.member for part in parts if part.member is not None)
    failed = {part.folder.name: part.error for part in parts if part.error is not None}
    fatal = [error for error in failed.values() if is_strict or not members or not isinstance(error, FormatError)]
    if fatal:
        raise fatal[0]
    return members, {name: str(error) for name, error in failed.items()}


def _member(place: _Place, *, is_strict: bool) -> SuiteOperator:
    operator = _operator(place, is_strict=is_strict)
    return SuiteOperator(operator=operator, cases=read_cases(place.folder, operator, is_strict=is_strict))


def _operator(place: _Place, *, is_strict: bool) -> Operator:
    operator = read_proto(place.folder, level=place.level, is_strict=is_strict).operator
    if is_strict and operator.name != place.folder.name:  # published folders may have a name of their own
        raise FormatError(
            "folder and schema name differ",
            expected=operator.name,
            found=place.folder.name,
            where=str(place.folder),
            action="rename the folder or the function",
        )
    return operator


def _refuse_repeats(members: tuple[SuiteOperator, ...], root: Path) -> None:
    names = [member.operator.name for member in members]
    for name in names:
        if names.count(name) > 1:
            raise FormatError(f"operator {name!r} twice", expected="each operator once", where=str(root), action="remove one of the folders")
