"""Is everything there that the build reads? Sources of CMakeLists.txt, and what they include in quotes."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from piton.deliver.checks import Check, Status
from piton.deliver.plan import OperatorPart, Plan

NAME = "files"
_QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def check_files(plan: Plan, folder: Path) -> Check:
    """Every source is there, and so is every file in quotes whose name one of the submission's files has; the toolkit's own headers are not known here."""
    problems = [problem for part in plan.operators for problem in _problems(part, folder, {PurePosixPath(path).name for path in plan.files.values()})]
    problems += [f"{name} is missing" for name in ("build.sh", "setup.py", "CMakeLists.txt", f"{plan.package}/__init__.py") if not (folder / name).is_file()]
    if problems:
        return Check(NAME, Status.FAILED, "; ".join(problems[:5]))
    count = sum(len(part.kernels) + len(part.plugins) for part in plan.operators)
    return Check(NAME, Status.PASSED, f"{count} sources of {len(plan.operators)} operators and all that they include")


def _problems(part: OperatorPart, folder: Path, known: set[str]) -> list[str]:
    folder = folder.resolve()
    waiting, seen, problems = [folder / path for path in (*part.kernels, *part.plugins)], set[Path](), []
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if not path.is_file():
            problems.append(f"{path.relative_to(folder)} is missing")
            continue
        for name in _QUOTED.findall(path.read_text("utf-8", errors="replace")):
            places = [path.parent / name, *(folder / other / name for other in part.include_folders)]
            found = next((place for place in places if _is_file(place)), None)
            if found is not None and not found.resolve().is_relative_to(folder):
                problems.append(f'{path.relative_to(folder)} includes "{name}", which lies outside the delivery')
            elif found is not None:
                waiting.append(found.resolve())
            elif PurePosixPath(name).name in known:
                problems.append(f'{path.relative_to(folder)} includes "{name}", which is not in the delivery at that place')
    return problems


def _is_file(place: Path) -> bool:
    """Whether a file is there; an include may name what no file system takes."""
    try:
        return place.is_file()
    except (OSError, ValueError):
        return False
