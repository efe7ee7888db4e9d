"""Which form a folder has, and which tasks lie in it. Only names of files and the first lines of text are looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from piton.catalog.source import read_text
from piton.catalog.suite import foreign_identity
from piton.core.canonical import digest, digest_bytes
from piton.core.errors import FormatError, UsageError
from piton.core.foreign import ForeignTask, SuiteFormat, TaskForm
from piton.core.operator import Frozen

USER_FILE = "suite.toml"
MAX_FOLDER_FILES = 20_000
_LEVEL = re.compile(r"level(\d+)")
_MODEL = re.compile(r"^class\s+Model\s*\(", re.MULTILINE)
_GROUPS = re.compile(r"^def\s+get_input_groups\s*\(", re.MULTILINE)
_INPUTS = re.compile(r"^def\s+get_inputs\s*\(", re.MULTILINE)
_VALIDATION = ("module.py", "prepare_inputs.py", "test_cases.csv")


class Found(Frozen):
    """A suite that is not in the form of four artifacts."""

    name: str
    version: str
    """What the benchmark states, else a digest of its tasks: it enters every seed."""
    root: str
    format: SuiteFormat
    tasks: tuple[ForeignTask, ...]


def format_names() -> tuple[str, ...]:
    """Names of the formats, as `--suite-format` takes them."""
    return tuple(item.value for item in SuiteFormat)


def find_suite(path: str | Path, wanted: str = "") -> Found | None:
    """The foreign suite at `path`, or None for a folder of four artifacts (`load_suite` reads those).

    `wanted` names the format; otherwise it is recognised. Raises UsageError for an unknown format, or a folder with nothing in that format.
    """
    root = Path(path).expanduser()
    if wanted:
        chosen = _format(wanted)
        if chosen is SuiteFormat.CANN_BENCH:
            return None
        return _read(root, chosen) or _refuse(root, chosen)
    if not root.exists():
        return None  # a name of one of our suites, or a mistake that load_suite explains
    return next((found for item in SuiteFormat if item is not SuiteFormat.CANN_BENCH and (found := _read(root, item))), None)


def _format(wanted: str) -> SuiteFormat:
    if wanted not in format_names():
        raise UsageError(f"no suite format {wanted!r}", expected=", ".join(format_names()), action="correct --suite-format, or leave it out")
    return SuiteFormat(wanted)


def _refuse(root: Path, chosen: SuiteFormat) -> Found:
    raise UsageError(f"nothing in the format {chosen.value}", expected=SHAPES[chosen], where=str(root), action="give that folder, or another --suite-format")


SHAPES = {
    SuiteFormat.CANN_BENCH: "level<n>/<operator>/ with proto.yaml, cases.csv, golden.py",
    SuiteFormat.KERNELBENCH: "level<n>/<number>_<name>.py with Model, get_inputs and get_init_inputs (or one such file, or one level)",
    SuiteFormat.MULTIKERNELBENCH: "reference/<category>/<name>.py with Model and get_inputs or get_input_groups",
    SuiteFormat.NPUKERNELBENCH: "tasks/level<n>/<category>/<Name>/validation with module.py, prepare_inputs.py and test_cases.csv",
    SuiteFormat.USER: f"a {USER_FILE} (piton suite init writes an example)",
}
"""What each format looks like on disk."""


def _read(root: Path, chosen: SuiteFormat) -> Found | None:
    if chosen is SuiteFormat.USER:
        return _user(root)
    if any(root.glob("level*/*/proto.yaml")) or any(root.glob("*/proto.yaml")) or (root / "proto.yaml").is_file():
        return None
    base, tasks = _FINDERS[chosen](root)
    made = tuple(sorted(tasks, key=lambda task: (task.level, task.category, _number(task.title), task.name)))
    if not made:
        return None
    _refuse_repeats(made, root)
    name, version = foreign_identity(base)
    return Found(name=name, version=version if version != "0" else _content_version(made), root=str(root.resolve()), format=chosen, tasks=made)


def _user(root: Path) -> Found | None:
    file = root if root.name == USER_FILE else root / USER_FILE
    if not file.is_file():
        return None
    return Found(name="", version="", root=str(file.resolve().parent), format=SuiteFormat.USER, tasks=())


def _kernelbench(root: Path) -> tuple[Path, list[ForeignTask]]:
    """A checkout, its folder of levels, one level, or one file."""
    if root.is_file() and root.suffix == ".py":
        return root.resolve().parent, list(_modules([root.resolve()], root.resolve().parent))
    base = next((folder for folder in (root / "KernelBench" / "KernelBench", root / "KernelBench", root) if any(folder.glob("level*/*.py"))), root)
    files = [*base.glob("level*/*.py"), *(base.glob("*.py") if base == root else ())]
    return root.resolve(), list(_modules(files, base))


def _multikernelbench(root: Path) -> tuple[Path, list[ForeignTask]]:
    base = root / "reference" if (root / "reference").is_dir() else root
    return (root if base != root else base).resolve(), list(_modules(base.glob("*/*.py"), base))


def _modules(files: Iterator[Path] | list[Path], base: Path) -> Iterator[ForeignTask]:
    for file in _sorted(files):
        text = read_text(file)
        if file.name.startswith("_") or not _MODEL.search(text):
            continue
        form = TaskForm.GROUPS if _GROUPS.search(text) else TaskForm.MODULE if _INPUTS.search(text) else None
        if form is None:
            continue
        beside = file.with_suffix(".json")
        names = (file.name, beside.name) if form is TaskForm.GROUPS and beside.is_file() else (file.name,)
        folder = file.resolve().parent
        category = "" if _LEVEL.fullmatch(folder.name) or file.parent == base else folder.name
        prefix = "" if file.parent == base and not _LEVEL.fullmatch(folder.name) else f"{folder.name}_"
        yield ForeignTask(
            name=_snake(f"{prefix}{file.stem}"), title=file.stem, level=_level(folder.name), category=category, form=form, folder=str(folder), files=names
        )


def _npukernelbench(root: Path) -> tuple[Path, list[ForeignTask]]:
    base = root / "tasks" if (root / "tasks").is_dir() else root
    folders = [file.parent.parent for file in _sorted(base.glob("**/validation/module.py"))]
    return root.resolve(), [_table_task(folder, base) for folder in folders if all((folder / "validation" / name).is_file() for name in _VALIDATION)]


def _table_task(folder: Path, base: Path) -> ForeignTask:
    parts = folder.relative_to(base).parts or (folder.name,)
    return ForeignTask(
        name=_snake("_".join(_words(part) for part in parts)),
        title=folder.name,
        level=next((_level(part) for part in parts if _LEVEL.fullmatch(part)), 0),
        category=parts[-2] if len(parts) > 1 and not _LEVEL.fullmatch(parts[-2]) else "",
        form=TaskForm.TABLE,
        folder=str((folder / "validation").resolve()),
        files=_VALIDATION,
    )


_FINDERS: dict[SuiteFormat, Callable[[Path], tuple[Path, list[ForeignTask]]]] = {
    SuiteFormat.KERNELBENCH: _kernelbench,
    SuiteFormat.MULTIKERNELBENCH: _multikernelbench,
    SuiteFormat.NPUKERNELBENCH: _npukernelbench,
}


def _sorted(files: Iterator[Path] | list[Path]) -> list[Path]:
    found = sorted(files)
    if len(found) > MAX_FOLDER_FILES:
        raise FormatError("too many files for a suite", expected=f"at most {MAX_FOLDER_FILES}", found=str(len(found)), action="give the suite's own folder")
    return found


def _level(name: str) -> int:
    match = re.search(r"level(\d{1,3})$", name)
    return int(match[1]) if match else 0


def _number(title: str) -> int:
    """The leading number that KernelBench orders its tasks by."""
    match = re.match(r"(\d{1,9})", title)
    return int(match[1]) if match else 0


def _words(name: str) -> str:
    """CamelCase as words: `AddRmsNorm` is `Add_Rms_Norm`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)


def _snake(name: str) -> str:
    made = re.sub(r"_+", "_", re.sub(r"\W", "_", name)).strip("_").lower()
    return f"task_{made}" if not made or made[0].isdigit() else made


def _refuse_repeats(tasks: tuple[ForeignTask, ...], root: Path) -> None:
    names = [task.name for task in tasks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        found = ", ".join(task.title for task in tasks if task.name == twice)
        raise FormatError(f"two tasks become the operator {twice!r}", found=found, where=str(root), action="rename one of the files")


def _content_version(tasks: tuple[ForeignTask, ...]) -> str:
    content = [[task.name, [digest_bytes((Path(task.folder) / name).read_bytes()) for name in task.files]] for task in tasks]
    return f"content-{digest(content)[:12]}"
