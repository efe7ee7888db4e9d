"""Faults of the machine that a run got over, in one line: nothing in its scores shows them."""

from __future__ import annotations

from collections import Counter

from piton.core.report import Report


def retries_text(report: Report) -> str:
    """How many cases were tried again, and why; empty when none was."""
    tried = [case for item in report.operators for case in item.cases if case.retries]
    if not tried:
        return ""
    kinds = Counter(retry.fault.value for case in tried for retry in case.retries)
    cases = "1 case was" if len(tried) == 1 else f"{len(tried)} cases were"
    return f"{cases} tried again after faults that are not the submission's ({', '.join(f'{name}: {count}' for name, count in sorted(kinds.items()))})"
