"""samples.toml: which runs are samples of which method, with turns, tags and what the fair-reporting record needs (docs/formats.md)."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from piton.catalog.method import MethodTable, ReportingTable
from piton.catalog.toml_file import TomlForm, read_toml
from piton.core.errors import UsageError
from piton.core.method import Method, Reporting

FILE_NAME = "samples.toml"
_FORMAT_VERSION = 1


@dataclass(frozen=True)
class SampleRuns:
    """One sample: the runs of its turns in order, one for a method without turns."""

    turns: tuple[Path, ...]
    task: str = ""
    """Count only this operator of the runs; empty for all that they have."""


@dataclass(frozen=True)
class MethodRuns:
    """One method with its samples in order."""

    name: str
    samples: tuple[SampleRuns, ...]
    method: Method | None = None
    """None: as the reports say."""
    reporting: Reporting | None = None
    """Of all its samples together; None: as the reports say."""


@dataclass(frozen=True)
class SampleSet:
    """What a samples.toml lists."""

    suite: str
    """Suite whose tasks all count, by name or folder; empty for the tasks that the runs have."""
    methods: tuple[MethodRuns, ...]


class SampleTable(TomlForm):
    """[[method.sample]]"""

    turns: list[str] = Field(min_length=1)
    task: str = ""


class MethodEntry(MethodTable):
    """[[method]]: the keys of [method] in submission.toml, and its samples."""

    name: str = Field(min_length=1, max_length=200)
    runs: list[str] = []
    """Each run a sample of one turn."""
    sample: list[SampleTable] = []
    reporting: ReportingTable | None = None

    @model_validator(mode="after")
    def _has_samples(self) -> MethodEntry:
        if not self.runs and not self.sample:
            raise ValueError("`runs`, or [[method.sample]] with `turns`: a method needs samples")
        return self


class SamplesFile(TomlForm):
    """samples.toml"""

    format: Literal[1] = _FORMAT_VERSION  # type: ignore[assignment]  # the constant is that number
    suite: str = ""
    method: list[MethodEntry] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> SamplesFile:
        names = [entry.name for entry in self.method]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"each method once; {', '.join(twice)} is there more often")
        return self


def read_samples(path: Path) -> SampleSet:
    """The sample set at `path`, a samples.toml or its folder; runs are relative to it.

    Raises UsageError for a run that is not there, FormatError for what is wrong in the file.
    """
    file = path / FILE_NAME if path.is_dir() else path
    form = read_toml(file, SamplesFile)
    return SampleSet(suite=form.suite, methods=tuple(_method(entry, file) for entry in form.method))


def _method(entry: MethodEntry, file: Path) -> MethodRuns:
    samples = [SampleRuns((run,)) for pattern in entry.runs for run in _runs(pattern, file)]
    samples += [SampleRuns(tuple(run for pattern in item.turns for run in _runs(pattern, file)), item.task) for item in entry.sample]
    return MethodRuns(entry.name, tuple(samples), entry.method(), entry.reporting.reporting() if entry.reporting else None)


def _runs(pattern: str, file: Path) -> list[Path]:
    """The runs that a path or pattern names, numbers in names by their value. Raises UsageError when there is none."""
    found = sorted(glob.glob(pattern, root_dir=file.parent), key=_by_number) if any(sign in pattern for sign in "*?[") else [pattern]
    present = [file.parent / name for name in found if "\0" not in name and (file.parent / name).exists()]
    if not present:
        raise UsageError("no run of that name", found=pattern, where=str(file), action="paths are relative to this file")
    return present


def _by_number(name: str) -> list[tuple[int, str]]:
    """Sorts `run-2` before `run-10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]{1,18})", name)]
