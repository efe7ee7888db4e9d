"""The report as Markdown, for a pull request or a log."""

from __future__ import annotations

from collections.abc import Iterator

from piton.core.report import OperatorResult, Report
from piton.report.rows import Columns, bottlenecks, columns, failures, findings, headers, listed, row, score_text, trials_text


def markdown_text(report: Report) -> str:
    """One table of operators, one of cases per operator, failures with their reasons."""
    found = columns(report)
    lines = [
        f"# {_safe(report.submission)} on {report.target}",
        "",
        f"Suite {_safe(report.suite)} {_safe(report.suite_version)}, score profile {report.score_profile.value}, precision profile {report.precision_profile}, "
        f"seed {report.seed}{trials_text(report)}. Total score **{score_text(report.total_score)}**"
        + ("" if report.is_complete else " (incomplete: does not rank)")
        + ".",
        "",
        "| operator | built | passed | score |",
        "|---|---|---|---|",
        *(_summary(item) for item in report.operators),
        "",
    ]
    for item in report.operators:
        lines += [*_operator(item, found), ""]
    lines += [f"- finding: {_safe(finding.message)}" for finding in report.findings]
    lines += [f"Result digest `{report.result_digest}`."]
    return "\n".join(lines) + "\n"


def _summary(item: OperatorResult) -> str:
    passed = sum(case.outcome.verdict.value == "passed" for case in item.cases)
    return f"| {item.operator} | {'yes' if item.compiled else 'no'} | {passed} of {len(item.cases)} | {score_text(item.score)} |"


def _operator(item: OperatorResult, found: Columns) -> Iterator[str]:
    head = headers(found)
    yield f"## {item.operator}"
    yield ""
    yield f"| case | size | verdict | {head.t_cand} | {head.t_baseline} | {head.t_hw} | HAP | limits: roof / kernel |"
    yield "|---|---|---|---|---|---|---|---|"
    for line in (row(case, found) for case in listed(item)):
        yield f"| {line.case_id} | {line.size} | {line.verdict} | {line.t_cand} | {line.t_baseline} | {line.t_hw} | {line.hap} | {line.limits} |"
    yield ""
    for failure in failures(item):
        parts = [failure.title, failure.place, failure.message, failure.numbers, *failure.worst]
        yield f"- case {failure.case_id}: " + _safe("; ".join(part for part in parts if part))
    for case_id, sentence in bottlenecks(item):
        yield f"- case {case_id}: {_safe(sentence)}"
    for cases, text in findings(item):
        yield f"- finding ({cases}): {_safe(text)}"


def _safe(text: str) -> str:
    """Text of a submission must not become markup, links or table cells."""
    for character in "\\`*_[]<>|#":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())
