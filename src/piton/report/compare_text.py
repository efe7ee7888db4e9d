"""A comparison in words and table cells, the same for terminal, Markdown and page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from piton.core.measurement import Provenance
from piton.report.comparison import Comparison, Pair, SpeedUp, Sum
from piton.report.moves import CERTAINTY_TEXTS, VERDICT_KINDS, Certainty, Move, MoveKind, Side, kind_text
from piton.report.rows import NONE, score_text

MOVE_HEAD = ("case", "what", "verdict", "T_cand us before", "T_cand us after", "speed-up", "HAP before", "HAP after", "certainty")
SUM_HEAD = ("", "score before", "score after", "change", "passed before", "passed after", "speed-up")


@dataclass(frozen=True)
class Table:
    """Cells as text, ready for any rendering."""

    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def speedup_text(found: SpeedUp | None) -> str:
    """`1.12 [1.08 .. 1.16]`, with what it is over and where the times come from."""
    if found is None:
        return "no case has times of one origin in both"
    ends = f" [{found.low:.3f} .. {found.high:.3f}, 95 % over cases]" if found.low is not None and found.high is not None else ""
    return f"geometric-mean speed-up {found.value:.3f}{ends} over {found.cases} case{'s' if found.cases != 1 else ''}, {origins_text(found.provenances)}"


def headline(pair: Pair) -> str:
    """The pair in a sentence."""
    told = f"{pair.after} against {pair.before}: {pair.headline}"
    if not pair.is_sums_only:
        return f"{told}; {speedup_text(pair.speedup)}"
    total = pair.total
    return f"{told}: score {score_text(total.before)}, then {score_text(total.after)}; {total.passed_before} passed, then {total.passed_after}"


def score_table(found: Comparison) -> Table:
    """Scores of all runs side by side: the operators in which something changed, and the total."""
    changed = dict.fromkeys(item.name for pair in found.pairs for item in pair.operators if item.has_changed)
    rows = [(name, [_sum_of(pair.operators, name) for pair in found.pairs]) for name in changed]
    rows.append(("total", [pair.total for pair in found.pairs]))
    return Table("Scores", ("operator", *(run.name for run in found.runs)), tuple(_score_line(name, sums) for name, sums in rows))


def unchanged_text(pair: Pair) -> str:
    """How many operators are not listed."""
    count = sum(not item.has_changed for item in pair.operators)
    return f"{count} operator{'s' if count != 1 else ''} without a change" if count else ""


def sum_table(title: str, sums: Sequence[Sum]) -> Table:
    """Scores before and after, a line per sum."""
    return Table(title, (title, *SUM_HEAD[1:]), tuple(sum_line(item) for item in sums))


def sum_line(item: Sum) -> tuple[str, ...]:
    """Cells of one sum."""
    change = NONE if item.change is None else f"{item.change:+.1f}"
    speedup = factor_text(item.speedup, item.speedup_provenances)
    return (item.name, score_text(item.before), score_text(item.after), change, str(item.passed_before), str(item.passed_after), speedup)


@dataclass(frozen=True)
class Section:
    """Moves of one sort."""

    title: str
    moves: tuple[Move, ...]


def sections(pair: Pair) -> list[Section]:
    """Verdicts first, then times, then what came, went or changed its measure; empty ones are left out."""
    times = {MoveKind.SLOWER, MoveKind.FASTER}
    parts = (
        ("Verdicts that changed", [item for item in pair.moves if item.kind in VERDICT_KINDS]),
        ("Cases that became faster or slower", [item for item in pair.moves if item.kind in times]),
        ("Other changes", [item for item in pair.moves if item.kind not in times | VERDICT_KINDS]),
    )
    return [Section(title, tuple(moves)) for title, moves in parts if moves]


def move_table(title: str, moves: Sequence[Move]) -> Table:
    """A line per case."""
    return Table(title, MOVE_HEAD, tuple(move_line(item) for item in moves))


def move_line(item: Move) -> tuple[str, ...]:
    """Cells of one case."""
    sides = (item.before, item.after)
    return (
        item.name,
        kind_text(item.kind.value),
        verdict_text(item),
        *(_time(side) for side in sides),
        factor_text(item.speedup, move_origins(item)),
        *(NONE if side is None or side.hap is None else f"{side.hap:.3f}" for side in sides),
        item.certainty.value or NONE,
    )


def verdict_text(item: Move) -> str:
    """The verdict, or both when it changed."""
    found = list(dict.fromkeys(side.verdict for side in (item.before, item.after) if side is not None))
    return " → ".join(found)


def factor_text(value: float | None, origins: Sequence[Provenance]) -> str:
    """`1.250 simulated`, or a dash."""
    return NONE if value is None else f"{value:.3f} {origins_text(origins)}"


def move_origins(item: Move) -> tuple[Provenance, ...]:
    """Where the times behind the speed-up of a case come from; empty without one."""
    known = item.before.time_provenance if item.before and item.speedup is not None else None
    return (known,) if known else ()


def origins_text(origins: Sequence[Provenance]) -> str:
    """`device and simulated`."""
    return " and ".join(origin.value for origin in origins)


def certainty_notes(moves: Sequence[Move]) -> Iterator[str]:
    """What the certainties that occur mean."""
    used = {item.certainty for item in moves}
    return (f"{certainty.value}: {CERTAINTY_TEXTS[certainty]}" for certainty in Certainty if certainty in used and certainty in CERTAINTY_TEXTS)


def difference_texts(found: Comparison) -> list[str]:
    """What beside the submission differs, in sentences."""
    return [f"not the same as in {found.runs[0].name}: {item.text}" for item in found.differences]


def threshold_text(found: Comparison) -> str:
    """From which change on a case is listed."""
    return f"Listed are changes of T_cand by {100 * found.least_time_change:g} % or more, and of HAP by {found.least_hap_change:g} where T_cand stayed."


def _time(side: Side | None) -> str:
    if side is None or side.time_us is None or side.time_provenance is None:
        return NONE
    return f"{side.time_us:.2f} {side.time_provenance.value}"


def _sum_of(sums: Sequence[Sum], name: str) -> Sum | None:
    return next((item for item in sums if item.name == name), None)


def _score_line(name: str, sums: Sequence[Sum | None]) -> tuple[str, ...]:
    known = next((item for item in sums if item is not None), None)
    return (name, score_text(known.before if known else None), *(_changed(item) for item in sums))


def _changed(item: Sum | None) -> str:
    """A score with its difference to the first run's."""
    if item is None:
        return NONE
    return score_text(item.after) + (f" ({item.change:+.1f})" if item.change is not None else "")
