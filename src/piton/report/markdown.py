"""The report as Markdown, for a pull request or a log."""

from __future__ import annotations

from collections.abc import Iterator

from piton.core.report import OperatorResult, Report
from piton.report.compare import Comparison
from piton.report.failures import failures, other_text
from piton.report.fair_record import fair_record
from piton.report.fair_text import fair_markdown
from piton.report.markup import escape_markdown as _safe
from piton.report.method_text import method_text
from piton.report.rows import Columns, bottlenecks, columns, findings, headers, listed, missing_text, points_text, row, score_text, trials_text


def markdown_text(report: Report) -> str:
    """One table of operators, one of cases per operator, failures with their reasons."""
    found = columns(report)
    lines = [
        f"# {_safe(report.submission)} on {report.target}",
        "",
        f"Suite {_safe(report.suite)} {_safe(report.suite_version)}, score profile {report.score_profile.value}, precision profile {report.precision_profile}, "
        f"seed {report.seed}{trials_text(report)}. Total score **{score_text(report.total_score)}** of {report.most_points}"
        + ("" if report.is_complete else " (incomplete: does not rank)")
        + ".",
        "",
        "| operator | built | passed | score |",
        "|---|---|---|---|",
        *(_summary(item) for item in report.operators),
        "",
    ]
    for item in report.operators:
        lines += [*_operator(item, report, found), ""]
    lines += [f"- {_safe(missing_text(report))}"] if report.missing_operators else []
    lines += [f"- finding: {_safe(finding.message)}" for finding in report.findings]
    lines += [
        "",
        "## Fair-reporting record",
        "",
        *([f"{_safe(method_text(report.method))}.", ""] if report.method else []),
        *fair_markdown(fair_record(report)),
        "",
    ]
    lines += [f"Result digest `{report.result_digest}`."]
    return "\n".join(lines) + "\n"


def comparison_markdown(found: Comparison) -> str:
    """Several reports side by side, as two tables."""
    lines = [f"# {' and '.join(map(_safe, found.names))}", ""]
    for table in (found.scores, found.changes):
        head = [f"## {table.title}", "", f"| {' | '.join(map(_safe, table.head))} |", "|" + "---|" * len(table.head)]
        lines += [*head, *(f"| {' | '.join(map(_safe, line))} |" for line in table.lines), ""] if table.lines else []
    lines += [f"And {found.changes_left_out} more cases."] if found.changes_left_out else []
    lines += [f"- not the same: {_safe(text)}" for text in found.differences]
    return "\n".join(lines) + "\n"


def _summary(item: OperatorResult) -> str:
    passed = sum(case.outcome.verdict.value == "passed" for case in item.cases)
    return f"| {item.operator} | {'yes' if item.compiled else 'no'} | {passed} of {len(item.cases)} | {score_text(item.score)} |"


def _operator(item: OperatorResult, report: Report, found: Columns) -> Iterator[str]:
    head = headers(found)
    yield f"## {_safe(item.operator)}"
    yield ""
    yield f"| case | first input | size | verdict | {head.t_cand} | {head.t_baseline} | {head.t_hw} | T_cand / T_HW | HAP | points | limits: roof / kernel |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for case in listed(item):
        line, points = row(case, found), points_text(case, item, report.score_profile)
        times = f"{line.t_cand} | {line.t_baseline} | {line.t_hw} | {line.ratio} | {line.hap} | {points}"
        yield f"| {_safe(line.case_id)} | {line.inputs} | {line.size} | {line.verdict} | {times} | {line.limits} |"
    yield ""
    for failure in failures(item):
        numbers = ", ".join(f"{name} {value}" for name, value in failure.numbers)
        parts = [failure.title, str(failure.outcome.place), failure.message, numbers, *(f"case {line.case_id} {line.text}" for line in failure.worst[:6])]
        yield f"- {_safe(failure.subject)}: " + _safe("; ".join(part for part in parts if part))
        yield from (f"  - also {_safe(other_text(other))}" for other in failure.others)
    for case_id, sentence in bottlenecks(item):
        yield f"- case {_safe(case_id)}: {_safe(sentence)}"
    for group in findings(item):
        yield f"- finding ({_safe(group.subject)}): {_safe(group.text)}"
