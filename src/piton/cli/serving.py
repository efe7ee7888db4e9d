"""`piton serve`: from its options to a server that runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from piton.cli.evaluation import bounds, cache_dir
from piton.cli.integrity import integrity_mode
from piton.cli.start import stops_raised
from piton.core.errors import TargetUnavailableError, UsageError
from piton.core.visible import visible
from piton.evaluate.engine_place import engine_place
from piton.server.callers import read_callers
from piton.server.service import EvaluationService
from piton.server.settings import USUAL_CHOICES, Choice, QueueLimits, ServeSettings, UploadLimits

_UNPACKED_RATIO = 4
"""Sources shrink to about a quarter when they are packed."""


@dataclass(frozen=True)
class ServeOptions:
    """The options of `piton serve` as they were typed."""

    host: str
    port: int
    state: str
    tokens: str
    targets: tuple[str, ...]
    suites: tuple[str, ...]
    operators: tuple[str, ...]
    may_set: str
    paths: tuple[str, ...]
    workers: int
    jobs: int
    queue: int
    client_queue: int
    client_running: int
    keep: int
    keep_gib: float
    job_deadline_s: float
    host_deadline_s: float
    upload_mib: float
    grace_s: float
    seed: int
    trials: int
    integrity: str
    engine: str
    isolation: int
    is_trusted: bool


def run_server(options: ServeOptions) -> int:
    """Serve until a signal says stop; 0 for an orderly one. Raises PitonError for what has to be put right before."""
    try:
        from piton.server.listen import open_socket, serve
    except ModuleNotFoundError as error:
        action = "pip install 'piton[server]', or pip install fastapi uvicorn"
        raise TargetUnavailableError("piton serve needs packages that are not installed", found=f"no {error.name}", action=action) from None
    callers = read_callers(options.tokens, options.host)
    with stops_raised(), open_socket(options.host, options.port) as listener:  # until the server has handlers of its own
        host, port = listener.getsockname()[:2]
        service = EvaluationService(settings_of(options), _tell)
        _tell("preparing the targets")
        try:
            service.core.prepare()
        except BaseException:  # stopped, too: what compiles is ended, or the threads that wait for it would outlive this
            service.core.close()
            raise
        shown = f"[{host}]" if ":" in host else host
        _tell(f"listening on http://{shown}:{port}, state in {Path(options.state)}; isolation: {', '.join(service.core.isolation)}")
        serve(service, callers, listener, options.grace_s, _tell)
    _tell("stopped; what was not done goes on at the next start with the same --state")
    return 0


def settings_of(options: ServeOptions) -> ServeSettings:
    """The settings of a server. Raises UsageError for options that can't be read."""
    usual = ServeSettings(state_dir="", cache_dir="")
    settings = ServeSettings(
        state_dir=str(Path(options.state).absolute()),
        cache_dir=str(cache_dir().absolute()),
        targets=options.targets or usual.targets,
        suites=options.suites or usual.suites,
        operators=options.operators,
        may_set=_choices(options.may_set),
        is_trusted=options.is_trusted,
        workers=options.workers,
        jobs=options.jobs,
        seed=options.seed,
        trials=options.trials,
        integrity=integrity_mode(options.integrity),
        engine=engine_place(options.engine, options.isolation),
        isolation=options.isolation,
        paths=options.paths,
        bounds=bounds().model_copy(update={"host_deadline_s": options.host_deadline_s}),
        limits=QueueLimits(
            queued=options.queue,
            queued_per_client=options.client_queue,
            running_per_client=options.client_running,
            kept_jobs=options.keep,
            kept_bytes=int(options.keep_gib * 2**30),
            job_deadline_s=options.job_deadline_s,
        ),
        upload=UploadLimits(packed_bytes=int(options.upload_mib * 2**20), unpacked_bytes=int(options.upload_mib * 2**20) * _UNPACKED_RATIO),
    )
    if missing := [path for path in settings.paths if not Path(path).is_dir()]:
        raise UsageError("there is no such folder", where=missing[0], action="correct --path")
    if len(settings.suites_by_name) < len(settings.suites):
        raise UsageError("two suites have the same name", expected="folders with different last parts", found=", ".join(settings.suites), action="rename one")
    return settings


def _choices(text: str) -> frozenset[Choice]:
    if text in ("", "none"):
        return frozenset() if text else USUAL_CHOICES
    known: dict[str, Choice] = {name: name for name in get_args(Choice)}
    wrong = [word for word in text.split(",") if word not in known]
    if wrong:
        raise UsageError("clients can't be given that choice", expected=f"some of {', '.join(known)}, or none", found=wrong[0], action="check --may-set")
    return frozenset(known[word] for word in text.split(","))


def _tell(text: str) -> None:
    sys.stderr.write(f"piton serve: {visible(text)}\n")
    sys.stderr.flush()
