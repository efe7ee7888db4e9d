"""Do further calls of a case lead to the right verdict or finding, and are they made only where they are due?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import cast

import pytest

from piton.core.errors import EvaluatorError, ProcessLostError
from piton.core.execution import USUAL, CopyLog, Execution, OutputBuffer, Probe
from piton.core.fault import Fault
from piton.core.finding import FindingKind
from piton.core.integrity import IntegrityMode, World
from piton.core.measurement import Measurement, Provenance
from piton.core.protocols import Target
from piton.core.verdict import Cause, outcome
from piton.evaluate.case_order import ordered
from piton.evaluate.integrity_checks import DISABLED, HOST_REPEATED, REPEATED, Attempt, after_first_trial, after_trials, digest_of_outputs, made, probe_of_trial
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.rule_outcomes import has_probes, world_of


def execution(read: int = 0, time_us: float = 5.0, *causes: Cause) -> Execution:
    time = Measurement(samples=(time_us,), provenance=Provenance.SIMULATED, method="m")
    return Execution(copies=CopyLog(device_to_host_bytes=read), time=time, outcomes=tuple(outcome(cause, "m") for cause in causes))


def first(read: int = 0) -> Attempt:
    return Attempt(execution(read), (True,), "bytes")


class Calls:
    """Answers further calls from a script, and remembers them."""

    def __init__(self, **answers: Attempt) -> None:
        self.made: list[tuple[int, Probe, tuple[int, ...]]] = []
        self._answers = answers

    def __call__(self, trial: int, probe: Probe, against: Sequence[int]) -> Attempt:
        self.made.append((trial, probe, tuple(against)))
        return self._answers["disabled" if probe.launches_do_nothing else "usual" if probe == USUAL else "repeated"]


def test_a_host_that_read_nothing_costs_no_further_call() -> None:
    calls = Calls()
    found = after_first_trial(first(), calls)
    assert (found.outcomes, found.findings, calls.made) == ((), (), [])


@pytest.mark.parametrize(
    ("passes", "causes", "kinds"),
    [
        ((True, False), [], []),
        ((True, True), [], []),
        ((False, True), [Cause.HOST_COMPUTED], []),
        ((False, False), [], [FindingKind.HOST_VALUES_READ]),
    ],
)
def test_outputs_that_follow_the_old_values_were_computed_by_the_host(passes: tuple[bool, bool], causes: list[Cause], kinds: list[FindingKind]) -> None:
    calls = Calls(repeated=Attempt(execution(8), passes, "other"))
    found = after_first_trial(first(read=8), calls)
    assert ([item.cause for item in found.outcomes], [item.kind for item in found.findings]) == (causes, kinds)
    assert calls.made == [(2, HOST_REPEATED, (2, 1))], "the second trial's values lie on the device"


@pytest.mark.parametrize(("passes_again", "causes"), [(True, []), (False, [Cause.RESULTS_DIFFER])])
def test_a_repeated_call_that_fails_is_followed_by_the_first_one_again(passes_again: bool, causes: list[Cause]) -> None:
    """Otherwise whoever fails in every second call would have fresh processes for the second trial."""
    calls = Calls(repeated=Attempt(execution(8, 5.0, Cause.HOST_EXCEPTION), (False, False), "none"), usual=Attempt(execution(8), (passes_again,), "bytes"))
    found = after_first_trial(first(read=8), calls)
    assert [item.cause for item in found.outcomes] == causes
    assert calls.made == [(2, HOST_REPEATED, (2, 1)), (1, USUAL, (1,))]


UNWRITTEN = Attempt(execution(0, 5.0, Cause.UNWRITTEN_OUTPUT), (False,), "poison")


@pytest.mark.parametrize(
    ("repeated", "causes", "kinds"),
    [
        (Attempt(execution(), (), "bytes"), [], []),
        (Attempt(execution(), (), "others"), [Cause.RESULTS_DIFFER], []),
        (Attempt(execution(time_us=6.0), (), "bytes"), [], [FindingKind.TIME_DIFFERS]),
        (Attempt(execution(0, 5.0, Cause.HOST_SIGNAL), (), "bytes"), [Cause.RESULTS_DIFFER], []),
    ],
)
def test_a_repeated_first_call_has_to_give_the_same_bytes_and_time(repeated: Attempt, causes: list[Cause], kinds: list[FindingKind]) -> None:
    calls = Calls(repeated=repeated, disabled=UNWRITTEN)
    found = after_trials(first(), calls)
    assert ([item.cause for item in found.outcomes], [item.kind for item in found.findings]) == (causes, kinds)
    assert calls.made == [(1, REPEATED, ()), (1, DISABLED, (1,))]
    assert REPEATED.poison != USUAL.poison


@pytest.mark.parametrize(("mode", "trial", "is_fresh"), [("full", 1, True), ("full", 2, False), ("standard", 1, False), ("standard", 2, False)])
def test_only_in_full_mode_a_case_begins_in_fresh_processes(mode: IntegrityMode, trial: int, is_fresh: bool) -> None:
    assert probe_of_trial(mode, trial) == replace(USUAL, in_fresh_processes=is_fresh)


@pytest.mark.parametrize(("is_empty", "kinds"), [(False, [FindingKind.KERNEL_NOT_NEEDED]), (True, [])])
def test_outputs_that_are_right_without_a_kernel_are_a_finding_unless_there_are_none(is_empty: bool, kinds: list[FindingKind]) -> None:
    calls = Calls(repeated=first(), disabled=Attempt(execution(), (True,), "bytes", is_empty))
    assert [item.kind for item in after_trials(first(), calls).findings] == kinds


@pytest.mark.parametrize("changes", [{"name": "z"}, {"shape": (2, 2)}, {"dtype_name": "int32"}, {"data": memoryview(b"abce")}])
def test_the_digest_of_outputs_covers_names_forms_and_bytes(changes: dict[str, object]) -> None:
    base: dict[str, object] = {"name": "y", "shape": (4,), "dtype_name": "int8", "strides": (1,), "is_on_device": True, "data": memoryview(b"abcd")}
    one, other = OutputBuffer(**base), OutputBuffer(**{**base, **changes})  # type: ignore[arg-type]
    assert digest_of_outputs([one]) == digest_of_outputs([OutputBuffer(**base)])  # type: ignore[arg-type]
    assert digest_of_outputs([one]) != digest_of_outputs([other])


@dataclass(frozen=True)
class Named:
    """Stands for an operator or a case."""

    name: str

    def digest(self) -> str:
        return self.name


@dataclass(frozen=True)
class Task:
    """What is ordered."""

    operator: Named
    case: Named


TASKS = [Task(Named(operator), Named(str(number))) for operator in ("exp", "gelu") for number in range(12)]


@pytest.mark.parametrize("mode", ["standard", "full"])
def test_only_full_mode_draws_the_order_of_cases_and_keeps_operators_together(mode: IntegrityMode) -> None:
    found = ordered(TASKS, mode, 3)  # type: ignore[type-var]
    assert sorted(found, key=TASKS.index) == TASKS
    assert [task.operator.name for task in found] == ["exp"] * 12 + ["gelu"] * 12
    assert (found == TASKS) is (mode == "standard")
    assert found == ordered(TASKS, mode, 3)  # type: ignore[type-var]
    assert (ordered(TASKS, mode, 4) == found) is (mode == "standard")  # type: ignore[type-var]


def test_full_mode_has_two_trials_and_is_another_evaluation() -> None:
    standard = EvaluationRequest(submission="s", run_dir="r", cache_dir="c")
    full = EvaluationRequest(submission="s", run_dir="r", cache_dir="c", integrity="full")
    assert (standard.trials, full.trials) == (1, 2)
    assert full.identity() != EvaluationRequest(submission="s", run_dir="r", cache_dir="c", trials=2).identity()


def test_a_further_call_that_could_not_be_evaluated_says_what_it_was_for() -> None:
    def fail(trial: int, probe: Probe, against: Sequence[int]) -> Attempt:
        raise ProcessLostError("the zygote is gone")

    with pytest.raises(EvaluatorError, match="further call for the integrity policy") as caught:
        made(after_trials, first(), fail, "exp/1")
    assert "the zygote is gone" in caught.value.found
    assert caught.value.fault is Fault.PROCESS_LOST, "or it would not be tried again"
    assert caught.value.where == "exp/1"


@pytest.mark.parametrize(
    ("name", "provenance", "world", "can_repeat"),
    [
        ("null", Provenance.SIMULATED, None, False),
        ("cpu", Provenance.DEVICE, World.CPU, False),
        ("ascend910b2", Provenance.DEVICE, World.DEVICE, False),
        ("ascend910b2-sim", Provenance.SIMULATED, World.SIMULATED, True),
    ],
)
def test_only_simulated_targets_repeat_calls(name: str, provenance: Provenance, world: World | None, can_repeat: bool) -> None:
    target = cast(Target, SimpleNamespace(name=name, provenance=provenance))
    assert (world_of(target), has_probes(target)) == (world, can_repeat)
