"""Live progress of an evaluation: a bar on a terminal, one line per event elsewhere."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from piton.core.verdict import Verdict
from piton.core.visible import visible
from piton.evaluate.progress import (
    CaseFinished,
    CaseStarted,
    Event,
    HiddenCaseFinished,
    Interrupted,
    Notice,
    Planned,
    StageFinished,
    StageProgress,
    StageStarted,
)
from piton.report.rows import verdict_text

_STAGES = {"target": "preparing target", "build": "building", "baseline": "building baseline of", "suite": "reading suite"}


class LiveView:
    """Draws events; use as a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._bar = self._progress.add_task("starting", total=None)
        self._running: dict[int, str] = {}

    def __enter__(self) -> LiveView:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, event: Event) -> None:
        """Draw one event; called from one thread at a time."""
        if isinstance(event, Planned):
            self._show_plan(event)
        elif isinstance(event, StageStarted):
            self._show_start(event)
        elif isinstance(event, StageProgress):
            self._say(f"  {event.message}", "dim")
        elif isinstance(event, StageFinished):
            self._say(*_stage_text(event))
        elif isinstance(event, CaseStarted):
            self._running[event.lane] = f"{event.operator}/{event.case_id}"
            self._progress.update(self._bar, description=" ".join(self._running.values()))
        elif isinstance(event, CaseFinished):
            self._show_case(event)
        elif isinstance(event, HiddenCaseFinished):
            self._progress.advance(self._bar)
        elif isinstance(event, Notice):
            self._say(event.message, "yellow")
        else:
            self._show_interrupt(event)

    def _show_start(self, event: StageStarted) -> None:
        self._progress.update(self._bar, description=f"{_STAGES[event.stage]} {event.subject}")
        if not self._console.is_terminal:  # nothing moves there, and a first build takes a minute
            self._say(f"{_STAGES[event.stage]} {event.subject} ...", "dim")

    def _show_plan(self, event: Planned) -> None:
        resumed = f", {event.resumed_cases} taken from the journal" if event.resumed_cases else ""
        cases = "1 case" if event.cases == 1 else f"{event.cases} cases"
        self._say(f"{event.submission}: {cases} of {', '.join(event.operators)} ({event.suite}) on {event.target}{resumed}", "bold")
        self._progress.update(self._bar, total=event.cases, description="running")

    def _show_case(self, event: CaseFinished) -> None:
        result = event.result
        time_text = f" {result.time.value:.2f} us {result.time.provenance.value}" if result.time else ""
        style = "green" if result.outcome.verdict is Verdict.PASSED else "red"
        self._say(f"{result.operator}/{result.case.id} {verdict_text(result)}{time_text} (took {result.wall_s:.1f} s)", style)
        self._progress.advance(self._bar)

    def _show_interrupt(self, event: Interrupted) -> None:
        self._say(f"stopped; {event.remaining} cases were not run, go on with --resume", "yellow")

    def _say(self, text: str, style: str = "") -> None:
        self._console.print(Text(visible(text), style=style), soft_wrap=True)


def _stage_text(event: StageFinished) -> tuple[str, str]:
    what = f"{_STAGES[event.stage]} {event.subject}"
    if event.message:
        return f"{what} failed: {event.message}", "red"
    return f"{what}: done" + (" (cached)" if event.is_cached else ""), "dim"
