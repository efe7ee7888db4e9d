"""Does a run meet what can happen to it as it should: failed candidates, limits of models and budgets, edits that do not apply, stops?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_world import OPERATOR, PATH, TextEvaluator, kernel, new_run, report_on
from model_stub import StubServer, completion, failure

from piton.agent.loop import Driver, ModelProposer, Plan, Proposal, Proposed, Proposer, Refused, Task, feedback_of
from piton.agent.loop.model_proposer import edits_failed
from piton.agent.model import Accounts, Budget, Ledger, Limits, ModelOptions, Sampling, open_model, resolve
from piton.agent.model.errors import QuotaError
from piton.agent.runs import RunStore, State
from piton.agent.search import controller_of

TASK = Task(OPERATOR, f"{OPERATOR}(Tensor x) -> Tensor y", "What it does.", "def golden(): ...")


class Listed(Proposer):
    """Proposes these kernels in turn, whatever is asked; keeps what it was asked."""

    name = "listed"

    def __init__(self, *texts: str | Refused | Exception) -> None:
        self.texts = list(texts)
        self.asked: list[Proposal] = []

    def propose(self, proposal: Proposal) -> Proposed | Refused:
        self.asked.append(proposal)
        found = self.texts.pop(0) if self.texts else Refused("nothing more", "no_edit")
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, Refused) else Proposed(kernel(found))


def drive(store: RunStore, proposer: Proposer, evaluator: TextEvaluator | None = None, **more: Any) -> str:
    """Drive a run; `controller`, `budget` and `plan` are by default feedback, none and three rounds of one."""
    controller, plan = controller_of(more.get("controller", "feedback")), more.get("plan", Plan(rounds=3, parallel=1))
    return Driver(store, controller, proposer, evaluator or TextEvaluator(), more.get("budget", Budget(Limits()))).run(plan)


def ratios(store: RunStore) -> list[float | None]:
    found = [item.measured.ratio if item.measured and item.measured.is_right else None for item in store.variants()]
    return [None if ratio is None else round(ratio, 9) for ratio in found]


class TestLoop:
    def test_a_run_measures_its_start_and_every_new_candidate_once(self, tmp_path: Path) -> None:
        store, evaluator = new_run(tmp_path / "r"), TextEvaluator()
        reason = drive(store, Listed("// ratio 3.0", "// ratio 2.5", "// ratio 2.0"), evaluator)
        assert reason == "all 3 rounds are done"
        assert ratios(store) == [4.0, 3.0, 2.5, 2.0]
        assert (evaluator.count, store.state) == (4, (State.FINISHED, reason))
        assert [item.parents for item in store.variants()] == [(), (1,), (2,), (3,)]
        assert store.problems() == []

    def test_headroom_that_is_used_up_ends_it_with_the_figures(self, tmp_path: Path) -> None:
        reason = drive(new_run(tmp_path / "r"), Listed("// ratio 1.05", "// ratio 1.01"))
        assert reason.startswith("headroom is used up: 1.050 T_HW")

    def test_a_time_below_the_limit_ends_it_as_suspect(self, tmp_path: Path) -> None:
        assert "less than T_HW" in drive(new_run(tmp_path / "r"), Listed("// ratio 0.5"))

    def test_a_target_ends_it(self, tmp_path: Path) -> None:
        reason = drive(new_run(tmp_path / "r"), Listed("// ratio 2.0"), plan=Plan(rounds=9, parallel=1, target_gain=2.0))
        assert reason == "variant 2 is 2.00 times as fast as the start, asked were 2"

    def test_rounds_that_bring_nothing_end_it(self, tmp_path: Path) -> None:
        store = new_run(tmp_path / "r")
        assert drive(store, Listed(), plan=Plan(rounds=99, parallel=2)) == "3 rounds in a row brought nothing new"
        assert len(store.events("no_edit")) == 6

    def test_a_duplicate_is_not_measured_again(self, tmp_path: Path) -> None:
        store, evaluator = new_run(tmp_path / "r"), TextEvaluator()
        drive(store, Listed("// ratio 3.0", "// ratio 3.0"), evaluator, plan=Plan(rounds=2, parallel=1))
        assert evaluator.count == 2
        assert [event.data["of"] for event in store.events("duplicate")] == [2]

    def test_candidates_of_a_round_follow_different_strategies(self, tmp_path: Path) -> None:
        store = new_run(tmp_path / "r")
        drive(store, Listed(*(f"// ratio 3.{number}" for number in range(6))), plan=Plan(rounds=2, parallel=3), controller="evolution")
        for number in (1, 2):
            used = [item.strategy for item in store.variants() if item.round == number]
            assert len(set(used)) == 3
            assert all(used)

    def test_hints_of_the_best_are_given_and_written_down(self, tmp_path: Path) -> None:
        store, proposer = new_run(tmp_path / "r"), Listed("// ratio 3.0")
        drive(store, proposer, plan=Plan(rounds=1, parallel=1))
        given = [hint.strategy for hint in proposer.asked[0].hints]
        assert 1 <= len(given) <= 3
        assert [event.data["strategy"] for event in store.events("hint")] == given

    @pytest.mark.parametrize("kind", ["build", "hazard", "value", "timeout"])
    def test_a_candidate_that_fails_goes_back_with_what_was_found(self, tmp_path: Path, kind: str) -> None:
        store, proposer = new_run(tmp_path / "r"), Listed(f"// {kind}", "// ratio 2.0")
        drive(store, proposer, plan=Plan(rounds=2, parallel=1))
        assert ratios(store) == [4.0, None, 2.0]
        said = {"build": "'Foo' was not declared", "hazard": "nothing orders the two", "value": "the worst by 8 ulp", "timeout": "100 times T_baseline"}
        assert said[kind] in proposer.asked[1].parents[0].feedback
        assert proposer.asked[1].parents[0].id == 2


class TestStops:
    @pytest.mark.parametrize(("limits", "what"), [(Limits(device_s=2.0), "device time"), (Limits(wall_s=1e-9), "wall time")])
    def test_a_budget_stops_it_with_everything_kept_and_a_larger_one_goes_on(self, tmp_path: Path, limits: Limits, what: str) -> None:
        store, budget = new_run(tmp_path / "r"), Budget(limits)
        reason = drive(store, Listed("// ratio 3.0", "// ratio 2.0", "// ratio 1.9"), TextEvaluator(budget), budget=budget)
        assert what in reason
        assert store.state[0] is State.STOPPED
        before = ratios(store)
        reason = drive(store, Listed("// ratio 2.0", "// ratio 1.9", "// ratio 1.8"))
        assert store.state == (State.FINISHED, reason)
        assert ratios(store)[: len(before) - 1] == before[:-1]
        assert None not in ratios(store)

    def test_a_stop_by_the_user_keeps_what_was_measured(self, tmp_path: Path) -> None:
        def stop(count: int) -> None:
            if count == 2:
                raise KeyboardInterrupt

        store = new_run(tmp_path / "r")
        with pytest.raises(KeyboardInterrupt):
            drive(store, Listed("// ratio 3.0"), TextEvaluator(before=stop))
        assert store.state == (State.STOPPED, "stopped by the user")
        assert [item.id for item in store.waiting()] == [2]
        evaluator = TextEvaluator()
        drive(store, Listed(), evaluator, plan=Plan(rounds=1, parallel=1))
        assert (ratios(store), evaluator.count) == ([4.0, 3.0], 1)

    def test_an_error_that_no_call_would_escape_ends_the_run_with_its_reason(self, tmp_path: Path) -> None:
        store = new_run(tmp_path / "r")
        with pytest.raises(QuotaError):
            drive(store, Listed(QuotaError("the account's quota is used up")))
        assert store.state == (State.STOPPED, "the account's quota is used up")


BLOCK = f"Faster.\n\n{PATH}\n<<<<<<< SEARCH\nint number;  {{old}}\n=======\nint number;  {{new}}\nint more_{{name}};\n>>>>>>> REPLACE\n"


def block(old: str, new: str, name: str = "a") -> str:
    return BLOCK.format(old=old, new=new, name=name)


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer().running() as server:
        yield server


def modelled(store: RunStore, stub: StubServer, tmp_path: Path, budget: Budget | None = None) -> ModelProposer:
    settings = resolve(ModelOptions("openai:m", f"{stub.url}/v1", 1.0, 2.0, {"temperature": 0.5}), {"HOME": str(tmp_path)})
    model = open_model(settings, Accounts(budget or Budget(Limits()), Ledger(store.path)), tmp_path / "cache")
    return ModelProposer(model, TASK, settings.sampling)


class TestModels:
    def test_a_run_over_http_meets_limits_refusals_and_edits_that_do_not_apply(self, tmp_path: Path, stub: StubServer) -> None:
        stub.replies.extend(
            [
                failure(400, "Unsupported parameter: 'temperature'", param="temperature"),
                completion(block("// ratio 4.0", "// build")),
                failure(429, "slow down"),
                completion(block("// nowhere to be found in any of the files there", "x")),
                completion(block("// build", "// hazard", "b")),
                completion(block("// hazard", "// ratio 2.0", "c")),
            ]
        )
        store = new_run(tmp_path / "r")
        proposer = modelled(store, stub, tmp_path)
        proposer._model._sleep = lambda seconds: None  # type: ignore[attr-defined]
        drive(store, proposer, plan=Plan(rounds=3, parallel=1))
        assert ratios(store) == [4.0, None, None, 2.0]
        outcomes = [row.outcome for row in Ledger(store.path).rows()]
        assert outcomes == ["answered", "rate_limit", "answered", "answered", "answered"]
        assert Ledger(store.path).rows()[0].dropped == "temperature"
        assert proposer.edits == {"exact": 3, "not found": 1}
        assert edits_failed(proposer.edits) == 0.25
        second = stub.asked[3]["messages"][1]["content"]
        assert "'Foo' was not declared in this scope" in second
        assert "could not be applied" in stub.asked[4]["messages"][-1]["content"]
        assert store.answer(3).count("SEARCH") == 2

    def test_an_answer_without_edits_is_asked_for_once_more_and_then_refused(self, tmp_path: Path, stub: StubServer) -> None:
        stub.replies.extend([completion("I would rather not."), completion("No.")])
        store = new_run(tmp_path / "r")
        drive(store, modelled(store, stub, tmp_path), plan=Plan(rounds=1, parallel=1))
        (event,) = store.events("no_edit")
        assert event.data["reason"] == "The answer holds no edit of the form that was asked for."
        assert event.data["answer"] == "I would rather not.\n\nNo."

    def test_an_overflow_is_met_with_less_context(self, tmp_path: Path, stub: StubServer) -> None:
        stub.replies.extend([failure(400, code="context_length_exceeded"), completion(block("// ratio 4.0", "// ratio 3.0"))])
        store = new_run(tmp_path / "r")
        drive(store, modelled(store, stub, tmp_path), plan=Plan(rounds=1, parallel=1))
        assert ratios(store) == [4.0, 3.0]
        assert [row.outcome for row in Ledger(store.path).rows()] == ["context_overflow", "answered"]

    def test_a_budget_of_calls_stops_a_run_before_the_call(self, tmp_path: Path, stub: StubServer) -> None:
        stub.replies.extend([completion(block("// ratio 4.0", "// ratio 3.0")), completion(block("// ratio 3.0", "// ratio 2.0"))])
        store, budget = new_run(tmp_path / "r"), Budget(Limits(calls=1))
        reason = drive(store, modelled(store, stub, tmp_path, budget), budget=budget, plan=Plan(rounds=5, parallel=1))
        assert "model calls" in reason
        assert (ratios(store), len(stub.asked), store.state[0]) == ([4.0, 3.0], 1, State.STOPPED)

    def test_a_recorded_run_replays_to_the_same_variants(self, tmp_path: Path) -> None:
        (tmp_path / "s.toml").write_text(
            "".join(f"[[step]]\nanswer = {json.dumps(text)}\n" for text in (block("// ratio 4.0", "// ratio 3.0"), block("// ratio 3.0", "// ratio 2.0", "b")))
        )

        def made(name: str, choice: str, record: Path | None) -> RunStore:
            store = new_run(tmp_path / name)
            settings = resolve(ModelOptions(choice), {})
            model = open_model(settings, Accounts(Budget(Limits()), Ledger(store.path)), tmp_path / "cache", record)
            drive(store, ModelProposer(model, TASK, Sampling()), plan=Plan(rounds=2, parallel=1))
            return store

        first = made("first", f"scripted:{tmp_path / 's.toml'}", tmp_path / "c")
        second = made("second", f"cassette:{tmp_path / 'c'}", None)
        assert [item.source_digest for item in first.variants()] == [item.source_digest for item in second.variants()]
        assert ratios(second) == [4.0, 3.0, 2.0]


class TestFeedback:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("// build", f"- {PATH}:7: 'Foo' was not declared in this scope"),
            ("// hazard", f"hazard: missing_sync: DataCopyPad (MTE3) reads what Exp (V) wrote, and nothing orders the two ({PATH}:12)"),
            ("// value", "3 of 100 elements are wrong"),
            ("// hazard", "- finding: auto_sync_relied_on: 2 dependences rely on auto-sync"),
            ("// ratio 1.5", "T_cand is 1.50 T_HW in the geometric mean"),
        ],
    )
    def test_it_says_what_was_found_and_where(self, text: str, said: str) -> None:
        assert said in feedback_of(report_on(kernel(text)).operators[0])

    def test_it_is_never_longer_than_asked(self) -> None:
        text = feedback_of(report_on(kernel("// hazard")).operators[0], most=120)
        assert len(text) < 160
        assert text.endswith("(more was left out)")
