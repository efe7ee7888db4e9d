"""Are the rules of the integrity policy readable data, does docs/integrity.md have them, and is what a run says about each of them right?"""

from __future__ import annotations

from pathlib import Path

import pytest
from metrics_world import WRONG, run
from pydantic import ValidationError

from piton.catalog.integrity_file import read_policy, shipped_policy
from piton.cli.integrity import policy_text
from piton.core.errors import FormatError
from piton.core.finding import Finding, FindingKind
from piton.core.integrity import Condition, Dimension, Policy, Rule, RuleOutcome, World
from piton.core.verdict import Cause
from piton.evaluate.rule_outcomes import RunFacts, rule_outcomes
from piton.report.integrity_text import policy_markdown

PAGE = Path(__file__).resolve().parents[2] / "docs" / "integrity.md"
FACTS = RunFacts(track="ascendc", world=World.SIMULATED, mode="standard", trials=1, is_hidden=False, level=3)


def rule(**changes: object) -> Rule:
    base = {"id": "a-rule", "dimension": Dimension.FALLBACK, "text": "t", "mechanism": "m", "causes": (Cause.HOST_COPY,)}
    return Rule.model_validate({**base, **changes})


def said(changes: dict[str, object], **facts: object) -> RuleOutcome:
    (found,) = rule_outcomes(Policy(rules=(rule(**changes),)), RunFacts(**{**vars(FACTS), **facts}), ())  # type: ignore[arg-type]
    return found


def test_the_page_has_the_rules_as_they_are() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("\n## Rules\n")[2].partition("\n## ")[0]
    _, head, tables = section.partition("### ")
    assert (head + tables).strip() == policy_markdown(shipped_policy()).strip(), "write them again below `## Rules`: piton integrity show --markdown"


def test_every_dimension_has_rules_and_every_rule_is_checked_somehow() -> None:
    policy = shipped_policy()
    assert {item.dimension for item in policy.rules} == set(Dimension)
    assert [item.id for item in policy.rules if not item.static and not item.behavioural] == []


def test_every_verdict_for_an_act_against_the_rules_belongs_to_a_rule() -> None:
    named = {cause for item in shipped_policy().rules for cause in item.causes}
    acts = {Cause.FRAMEWORK_COMPUTE, Cause.HOST_COPY, Cause.HOST_COMPUTED, Cause.FORBIDDEN_SOURCE, Cause.PROCESS_STARTED, Cause.ILLEGAL_REPLY}
    acts |= {Cause.NO_KERNEL_LAUNCHED, Cause.NOT_STORED_BY_KERNEL, Cause.RESULTS_DIFFER, Cause.UNWRITTEN_OUTPUT, Cause.INPUT_MODIFIED}
    assert acts <= named


def test_a_file_with_a_wrong_rule_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("rules:\n  - id: one\n    dimension: luck\n    text: t\n    mechanism: m\n")
    with pytest.raises(FormatError) as caught:
        read_policy(path)
    assert caught.value.where == f"{path}:3"


def test_two_rules_of_one_id_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    lines = "  - id: one\n    dimension: fallback\n    text: t\n    mechanism: m\n"
    path.write_text("rules:\n" + lines + lines)
    with pytest.raises(FormatError, match="two rules have one id") as caught:
        read_policy(path)
    assert caught.value.where == f"{path}:6"


def test_an_id_that_could_not_be_a_link_is_refused() -> None:
    with pytest.raises(ValidationError, match="pattern"):
        rule(id="No Rule")


@pytest.mark.parametrize(
    ("changes", "facts", "expected"),
    [
        ({}, {}, ("checked", "")),
        ({"level": 4}, {}, ("checked", "out of the submission's reach from isolation level 4; this run had 3")),
        ({"level": 4}, {"level": 4}, ("checked", "")),
        ({"tracks": ("triton",)}, {}, ("not_applicable", "of track triton; this one is ascendc")),
        ({"worlds": (World.CPU,)}, {}, ("not_applicable", "of targets of kind cpu; this one is simulated")),
        ({}, {"world": None}, ("not_applicable", "the null target runs nothing of a submission")),
        ({"condition": Condition.TRIALS}, {}, ("not_checked", "needs a second trial: --trials 2, or --integrity full")),
        ({"condition": Condition.TRIALS}, {"trials": 2}, ("checked", "")),
        ({"condition": Condition.HIDDEN}, {}, ("not_checked", "needs hidden cases: --hidden-key-file")),
        ({"condition": Condition.HIDDEN}, {"is_hidden": True}, ("checked", "")),
        ({"condition": Condition.FULL}, {"trials": 2}, ("not_checked", "needs --integrity full")),
        ({"condition": Condition.FULL}, {"mode": "full"}, ("checked", "")),
    ],
)
def test_a_run_says_what_it_checked_and_why_not(changes: dict[str, object], facts: dict[str, object], expected: tuple[str, str]) -> None:
    found = said(changes, **facts)
    assert (found.state, found.why) == expected


def test_breaches_are_cases_with_a_cause_of_the_rule_behind_others_too_and_findings_are_counted() -> None:
    (operator,) = run("s", {"exp": (1.0, WRONG, 1.0)}).operators
    wrong = next(case for case in operator.cases if case.outcome.cause is not Cause.NONE)
    looked_at = Finding(kind=FindingKind.HOST_VALUES_READ, message="m")
    cases = tuple(case.model_copy(update={"findings": (*case.findings, looked_at)}) for case in operator.cases)
    behind = cases[0].model_copy(update={"others": (wrong.outcome,)})
    operator = operator.model_copy(update={"cases": (behind, *cases[1:])})
    policy = Policy(rules=(rule(causes=(wrong.outcome.cause,), findings=(FindingKind.HOST_VALUES_READ,)), rule(id="other", causes=(Cause.HOST_COPY,))))
    first, second = rule_outcomes(policy, FACTS, (operator,))
    assert (first.breaches, first.findings, second.breaches, second.findings) == (2, 3, 0, 0)


def test_the_rules_of_a_track_leave_out_those_of_others() -> None:
    assert "no-library-operators" in policy_text("ascendc", "text")
    assert "no-library-operators" not in policy_text("cpp", "text")
    assert "every-element" in policy_text("cpp", "json")


def test_what_is_said_of_rules_is_no_part_of_the_result_but_the_mode_is() -> None:
    from piton.core.integrity import Integrity

    known = Integrity(version="1", digest="d")
    plain = run("s", {"exp": (1.0,)}, integrity=known)
    told = plain.model_copy(update={"integrity": known.model_copy(update={"rules": (RuleOutcome(rule="a", state="checked"),)})})
    full = plain.model_copy(update={"integrity": known.model_copy(update={"mode": "full"})})
    assert told.canonical_digest() == plain.canonical_digest()
    assert full.canonical_digest() != plain.canonical_digest()
    written = plain.canonical_result()["integrity"]
    assert written == {"version": "1", "digest": "d"}, "as files had it before there were modes"


def test_the_summary_counts_the_rules_by_what_the_run_did_with_them() -> None:
    from piton.core.integrity import Integrity
    from piton.report.integrity_text import summary

    states = ("checked", "checked", "not_checked", "not_applicable")
    known = Integrity(version="1", digest="d", mode="full", rules=tuple(RuleOutcome(rule=str(n), state=state) for n, state in enumerate(states)))
    assert summary(known) == "integrity full: 2 rules checked, 1 not in this run, 1 not applicable"
    assert summary(Integrity(version="1", digest="d")) == "integrity standard"
