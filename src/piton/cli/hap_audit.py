"""`piton hap audit`: published anchors against derived ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from piton.catalog import load_suite
from piton.catalog.hardware import hardware_names, load_hardware
from piton.catalog.published import PublishedCase, published_of_suite, read_published
from piton.catalog.suite import DEFAULT_SUITE
from piton.cli.printing import NONE, microseconds, open_console, print_json, safe
from piton.core.errors import UsageError
from piton.core.hardware import Hardware
from piton.curate.anchor_audit import IMPOSSIBLE, AnchorMark, AnchorState, AuditRow, PlatformAudit, audit_platform
from piton.report.fit import Column, Listing

_PREFIX = "ascend"
_MEANINGS: dict[AnchorState | AnchorMark, str] = {
    AnchorState.EQUAL: "published T_HW is the derived one, within 0.006 us + 0.2 %",
    AnchorState.STALE: "it belongs to another definition of the case, which was found",
    AnchorState.UNEXPLAINED: "it differs, and no definition was found that gives it",
    AnchorState.NO_FORMULA: "Piton has no work formula for the operator",
    AnchorState.NOT_PUBLISHED: "nothing is published for the case",
    AnchorMark.FLOORED: "T_HW is the floor, whatever the case is",
    AnchorMark.TIED: "two units within 1 %: which one limits is a coin toss",
    AnchorMark.T_HW_BELOW_SILICON: "impossible: T_HW is below what the documented peaks allow",
    AnchorMark.T_HW_ABOVE_SILICON: "T_HW is above what the shortest known code needs: a kernel may be faster",
    AnchorMark.BASELINE_CAPPED: "T_baseline is max(10 T_HW, 10 us): derived, or cut off there",
    AnchorMark.BASELINE_NEAR: "T_baseline is below 2 T_HW: a score moves by much for little time",
    AnchorMark.BASELINE_NOT_ABOVE: "impossible: T_baseline is not above T_HW",
    AnchorMark.BASELINE_BELOW_SILICON: "impossible: T_baseline is below what the documented peaks allow",
}
_DIFFERENT = (AnchorState.STALE, AnchorState.UNEXPLAINED)


@dataclass(frozen=True)
class AuditOptions:
    """The options of `piton hap audit` as they were typed."""

    suite: str
    cases: str
    operators: tuple[str, ...]
    hardware: str
    """Empty: every platform that is published and whose chip Piton has."""
    shows_all: bool
    is_strict: bool
    prints_json: bool


def audit_anchors(options: AuditOptions) -> int:
    """Print the audit; the exit status is 1 in strict mode when a published T_HW is not the derived one."""
    published = _chosen(_published(options), options)
    audits = [audit_platform(published, platform, chip) for platform, chip in _platforms(published, options)]
    if options.prints_json:
        print_json({"source": options.suite or options.cases, "platforms": audits})
    else:
        console = open_console()
        for audit in audits:
            _print(console, audit, options)
    return int(options.is_strict and any(audit.equal < audit.cases for audit in audits))


def _published(options: AuditOptions) -> tuple[PublishedCase, ...]:
    if bool(options.suite) is bool(options.cases):
        action = "give --suite CHECKOUT (one that has metadata/*.json) or --cases FILE.jsonl"
        raise UsageError("an audit needs published anchors from one place", found="both" if options.suite else "neither", action=action)
    if options.suite:
        return published_of_suite(load_suite(options.suite))
    operators = {member.operator.name: member.operator for member in load_suite(DEFAULT_SUITE).members}
    return read_published(Path(options.cases), operators)


def _chosen(published: tuple[PublishedCase, ...], options: AuditOptions) -> tuple[PublishedCase, ...]:
    names = {item.operator.name: None for item in published}
    for name in options.operators:
        if name not in names:
            raise UsageError(f"nothing is published for operator {name!r}", expected=f"one of: {', '.join(names)}", action="check --op")
    return tuple(item for item in published if not options.operators or item.operator.name in options.operators)


def _platforms(published: Sequence[PublishedCase], options: AuditOptions) -> list[tuple[str, Hardware]]:
    """Each published platform with its chip. Raises UsageError when there is none."""
    names = sorted({name for item in published for name in item.quoted})
    if options.hardware:
        chip = load_hardware(options.hardware)
        wanted = [name for name in names if chip.name in (name, _PREFIX + name)]
        if not wanted:
            action = "check --hardware"
            raise UsageError(f"no anchors are published for {chip.name}", expected=f"one of: {', '.join(names)}", found=options.hardware, action=action)
        return [(wanted[0], chip)]
    known = [(name, found) for name in names for found in (name, _PREFIX + name) if found in hardware_names()]
    if not known:
        raise UsageError("Piton has none of the chips", expected=", ".join(hardware_names()), found=", ".join(names), action="describe one: --hardware FILE")
    return [(name, load_hardware(found)) for name, found in known]


def _print(console: Console, audit: PlatformAudit, options: AuditOptions) -> None:
    console.print(safe(f"{audit.platform} ({audit.hardware})", "bold"))
    console.print(safe(f"{audit.equal} of {audit.cases} published T_HW equal the derived ones; limited by {_shares(audit)}"), soft_wrap=True)
    console.print(_classes(audit))
    _print_rows(console, "differing", [row for row in audit.rows if row.state in _DIFFERENT], options)
    odd = [row for row in audit.rows if set(row.marks) & set(IMPOSSIBLE[1:])]
    _print_rows(console, "baselines that can't be true", [row for row in odd if row.state not in _DIFFERENT], options)
    if options.shows_all:
        _print_rows(console, "all cases", audit.rows, options)


def _shares(audit: PlatformAudit) -> str:
    total = sum(audit.labels.values())
    return ", ".join(f"{label} {100 * count / total:.0f} %" for label, count in sorted(audit.labels.items(), key=lambda item: -item[1])) or "nothing known"


def _classes(audit: PlatformAudit) -> Listing:
    rows = [(name.value, str(count), _MEANINGS[name]) for name in _MEANINGS if (count := {**audit.states, **audit.marks}.get(name.value, 0))]
    return Listing((Column("class", wraps=False), Column("cases", is_right=True), Column("meaning")), rows)


def _print_rows(console: Console, title: str, rows: Sequence[AuditRow], options: AuditOptions) -> None:
    if not rows:
        return
    columns = (
        Column("operator", wraps=False),
        Column("case", is_right=True),
        *(Column(name, is_right=True, wraps=False) for name in ("T_HW\npublished", "T_HW\nderived", "T_HW\nsilicon", "T_baseline\npublished")),
        Column("class"),
        Column("reasons"),
    )
    console.print(Listing(columns, [_row(row, options.shows_all) for row in rows], f"{title}, times in us"))


def _row(row: AuditRow, shows_all: bool) -> tuple[str, ...]:
    times = (row.published_t_hw_us, row.derived_t_hw_us, row.silicon_t_hw_us, row.published_baseline_us)
    classes = [row.state.value, *(mark.value for mark in row.marks if shows_all or mark in IMPOSSIBLE)]
    return (row.operator, row.case, *map(microseconds, times), " ".join(classes), "; ".join(row.reasons) or NONE)
