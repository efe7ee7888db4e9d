"""What the two trials of a case draw, and how an outcome of the second one reads."""

from piton.core.verdict import Cause, Place, outcome
from piton.evaluate.trials import Draw, draw_of, in_second_trial


def test_the_first_trial_is_the_plain_evaluation() -> None:
    assert draw_of(7, 1) == Draw(seed=7, shift=0.0)


def test_the_second_seed_follows_from_the_first_and_never_changes() -> None:
    assert draw_of(0, 2) == Draw(seed=1148223686335225, shift=0.01)


def test_every_seed_has_a_second_one_of_its_own_that_json_keeps() -> None:
    seconds = [draw_of(seed, 2).seed for seed in range(1000)]
    assert len({*seconds, *range(1000)}) == 2000
    assert max(seconds) < 1 << 52


def test_an_outcome_of_the_second_trial_says_so_and_keeps_the_rest() -> None:
    found = in_second_trial(outcome(Cause.MISSING_SYNC, "read before it was written", place=Place(file="a.cpp", line=3), offset=8))
    assert found.message == "second trial (fresh seed, floating inputs shifted by 0.01): read before it was written"
    assert (found.cause, str(found.place), found.numbers) == (Cause.MISSING_SYNC, "a.cpp:3", {"offset": 8, "trial": 2})
    assert in_second_trial(outcome(Cause.HOST_SIGNAL)).message.endswith(": host_signal")
