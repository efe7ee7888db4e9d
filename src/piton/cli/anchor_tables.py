"""How `piton hap` prints: one case in full, an operator's cases, a suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from piton.anchors import Block
from piton.cli.model_tables import print_model
from piton.cli.printing import NONE, amount, anchored, microseconds, safe
from piton.core.measurement import Anchor, Provenance
from piton.evaluate.anchor_difference import BlockDifference, UnitDifference
from piton.evaluate.anchor_overview import BlockOverview, OperatorOverview, SuiteOverview
from piton.evaluate.anchor_view import UNITS, AnchorView, BlockView, ChoiceView
from piton.report.fit import Column, Listing

LABELS = ("MTE", "Vector", "Cube", "floor")
"""What limits a case, rolled up."""
_SHOWN = 5
"""Stale baselines that are told one by one."""


def print_views(console: Console, name: str, views: Sequence[AnchorView]) -> None:
    """One case in full, several as a table."""
    console.print(safe(f"{views[0].operator} on {name}", "bold"))
    if not views[0].has_formula:
        console.print(safe("Piton has no work formula for this operator: T_HW is known only where the suite quotes it", "yellow"), soft_wrap=True)
    remarks = [text for view in views for text in view.remarks]
    for text in remarks[:_SHOWN] + ([f"and {len(remarks) - _SHOWN} more like this"] if len(remarks) > _SHOWN else []):
        console.print(safe(f"stale: {text}", "yellow"), soft_wrap=True)
    if len(views) == 1:
        _print_one(console, views[0])
        return
    console.print(_overview(views))
    versions = dict.fromkeys(view.t_baseline.version for view in views if view.t_baseline and view.t_baseline.version)
    if versions:
        console.print(safe(f"T_baseline: {'; '.join(versions)}"), soft_wrap=True)
    if any(_is_untraced(view) for view in views):
        console.print(safe(_UNTRACED), soft_wrap=True)
    console.print(safe("T_HW is modelled unless it says otherwise; --case ID shows the work, every unit and every choice", "dim"), soft_wrap=True)


_UNTRACED = "T_baseline may still change where it is quoted or unknown: an evaluation traces the golden and takes the modelled one first; --case ID does so now"


def _is_untraced(view: AnchorView) -> bool:
    """True where a simulated score would use a modelled T_baseline that nobody has asked for yet."""
    is_open = view.t_baseline is None or view.t_baseline.provenance is Provenance.QUOTED
    is_simulated = any(block.is_scored and block.block == "silicon" for block in view.blocks)
    return is_open and is_simulated and view.modelled is None and not view.unmodelled


_OVERVIEW = (
    Column("case", is_right=True),
    Column("elements", is_right=True, wraps=False, leaves=2),
    Column("read", is_right=True, wraps=False, leaves=3),
    Column("written", is_right=True, wraps=False, leaves=4),
    Column("bound by"),
    Column("T_HW\nsilicon", is_right=True, wraps=False),
    Column("T_HW\nconvention", is_right=True, wraps=False, leaves=1),
    Column("T_HW\nquoted", is_right=True, wraps=False),
    Column("T_baseline", is_right=True, wraps=False),
)
_HAP = (Column("HAP", is_right=True, wraps=False), Column("points", is_right=True))


def _overview(views: Sequence[AnchorView]) -> Listing:
    has_hap = any(view.hap for view in views)
    rows = [(*_row(view), *(_hap_cells(view) if has_hap else ())) for view in views]
    return Listing((*_OVERVIEW, *(_HAP if has_hap else ())), rows, "times in us")


def _row(view: AnchorView) -> list[str]:
    best = {block.block: next(choice for choice in block.choices if choice.is_chosen) for block in view.blocks}
    scored = next((best[block.block] for block in view.blocks if block.is_scored), None)
    work = [amount(scored.read_bytes, "B"), amount(scored.write_bytes, "B"), _bound(scored)] if scored else [NONE, NONE, NONE]
    times = [microseconds(best[name].time_us) if name in best else NONE for name in ("silicon", "convention")]
    quoted = microseconds(view.quoted_t_hw.value_us) if view.quoted_t_hw else NONE
    return [view.case, amount(view.elements), *work, *times, quoted, anchored(view.t_baseline)]


def _hap_cells(view: AnchorView) -> tuple[str, str]:
    if view.hap is None:
        return NONE, NONE
    return f"{view.hap.ranked:.3f}" + (" !" if view.hap.is_below_t_hw else ""), f"{view.hap.points:.1f}"


def _print_one(console: Console, view: AnchorView) -> None:
    console.print(safe(f"case {view.case}, {view.elements} elements"))
    for block in view.blocks:
        console.print(_block_table(block))
    if view.difference is not None:
        console.print(_difference_table(view.difference))
        console.print(safe(view.difference.why), soft_wrap=True)
    if view.modelled is not None:
        print_model(console, view.modelled)
    for title, text in _reasoning(view):
        console.print(safe(f"\n{title}", "bold"))
        console.print(safe(text, "dim"), soft_wrap=True)
    console.print()
    for line in _anchor_lines(view):
        console.print(safe(line), soft_wrap=True)


def _reasoning(view: AnchorView) -> Iterator[tuple[str, str]]:
    yield from ((f"how {block.block} counts", block.reasoning) for block in view.blocks if block.reasoning)
    if view.family:
        yield "what operators like this have in common", view.family


def _block_table(block: BlockView) -> Listing:
    use = "scores" if block.is_scored else "for comparison"
    figures = ("read", "written", "lane instr.", "FLOP", *UNITS, "floor", "T_HW")
    columns = (Column("choice"), *(Column(name, is_right=True, wraps=False) for name in figures), Column("bound by"))
    rows = [_choice_row(choice) for choice in block.choices]
    return Listing(columns, rows, f"{block.block} peaks ({use}), times in us, modelled", turns=True)


def _difference_table(difference: BlockDifference) -> Listing:
    columns = (
        Column("unit"),
        *(Column(name, is_right=True, wraps=False) for name in ("convention", "silicon", "silicon / conv.", "by rates", "by counts")),
    )
    rows = [_difference_row(unit) for unit in (*difference.units, difference.t_hw)]
    return Listing(columns, rows, "convention against silicon, times in us, modelled", turns=True)


def _difference_row(unit: UnitDifference) -> tuple[str, ...]:
    """A unit that only one of the two gives work has no factors: the convention knows no mte1 and no fixp, and so books all writes to mte3."""
    is_in_both = bool(unit.convention_us and unit.silicon_us)
    times = [microseconds(time) if time else NONE for time in (unit.convention_us, unit.silicon_us)]
    factors = (unit.silicon_us / unit.convention_us, unit.by_rates, unit.by_counts) if is_in_both else (None, None, None)
    return (unit.unit, *times, *map(_factor, factors))


def _factor(value: float | None) -> str:
    return NONE if value is None else f"x {value:.2f}"


def _choice_row(choice: ChoiceView) -> tuple[str | Text, ...]:
    work = (_work(choice.vector_lane_instructions), _work(choice.cube_flops))
    times = [_unit_time(choice, unit) for unit in (*UNITS, "floor")]
    sizes = (amount(choice.read_bytes, "B"), amount(choice.write_bytes, "B"))
    label = safe(choice.choice, "bold" if choice.is_chosen else "dim")
    return (label, *sizes, *work, *times, microseconds(choice.time_us), _bound(choice))


def _bound(choice: ChoiceView) -> str:
    """The unit, and its label where that says more."""
    return choice.limiting_unit if choice.label.lower() == choice.limiting_unit else f"{choice.limiting_unit} ({choice.label})"


def _work(amounts: dict[str, float]) -> str:
    return "\n".join(f"{amount(value)} {dtype}" for dtype, value in amounts.items() if value) or "0"


def _unit_time(choice: ChoiceView, unit: str) -> str:
    value = choice.unit_times_us[unit]
    return "?" if value is None else microseconds(value)


def _anchor_lines(view: AnchorView) -> Iterator[str]:
    yield _line("T_HW that scores", view.t_hw)
    if view.quoted_t_hw is not None and view.quoted_t_hw != view.t_hw:
        yield _line("T_HW quoted", view.quoted_t_hw)
    yield _line("T_baseline that scores", view.t_baseline)
    for anchor in view.t_baselines:
        if anchor != view.t_baseline:
            yield _line("T_baseline also known", anchor)
    if view.unmodelled:
        yield f"T_baseline has no model: {view.unmodelled}"
    if view.t_baseline is None:
        yield "  a suite may quote it; for a suite of Piton's, an evaluation of the case simulates the plain kernel once and keeps its time in the cache"
    if view.hap is not None:
        yield from _hap_lines(view)


def _line(what: str, anchor: Anchor | None) -> str:
    if anchor is None:
        return f"{what}: not known"
    bound = f", bound by {anchor.limiting_unit}" if anchor.limiting_unit else ""
    is_named = not anchor.version or anchor.version.partition(" (")[0] in anchor.method
    version = "" if is_named else f"; {anchor.version}"
    return f"{what}: {anchor.value_us:.3f} us, {anchor.provenance.value}{bound} ({anchor.method}{version})"


def _hap_lines(view: AnchorView) -> Iterator[str]:
    found = view.hap
    assert found is not None
    base, roof, time = found.t_baseline_us, found.t_hw_us, found.time_us
    yield f"T_cand as given: {time:.3f} us"
    yield f"HAP = ({base:.3f} - {roof:.3f}) / (({time:.3f} - {roof:.3f}) + ({base:.3f} - {roof:.3f})) = {found.raw:.4f}, ranks as {found.ranked:.4f}"
    if found.is_below_t_hw:
        yield "  below T_HW: a finding; ranks as 1 until a person has looked at it"
    if found.is_baseline_raised:
        yield "  T_baseline was below 1.05 T_HW and is raised to that"
    yield f"an operator whose cases were all right and like this one: {found.points:.1f} of 100"


def print_overview(console: Console, title: str, overview: SuiteOverview, scored: Block) -> None:
    """A suite: what limits each operator's cases in the profile that scores, and the shares of all."""
    columns = (
        Column("operator", wraps=False),
        Column("level", is_right=True, leaves=3),
        Column("cases", is_right=True),
        *(Column(label, is_right=True) for label in LABELS),
        *(Column(name, is_right=True, wraps=False, leaves=leaves) for name, leaves in (("least", 1), ("median", 0), ("most", 2))),
    )
    console.print(safe(title, "bold"))
    rows = [_overview_row(item, scored) for item in overview.operators]
    console.print(Listing(columns, rows, f"cases by what limits them; T_HW in us, modelled, {scored} (scores)"))
    for block in overview.blocks:
        console.print(safe(f"{block.block}: {_shares(block)}; T_HW {block.least_us:.2f} to {block.most_us:.2f} us"), soft_wrap=True)
    missing = len(overview.operators) - overview.with_formula
    text = f"{overview.with_formula} of {len(overview.operators)} operators have a work formula" + (
        "; T_HW of the others can only be quoted" if missing else ""
    )
    console.print(safe(text), soft_wrap=True)
    if absent := sum(item.absent for item in overview.operators):
        console.print(safe(f"{absent} cases have an element type that the chip does not have", "yellow"), soft_wrap=True)


def _overview_row(item: OperatorOverview, scored: Block) -> tuple[str, ...]:
    block = next((block for block in item.blocks if block.block == scored), None)
    if block is None:
        return (item.operator, str(item.level), str(item.cases), *[NONE] * (len(LABELS) + 3))
    counts = [str(block.labels.get(label, 0) or "") for label in LABELS]
    return (item.operator, str(item.level), str(item.cases), *counts, *map(microseconds, (block.least_us, block.median_us, block.most_us)))


def _shares(block: BlockOverview) -> str:
    return ", ".join(f"{label} {100 * block.labels.get(label, 0) / block.cases:.0f} %" for label in LABELS)
