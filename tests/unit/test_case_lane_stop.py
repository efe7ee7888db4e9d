"""A stop of one lane is one of all: what it looks like in another lane, whose goldens it has ended, is nobody's result."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from piton.core.case import Case
from piton.core.execution import Build
from piton.core.operator import Operator
from piton.core.report import CaseResult
from piton.evaluate.build import Workplace
from piton.evaluate.execute import CaseLane, CaseTask, Evaluation
from piton.evaluate.overlap import whole
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import ignore
from piton.targets.null import NullTarget


class Goldens:
    """Refuses to work once it is closed, as pools of threads do."""

    is_closed = False

    def fetch(self, operator: Operator, case: Case) -> None:
        raise RuntimeError("cannot schedule new futures after shutdown" if self.is_closed else "no golden")

    def close(self) -> None:
        self.is_closed = True


def lanes_and_kept() -> tuple[list[CaseLane], list[CaseResult]]:
    kept: list[CaseResult] = []
    shared = SimpleNamespace(
        request=EvaluationRequest(submission="s", run_dir="r", cache_dir="c", jobs=2),
        place=cast(Workplace, SimpleNamespace(target=NullTarget(), events=ignore)),
        submission=None,
        goldens=Goldens(),
        anchors=SimpleNamespace(close=lambda: None),
        guard=None,
        finished=lambda task, result: kept.append(result),
    )
    evaluation = Evaluation(**vars(shared))
    return [CaseLane(number, evaluation) for number in range(2)], kept


def task() -> CaseTask:
    operator = Operator(name="exp", title="exp", level=1, category="c", schema_text="exp(Tensor x) -> Tensor y", inputs=(), outputs=())
    return CaseTask(operator, Case(operator="exp", id="1", inputs=()), Build("exp"), "key")


def test_a_lane_whose_goldens_another_one_has_closed_has_no_result() -> None:
    (first, second), kept = lanes_and_kept()
    first.interrupt()
    assert whole(second.run(task())) is None
    assert kept == []


def test_what_fails_without_a_stop_is_void() -> None:
    (first, _), kept = lanes_and_kept()
    found = whole(first.run(task()))
    assert found is not None
    assert "no golden" in found.void
    assert kept == [found]
