import itertools

import pytest
from pydantic import ValidationError

from piton.core.verdict import PASSED, PRECEDENCE, VERDICT_OF, Cause, Outcome, Verdict, decide, outcome


def test_every_verdict_has_exactly_one_place_in_the_precedence() -> None:
    assert sorted(PRECEDENCE) == sorted(Verdict)


def test_every_cause_belongs_to_one_verdict_and_every_verdict_has_a_cause() -> None:
    assert set(VERDICT_OF) == set(Cause)
    assert set(VERDICT_OF.values()) == set(Verdict)


def test_a_cause_of_another_verdict_is_refused() -> None:
    with pytest.raises(ValidationError, match="belongs to hazard"):
        Outcome(verdict=Verdict.WRONG_VALUE, cause=Cause.MISSING_SYNC)


def test_the_earlier_verdict_wins_whatever_the_order_of_discovery() -> None:
    causes = {verdict: cause for cause, verdict in VERDICT_OF.items()}
    for first, second in itertools.combinations(PRECEDENCE, 2):
        found = [outcome(causes[second]), outcome(causes[first])]
        assert decide(found).verdict is first
        assert decide(found[::-1]).verdict is first


def test_among_equal_verdicts_the_first_found_is_kept() -> None:
    assert decide([outcome(Cause.MAX_ERROR), outcome(Cause.MEAN_ERROR)]).cause is Cause.MAX_ERROR


def test_nothing_found_means_passed() -> None:
    assert decide([]) == PASSED
