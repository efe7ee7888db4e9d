"""What a server is told at its start, and which options of a job a client may choose; all frozen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piton.core.errors import UsageError
from piton.core.execution import Accuracy
from piton.core.integrity import IntegrityMode
from piton.core.operator import Frozen
from piton.core.protocols import EnginePlace
from piton.evaluate.policy import Bounds, PrecisionProfile

Choice = Literal["cases", "levels", "max_elements", "is_fast", "auto_sync", "seed", "trials", "precision_profile", "accuracy"]
"""Options that a server can leave to its clients. Operators, target and suite are always theirs, among those that the server names."""
USUAL_CHOICES: frozenset[Choice] = frozenset({"cases", "levels", "max_elements", "is_fast", "auto_sync"})
"""Which cases run, and the submission's own switch. Not the seed and not the form of the standard: these make a reward easier."""


class UploadLimits(Frozen):
    """How large an upload may be; the bounds of what is inside are those of every submission (catalog.submission)."""

    packed_bytes: int = 16 << 20
    """Of the archive as it is sent."""
    unpacked_bytes: int = 64 << 20
    """Of the tar stream inside, headers and padding included; reading stops there."""
    seconds: float = 120.0
    """A client that sends more slowly than this is cut off, so that it holds no place for ever."""


class QueueLimits(Frozen):
    """How much may wait, run and be kept."""

    queued: int = Field(default=256, ge=1)
    """Jobs that wait, of all clients together."""
    queued_per_client: int = Field(default=64, ge=1)
    running_per_client: int = Field(default=4, ge=1)
    kept_jobs: int = Field(default=1000, ge=1)
    """Ended jobs whose results are kept; the oldest go first."""
    kept_bytes: int = Field(default=2 << 30, ge=0)
    """The same, by the size of their reports."""
    starts: int = Field(default=3, ge=1)
    """A job during which the server ended this often without a word is given up: it may be the reason."""
    job_deadline_s: float = Field(default=3600.0, gt=0)
    """Wall-clock seconds of one job; past it the job fails and has no reward."""


class ServeSettings(Frozen):
    """One server: what it evaluates on and with, and for whom."""

    state_dir: str
    """Folder of its own: log of jobs, uploads, results. A second server can't use it."""
    cache_dir: str
    """Golden results, builds and baselines, shared with every other run of Piton."""
    targets: tuple[str, ...] = ("ascend910b2-sim",)
    """The first is what a job gets that names none; clients may name another one of these."""
    suites: tuple[str, ...] = ("piton",)
    """The same for suites; clients know those that are folders by their last part."""
    operators: tuple[str, ...] = ()
    """Clients may ask for these only, and get all of them by default; empty means every one of the suite."""
    may_set: frozenset[Choice] = USUAL_CHOICES
    is_trusted: bool = False
    """The code of suites from outside Piton may run."""
    workers: int = Field(default=1, ge=1, le=64)
    """Jobs at the same time."""
    jobs: int = Field(default=1, ge=1, le=256)
    """Cases of one job at the same time."""
    seed: int = Field(default=0, ge=0)
    trials: int = Field(default=1, ge=1, le=2)
    integrity: IntegrityMode = "standard"
    """How much of the integrity policy is checked, the server's choice alone; `full` has two trials whatever a client asks for."""
    precision_profile: PrecisionProfile = "strict"
    accuracy: Accuracy = "exact"
    engine: EnginePlace = "in-process"
    isolation: int = Field(default=0, ge=0, le=4)
    """Least level of isolation; a machine that does not reach it serves nothing."""
    paths: tuple[str, ...] = ()
    """Folders in which submissions may be named by path instead of being sent; empty allows none."""
    bounds: Bounds = Bounds()
    limits: QueueLimits = QueueLimits()
    upload: UploadLimits = UploadLimits()

    @property
    def suites_by_name(self) -> dict[str, str]:
        """Name or folder of every suite by the name that clients use."""
        return {os.path.basename(os.path.normpath(suite)): suite for suite in self.suites}


class JobOptions(BaseModel):
    """What a client asks for beside the submission; what it leaves out is the server's choice."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str | None = None
    suite: str | None = None
    operators: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()
    cases: tuple[str, ...] = ()
    """As `id` or `operator/id`."""
    max_elements: int | None = Field(default=None, ge=1)
    is_fast: bool = False
    """Three telling cases of each operator only."""
    auto_sync: bool | None = None
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    trials: int | None = Field(default=None, ge=1, le=2)
    precision_profile: PrecisionProfile | None = None
    accuracy: Accuracy | None = None


def parse_options(text: str) -> JobOptions:
    """The options in a JSON object; empty text means none. Raises UsageError for anything else."""
    try:
        return JobOptions.model_validate_json(text or "{}")
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        known = ", ".join(JobOptions.model_fields)
        raise UsageError("the options of the job can't be read", expected=f"a JSON object with keys of {known}", found=first["msg"], where=where) from None


def check_options(options: JobOptions, settings: ServeSettings) -> None:
    """Raise UsageError for what this server does not leave to its clients."""
    _check_one("target", options.target, settings.targets)
    _check_one("suite", options.suite, list(settings.suites_by_name))
    if settings.operators:
        for name in options.operators:
            _check_one("operator", name, settings.operators)
    for choice in get_args(Choice):
        is_given = getattr(options, choice) != JobOptions.model_fields[choice].default
        if is_given and choice not in settings.may_set:
            allowed = ", ".join(sorted(settings.may_set)) or "none"
            raise UsageError(f"this server does not let clients choose {choice}", expected=f"options among {allowed}", action=f"leave {choice} out")


def _check_one(what: str, name: str | None, allowed: Sequence[str]) -> None:
    if name is not None and name not in allowed:
        raise UsageError(f"this server does not have that {what}", expected=" or ".join(allowed), found=name, action=f"leave {what} out, or take one of these")
