"""What a refresh of baselines is asked for: what is measured, where the set goes, how it is called, and who hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from piton.catalog.baseline_file import is_baseline_file, read_baselines
from piton.core.baseline import LONGEST_NAME, LONGEST_VERSION
from piton.core.errors import PitonError, UsageError
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import Events, ignore

Told = Callable[[str, str, int, int], None]
"""Hears of every case: its name, what became of it, how many are done, of how many."""


@dataclass(frozen=True)
class RefreshRequest:
    """What is to be measured, and how the set is called."""

    evaluation: EvaluationRequest
    """Suite, target and filters; `submission` is empty for the suite's own plain kernels. `run_dir` is not used."""
    out: Path
    name: str = ""
    """Empty: suite and target."""
    version: str = ""
    """Empty: the day, and the next number of that day in the folder of `out`."""
    overwrites: bool = False


def _untold(name: str, became: str, done: int, total: int) -> None:
    del name, became, done, total


@dataclass(frozen=True)
class Hooks:
    """Who hears of the refresh."""

    told: Told = _untold
    events: Events = ignore


def beside(out: Path, suffix: str) -> Path:
    """What lies beside the file while it is made."""
    return out.with_name(out.name + suffix)


def check_out(request: RefreshRequest) -> None:
    """Raise UsageError when the file is there already: an old version of a set stays."""
    if request.out.exists() and not request.overwrites:
        action = "choose another name, which keeps the old version, or add --overwrite"
        raise UsageError("there is a file already", where=str(request.out), action=action)


def check_names(request: RefreshRequest, name: str) -> None:
    """Raise UsageError for a name or a version that no set may have, before anything is measured."""
    for text, option, most in ((name, "--name", LONGEST_NAME), (request.version, "--set-version", LONGEST_VERSION)):
        if len(text) > most:
            problem = f"{option.removeprefix('--')} of the set is too long"
            raise UsageError(problem, expected=f"at most {most} characters", found=f"{len(text)}", action=f"give a shorter one with {option}")


def next_version(folder: Path, name: str, day: str) -> str:
    """`day` with the number after the highest that a set of this name has in `folder`."""
    found = [_version_of(path, name) for path in folder.glob("*.json") if is_baseline_file(path)] if folder.is_dir() else []
    numbers = [int(version.rpartition(".")[2]) for version in found if version.startswith(f"{day}.") and version.rpartition(".")[2].isdecimal()]
    return f"{day}.{max(numbers, default=0) + 1}"


def _version_of(path: Path, name: str) -> str:
    try:
        found = read_baselines(path)
    except PitonError:
        return ""
    return found.version if found.name == name else ""
