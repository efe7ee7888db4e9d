"""A reproducer of a call that took too long has the deadline that it missed."""

import pytest

from piton.evaluate.policy import Bounds, EvaluationRequest
from piton.evaluate.rerun import rerun_script


@pytest.mark.parametrize(("deadline_s", "is_said"), [(5.0, True), (Bounds().host_deadline_s, False)])
def test_a_reproducer_has_the_deadline_of_its_run_unless_it_is_the_usual_one(deadline_s: float, *, is_said: bool) -> None:
    request = EvaluationRequest(submission="s", run_dir="r", cache_dir="c", bounds=Bounds(host_deadline_s=deadline_s))
    assert (" --host-deadline 5.0 " in rerun_script(request, "d", "exp", "1")) is is_said
