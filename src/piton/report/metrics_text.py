"""Metrics of methods side by side, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from piton.core.metrics import MethodMetrics
from piton.core.visible import visible
from piton.report.fair_text import fair_markdown, markdown_head, render_fair
from piton.report.fit import Column, Listing
from piton.report.markup import escape_markdown
from piton.report.method_text import method_text
from piton.report.metrics_view import MethodView, MetricsView, metric_name, metric_text
from piton.report.trust import accuracy_text

_SHOWN = 8
"""Tasks and voids that are named; the JSON has all."""


def render_metrics(view: MetricsView, *, shows_fair: bool) -> RenderableType:
    """Everything as tables, one per group."""
    tables = [_listing(view, number) for number in range(len(view.methods[0].groups))]
    notes = [Text(visible(text), style=style) for text, style in _notes(view)]
    fair = [render_fair(method.fair, f"Fair-reporting record of {visible(method.name)}") for method in view.methods] if shows_fair else []
    return Group(*tables, *notes, *fair)


def metrics_markdown(view: MetricsView) -> str:
    """The same as Markdown, fair-reporting records included."""
    lines = [f"# Metrics of {escape_markdown(', '.join(method.name for method in view.methods))}", ""]
    for number in range(len(view.methods[0].groups)):
        title, head, rows = _table(view, number)
        lines += [f"## {escape_markdown(title)}", "", *markdown_head([escape_markdown(name) for name in head])]
        lines += [*(f"| `{name}` | {' | '.join(map(escape_markdown, cells))} |" for name, *cells in rows), ""]
    lines += [*(f"- {escape_markdown(text)}" for text, _ in _notes(view)), ""]
    for method in view.methods:
        lines += [f"## Fair-reporting record of {escape_markdown(method.name)}", "", *fair_markdown(method.fair), ""]
    return "\n".join(lines)


def _table(view: MetricsView, number: int) -> tuple[str, tuple[str, ...], list[tuple[str, ...]]]:
    """Title, head and rows of one group: a row per metric, a column per method."""
    groups = [method.groups[number] for method in view.methods]
    tasks = groups[0].found.tasks
    kind = "task" if view.settings.task == "operator" else "case"
    title = f"{groups[0].group}: {tasks} {kind}{'s' if tasks != 1 else ''}"
    head = ("metric", *(method.name for method in view.methods))
    rows = [(metric_name(metric), *(metric_text(group.found.metrics[place]) for group in groups)) for place, metric in enumerate(groups[0].found.metrics)]
    return title, head, [*rows, ("samples per tried task", *(_samples(group.found) for group in groups))]


def _listing(view: MetricsView, number: int) -> Listing:
    title, head, rows = _table(view, number)
    columns = [Column(visible(name), is_right=place > 0, wraps=place == 0) for place, name in enumerate(head)]
    return Listing(columns, [tuple(map(visible, row)) for row in rows], visible(title))


def _samples(found: MethodMetrics) -> str:
    return str(found.samples_low) if found.samples_low == found.samples_high else f"{found.samples_low} to {found.samples_high}"


def _notes(view: MetricsView) -> Iterator[tuple[str, str]]:
    """(sentence, style) of what a reader of the numbers has to know."""
    world, settings = view.world, view.settings
    for method in view.methods:
        yield from ((text, "yellow") for text in _gaps(method))
        if told := method_text(method.method and method.method.model_copy(update={"name": ""})):
            yield f"{method.name}: {told}", ""
    yield from ((text, "yellow") for text in view.differences)
    origins = {name: " and ".join(found) or "none" for name, found in world.origins.items()}
    accuracy = f"; {text}" if (text := accuracy_text(world.accuracy)) else ""
    times = f"speed-up = T_baseline ({origins['T_baseline']}) / T_cand ({origins['T_cand']}); T_HW {origins['T_HW']}"
    yield f"{times}; score profile {world.score_profile}{accuracy}", "dim"
    estimator = "all k-subsets of the samples" if settings.estimator == "all_subsets" else "the first k samples"
    interval = f"[{settings.confidence:.0%} interval: tasks resampled inside their levels, seed {settings.seed}]"
    yield f"suite {world.suite} {world.suite_version} on {world.target}; @k over {estimator}; selection of turns: {settings.select}; {interval}", "dim"


def _gaps(method: MethodView) -> Iterator[str]:
    """What makes the numbers of a method incomplete, and what counts against it."""
    found = method.groups[0].found
    if found.voids:
        yield f"{method.name}: incomplete (*), {len(found.voids)} samples could not be judged and are left out: {_some(found.voids, '; ')}"
    yield from (f"{method.name}: incomplete (*), {note}" for note in found.notes)
    if found.untried:
        yield f"{method.name}: {len(found.untried)} tasks without a sample count as failures: {_some(found.untried, ', ')}"


def _some(texts: tuple[str, ...], between: str) -> str:
    more = f"{between}and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return between.join(texts[:_SHOWN]) + more
