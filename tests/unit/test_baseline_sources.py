"""Where T_baseline comes from: a baseline file before all else, what is stale, and what is refused."""

from pathlib import Path

import pytest

from piton.core.baseline import BaselineSet, BaselineTime, case_identity
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import UsageError
from piton.core.finding import FindingKind
from piton.core.measurement import Anchor, AnchorKind, Measurement, Provenance
from piton.core.operator import Operator, TensorSpec
from piton.core.score import ScoreProfile
from piton.core.suite import Suite, SuiteOperator
from piton.evaluate.assemble import _used
from piton.evaluate.baseline_sources import BaselineSources, FiledBaselines, check_set, other_toolchain, quoted_version
from piton.evaluate.policy import Bounds, EvaluationRequest
from piton.evaluate.rerun import rerun_script
from piton.evaluate.timing import AnchorBook
from piton.targets.null import NullTarget

OPERATOR = Operator(
    name="grow",
    title="Grow",
    level=1,
    category="Elementwise",
    schema_text="grow(Tensor x) -> Tensor y",
    inputs=(TensorSpec(name="x", dtypes=(DType.FLOAT32,)),),
    outputs=(TensorSpec(name="y", dtypes=(DType.FLOAT32,)),),
)
CASES = tuple(Case(operator="grow", id=number, inputs=(CaseInput(argument="x", shape=(4,), dtype=DType.FLOAT32),)) for number in "123")
SUITE = Suite(name="s", version="1", members=(SuiteOperator(operator=OPERATOR, cases=CASES),))
HARDWARE = NullTarget().hardware


def baselines(*provenances: Provenance, **changed: object) -> BaselineSet:
    """Times 10, 20, 30 us of the first cases."""
    times = tuple(
        BaselineTime(
            operator="grow",
            case=case.id,
            identity=case_identity(OPERATOR, case),
            time=Measurement(samples=(10.0 * number,), provenance=provenance, method="made up"),
        )
        for number, (case, provenance) in enumerate(zip(CASES, provenances, strict=False), start=1)
    )
    fields = {
        "name": "set",
        "version": "1",
        "suite": "s",
        "suite_version": "1",
        "suite_digest": SUITE.digest(),
        "hardware": HARDWARE.name,
        "hardware_digest": HARDWARE.digest(),
        "target": "null",
        "toolchain": "a script",
        "submission": "plain",
        "submission_digest": "c",
    }
    return BaselineSet(**{**fields, **changed}, cases=times).sealed()


def anchor(value_us: float, provenance: Provenance) -> Anchor:
    return Anchor(kind=AnchorKind.T_BASELINE, value_us=value_us, provenance=provenance, method="m")


class Simulated:
    """Plain kernels that take 7 us, and count how often they are asked."""

    version = "plain kernels"

    def __init__(self) -> None:
        self.calls = 0

    def anchor(self, operator: Operator, case: Case) -> Anchor:
        self.calls += 1
        return anchor(7.0, Provenance.SIMULATED).model_copy(update={"version": self.version})

    def close(self) -> None:
        return


def sources(filed: BaselineSet | None = None, simulated: Simulated | None = None) -> BaselineSources:
    return BaselineSources(FiledBaselines(filed, SUITE, HARDWARE) if filed else None, simulated, quoted_version=quoted_version(SUITE))


def test_a_time_of_the_file_goes_before_the_plain_kernels_which_are_not_run_for_it() -> None:
    plain = Simulated()
    filed = baselines(Provenance.SIMULATED)
    chosen = sources(filed, plain).choose(OPERATOR, CASES[0], None, ScoreProfile.SIM)
    assert (chosen.anchor.value_us, chosen.anchor.version, chosen.findings, plain.calls) == (10.0, filed.title, (), 0)


def test_a_case_that_the_file_lacks_falls_back_without_a_finding() -> None:
    chosen = sources(baselines(Provenance.SIMULATED), Simulated()).choose(OPERATOR, CASES[2], None, ScoreProfile.SIM)
    assert (chosen.anchor.value_us, chosen.anchor.version, chosen.findings) == (7.0, "plain kernels", ())


def test_a_published_baseline_names_suite_and_version() -> None:
    chosen = sources().choose(OPERATOR, CASES[0], anchor(5.0, Provenance.QUOTED), ScoreProfile.SIM)
    assert (chosen.anchor.value_us, chosen.anchor.version) == (5.0, "quoted by s 1")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"hardware_digest": "0" * 64}, "the hardware file of null has changed since (digest 00000000, now"),
        ({"suite_version": "0.9"}, "it is for version 0.9 of the suite, this is 1"),
    ],
)
def test_a_file_for_other_figures_or_another_version_is_stale_case_by_case(changed: dict[str, object], reason: str) -> None:
    chosen = sources(baselines(Provenance.SIMULATED, **changed), Simulated()).choose(OPERATOR, CASES[0], None, ScoreProfile.SIM)
    (finding,) = chosen.findings
    assert (chosen.anchor.value_us, finding.kind) == (7.0, FindingKind.STALE_ANCHOR)
    assert finding.message.startswith(f"T_baseline of grow/1 in set 1 is not used: {reason}")


def test_a_case_that_has_changed_is_stale_and_the_others_are_not() -> None:
    filed = FiledBaselines(baselines(Provenance.SIMULATED, Provenance.SIMULATED), SUITE, HARDWARE)
    wider = CASES[0].model_copy(update={"inputs": (CaseInput(argument="x", shape=(5,), dtype=DType.FLOAT32),)})
    assert filed.anchor(OPERATOR, wider).anchor is None
    assert "grow/1" in filed.anchor(OPERATOR, wider).findings[0].message
    assert filed.anchor(OPERATOR.model_copy(update={"golden_digest": "new"}), CASES[1]).findings
    assert filed.anchor(OPERATOR, CASES[1]).anchor.value_us == 20.0


def test_a_suite_that_grew_leaves_the_times_of_its_old_cases_alone() -> None:
    grown = SUITE.model_copy(update={"members": (*SUITE.members, SuiteOperator(operator=OPERATOR.model_copy(update={"name": "other"}), cases=CASES))})
    filed = baselines(Provenance.SIMULATED)
    assert grown.digest() != filed.suite_digest
    assert FiledBaselines(filed, grown, HARDWARE).anchor(OPERATOR, CASES[0]).anchor is not None


def test_the_findings_of_the_choice_are_among_the_anchors_of_the_case() -> None:
    book = AnchorBook(HARDWARE, ScoreProfile.SIM, {}, sources(baselines(Provenance.SIMULATED, suite_version="0")), Bounds())
    found = book.of(OPERATOR, CASES[0])
    assert (found.t_baseline, [item.kind for item in found.findings]) == (None, [FindingKind.STALE_ANCHOR])


@pytest.mark.parametrize(
    ("profile", "provenance", "is_allowed"),
    [
        (ScoreProfile.SIM, Provenance.SIMULATED, True),
        (ScoreProfile.SIM, Provenance.MODELLED, True),
        (ScoreProfile.SIM, Provenance.QUOTED, True),
        (ScoreProfile.SIM, Provenance.DEVICE, False),
        (ScoreProfile.CANN_BENCH, Provenance.DEVICE, True),
        (ScoreProfile.CANN_BENCH, Provenance.QUOTED, True),
        (ScoreProfile.CANN_BENCH, Provenance.SIMULATED, False),
        (ScoreProfile.CANN_BENCH, Provenance.MODELLED, False),
    ],
)
def test_a_score_does_not_mix_worlds_by_way_of_a_file(profile: ScoreProfile, provenance: Provenance, is_allowed: bool) -> None:
    filed = baselines(Provenance.QUOTED, provenance)
    if is_allowed:
        check_set(filed, SUITE, HARDWARE, profile)
        return
    with pytest.raises(UsageError, match="another world") as error:
        check_set(filed, SUITE, HARDWARE, profile)
    assert error.value.found == provenance.value


@pytest.mark.parametrize(("changed", "what"), [({"suite": "t"}, "another suite"), ({"hardware": "h"}, "another chip")])
def test_a_file_about_something_else_is_refused_as_a_whole(changed: dict[str, object], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        check_set(baselines(Provenance.SIMULATED, **changed), SUITE, HARDWARE, ScoreProfile.SIM)


def test_times_of_another_simulator_are_used_and_told() -> None:
    other = baselines(Provenance.SIMULATED, toolchain="engine 1")
    assert "simulated with engine 1, T_cand with a script" in other_toolchain(other, NullTarget())
    assert other_toolchain(baselines(Provenance.SIMULATED), NullTarget()) == ""
    assert other_toolchain(baselines(Provenance.DEVICE, toolchain="driver 1"), NullTarget()) == ""


def test_a_reproducer_of_a_failed_case_takes_the_same_file(tmp_path: Path) -> None:
    request = EvaluationRequest(submission="a", run_dir="b", cache_dir="c", baseline=str(tmp_path / "set.json"))
    assert f"--baseline {tmp_path}/set.json" in rerun_script(request, "digest", "grow", "1")
    assert "--baseline" not in rerun_script(request.model_copy(update={"baseline": ""}), "digest", "grow", "1")


def test_a_report_names_the_sets_that_were_used_in_the_order_in_which_they_are_asked() -> None:
    from test_report_rescore import passed

    def case(number: str, version: str, **changed: object) -> object:
        named = anchor(9.0, Provenance.SIMULATED).model_copy(update={"version": version})
        return passed(number).model_copy(update={"t_baseline": named, **changed})

    possible = ("file", "plain", "quoted")
    assert _used(possible, {("g", "1"): case("1", "plain"), ("g", "2"): case("2", "file")}) == ("file", "plain")
    assert _used(possible, {("g", "1"): case("1", "")}) == ()
    sealed = case("1", "", t_baseline=None, is_sealed=True)
    assert _used(possible, {("g", "1"): sealed}) == possible
