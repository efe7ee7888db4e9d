"""Is the fair-reporting record filled from what is known, and is what nobody said listed as missing?"""

from __future__ import annotations

import pytest
from metrics_world import LEFT_OUT, WRONG, run

from piton.core.fair import FairItem, FairRow, Source, filled
from piton.core.finding import Finding, FindingKind
from piton.core.measurement import Provenance
from piton.core.method import ControlLoop, Method, Reporting, SelectionScheme
from piton.core.metrics import MetricOptions
from piton.core.report import Integrity, Report
from piton.core.score import ScoreProfile
from piton.report.fair_merge import method_record
from piton.report.fair_record import fair_record, fair_summary
from piton.report.metrics_view import ViewOptions, view_metrics
from piton.report.samples import MethodSamples, Run, Sample, TaskFacts

POLICY = Integrity(version="7", digest="abcdef0123456789")
SAID = Reporting(llm_calls=5, tokens=1200, wall_clock_s=30.0, samples=4, selection=SelectionScheme.BEST)


def rows(report: Report) -> dict[FairItem, FairRow]:
    """The record by item."""
    found = fair_record(report)
    assert [row.item for row in found] == list(FairItem)
    return {row.item: row for row in found}


def report(**changes: object) -> Report:
    """A run of two operators."""
    return run("s", {"exp": (2.0, 1.0), "softmax": (1.0, WRONG)}, integrity=POLICY, **changes)


def test_eleven_items_are_asked_for() -> None:
    assert len(FairItem) == 11


def test_piton_fills_what_it_knows_and_lists_the_rest_as_missing() -> None:
    found = rows(report())
    missing = {FairItem.BUDGET, FairItem.SAMPLES, FairItem.SELECTION}
    assert {item for item, row in found.items() if row.source is Source.MISSING} == missing
    assert {item for item, row in found.items() if row.source is Source.KNOWN} == set(FairItem) - missing
    assert filled(tuple(found.values())) == 8
    expected = "8 of 11 items reported; missing: generation-time compute budget, number of samples, kernel selection scheme"
    assert fair_summary(tuple(found.values())) == expected


def test_the_submission_fills_the_rest() -> None:
    found = rows(report(reporting=SAID))
    assert filled(tuple(found.values())) == 11
    assert found[FairItem.BUDGET].value == "5 LLM calls, 1,200 tokens, 30 s wall-clock"
    assert (found[FairItem.SAMPLES].value, found[FairItem.SELECTION].value) == ("4", "best")
    assert {found[item].source for item in (FairItem.BUDGET, FairItem.SAMPLES, FairItem.SELECTION)} == {Source.SUBMISSION}
    assert fair_summary(tuple(found.values())) == "11 of 11 items reported"


def test_a_budget_that_is_stated_in_part_says_what_is_not_stated() -> None:
    row = rows(report(reporting=Reporting(llm_calls=0), method=Method(models=("m 1",))))[FairItem.BUDGET]
    assert (row.source, row.value) == (Source.SUBMISSION, "0 LLM calls; models m 1; tokens, wall-clock not stated")
    assert rows(report(method=Method(models=("m 1",))))[FairItem.BUDGET].source is Source.MISSING, "a model's name is no budget"


def test_what_has_no_budget_and_no_turns_is_not_missing() -> None:
    by_hand = rows(report(method=Method(written_by="person")))
    assert {by_hand[item].value for item in (FairItem.BUDGET, FairItem.SAMPLES, FairItem.SELECTION)} == {"not applicable: written by a person"}
    direct = rows(report(method=Method(control_loop=ControlLoop.DIRECT_GENERATION)))
    assert direct[FairItem.SELECTION].value == "not applicable: direct generation has one turn"
    assert direct[FairItem.SAMPLES].source is Source.MISSING


def test_a_simulated_target_is_never_called_hardware() -> None:
    text = rows(report())[FairItem.HARDWARE].value
    assert text == "simulated ascend910b2 (virtual NPU of Piton 0, hardware file ffffffffffff); no device took part"
    assert "no CANN (virtual NPU)" in rows(report())[FairItem.LIBRARIES].value
    device = report(score_profile=ScoreProfile.CANN_BENCH, target="ascend910b2")
    assert rows(device)[FairItem.HARDWARE].value == "ascend910b2, target ascend910b2 (hardware file ffffffffffff)"
    assert "CANN" not in rows(device)[FairItem.LIBRARIES].value


def test_libraries_that_only_the_submission_knows_are_marked_as_stated() -> None:
    text = rows(report(reporting=Reporting(libraries={"CANN": "8.5"})))[FairItem.LIBRARIES].value
    assert "CANN 8.5 (stated)" in text
    assert "no CANN" not in text


def test_the_policy_counts_only_with_its_version() -> None:
    row = rows(report())[FairItem.INTEGRITY]
    assert row.value == "policy 7 (digest abcdef012345); precision profile strict; 1 trial; tau float32 0.001; no threshold relaxed; isolation rlimits"
    older = rows(report().model_copy(update={"integrity": None}))[FairItem.INTEGRITY]
    assert older.source is Source.MISSING
    assert "precision profile strict" in older.value, "what is known is said all the same"


def test_relaxed_thresholds_are_named_and_powers_of_two_written_as_such() -> None:
    original = report()
    (exp, softmax) = original.operators
    check = exp.cases[0].checks[0].model_copy(update={"tau": 2.0**-7, "default_tau": 2.0**-13})
    case = exp.cases[0].model_copy(update={"checks": (check,)})
    changed = original.model_copy(update={"operators": (exp.model_copy(update={"cases": (case,)}), softmax.model_copy(update={"cases": ()}))})
    text = rows(changed)[FairItem.INTEGRITY].value
    assert "tau float32 2^-13; relaxed: exp (float32 2^-7)" in text


def test_the_dataset_says_what_was_left_out_and_modified() -> None:
    partial = Finding(kind=FindingKind.OTHER, message="partial: only 1 case of exp ran")
    found = run("s", {"exp": (1.0, LEFT_OUT)}, findings=(partial,), reporting=Reporting(dataset_modifications="prompts name Ascend C"))
    expected = (
        "suite made up 1 (digest dddddddddddd): 1 operator, 2 cases, seed 0; 1 case left out; partial: only 1 case of exp ran; "
        "modifications: prompts name Ascend C"
    )
    assert rows(found)[FairItem.DATASET].value == expected


def test_levels_say_how_many_operators_are_missing() -> None:
    assert rows(report(missing_operators={"mha": 4, "matmul": 2}))[FairItem.LEVELS].value == (
        "level 1 (1 operator), level 2 (1 operator, 1 missing), level 4 (0 operators, 1 missing)"
    )


def test_the_baseline_says_where_it_is_from_and_is_missing_where_there_is_none() -> None:
    assert rows(report())[FairItem.BASELINE].value == "simulated: plain v0 kernel (4 cases)"
    original = report()
    (exp, softmax) = original.operators
    assert exp.cases[0].t_baseline is not None
    quoted = exp.cases[0].t_baseline.model_copy(update={"provenance": Provenance.QUOTED, "method": "published set"})
    mixed = exp.model_copy(update={"cases": (exp.cases[0].model_copy(update={"t_baseline": quoted}), exp.cases[1])})
    text = rows(original.model_copy(update={"operators": (mixed, softmax)}))[FairItem.BASELINE].value
    assert text == "simulated: plain v0 kernel (3 cases); quoted: published set (1 case)"
    bare = tuple(item.model_copy(update={"cases": tuple(case.model_copy(update={"t_baseline": None}) for case in item.cases)}) for item in original.operators)
    assert rows(original.model_copy(update={"operators": bare}))[FairItem.BASELINE].source is Source.MISSING


def test_many_runs_that_agree_have_one_record_of_all_their_operators() -> None:
    reports = [run("s", {"exp": (1.0, WRONG)}, integrity=POLICY), run("s", {"softmax": (1.0, 1.0)}, integrity=POLICY)]
    found = {row.item: row for row in method_record(reports, None, None, {FairItem.SAMPLES: "1 of every task"})}
    assert found[FairItem.DATASET].value.startswith("suite made up 1 (digest dddddddddddd): 2 operators, 4 cases")
    assert found[FairItem.LEVELS].value == "level 1 (1 operator), level 2 (1 operator)"
    assert (found[FairItem.SAMPLES].value, found[FairItem.SAMPLES].source) == ("1 of every task", Source.KNOWN)
    assert not any(row.value.startswith("differs") for row in found.values())


def test_runs_that_disagree_show_every_value_and_are_as_weak_as_the_weakest() -> None:
    environment = report().environment
    newer = report(environment=environment.model_copy(update={"piton": "9"}))
    found = {row.item: row for row in method_record([report(), report(), newer], None, None, {})}
    assert found[FairItem.HARNESS].value == "differs: Piton 0, report schema 1 (2 runs) | Piton 9, report schema 1 (1 runs)"
    assert found[FairItem.HARNESS].source is Source.KNOWN
    half = {row.item: row for row in method_record([report(reporting=Reporting(samples=4)), report()], None, None, {})}
    assert (half[FairItem.SAMPLES].value, half[FairItem.SAMPLES].source) == ("differs: 4 (1 runs) | missing (1 runs)", Source.MISSING)


@pytest.mark.parametrize(
    ("own", "whole", "value"),
    [
        ((Reporting(llm_calls=2, tokens=10), Reporting(llm_calls=3)), None, "5 LLM calls; tokens, wall-clock not stated (sum over 2 runs)"),
        ((Reporting(llm_calls=2), Reporting(llm_calls=3)), Reporting(llm_calls=50), "50 LLM calls; tokens, wall-clock not stated"),
    ],
)
def test_budgets_of_runs_are_added_up_unless_the_set_states_one_for_all(own: tuple[Reporting, ...], whole: Reporting | None, value: str) -> None:
    reports = [report(reporting=item) for item in own]
    found = {row.item: row for row in method_record(reports, None, whole, {})}
    assert found[FairItem.BUDGET].value == value


def test_metrics_know_their_samples_and_their_selection() -> None:
    turns = (Run("1", report()), Run("2", report()))
    method = MethodSamples("m", (Sample(turns), Sample(turns)))
    (view,) = view_metrics([method], ViewOptions(MetricOptions(selection=SelectionScheme.BEST))).methods
    found = {row.item: row for row in view.fair}
    assert (found[FairItem.SAMPLES].value, found[FairItem.SELECTION].value) == ("2 of every task", "best of up to 2 turns")
    assert "pass@1" in found[FairItem.METRICS].value


def test_the_budget_of_a_run_that_serves_several_samples_counts_once() -> None:
    one, two = (report(reporting=Reporting(llm_calls=calls)) for calls in (2, 3))
    listed = (Sample((Run("runs/1", one),), "exp"), Sample((Run("runs/1/report.json", one),), "softmax"), Sample((Run("runs/./1", one), Run("runs/2", two))))
    (view,) = view_metrics([MethodSamples("m", listed)], ViewOptions()).methods
    found = {row.item: row for row in view.fair}
    assert view.runs == 2
    assert found[FairItem.BUDGET].value == "5 LLM calls; tokens, wall-clock not stated (sum over 2 runs)"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ((("exp",), ("exp",)), "2 of every tried task; 2 tasks not tried"),
        ((("exp", "softmax"), ("exp",)), "1 to 2, by tried task; 1 task not tried"),
    ],
)
def test_tasks_that_nobody_tried_are_not_said_to_have_samples(given: tuple[tuple[str, ...], ...], text: str) -> None:
    runs = [run("s", dict.fromkeys(names, (1.0, 1.0)), integrity=POLICY) for names in given]
    method = MethodSamples("m", tuple(Sample((Run(str(number), item),)) for number, item in enumerate(runs)))
    expected = {name: TaskFacts(1) for name in ("exp", "softmax", "gelu")}
    (view,) = view_metrics([method], ViewOptions(expected=expected)).methods
    assert {row.item: row.value for row in view.fair}[FairItem.SAMPLES] == text
