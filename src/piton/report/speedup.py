"""The figure of reports without HAP: how many times faster than the golden in torch on the same core (profile `cpu`)."""

from __future__ import annotations

import math

from piton.core.report import Report
from piton.core.score import ScoreProfile
from piton.core.verdict import Verdict


def speedup_text(report: Report) -> str:
    """`speed-up 1.80 over T_baseline (geometric mean of 3 cases)`; "" for profiles that have HAP, and where no case has both times."""
    if report.score_profile is not ScoreProfile.CPU:
        return ""
    cases = [case for item in report.operators for case in item.cases if case.outcome.verdict is Verdict.PASSED]
    ratios = [case.t_baseline.value_us / case.time.value for case in cases if case.time and case.time.value > 0 and case.t_baseline]
    if not ratios:
        return ""
    mean = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
    return f"speed-up {mean:.2f} over T_baseline (geometric mean of {len(ratios)} case{'' if len(ratios) == 1 else 's'})"
