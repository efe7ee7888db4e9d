"""The report as Markdown for a pull request: what a reviewer needs in the open, the rest folded, all of it small enough for a comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from piton.core.report import CaseResult, OperatorResult, Report
from piton.core.verdict import Verdict
from piton.report import rows
from piton.report.bottleneck import bottleneck
from piton.report.failures import Failure, failures, other_text
from piton.report.fair_record import fair_record, fair_summary
from piton.report.fair_text import fair_markdown
from piton.report.groups import Group, by_category, by_level
from piton.report.limits import limit_charts, limited_cases
from piton.report.markup import MOST_BYTES, coded, fitting, folded, table_lines
from piton.report.markup import escape_markdown as safe
from piton.report.method_text import method_text
from piton.report.speedup import speedup_text
from piton.report.trust import accuracy_text, baselines_text, interval_text, trust_text, with_interval

_FAILURES = 20
_FINDINGS = 30
_WORST_CASES = 10
_POSITIONS = 3
_MESSAGE = 400
"""Characters of one failure's message."""
_RESERVE = 200
"""Bytes for the sentence about what does not fit."""
_OPERATOR_HEAD = ("operator", "level", "category", "built", "passed", "score", "between", "mean HAP")
_GROUP_HEAD = ("", "operators", "passed", "score", "of", "mean HAP", "median T_cand / T_HW", "speed-up over T_baseline")


def markdown_text(report: Report) -> str:
    """Summary, failures, findings and the slowest cases; levels, operators and cases below folds."""
    found = rows.columns(report)
    head, end = list(_head(report)), [f"Result digest {coded(report.result_digest)}."]
    sections = (list(part) for part in _sections(report, found))
    room = MOST_BYTES - _bytes([*head, *end]) - _RESERVE
    body, left = fitting(sections, room)
    cases, hidden = fitting((list(_operator(item, report, found)) for item in report.operators), 0 if left else room - _bytes(body))
    missing = [f"{count} {what}" for count, what in ((left, "more parts"), (hidden, "operators' cases")) if count]
    rest = [f"Not here, for want of room: {' and '.join(missing)}. They are in report.html.", ""] if missing else []
    return "\n".join([*head, *body, *cases, *rest, *end]) + "\n"


def _sections(report: Report, found: rows.Columns) -> Iterator[Iterator[str]]:
    """What stands before the cases, the most telling first."""
    yield _failures(report)
    yield _worst(report, found)
    yield _limits(report)
    yield folded("Levels and categories", [*_groups("level", by_level(report), report), *_groups("category", by_category(report), report)])
    yield folded(f"Operators ({len(report.operators)})", table_lines(_OPERATOR_HEAD, map(_summary, report.operators)))
    yield _findings(report)
    yield _fair(report)


def _fair(report: Report) -> Iterator[str]:
    """The fair-reporting record, with its count in the open."""
    record = fair_record(report)
    if report.method:
        yield f"{safe(method_text(report.method))}."
        yield ""
    yield from folded(f"Fair-reporting record: {fair_summary(record)}", fair_markdown(record))


def _bytes(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _head(report: Report) -> Iterator[str]:
    cases = [case for item in report.operators for case in rows.listed(item)]
    passed = sum(case.outcome.verdict is Verdict.PASSED for case in cases)
    rank = "" if report.is_complete else " (incomplete: does not rank)"
    yield f"# {safe(report.submission)} on {safe(report.target)}"
    yield ""
    mark = "✅" if cases and passed == len(cases) else "❌"
    yield f"{mark} **{passed} of {len(cases)} cases passed, score {rows.total_text(report)} of {report.most_points}**{rank}"
    yield ""
    accuracy = f", {text}" if (text := accuracy_text(report.accuracy)) else ""
    yield (
        f"Suite {safe(report.suite)} {safe(report.suite_version)}, score profile {report.score_profile.value}, "
        f"precision profile {safe(report.precision_profile)}{accuracy}, seed {report.seed}{rows.trials_text(report)}."
    )
    yield ""
    for text in (speedup_text(report), trust_text(report), baselines_text(report), rows.missing_text(report)):
        if text:
            yield f"{safe(text)}."
            yield ""
    yield from (f"- finding: {safe(finding.message)}" for finding in report.findings)
    yield ""


def _failures(report: Report) -> Iterator[str]:
    found = [(item, failure) for item in report.operators for failure in failures(item)]
    if not found:
        return
    yield "## Failures"
    yield ""
    for item, failure in found[:_FAILURES]:
        yield from _failure(item, failure)
    if len(found) > _FAILURES:
        yield f"- and {len(found) - _FAILURES} more in report.html"
    yield ""


def _failure(item: OperatorResult, failure: Failure) -> Iterator[str]:
    numbers = ", ".join(f"{name} {value}" for name, value in failure.numbers)
    worst = (f"case {line.case_id} {line.text}" for line in failure.worst[:_POSITIONS])
    parts = [failure.title, str(failure.outcome.place), failure.message[:_MESSAGE], numbers, *worst]
    yield f"- **{safe(item.operator)}** {safe(failure.subject)}: " + safe("; ".join(part for part in parts if part))
    yield from (f"  - also {safe(other_text(other)[:_MESSAGE])}" for other in failure.others[:1])


def _findings(report: Report) -> Iterator[str]:
    found = [(item, group) for item in report.operators for group in rows.findings(item)]
    if found:
        lines = [f"- {safe(item.operator)}: finding ({safe(group.subject)}): {safe(group.text[:_MESSAGE])}" for item, group in found[:_FINDINGS]]
        more = [f"- and {len(found) - _FINDINGS} more in report.html"] if len(found) > _FINDINGS else []
        yield from folded(f"Findings ({len(found)})", [*lines, *more])


def _worst(report: Report, found: rows.Columns) -> Iterator[str]:
    """The cases that are farthest from the limit, with what limits them."""
    timed = [case for item in report.operators for case in rows.listed(item) if rows.time_ratio(case) is not None]
    chosen = sorted(timed, key=lambda case: -(rows.time_ratio(case) or 0.0))[:_WORST_CASES]
    if chosen:
        head = rows.headers(found)
        yield "## Farthest from the limit"
        yield ""
        yield from table_lines(
            ("case", head.t_cand, head.t_hw, "T_cand / T_HW", "HAP", "limits: roof / kernel", "why"), [_worst_line(case, found) for case in chosen]
        )
        yield ""


def _worst_line(case: CaseResult, found: rows.Columns) -> tuple[str, ...]:
    line, why = rows.row(case, found), bottleneck(case)
    return (f"{case.operator}/{line.case_id}", line.t_cand, line.t_hw, line.ratio, line.hap, line.limits, why.sentence if why else rows.NONE)


def _limits(report: Report) -> Iterator[str]:
    for chart in limit_charts(limited_cases(report)):
        yield f"{chart.title}, of {chart.bars[0].total} cases: {safe(chart.bars[0].words.removeprefix('all: '))}."
        yield ""


def _groups(name: str, groups: Sequence[Group], report: Report) -> list[str]:
    return [*table_lines((name, *_GROUP_HEAD[1:]), [_group(group, report) for group in groups]), ""]


def _group(group: Group, report: Report) -> tuple[str, ...]:
    score = with_interval(rows.score_text(group.score), report.level_intervals.get(group.name.removeprefix("level ")))
    figures = (_number(group.mean_hap, 3), _number(group.median_ratio, 2), _speedup(group))
    return (group.name, str(len(group.operators)), f"{group.passed} of {len(group.cases)}", score, str(group.most), *figures)


def _speedup(group: Group) -> str:
    return ", ".join(filter(None, (_number(group.speedup, 2), group.speedup_origin)))


def _number(value: float | None, digits: int) -> str:
    return rows.NONE if value is None else f"{value:.{digits}f}"


def _summary(item: OperatorResult) -> tuple[str, ...]:
    passed = sum(case.outcome.verdict is Verdict.PASSED for case in item.cases)
    score = (f"{passed} of {len(item.cases)}", rows.score_text(item.score), interval_text(item.interval), _number(rows.mean_hap(item.cases), 3))
    return (item.operator, str(item.level), item.category or rows.NONE, "yes" if item.compiled else "no", *score)


def _operator(item: OperatorResult, report: Report, found: rows.Columns) -> Iterator[str]:
    """The cases of one operator, folded."""
    if rows.listed(item):
        head = rows.headers(found)
        times = (head.t_cand, head.t_baseline, head.t_hw, "T_cand / T_HW", "HAP", "between", "points", "limits: roof / kernel")
        lines = [_case(case, item, report, found) for case in rows.listed(item)]
        told = [f"- case {safe(case_id)}: {safe(sentence)}" for case_id, sentence in rows.bottlenecks(item)]
        table = table_lines(("case", "first input", "size", "verdict", *times), lines)
        yield from folded(f"{item.operator}: {rows.summary(item)}", [*table, "", *told])


def _case(case: CaseResult, item: OperatorResult, report: Report, found: rows.Columns) -> tuple[str, ...]:
    line, points = rows.row(case, found), rows.points_text(case, item, report.score_profile)
    scored = (line.ratio, line.hap, line.hap_interval, points, line.limits)
    return (line.case_id, line.inputs, line.size, line.verdict, line.t_cand, line.t_baseline, line.t_hw, *scored)
