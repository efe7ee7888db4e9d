"""One pipe of one case as a stacked bar: what is drawn, what is written beside it, and all reasons in words."""

from __future__ import annotations

from dataclasses import dataclass

from piton.core.execution import PIPES
from piton.report.bottleneck import LOSS_TEXTS, OVERHEAD, PipeShare

SHORT = {
    **{f"flag_{pipe}": pipe.upper() for pipe in PIPES},
    "barrier": "barrier",
    "full_queue": "queue",
    "sync_all": "cores",
    "cross_flag": "cores",
    "end": "end",
    "idle": "idle",
    "launch": "start",
    "tail": "tail",
}
"""Reasons of waits in a word, for table cells."""
_WORTH_WRITING = 1
"""Per cent."""


@dataclass(frozen=True)
class PipeCell:
    """Parts of the bar in whole per cent of the time; what is missing to 100 is time in which nothing was issued to the pipe."""

    pipe: str
    busy: int
    """Busy without what was lost."""
    lost: int
    """Busy for longer than the instructions need by themselves."""
    waits: int
    """Waits for another pipe, a barrier, a queue or other cores."""
    overhead: int
    """Waits of the whole core for its block to start, and for the last block to end."""
    largest: str
    """The largest reason of waiting, such as `12 MTE2`; empty below one per cent."""
    words: str
    """All reasons in short, for the pointer and for screen readers."""

    @property
    def style(self) -> str:
        """The parts as CSS variables; those of no length are left out."""
        parts = (("b", self.busy), ("l", self.lost), ("s", self.waits), ("o", self.overhead))
        return ";".join(f"--{name}:{value}" for name, value in parts if value)


def pipe_cell(share: PipeShare) -> PipeCell:
    """The cell of a pipe."""
    lost = _percent(sum(share.lost.values()))
    overhead = sum(share.waits.get(reason, 0.0) for reason in OVERHEAD)
    waits = sum(value for reason, value in share.waits.items() if reason not in (*OVERHEAD, "idle"))
    largest = next((f"{_percent(value)} {SHORT.get(reason, reason)}" for reason, value in share.waits.items() if _percent(value) >= _WORTH_WRITING), "")
    return PipeCell(share.pipe, max(_percent(share.busy) - lost, 0), lost, _percent(waits), _percent(overhead), largest, _words(share))


def _words(share: PipeShare) -> str:
    waits = [f"{_percent(value)} {SHORT.get(reason, reason)}" for reason, value in share.waits.items() if _percent(value) >= _WORTH_WRITING]
    lost = [f"{_percent(value)} to {LOSS_TEXTS.get(reason, reason)}" for reason, value in share.lost.items() if _percent(value) >= _WORTH_WRITING]
    parts = ((f"{share.pipe.upper()} %: busy {_percent(share.busy)}", [""]), ("waits", waits), ("loses", lost))
    return "; ".join(f"{name} {', '.join(texts)}".strip() for name, texts in parts if texts)


def _percent(share: float) -> int:
    return round(100 * share)
