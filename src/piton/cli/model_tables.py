"""How `piton hap` prints the modelled T_baseline of a case: the terms of its price, and the launches of the golden that it was made from."""

from __future__ import annotations

from rich.console import Console

from piton.cli.printing import amount, microseconds, safe
from piton.evaluate.eager import EagerView, LaunchView
from piton.report.fit import Column, Listing

_MOST_LAUNCHES = 40
"""Rows of the list of launches; --json has all."""


def print_model(console: Console, view: EagerView) -> None:
    """The price, then what the golden starts."""
    columns = (Column("term"), Column("us", is_right=True, wraps=False), Column("share", is_right=True))
    total = view.anchor.value_us
    rows = [(name, microseconds(time), f"{time / total:.0%}") for name, time in view.terms_us.items() if time > 0]
    console.print(Listing(columns, rows, f"modelled T_baseline: {total:.2f} us by the {view.constants.title}, from a {view.origin}"))
    if view.refusal:
        console.print(safe(f"no trace: {view.refusal}", "dim"), soft_wrap=True)
    if view.golden:
        console.print(_launches(view))
    if len(view.golden) > _MOST_LAUNCHES:
        console.print(safe(f"{len(view.golden) - _MOST_LAUNCHES} more kinds of launches: see --json", "dim"), soft_wrap=True)
    low, high = (microseconds(total * end) for end in (view.constants.low, view.constants.high))
    console.print(safe(f"nine in ten measured baselines would lie between {low} and {high} us (docs/baselines.md)", "dim"), soft_wrap=True)


def _launches(view: EagerView) -> Listing:
    columns = (
        Column("operator", wraps=False),
        Column("kind"),
        Column("times", is_right=True),
        Column("writes"),
        Column("read", is_right=True, wraps=False, leaves=1),
        Column("written", is_right=True, wraps=False, leaves=2),
    )
    run = "on its data" if view.is_on_data else "on sizes alone"
    title = f"what the golden starts, traced {run}: {view.launches} launches, {view.views} views"
    return Listing(columns, [_launch_row(item) for item in view.golden[:_MOST_LAUNCHES]], title)


def _launch_row(item: LaunchView) -> tuple[str, ...]:
    return (item.operation, item.kind, str(item.count), item.result, amount(item.read_bytes, "B"), amount(item.write_bytes, "B"))
