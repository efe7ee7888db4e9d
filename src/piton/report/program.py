"""What `piton run` shows: launches with their pipes, what was wrong, findings, files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from piton.core.execution import PIPES, LaunchRecord
from piton.core.finding import Finding
from piton.core.hardware import ChipFigures
from piton.core.program import PROGRAM_SCHEMA_VERSION, ProgramReport
from piton.core.verdict import Outcome, Verdict
from piton.core.visible import visible
from piton.report.bottleneck import bottleneck_of, percent
from piton.report.schema import document
from piton.report.trust import accuracy_text

_ROWS = 40
"""Rows of the table; equal launches in a row share one."""
_FINDINGS = 20
_FILES = 20


def render_program(report: ProgramReport) -> RenderableType:
    """Everything but the program's own output."""
    parts: list[RenderableType] = []
    if report.launches:
        parts.append(_table(report.launches, report.chip))
    hidden = report.launch_count - len(report.launches)
    if hidden > 0:
        parts.append(Text(f"{hidden} more launches, and those that were stopped, are not listed; their time is part of the sum", style="dim"))
    parts += [Text(visible(text), style="red") for text in map(_outcome_text, report.outcomes)]
    parts += [Text(visible(f"  {item.file}:{item.line}: {item.severity}: {item.message}"), style="dim") for item in report.diagnostics[:_FINDINGS]]
    parts += [Text(visible(_finding_text(item)), style="yellow") for item in report.findings[:_FINDINGS]]
    return Group(*parts, *_closing(report))


def program_json(report: ProgramReport) -> str:
    """The report as JSON text."""
    return json.dumps(report.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def program_schema_text() -> str:
    """JSON schema of that text (docs/run.schema.json)."""
    return document(ProgramReport, "run", PROGRAM_SCHEMA_VERSION, "Piton run")


def _table(launches: Sequence[LaunchRecord], chip: ChipFigures | None) -> Table:
    pipes = [pipe for pipe in PIPES if any(item.busy_cycles.get(pipe) or item.stall_cycles.get(pipe) for item in launches)]
    caption = (
        "simulated; pipes: busy/waiting us, mean of the blocks; GM: read/written, L2: served, HBM: moved; limit: what was busy longest; "
        "roof: HBM: share of the peak rate, V and M: share of the time of all the chip's cores in which the unit was busy, not of its peak"
    )
    table = Table(title="launches", caption=caption, title_justify="left", title_style="bold", caption_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("#", justify="right")
    table.add_column("kernel", overflow="fold", min_width=12)
    for name in ("blocks", "us", *(pipe.upper() for pipe in pipes), "GM KiB", "L2 KiB", "HBM KiB", "limit", "roof"):
        table.add_column(escape(name), justify="right", no_wrap=True)
    rows = [(next(group), 1 + sum(1 for _ in group)) for _, group in groupby(launches)]
    number = 1
    for launch, count in rows[:_ROWS]:
        span = str(number) if count == 1 else f"{number}-{number + count - 1}"
        for place, (name, part) in enumerate(_parts(launch)):
            table.add_row(span, Text(visible(name)), *_figures(part, pipes, chip, has_bytes=place == 0))
        number += count
    if len(rows) > _ROWS:
        table.add_row("...", f"{len(launches) - number + 1} more")
    return table


def _parts(launch: LaunchRecord) -> Iterator[tuple[str, LaunchRecord]]:
    """A launch as the table shows it: of a mixed one each kind of core by itself, with as many blocks as it has cores per wave and block.

    Bytes are known of the whole launch only; they, and the share of HBM, stand in the first of its rows.
    """
    if launch.cube is None:
        yield launch.kernel, launch
        return
    ratio = (launch.cores - launch.cube.cores) // launch.cube.cores
    for is_cube, name, cores in ((True, "AIC", 1), (False, "AIV", ratio)):
        own = launch.pipes_of(is_cube=is_cube)
        counted = {} if is_cube else {"gm_read_bytes": 0, "gm_written_bytes": 0, "l2_bytes": 0, "hbm_bytes": 0}
        yield f"{launch.kernel}, {name}", launch.model_copy(update={**dict(own), **counted, "blocks": launch.blocks * cores, "cube": None})


def _bytes(launch: LaunchRecord) -> Iterator[str]:
    yield f"{launch.gm_read_bytes / 1024:.4g}/{launch.gm_written_bytes / 1024:.4g}"
    yield f"{(launch.l2_bytes or 0) / 1024:.4g}"
    yield f"{(launch.hbm_bytes or 0) / 1024:.4g}"


def _figures(launch: LaunchRecord, pipes: Sequence[str], chip: ChipFigures | None, *, has_bytes: bool) -> Iterator[str]:
    yield str(launch.blocks) if launch.kind == "kernel" else "-"
    yield f"{launch.time_us:.2f}"
    us = launch.time_us / max(launch.cycles, 1) / max(launch.blocks, 1)
    for pipe in pipes:
        yield f"{launch.busy_cycles.get(pipe, 0) * us:.2f}/{launch.stall_cycles.get(pipe, 0) * us:.2f}"
    yield from _bytes(launch) if has_bytes else ("", "", "")
    found = bottleneck_of((launch,))
    yield f"{found.limit} {percent(found.share)}" if found else "-"
    unit, share = roof_of(launch, chip) if chip else ("", 0.0)
    yield f"{unit} {percent(share)}" if unit else "-"


def roof_of(launch: LaunchRecord, chip: ChipFigures) -> tuple[str, float]:
    """The unit that the launch used most of, and how much: of HBM bytes against the peak rate; of V and M busy cycles against those of all the chip's cores.

    A busy unit need not be at its peak: fixed cycles, bank conflicts and short repeats count as busy too.
    """
    if launch.kind != "kernel" or not launch.cycles or not launch.cores:
        return "", 0.0
    hbm = (launch.hbm_bytes or 0) / chip.peaks.hbm_read_bytes_per_s.value / (launch.time_us / 1e6)
    shares = {"HBM": hbm}
    for pipe, cores in (("v", chip.cores_aiv), ("m", chip.cores_aic)):
        shares[pipe.upper()] = launch.busy_cycles.get(pipe, 0) / (max(cores, 1) * launch.cycles)
    unit = max(shares, key=shares.__getitem__)
    return unit, shares[unit]


def _outcome_text(item: Outcome) -> str:
    place = f" at {item.place}" if str(item.place) else ""
    numbers = ", ".join(f"{name} {value}" for name, value in item.numbers.items())
    return f"{item.verdict.value}: {item.cause.value}{place}\n    {item.message}" + (f"\n    {numbers}" if numbers else "")


def _finding_text(item: Finding) -> str:
    place = f" at {item.place}" if str(item.place) else ""
    times = f" ({item.occurrences} times)" if item.occurrences > 1 else ""
    return f"finding: {item.message}{place}{times}"


def _closing(report: ProgramReport) -> Iterator[Text]:
    if report.files:
        more = f" and {len(report.files) - _FILES} more" if len(report.files) > _FILES else ""
        where = f"brought to {report.out}" if report.out else "dropped; give --out FOLDER to keep them"
        yield Text(visible(f"files written: {', '.join(report.files[:_FILES])}{more} ({where})"))
    ended = f"returned {report.exit_code}" if report.exit_code is not None else "did not end by itself"
    is_passed = report.outcome.verdict is Verdict.PASSED
    if report.outcome.verdict is Verdict.BUILD_FAILED:
        yield Text("not built", style="bold red")
        return
    count = f"{report.launch_count} launches and device copies, {report.total_us:.2f} us simulated"
    unchecked = "timed only, nothing was computed or checked"
    verdict = (unchecked if report.is_timing_only else "nothing wrong") if is_passed else f"{report.outcome.verdict.value}: {report.outcome.cause.value}"
    mode = f"; {text}" if (text := accuracy_text(report.accuracy)) else ""
    yield Text(f"{ended}; {count} on {report.target}; {verdict}{mode}", style="bold green" if is_passed else "bold red")
    yield Text(f"isolation: {', '.join(report.isolation) or 'none'}", style="dim")
