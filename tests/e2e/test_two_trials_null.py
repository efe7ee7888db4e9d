"""The second trial on the null target: what it catches, what it decides, and that it leaves everything else as it was."""

from pathlib import Path

import numpy as np
import pytest
from null_world import make_submission, make_suite
from numpy.typing import NDArray

from piton.catalog import load_suite
from piton.core.errors import UsageError
from piton.core.protocols import Runner
from piton.core.report import CaseResult, Report
from piton.core.verdict import Cause, Verdict
from piton.evaluate.pipeline import evaluate_on
from piton.evaluate.policy import EvaluationRequest
from piton.numerics.inputs import make_inputs
from piton.targets.null import NullTarget

KEEPS_A_ZERO = """assert (x[..., 0] == 0).all(), "lost its structure"
    return torch.exp(x)


def get_input(x, seed):
    x = x.clone()
    x[..., 0] = 0
    return x
"""

ONLY_SMALL_VALUES = "return x * 1e-6"
"""Errors of such outputs are held against those of the same-dtype run."""


class World:
    """Evaluates a scripted `grow` in two trials."""

    def __init__(self, runner: Runner, shared: Path, root: Path) -> None:
        self.runner, self.shared, self.root = runner, shared, root

    def evaluate(self, call: dict[str, object] | None = None, **options: object) -> Report:
        """`call` is what case 4 does."""
        folder = self.root / "submission"
        if not folder.exists():
            make_submission(folder, {"grow": {"cases": {"4": {"compute": "exp", **(call or {})}}}})
        values = {"suite": str(self.shared / "suite"), "cache_dir": str(self.shared / "cache"), "run_dir": str(self.root / "run"), "is_trusted": True}
        request = EvaluationRequest(submission=str(folder), target="null", **{**values, "trials": 2, "operators": ("grow",), **options})
        return evaluate_on(NullTarget(), self.runner, request)


@pytest.fixture
def world(runner: Runner, shared: Path, tmp_path: Path) -> World:
    return World(runner, shared, tmp_path)


def fourth(report: Report) -> CaseResult:
    return report.operators[0].cases[3]


def test_a_right_submission_passes_both_and_keeps_the_time_of_the_first(world: World) -> None:
    report = world.evaluate({"later": {"compute": "exp", "time_us": 99.0}})
    assert [found.outcome.verdict for found in report.operators[0].cases] == [Verdict.PASSED] * 4
    assert all(len(found.checks) == len(found.second_checks) == 1 for found in report.operators[0].cases)
    assert (fourth(report).time.value, fourth(report).launches[0].time_us) == (10.0, 10.0)
    assert report.trials == 2


def drawn(shared: Path) -> NDArray[np.float64]:
    """The input of case 4 for seed 0."""
    suite = load_suite(str(shared / "suite"))
    return np.asarray(make_inputs(suite.version, suite.members[0].cases[3], 0)["x"], dtype=np.float64)


def in_hex(output: NDArray[np.float64]) -> str:
    return output.astype(np.float32).tobytes().hex()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("cheat", ["replays the first call", "knows the outputs of seed 0"])
def test_a_submission_that_does_not_compute_is_right_once_and_not_twice(world: World, cheat: str, jobs: int) -> None:
    call = {"is_replayed": True} if cheat.startswith("replays") else {"compute": "zeros", "recorded": in_hex(np.exp(drawn(world.shared)))}
    once = fourth(world.evaluate(call, trials=1, jobs=jobs))
    assert (once.outcome.verdict, once.second_checks) == (Verdict.PASSED, ())
    report = world.evaluate(jobs=jobs)
    twice = fourth(report)
    assert (twice.outcome.verdict, twice.outcome.cause, twice.outcome.numbers["trial"]) == (Verdict.WRONG_VALUE, Cause.MAX_ERROR, 2)
    assert twice.outcome.message.startswith("second trial (fresh seed, floating inputs shifted by 0.01): output ")
    assert (twice.time, twice.hap, twice.checks) == (None, None, once.checks)
    assert twice.second_checks[0].outcome.cause is Cause.MAX_ERROR
    assert [found.outcome.verdict for found in report.operators[0].cases[:3]] == [Verdict.PASSED] * 3
    assert report.operators[0].score is not None


def test_a_case_that_failed_the_first_trial_has_no_second(world: World) -> None:
    failed = fourth(world.evaluate({"compute": "wrong_by_little", "later": {"evaluator_error": "called twice"}}))
    assert (failed.outcome.cause, failed.void, failed.second_checks, "trial" in failed.outcome.numbers) == (Cause.MAX_ERROR, "", (), False)
    assert "second trial" not in failed.outcome.message


def test_outcomes_of_the_second_trial_follow_the_same_precedence(world: World) -> None:
    later = {"causes": ["missing_sync"], "compute": "wrong_by_little", "keeps_outputs": True, "findings": ["auto_sync_relied_on"]}
    failed = fourth(world.evaluate({"findings": ["auto_sync_relied_on"], "later": later}))
    assert (failed.outcome.cause, [found.cause for found in failed.others]) == (Cause.MISSING_SYNC, [Cause.MAX_ERROR])
    assert [found.numbers["trial"] for found in (failed.outcome, *failed.others)] == [2, 2]
    assert len(failed.findings) == 1, "the same finding twice is one"


def test_what_we_could_not_evaluate_in_the_second_trial_is_void_and_tried_again(world: World) -> None:
    report = world.evaluate({"later": {"evaluator_error": "the device went away"}})
    assert ("second trial" in fourth(report).void, "the device went away" in fourth(report).void) == (True, True)
    assert report.operators[0].score is None
    assert fourth(world.evaluate(is_resumed=True)).void


def test_structured_inputs_are_rebuilt_after_the_shift(runner: Runner, tmp_path: Path) -> None:
    make_suite(tmp_path / "suite", {"grow": KEEPS_A_ZERO})
    report = World(runner, tmp_path, tmp_path).evaluate(cases=("4",))
    assert (fourth(report).outcome.verdict, fourth(report).void, len(fourth(report).second_checks)) == (Verdict.PASSED, "", 1)


def test_the_second_trial_is_held_against_its_own_same_dtype_run(runner: Runner, tmp_path: Path) -> None:
    make_suite(tmp_path / "suite", {"grow": ONLY_SMALL_VALUES})
    call = {"recorded": in_hex(drawn(tmp_path) * 1e-6), "later": {"compute": "zeros"}}
    found = fourth(World(runner, tmp_path, tmp_path).evaluate(call, cases=("4",)))
    assert (found.checks[0].passed_first_screen, found.outcome.cause) == (True, Cause.SMALL_VALUE_ERRORS)
    assert (found.second_checks[0].small_value.errors, found.second_checks[0].small_value.native_errors) == (301, 0), "that of the first trial has 301 as well"


def test_a_resumed_run_and_any_number_of_jobs_end_the_same(world: World) -> None:
    whole = world.evaluate({"is_replayed": True})
    journal = world.root / "run" / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:3]))
    assert world.evaluate(is_resumed=True, jobs=2).result_digest == whole.result_digest
    assert world.evaluate(jobs=2, run_dir=str(world.root / "other")).result_digest == whole.result_digest


def test_a_journal_of_one_trial_is_not_taken_up_for_two(world: World) -> None:
    world.evaluate(trials=1)
    with pytest.raises(UsageError, match="another evaluation"):
        world.evaluate(is_resumed=True)
