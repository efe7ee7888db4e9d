"""The fair-reporting record of a report: filled from what the report holds, then from the submitter, else missing.

`fair_record(report)` gives the eleven rows that every rendering shows (survey, section 4.6).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from piton.core.fair import FairItem, FairRow, Source, filled
from piton.core.measurement import Anchor
from piton.core.method import ControlLoop, Method, Reporting, SelectionScheme
from piton.core.report import CaseResult, Report
from piton.core.score import ScoreProfile
from piton.core.verdict import LEFT_OUT
from piton.report.integrity_text import summary
from piton.report.trust import accuracy_text

_DIGEST = 12
_SHOWN = 3
"""Methods of baselines, or differing values of an item, that are written out."""
_BY_HAND = "not applicable: written by a person"


def fair_record(report: Report) -> tuple[FairRow, ...]:
    """All eleven items, in the survey's order."""
    method, said = report.method or Method(), report.reporting or Reporting()
    return (
        known(FairItem.DATASET, dataset_text(report, said)),
        known(FairItem.HARNESS, f"Piton {report.environment.piton}, report schema {report.schema_version}"),
        integrity_row(report),
        known(FairItem.METRICS, _metrics(report)),
        known(FairItem.LEVELS, levels_text(report)),
        baseline_row(report, said),
        budget_row(method, said),
        _samples(method, said),
        known(FairItem.HARDWARE, _hardware(report)),
        known(FairItem.LIBRARIES, _libraries(report, said)),
        selection_row(method, said),
    )


def fair_summary(rows: tuple[FairRow, ...]) -> str:
    """`8 of 11 items reported; missing: ...`"""
    missing = [row.item.value for row in rows if row.source is Source.MISSING]
    return f"{filled(rows)} of {len(rows)} items reported" + (f"; missing: {', '.join(missing)}" if missing else "")


def known(item: FairItem, value: str) -> FairRow:
    """A row that Piton answers for."""
    return FairRow(item=item, value=value, source=Source.KNOWN)


def _said(item: FairItem, value: str, wanted: str) -> FairRow:
    """What the submission says, or what it should say."""
    return FairRow(item=item, value=value, source=Source.SUBMISSION) if value else FairRow(item=item, value=wanted, source=Source.MISSING)


def _cases(report: Report) -> list[CaseResult]:
    return [case for item in report.operators for case in item.cases]


def dataset_text(report: Report, said: Reporting) -> str:
    """Suite, digest, how much of it, and modifications."""
    cases = _cases(report)
    kind = f"{report.hidden.count} hidden cases per operator (set {report.hidden.key_id})" if report.hidden else _counted(len(cases), "case")
    left_out = sum(case.outcome.cause in LEFT_OUT for case in cases)
    operators = _counted(len(report.operators), "operator")
    parts = [
        f"suite {report.suite} {report.suite_version} (digest {report.suite_digest[:_DIGEST]}): {operators}, {kind}, seed {report.seed}",
        f"{_counted(left_out, 'case')} left out" if left_out else "",
        *(finding.message for finding in report.findings if finding.message.startswith("partial:")),
        f"modifications: {said.dataset_modifications or 'none stated; the digest covers signatures, cases and goldens'}",
    ]
    return "; ".join(part for part in parts if part)


def integrity_row(report: Report) -> FairRow:
    """Version of the policy, tolerances and isolation; missing without the version."""
    profile = f"precision profile {report.precision_profile}"
    accuracy = [text] if (text := accuracy_text(report.accuracy)) else []
    rules = [profile, *accuracy, _counted(report.trials, "trial"), *_tolerances(report)]
    rules.append(f"isolation {', '.join(report.environment.isolation) or 'none'}")
    if report.integrity is None:
        value = "; ".join(["the version of the policy: the report was made before it was kept", *rules])
        return FairRow(item=FairItem.INTEGRITY, value=value, source=Source.MISSING)
    version = f"policy {report.integrity.version} (digest {report.integrity.digest[:_DIGEST]})"
    checked = [summary(report.integrity)] if report.integrity.rules or report.integrity.mode != "standard" else []
    return known(FairItem.INTEGRITY, "; ".join([version, *checked, *rules]))


def _tolerances(report: Report) -> list[str]:
    """Mean gates that were applied, by dtype, and the operators whose thresholds are looser than the standard's."""
    checks = [(case.operator, check) for case in _cases(report) for check in case.checks]
    taus = dict(sorted({check.dtype.value: check.default_tau for _, check in checks}.items()))
    relaxed = sorted({f"{operator} ({check.dtype.value} {_tau(check.tau)})" for operator, check in checks if check.is_relaxed})
    applied = [f"tau {', '.join(f'{dtype} {_tau(tau)}' for dtype, tau in taus.items())}"] if taus else []
    return [*applied, f"relaxed: {', '.join(relaxed)}" if relaxed else "no threshold relaxed"] if checks else ["no output was compared"]


def _tau(value: float) -> str:
    """`2^-13` where it is a power of two, as the standard writes them."""
    mantissa, exponent = math.frexp(value)
    return f"2^{exponent - 1}" if mantissa == 0.5 else f"{value:g}"


def _metrics(report: Report) -> str:
    if report.score_profile is ScoreProfile.CPU:
        return "cases passed, speed-up over the golden in torch on the same processor (profile cpu: wall-clock time, no T_HW and so no HAP)"
    times = "simulated time, modelled T_HW of the silicon" if report.score_profile is ScoreProfile.SIM else "device time, T_HW by the published convention"
    return f"operator score 100 [0.2 compiled + mean of correct (0.3 + 0.5 HAP)], HAP (profile {report.score_profile.value}: {times}), cases passed"


def levels_text(report: Report) -> str:
    """Levels with the number of operators."""
    there = Counter(item.level for item in report.operators)
    lacking = Counter(report.missing_operators.values())
    levels = sorted(there | lacking)
    lines = (f"level {level} ({_counted(there[level], 'operator')}" + (f", {lacking[level]} missing)" if lacking[level] else ")") for level in levels)
    return ", ".join(lines) or "none"


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def baseline_row(report: Report, said: Reporting) -> FairRow:
    """Provenance and method of T_baseline."""
    anchors = [case.t_baseline for case in _cases(report) if case.t_baseline]
    if not anchors:
        sealed = any(case.is_sealed for case in _cases(report))
        wanted = "withheld with the times of the hidden cases" if sealed else "no case has a T_baseline"
        return _said(FairItem.BASELINE, said.baseline, wanted)
    return known(FairItem.BASELINE, "; ".join([*_kinds(anchors), *([said.baseline] if said.baseline else [])]))


def _kinds(anchors: Sequence[Anchor]) -> list[str]:
    """Provenance and method of the baselines with the number of cases, the most frequent first."""
    counted = Counter(f"{anchor.provenance.value}: {anchor.method}" for anchor in anchors).most_common()
    shown = [f"{text} ({_counted(count, 'case')})" for text, count in counted[:_SHOWN]]
    return [*shown, f"and {len(counted) - _SHOWN} other methods"] if len(counted) > _SHOWN else shown


def budget_row(method: Method, said: Reporting) -> FairRow:
    """What the generation took; filled by any of its figures, the others are named."""
    if method.written_by == "person":
        return _said(FairItem.BUDGET, _BY_HAND, "")
    figures = [("LLM calls", said.llm_calls), ("tokens", said.tokens), ("s wall-clock", said.wall_clock_s)]
    stated = [f"{value:,.10g} {name}" for name, value in figures if value is not None]
    unstated = [name.removeprefix("s ") for name, value in figures if value is None]
    models = [f"models {', '.join(method.models)}"] if method.models else []
    value = "; ".join([", ".join(stated), *models, *([f"{', '.join(unstated)} not stated"] if unstated else [])]) if stated else ""
    return _said(FairItem.BUDGET, value, "LLM calls, tokens or wall-clock time ([reporting] llm_calls, tokens, wall_clock_s)")


def _samples(method: Method, said: Reporting) -> FairRow:
    if said.samples is None and method.written_by == "person":
        return _said(FairItem.SAMPLES, _BY_HAND, "")
    return _said(FairItem.SAMPLES, str(said.samples or ""), "how many samples this one is of ([reporting] samples); the survey assumes 1")


def _hardware(report: Report) -> str:
    file = f"hardware file {report.hardware_digest[:_DIGEST]}"
    if report.score_profile is ScoreProfile.SIM:
        return f"simulated {report.hardware} (virtual NPU of Piton {report.environment.piton}, {file}); no device took part"
    if report.score_profile is ScoreProfile.CPU:
        return f"the processor of this machine, one core of {report.environment.cores} ({report.environment.machine}; hardware digest {file.split()[-1]})"
    return f"{report.hardware}, target {report.target} ({file})"


def _libraries(report: Report, said: Reporting) -> str:
    machine = report.environment
    versions = {"Python": machine.python, "torch": machine.torch, **machine.libraries}
    stated = {name: f"{version} (stated)" for name, version in said.libraries.items()}
    cann = "no CANN (virtual NPU)" if report.score_profile is ScoreProfile.SIM and "CANN" not in said.libraries else ""
    return ", ".join(part for part in (*(f"{name} {version}" for name, version in {**versions, **stated}.items()), machine.compiler, cann) if part)


def selection_row(method: Method, said: Reporting) -> FairRow:
    """Which turn of a trajectory this is."""
    if said.selection is None and method.written_by == "person":
        return _said(FairItem.SELECTION, _BY_HAND, "")
    if said.selection is None and method.control_loop is ControlLoop.DIRECT_GENERATION:
        return _said(FairItem.SELECTION, "not applicable: direct generation has one turn", "")
    scheme = said.selection.value if said.selection else ""
    text = f"{scheme}: {said.selection_detail}" if said.selection is SelectionScheme.CUSTOM else scheme
    return _said(FairItem.SELECTION, text, "last, average, best or custom ([reporting] selection)")
