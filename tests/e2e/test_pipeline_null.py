"""The pipeline on the null target, in this process: every way a case can end, and what the report makes of it."""

import json
from pathlib import Path

import pytest
from null_world import QUOTED_T_BASELINE_US, QUOTED_T_HW_US, make_submission, make_suite

from piton.core.errors import FormatError, TargetUnavailableError, UsageError
from piton.core.finding import FindingKind
from piton.core.protocols import Runner
from piton.core.report import CaseResult, Report
from piton.core.verdict import Cause, Verdict
from piton.evaluate.pipeline import evaluate_on
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import CaseFinished, Event, Planned, ignore
from piton.report.terminal import terminal_text
from piton.targets.null import NullTarget


class World:
    """Evaluates scripted submissions."""

    def __init__(self, runner: Runner, shared: Path, root: Path) -> None:
        self.runner, self.shared, self.root = runner, shared, root

    def evaluate(self, script: dict[str, object] | None = None, target: NullTarget | None = None, events: object = ignore, **options: object) -> Report:
        folder = self.root / "submission"
        if not folder.exists():
            make_submission(folder, script)
        values = {"suite": str(self.shared / "suite"), "cache_dir": str(self.shared / "cache"), "run_dir": str(self.root / "run"), "is_trusted": True}
        request = EvaluationRequest(submission=str(folder), target="null", **{**values, **options})
        return evaluate_on(target or NullTarget(), self.runner, request, events)


@pytest.fixture
def world(runner: Runner, shared: Path, tmp_path: Path) -> World:
    return World(runner, shared, tmp_path)


def case(report: Report, operator: str, case_id: str) -> CaseResult:
    return next(found for item in report.operators if item.operator == operator for found in item.cases if found.case.id == case_id)


def test_a_right_submission_passes_everywhere_with_time_anchors_and_hap(world: World) -> None:
    report = world.evaluate()
    assert [found.outcome.verdict for item in report.operators for found in item.cases] == [Verdict.PASSED] * 8
    first = case(report, "grow", "1")
    assert (first.time.value, first.t_hw.value_us, first.t_baseline.value_us) == (10.0, QUOTED_T_HW_US, QUOTED_T_BASELINE_US)
    assert first.hap.ranked == pytest.approx(15 / (5 + 15))
    assert report.total_score == pytest.approx(2 * 100 * (0.2 + 0.3 + 0.5 * 0.75))
    assert report.is_complete
    assert [item.category for item in report.operators] == ["Elementwise", "Elementwise"]


@pytest.mark.parametrize(
    ("script", "verdict", "cause"),
    [
        ({"compute": "wrong_by_little"}, Verdict.WRONG_VALUE, Cause.MAX_ERROR),
        ({"compute": "exp", "shape": [3, 3]}, Verdict.WRONG_SHAPE, Cause.SHAPE_MISMATCH),
        ({"compute": "exp", "outputs": 2}, Verdict.WRONG_SHAPE, Cause.OUTPUT_COUNT),
        ({"compute": "exp", "dtype_name": "int32"}, Verdict.WRONG_DTYPE, Cause.DTYPE_MISMATCH),
        ({"causes": ["host_signal"]}, Verdict.CRASHED, Cause.HOST_SIGNAL),
        ({"causes": ["device_budget"]}, Verdict.TIMED_OUT, Cause.DEVICE_BUDGET),
        ({"causes": ["ub_overflow"]}, Verdict.RESOURCE_EXCEEDED, Cause.UB_OVERFLOW),
        ({"causes": ["framework_compute"]}, Verdict.REJECTED, Cause.FRAMEWORK_COMPUTE),
        ({"causes": ["not_stored_by_kernel"], "compute": "exp", "keeps_outputs": True}, Verdict.UNATTRIBUTED, Cause.NOT_STORED_BY_KERNEL),
        ({"causes": ["missing_sync"], "compute": "exp", "keeps_outputs": True}, Verdict.HAZARD, Cause.MISSING_SYNC),
        ({"causes": ["missing_sync"], "compute": "wrong_by_little", "keeps_outputs": True}, Verdict.HAZARD, Cause.MISSING_SYNC),
        ({"causes": ["load_failed"]}, Verdict.BUILD_FAILED, Cause.LOAD_FAILED),
        ({"causes": ["illegal_reply"]}, Verdict.TAMPERED, Cause.ILLEGAL_REPLY),
    ],
)
def test_a_failure_costs_its_case_only_and_leaves_no_time(world: World, script: dict[str, object], verdict: Verdict, cause: Cause) -> None:
    report = world.evaluate({"grow": {"cases": {"2": script}}})
    failed = case(report, "grow", "2")
    assert (failed.outcome.verdict, failed.outcome.cause) == (verdict, cause)
    assert failed.time is None
    assert failed.hap is None
    others = [found for item in report.operators for found in item.cases if found is not failed]
    assert {found.outcome.verdict for found in others} == {Verdict.PASSED}
    assert report.is_complete


def test_a_hazard_goes_before_the_wrong_value_that_it_explains_and_both_are_kept(world: World) -> None:
    report = world.evaluate({"grow": {"cases": {"2": {"causes": ["missing_sync"], "compute": "wrong_by_little", "keeps_outputs": True}}}})
    failed = case(report, "grow", "2")
    assert [found.cause for found in failed.others] == [Cause.MAX_ERROR]
    assert failed.checks[0].worst


def test_a_rejected_case_takes_the_whole_operator_and_a_tampered_one_the_submission(world: World) -> None:
    report = world.evaluate({"grow": {"cases": {"1": {"causes": ["host_copy"]}}}})
    assert [item.score for item in report.operators] == [0.0, pytest.approx(87.5)]
    tampered = World(world.runner, world.shared, world.root / "second").evaluate({"grow": {"cases": {"1": {"causes": ["illegal_reply"]}}}})
    assert [item.score for item in tampered.operators] == [0.0, 0.0]


def test_place_and_numbers_reach_the_report(world: World) -> None:
    script = {"causes": ["out_of_bounds"], "message": "read past the end", "place": {"file": "grow.cpp", "line": 12, "core": 3}, "numbers": {"used_bytes": 64}}
    failed = case(world.evaluate({"grow": {"cases": {"3": script}}}), "grow", "3")
    assert (str(failed.outcome.place), failed.outcome.message, failed.outcome.numbers) == ("grow.cpp:12, core 3", "read past the end", {"used_bytes": 64})


def test_a_build_failure_marks_every_case_of_its_operator_and_of_no_other(world: World) -> None:
    report = world.evaluate({"grow": {"build": "compile_error", "build_message": "expected ;"}})
    grow, twice = report.operators
    assert not grow.compiled
    assert {found.outcome.cause for found in grow.cases} == {Cause.COMPILE_ERROR}
    assert (len(grow.cases), grow.score, grow.diagnostics[0].message) == (4, 0.0, "expected ;")
    assert {found.outcome.verdict for found in twice.cases} == {Verdict.PASSED}


def test_an_operator_that_the_submission_lacks_scores_0_and_is_named(world: World) -> None:
    make_submission(world.root / "submission", operators=("grow",))
    report = world.evaluate()
    assert [item.operator for item in report.operators] == ["grow"]
    assert (report.missing_operators, report.most_points) == ({"twice": 1}, 200)
    assert report.total_score == report.operators[0].score
    assert report.is_complete
    assert "1 of 2 operators of" in terminal_text(report)
    assert "these score 0: twice" in terminal_text(report)


def test_a_missing_operator_that_is_asked_for_by_name_counts_as_not_built(world: World) -> None:
    make_submission(world.root / "submission", operators=("grow",))
    report = world.evaluate(operators=("grow", "twice"))
    assert report.operators[1].build_outcome.cause is Cause.OPERATOR_MISSING
    assert (report.operators[1].score, report.total_score, report.missing_operators) == (0.0, report.operators[0].score, {})


def test_a_forbidden_source_rejects_its_operator_with_the_place(world: World) -> None:
    root = make_submission(world.root / "submission")
    (root / "csrc/ops/grow/op_plugin/grow.cpp").write_text("// fine\nvoid f() { aclnnExp(1); }\n")
    report = world.evaluate()
    found = report.operators[0].build_outcome
    assert (found.verdict, found.cause, found.place.file, found.place.line) == (Verdict.REJECTED, Cause.FORBIDDEN_SOURCE, "csrc/ops/grow/op_plugin/grow.cpp", 2)
    assert [item.score for item in report.operators] == [0.0, pytest.approx(87.5)]


def test_what_we_could_not_evaluate_is_void_unscored_and_listed(world: World) -> None:
    report = world.evaluate({"grow": {"cases": {"2": {"evaluator_error": "the device went away"}}}})
    void = case(report, "grow", "2")
    assert "the device went away" in void.void
    assert (void.outcome.cause, void.time, void.hap) == (Cause.EVALUATION_FAILED, None, None)
    assert (report.operators[0].score, report.total_score, report.is_complete) == (None, None, False)
    assert case(report, "grow", "3").outcome.verdict is Verdict.PASSED


def test_a_mistake_of_ours_voids_one_case_and_not_the_run(world: World) -> None:
    class Broken(NullTarget):
        def __init__(self) -> None:
            super().__init__()
            self.device = self
            self.calls = 0

        def missing(self) -> tuple[str, ...]:
            return ()

        def open(self, *_: object) -> object:
            return self

        def call(self, _: object) -> object:
            raise ZeroDivisionError("oops")

        def close(self) -> None:
            return

    report = world.evaluate(target=Broken())
    assert all("ZeroDivisionError: oops" in found.void for item in report.operators for found in item.cases)


def test_a_golden_that_fails_is_void_and_never_a_verdict(runner: Runner, tmp_path: Path) -> None:
    make_suite(tmp_path / "suite", {"grow": "raise ValueError('no golden today')", "twice": "import os; os._exit(3)"})
    report = World(runner, tmp_path, tmp_path).evaluate(cases=("grow/1", "twice/1"))
    assert "no golden today" in case(report, "grow", "1").void
    assert "golden worker died" in case(report, "twice", "1").void


@pytest.mark.parametrize("profile", ["strict", "cann-bench"])
def test_time_below_the_roof_is_flagged_and_ranks_as_one(world: World, profile: str) -> None:
    report = world.evaluate({"grow": {"cases": {"1": {"compute": "exp", "time_us": 4.0}}}}, precision_profile=profile)
    fast = case(report, "grow", "1")
    assert (fast.hap.ranked, fast.hap.raw > 1, [found.kind for found in fast.findings]) == (1.0, True, [FindingKind.TIME_BELOW_T_HW])
    assert fast.checks[0].precision_profile == profile


def test_without_anchors_a_case_passes_with_a_finding_and_no_credit_for_speed(runner: Runner, tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite")
    (suite / "metadata" / "null.json").unlink()
    report = World(runner, tmp_path, tmp_path).evaluate(operators=("grow",), cases=("1",))
    passed = case(report, "grow", "1")
    assert (passed.outcome.verdict, passed.hap, passed.findings[0].kind) == (Verdict.PASSED, None, FindingKind.NO_ANCHOR)


def test_cases_left_out_are_listed_and_make_the_report_incomplete(world: World) -> None:
    report = world.evaluate(cases=("grow/2",))
    assert case(report, "grow", "2").outcome.verdict is Verdict.PASSED
    assert case(report, "grow", "1").outcome.cause is Cause.FILTERED_OUT
    assert (report.is_complete, report.total_score) == (False, None)


def test_operators_left_out_make_the_report_incomplete_and_are_named(world: World) -> None:
    report = world.evaluate(operators=("twice",))
    assert [item.operator for item in report.operators] == ["twice"]
    assert (report.is_complete, "grow" in report.findings[0].message) == (False, True)


@pytest.mark.parametrize("options", [{"operators": ("shrink",)}, {"cases": ("9",)}, {"cases": ("twice/1",), "operators": ("grow",)}])
def test_a_name_that_the_suite_does_not_have_is_one_clear_error(world: World, options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="has no"):
        world.evaluate(**options)


def test_a_foreign_suite_does_not_run_untrusted(world: World) -> None:
    with pytest.raises(UsageError, match="comes from outside"):
        world.evaluate(is_trusted=False)


def test_a_target_that_lacks_something_says_all_of_it(world: World) -> None:
    class Lacking(NullTarget):
        def __init__(self) -> None:
            super().__init__()
            self.device = self.toolchain = self

        def missing(self) -> tuple[str, ...]:
            return ("g++: apt-get install g++",)

    with pytest.raises(TargetUnavailableError, match=r"g\+\+: apt-get install g\+\+") as caught:
        world.evaluate(target=Lacking())
    assert caught.value.exit_status == 3


def test_one_and_two_jobs_and_a_second_run_give_the_same_result_digest(world: World) -> None:
    script = {"grow": {"cases": {"2": {"compute": "wrong_by_little"}, "3": {"causes": ["deadlock"]}}}}
    digests = [world.evaluate(script, jobs=jobs, run_dir=str(world.root / f"run{number}")).result_digest for number, jobs in enumerate((1, 2, 2))]
    assert len(set(digests)) == 1


def test_another_seed_gives_another_result(world: World) -> None:
    script = {"grow": {"cases": {"2": {"compute": "wrong_by_little"}}}}
    first, second = (case(world.evaluate(script, seed=seed, run_dir=str(world.root / f"run{seed}")), "grow", "2") for seed in (0, 1))
    assert first.checks[0].worst != second.checks[0].worst


def test_the_report_keeps_the_order_of_the_suite_when_a_late_case_ends_first(world: World) -> None:
    finished: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, CaseFinished):
            finished.append(f"{event.result.operator}/{event.result.case.id}")

    report = world.evaluate({"grow": {"cases": {"1": {"compute": "exp", "wait_s": 1.0}}}}, jobs=2, events=listen)
    assert finished[0] != "grow/1"
    assert [found.case.id for found in report.operators[0].cases] == ["1", "2", "3", "4"]


def resume(world: World, journal_lines: int, tail: str = "") -> tuple[Report, Planned]:
    """Cut the journal of a finished run and go on with it."""
    journal = world.root / "run" / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:journal_lines]) + tail)
    plans: list[Planned] = []
    report = world.evaluate(is_resumed=True, events=lambda event: plans.append(event) if isinstance(event, Planned) else None)
    return report, plans[0]


def test_a_run_killed_while_writing_a_line_is_resumed_and_ends_the_same(world: World) -> None:
    whole = world.evaluate()
    report, planned = resume(world, 4, tail='{"key":"0123","resu')
    assert (planned.resumed_cases, planned.cases) == (3, 5)
    assert report.result_digest == whole.result_digest
    again, plan_again = resume(world, 9)
    assert (plan_again.resumed_cases, plan_again.cases, again.result_digest) == (8, 0, whole.result_digest)


def test_a_void_is_tried_again_on_resume(world: World) -> None:
    world.evaluate({"grow": {"cases": {"2": {"evaluator_error": "gone"}}}})
    _, planned = resume(world, 9)
    assert (planned.resumed_cases, planned.cases) == (7, 1)


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(world: World) -> None:
    world.evaluate()
    with pytest.raises(FormatError, match=r"journal\.jsonl:3"):
        resume(world, 2, tail='{"key": 1}\n{"key": 2}\n')


def test_a_journal_of_another_evaluation_is_not_taken_up(world: World) -> None:
    world.evaluate()
    with pytest.raises(UsageError, match="another evaluation"):
        world.evaluate(is_resumed=True, seed=5)


def test_the_journal_has_one_line_per_case(world: World) -> None:
    world.evaluate()
    lines = [json.loads(line) for line in (world.root / "run" / "journal.jsonl").read_text().splitlines()]
    assert [f"{line['result']['operator']}/{line['result']['case']['id']}" for line in lines[1:]] == [
        f"{name}/{number}" for name in ("grow", "twice") for number in range(1, 5)
    ]
