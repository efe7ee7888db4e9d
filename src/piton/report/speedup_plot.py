"""Speed-ups of a comparison: each case that passed in both runs and moved, over its time before."""

from __future__ import annotations

from collections.abc import Sequence

from piton.core.measurement import Provenance
from piton.report.compare_text import move_origins, origins_text
from piton.report.comparison import Pair
from piton.report.moves import Certainty, Move
from piton.report.plot import Axis, Figure, Line, Mark, log_axis, polyline, x_of, y_of

_SERIES: dict[Certainty, int] = {
    Certainty.MEASURED: 0,
    Certainty.EXACT: 0,
    Certainty.EXACT_WITHIN_ERROR: 1,
    Certainty.WITHIN_SPREAD: 1,
    Certainty.EXACT_ERROR_UNKNOWN: 6,
    Certainty.SPREAD_UNKNOWN: 6,
}
"""Colour and shape: trusted, doubtful, not known."""


def anchors(pair: Pair, number: int) -> dict[str, str]:
    """Identifiers of the rows of all moved cases by their names; `number` makes those of several pairs on one page differ."""
    return {item.name: f"move-{number}-{place}" for place, item in enumerate(pair.moves, start=1)}


def speedup_figure(pair: Pair, number: int) -> Figure | None:
    """Speed-up over T_cand before; None when no case has both times."""
    timed = [item for item in pair.moves if item.speedup and item.certainty in _SERIES and item.before and item.before.time_us]
    if not timed:
        return None
    origins = origins_text([origin for origin in Provenance if any(origin in move_origins(item) for item in timed)])
    x = log_axis(f"T_cand before, us, {origins}", [item.before.time_us for item in timed if item.before and item.before.time_us])
    y = log_axis(f"speed-up, {origins}", [1.0, *(item.speedup for item in timed if item.speedup)], least_span=1.5)
    places = anchors(pair, number)
    return Figure(
        name=f"speedup-{number}",
        title="How much faster or slower",
        description=_description(timed),
        x=x,
        y=y,
        lines=(Line("level", polyline(x, y, [(x.low, 1.0), (x.high, 1.0)]), "as fast as before", x_of(x, x.low) + 8, y_of(y, 1.0) - 7),),
        marks=tuple(_mark(item, places[item.name], x, y) for item in timed),
        series=tuple(sorted({(_SERIES[item.certainty], item.certainty.value) for item in timed})),
    )


def _mark(item: Move, anchor: str, x: Axis, y: Axis) -> Mark:
    assert item.before is not None
    assert item.before.time_us is not None
    assert item.speedup is not None
    text = f"{item.name}: {item.speedup:.3f} times as fast, {origins_text(move_origins(item))}, {item.certainty.value}"
    return Mark(round(x_of(x, item.before.time_us), 1), round(y_of(y, item.speedup), 1), _SERIES[item.certainty], anchor, text)


def _description(moves: Sequence[Move]) -> str:
    factors = [item.speedup for item in moves if item.speedup]
    faster = sum(factor > 1 for factor in factors)
    told = f"Of {len(factors)} cases whose time moved {faster} became faster, {len(factors) - faster} slower"
    return f"{told}; factors from {min(factors):.2f} to {max(factors):.2f}."
