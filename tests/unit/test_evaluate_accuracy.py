"""The accuracy mode of an evaluation: what it changes beside the arithmetic."""

from __future__ import annotations

import pytest

from piton.cli.evaluation import accuracy_mode
from piton.core.errors import UsageError
from piton.core.verdict import Cause, outcome
from piton.evaluate.judging import in_accuracy_mode
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.rerun import rerun_script

REQUEST = EvaluationRequest(submission="s", suite="piton", target="t", run_dir="r", cache_dir="c")
PESSIMISTIC = REQUEST.model_copy(update={"accuracy": "pessimistic"})


def test_a_run_in_the_pessimistic_mode_is_another_run() -> None:
    assert PESSIMISTIC.identity() != REQUEST.identity()


def test_the_script_that_repeats_a_failure_asks_for_the_mode_it_was_found_in() -> None:
    assert "--accuracy pessimistic" in rerun_script(PESSIMISTIC, "digest", "grow", "1")
    assert "--accuracy" not in rerun_script(REQUEST, "digest", "grow", "1")


def test_a_precision_verdict_in_the_pessimistic_mode_says_so() -> None:
    found = outcome(Cause.MEAN_ERROR, "mean error too large")
    assert in_accuracy_mode(found, "exact") is found
    said = in_accuracy_mode(found, "pessimistic")
    assert said.message.startswith("mean error too large (in the pessimistic accuracy mode")
    assert (said.verdict, said.cause) == (found.verdict, found.cause)


def test_a_passed_output_stays_as_it_is_in_the_pessimistic_mode() -> None:
    passed = outcome(Cause.NONE, "")
    assert in_accuracy_mode(passed, "pessimistic") is passed


def test_an_unknown_accuracy_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no accuracy mode 'fast'"):
        accuracy_mode("fast")
