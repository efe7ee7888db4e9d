"""`piton hap`: the anchors of an operator's cases, explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from piton.catalog import load_suite
from piton.catalog.hardware import load_hardware
from piton.cli.evaluation import cache_dir
from piton.cli.printing import NONE, amount, anchored, microseconds, open_console, print_json, safe
from piton.core.errors import UsageError
from piton.core.measurement import Anchor
from piton.core.suite import Suite
from piton.evaluate.anchor_view import UNITS, AnchorSources, AnchorView, BlockView, ChoiceView, anchor_sources, explain, hardware_sources
from piton.evaluate.pipeline import named_target
from piton.evaluate.suite_view import find_cases, find_member
from piton.report.fit import Column, Listing


@dataclass(frozen=True)
class HapOptions:
    """The options of `piton hap` as they were typed."""

    operator: str
    cases: tuple[str, ...]
    suite: str
    target: str
    """Empty: the default target, unless there is a chip."""
    hardware: str
    time_us: float | None
    prints_json: bool


def show_anchors(options: HapOptions) -> int:
    """Print the anchors; returns the exit status."""
    if options.target and options.hardware:
        raise UsageError("--target and --hardware exclude one another", action="a target has its chip: leave one of them out")
    suite = load_suite(options.suite)
    member = find_member(suite, options.operator)
    cases = find_cases(member, options.cases)
    with _sources(suite, options) as (name, sources):
        views = [explain(member.operator, case, sources, options.time_us) for case in cases]
    if options.prints_json:
        place = {"suite": suite.name, "suite_version": suite.version, "on": name, "hardware": sources.hardware.name, "score_profile": sources.profile}
        print_json({**place, "cases": views})
    else:
        _print(open_console(), name, views)
    return 0


@contextmanager
def _sources(suite: Suite, options: HapOptions) -> Iterator[tuple[str, AnchorSources]]:
    if options.hardware:
        hardware = load_hardware(options.hardware)
        yield hardware.name, hardware_sources(suite, hardware)
        return
    from piton.targets.registry import DEFAULT_TARGET

    name, cache = options.target or DEFAULT_TARGET, str(cache_dir().absolute())
    with anchor_sources(suite, named_target(name, cache, lambda _text: None), cache) as sources:
        yield name, sources


def _print(console: Console, name: str, views: Sequence[AnchorView]) -> None:
    console.print(safe(f"{views[0].operator} on {name}", "bold"))
    if not views[0].has_formula:
        console.print(safe("Piton has no work formula for this operator: T_HW is known only where the suite quotes it", "yellow"), soft_wrap=True)
    if len(views) == 1:
        _print_one(console, views[0])
        return
    console.print(_overview(views))
    console.print(safe("T_HW is modelled unless it says otherwise; --case ID shows the work, every unit and every choice", "dim"), soft_wrap=True)


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
    work = [amount(scored.read_bytes, "B"), amount(scored.write_bytes, "B"), scored.limiting_unit] if scored else [NONE, NONE, NONE]
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
    for line in _anchor_lines(view):
        console.print(safe(line), soft_wrap=True)


def _block_table(block: BlockView) -> Listing:
    use = "scores" if block.is_scored else "for comparison"
    figures = ("read", "written", "lane instr.", "FLOP", *UNITS, "floor", "T_HW")
    columns = (Column("choice"), *(Column(name, is_right=True, wraps=False) for name in figures), Column("bound by"))
    rows = [_choice_row(choice) for choice in block.choices]
    return Listing(columns, rows, f"{block.block} peaks ({use}), times in us, modelled", turns=True)


def _choice_row(choice: ChoiceView) -> tuple[str | Text, ...]:
    work = (_work(choice.vector_lane_instructions), _work(choice.cube_flops))
    times = [_unit_time(choice, unit) for unit in (*UNITS, "floor")]
    sizes = (amount(choice.read_bytes, "B"), amount(choice.write_bytes, "B"))
    label = safe(choice.choice, "bold" if choice.is_chosen else "dim")
    return (label, *sizes, *work, *times, microseconds(choice.time_us), choice.limiting_unit)


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
    if view.t_baseline is None:
        yield "  a suite may quote it; for a suite of Piton's, an evaluation of the case simulates the plain kernel once and keeps its time in the cache"
    if view.hap is not None:
        yield from _hap_lines(view)


def _line(what: str, anchor: Anchor | None) -> str:
    if anchor is None:
        return f"{what}: not known"
    bound = f", bound by {anchor.limiting_unit}" if anchor.limiting_unit else ""
    return f"{what}: {anchor.value_us:.3f} us, {anchor.provenance.value}{bound} ({anchor.method})"


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
