"""The model layer without a network: retries, budgets, ledger, scripts, cassettes, configuration."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from piton.agent.model import (
    Accounts,
    Answer,
    Budget,
    BudgetStopError,
    Finish,
    Ledger,
    Limits,
    Message,
    ModelOptions,
    Request,
    Sampling,
    Speaker,
    Spending,
    Usage,
    open_model,
    resolve,
)
from piton.agent.model.cassette import RecordingModel, ReplayedModel
from piton.agent.model.config import ModelForm
from piton.agent.model.errors import BadRequestError, ModelError, NoKeyError, NotRecordedError, RateLimitError, ScriptEndedError
from piton.agent.model.ledger import Row, money_of
from piton.agent.model.metered import MeteredModel
from piton.agent.model.prices import Price
from piton.agent.model.retry import Patience, RetryingModel
from piton.agent.model.scripted import ScriptedModel
from piton.core.errors import FormatError, PitonError, UsageError


def request(text: str = "hello", **sampling: Any) -> Request:
    return Request((Message(Speaker.USER, text),), Sampling(**sampling), "propose")


class Fake:
    """Raises or returns what it was given, in turn."""

    name = "fake:m"

    def __init__(self, *outcomes: Answer | Exception) -> None:
        self.outcomes = list(outcomes)
        self.asked = 0

    def ask(self, request: Request) -> Answer:
        del request
        self.asked += 1
        found = self.outcomes.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


YES = Answer("yes", usage=Usage(100, 50, 40))


class TestRetries:
    def test_a_passing_error_is_tried_again_after_the_wait_that_was_asked_for(self) -> None:
        waits: list[float] = []
        inner = Fake(RateLimitError("slow", retry_after_s=7.0), YES)
        assert RetryingModel(inner, Patience(), waits.append).ask(request()) is YES
        assert waits == [7.0]

    def test_waits_of_our_own_grow_and_end(self) -> None:
        waits: list[float] = []
        inner = Fake(*[RateLimitError("slow") for _ in range(5)])
        with pytest.raises(RateLimitError):
            RetryingModel(inner, Patience(attempts=5, first_wait_s=1.0, longest_wait_s=3.0), waits.append).ask(request())
        assert inner.asked == 5
        assert all(low <= wait <= 3.0 for low, wait in zip((1, 2, 3, 3), waits, strict=True))

    @pytest.mark.parametrize("error", [BadRequestError("no"), RateLimitError("an hour", retry_after_s=3600.0)])
    def test_what_does_not_pass_soon_is_not_waited_for(self, error: ModelError) -> None:
        inner = Fake(error)
        with pytest.raises(type(error)):
            RetryingModel(inner, Patience(), lambda _: None).ask(request())
        assert inner.asked == 1


class TestBudget:
    @pytest.mark.parametrize(
        ("limits", "amount", "what"),
        [
            (Limits(usd=1.0), Spending(usd=1.1), "money"),
            (Limits(tokens=10), Spending(tokens=11), "tokens"),
            (Limits(calls=1), Spending(calls=2), "model calls"),
            (Limits(device_s=2.0), Spending(device_s=2.5), "device time"),
        ],
    )
    def test_what_a_limit_does_not_allow_is_refused_before_it_is_done(self, limits: Limits, amount: Spending, what: str) -> None:
        with pytest.raises(BudgetStopError, match=what), Budget(limits).reserve(amount):
            pytest.fail("reserved")

    def test_a_reservation_counts_until_it_is_settled(self) -> None:
        budget = Budget(Limits(tokens=100))
        with budget.reserve(Spending(tokens=80)) as first:
            with pytest.raises(BudgetStopError), budget.reserve(Spending(tokens=30)):
                pytest.fail("overspent")
            first.settle(Spending(tokens=10))
        with budget.reserve(Spending(tokens=90)):
            pass
        assert budget.spent.tokens == 100, "what is not settled counts whole"
        with pytest.raises(BudgetStopError):
            budget.check()

    def test_wall_time_goes_on_where_a_resumed_run_left_off(self) -> None:
        now = [0.0]
        budget = Budget(Limits(wall_s=10.0), elapsed_s=6.0, clock=lambda: now[0])
        budget.check()
        now[0] = 4.0
        with pytest.raises(BudgetStopError, match="wall time"):
            budget.check()

    def test_many_threads_together_do_not_overspend(self) -> None:
        budget, done = Budget(Limits(calls=20)), []

        def work() -> None:
            with suppress(BudgetStopError):
                for _ in range(10):
                    with budget.reserve(Spending(calls=1)):
                        done.append(1)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(done), budget.spent.calls) == (20, 20)

    @pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
    def test_a_limit_that_allows_nothing_is_a_mistake(self, value: float) -> None:
        with pytest.raises(UsageError, match="not above 0"):
            Limits(usd=value)


class TestLedger:
    def test_an_answer_is_charged_by_the_price_of_its_tokens(self, tmp_path: Path) -> None:
        budget, ledger = Budget(Limits(usd=1.0)), Ledger(tmp_path / "run.db")
        MeteredModel(Fake(YES), budget, ledger, Price(2.0, 10.0, 1.0)).ask(request())
        usd = (60 * 2.0 + 40 * 1.0 + 50 * 10.0) / 1e6
        assert budget.spent == Spending(usd=pytest.approx(usd), tokens=150, calls=1)  # type: ignore[arg-type]
        (row,) = ledger.rows()
        assert (row.purpose, row.model, row.outcome, row.input_tokens, row.output_tokens, row.cached_tokens) == ("propose", "fake:m", "answered", 100, 50, 40)
        assert row.usd == pytest.approx(usd)

    def test_an_error_is_a_call_with_its_kind_and_no_tokens(self, tmp_path: Path) -> None:
        budget, ledger = Budget(Limits(calls=5)), Ledger(tmp_path / "run.db")
        with pytest.raises(RateLimitError):
            MeteredModel(Fake(RateLimitError("slow")), budget, ledger, None).ask(request())
        assert budget.spent == Spending(calls=1)
        assert [(row.outcome, row.input_tokens, row.usd) for row in ledger.rows()] == [("rate_limit", None, None)]

    def test_an_unknown_price_is_no_number_and_makes_sums_lower_bounds(self, tmp_path: Path) -> None:
        ledger = Ledger(tmp_path / "run.db")
        MeteredModel(Fake(YES), Budget(Limits()), ledger, None).ask(request())
        assert ledger.rows()[0].usd is None
        assert str(money_of([*ledger.rows(), Row("p", "m", "d", "answered", 0.0, 1.0, usd=0.25)])) == "at least $0.2500 (1 calls of unknown price)"

    def test_a_budget_in_money_refuses_a_model_of_unknown_price(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="needs the price of fake:m"):
            MeteredModel(Fake(), Budget(Limits(usd=1.0)), Ledger(tmp_path / "run.db"), None)

    def test_nothing_is_asked_when_the_most_a_call_may_take_is_not_left(self, tmp_path: Path) -> None:
        inner, ledger = Fake(YES), Ledger(tmp_path / "run.db")
        with pytest.raises(BudgetStopError):
            MeteredModel(inner, Budget(Limits(tokens=500)), ledger, None).ask(request(max_output_tokens=600))
        assert (inner.asked, ledger.rows()) == (0, ())

    def test_a_resumed_run_goes_on_from_what_the_ledger_holds(self, tmp_path: Path) -> None:
        MeteredModel(Fake(YES), Budget(Limits()), Ledger(tmp_path / "run.db"), Price(1.0, 1.0)).ask(request())
        again = Ledger(tmp_path / "run.db")
        assert again.spent() == Spending(usd=150 / 1e6, tokens=150, calls=1)

    def test_a_ledger_in_a_place_that_cannot_be_is_one_clear_error(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(PitonError, match="ledger"):
            Ledger(tmp_path / "file" / "run.db")


SCRIPT = """
[[step]]
when = "second"
answer = "for the second"
[[step]]
error = "rate_limit"
retry_after_s = 2
[[step]]
answer_file = "long.md"
tokens = [7, 3]
finish = "cut"
[[step]]
when = "again"
repeat = true
answer = "and again"
"""


def scripted(tmp_path: Path, text: str = SCRIPT) -> ScriptedModel:
    (tmp_path / "long.md").write_text("from a file")
    (tmp_path / "script.toml").write_text(text)
    return ScriptedModel(tmp_path / "script.toml")


class TestScripts:
    def test_steps_are_taken_in_turn_by_the_requests_they_are_for(self, tmp_path: Path) -> None:
        model = scripted(tmp_path)
        with pytest.raises(RateLimitError) as caught:
            model.ask(request("the first"))
        assert caught.value.retry_after_s == 2.0
        assert model.ask(request("the second")).text == "for the second"
        answer = model.ask(request("the third"))
        assert (answer.text, answer.finish, answer.usage) == ("from a file", Finish.CUT, Usage(7, 3))
        assert [model.ask(request("again")).text for _ in range(3)] == ["and again"] * 3
        with pytest.raises(ScriptEndedError):
            model.ask(request("one more"))

    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ("[[step]]\n", "either answer"),
            ('[[step]]\nerror = "fire"', "unknown error"),
            ('[[step]]\nanswr = "x"', "answr"),
            ("step = []", "step"),
            ('[[step]]\nanswer_file = "no.md"', "no.md"),
        ],
    )
    def test_a_wrong_script_is_one_clear_error(self, tmp_path: Path, text: str, what: str) -> None:
        with pytest.raises(FormatError, match=what):
            scripted(tmp_path, text)


class TestCassettes:
    def test_a_replay_meets_what_the_recording_met(self, tmp_path: Path) -> None:
        file = tmp_path / "run.cassette"
        recorder = RecordingModel(Fake(YES, RateLimitError("slow", retry_after_s=1.0), Answer("other", Finish.CUT, None, "m", ("seed",))), file)
        outcomes = [self._outcome(recorder, text) for text in ("a", "a", "b")]
        replayed = ReplayedModel(file)
        assert [self._outcome(replayed, text) for text in ("b", "a", "a")] == [outcomes[2], outcomes[0], outcomes[1]]
        assert replayed.name == "fake:m"

    @staticmethod
    def _outcome(model: RecordingModel | ReplayedModel, text: str) -> object:
        try:
            return model.ask(request(text))
        except RateLimitError as error:
            return (error.kind, error.problem, error.retry_after_s)

    def test_a_request_that_was_never_made_says_so(self, tmp_path: Path) -> None:
        file = tmp_path / "c"
        RecordingModel(Fake(YES), file).ask(request("a"))
        with pytest.raises(NotRecordedError):
            ReplayedModel(file).ask(request("a", temperature=0.1))

    def test_a_line_that_a_kill_cut_off_is_left_out_and_a_wrong_one_is_an_error(self, tmp_path: Path) -> None:
        file = tmp_path / "c"
        RecordingModel(Fake(YES), file).ask(request("a"))
        whole = file.read_text()
        file.write_text(whole + whole[:20])
        assert ReplayedModel(file).ask(request("a")) == YES
        file.write_text("nonsense\n" + whole)
        with pytest.raises(FormatError, match="c:1"):
            ReplayedModel(file)


CONFIG = """
model = "mine"
[models.mine]
provider = "openai"
name = "big"
base_url = "http://localhost:1/v1"
key_variable = "MY_KEY"
price_input = 1.0
price_output = 2.0
price_cached = 0.5
temperature = 0.1
top_p = 0.9
seed = 3
effort = "low"
max_output_tokens = 77
timeout_s = 5.0
attempts = 2
longest_wait_s = 9.0
"""


def settings_of(tmp_path: Path, text: str, **options: Any) -> Any:
    (tmp_path / "config.toml").write_text(text)
    return resolve(ModelOptions(**options), {"PITON_CONFIG": str(tmp_path / "config.toml"), "MY_KEY": "k", "OTHER": "o", "ANTHROPIC_API_KEY": "a"})


class TestConfiguration:
    CHANGES = {
        "provider": '"anthropic"',
        "name": '"small"',
        "base_url": '"http://localhost:2/v1"',
        "key_variable": '"OTHER"',
        "price_input": "3.0",
        "price_output": "3.0",
        "price_cached": "3.0",
        "temperature": "0.2",
        "top_p": "0.2",
        "seed": "4",
        "effort": '"high"',
        "max_output_tokens": "78",
        "timeout_s": "6.0",
        "attempts": "3",
        "longest_wait_s": "10.0",
    }

    def test_every_key_of_a_model_is_changed_below(self) -> None:
        assert set(self.CHANGES) == set(ModelForm.model_fields)

    @pytest.mark.parametrize("key", CHANGES)
    def test_every_key_of_a_model_has_an_effect(self, tmp_path: Path, key: str) -> None:
        lines = [f"{key} = {self.CHANGES[key]}" if line.startswith(f"{key} =") else line for line in CONFIG.splitlines()]
        assert settings_of(tmp_path, "\n".join(lines)) != settings_of(tmp_path, CONFIG)

    def test_an_option_goes_before_the_environment_and_that_before_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "config.toml").write_text(CONFIG)
        environment = {"PITON_CONFIG": str(tmp_path / "config.toml"), "MY_KEY": "k"}
        assert resolve(ModelOptions(), environment).endpoint.base_url == "http://localhost:1/v1"
        environment |= {"PITON_MODEL_BASE_URL": "http://env/v1", "PITON_MODEL": "openai:other", "PITON_MODEL_KEY": "e"}
        found = resolve(ModelOptions(), environment)
        assert (found.endpoint.model, found.endpoint.base_url, found.endpoint.key) == ("other", "http://env/v1", "e")
        found = resolve(ModelOptions("mine", "http://typed/v1", 5.0, 6.0, {"temperature": 0.7}), environment)
        assert (found.endpoint.model, found.endpoint.base_url, found.price, found.sampling.temperature) == ("big", "http://typed/v1", Price(5.0, 6.0, 0.5), 0.7)

    def test_a_key_that_is_missing_is_named_and_one_that_is_there_is_never_shown(self, tmp_path: Path) -> None:
        with pytest.raises(NoKeyError, match="OPENAI_API_KEY"):
            resolve(ModelOptions("openai:m"), {"HOME": str(tmp_path)})
        found = resolve(ModelOptions("openai:m"), {"HOME": str(tmp_path), "OPENAI_API_KEY": "sk-secret"})
        assert "sk-secret" not in repr(found)
        assert found.price is None

    def test_a_server_of_ones_own_needs_no_key(self, tmp_path: Path) -> None:
        assert resolve(ModelOptions("openai:m", "http://localhost/v1"), {"HOME": str(tmp_path)}).endpoint.key == ""

    @pytest.mark.parametrize(
        ("options", "what"),
        [
            (ModelOptions(), "no model was chosen"),
            (ModelOptions("gpt"), "there is no model 'gpt'"),
            (ModelOptions("scripted:nowhere.toml"), "no file"),
            (ModelOptions("openai:m", "http://x", price_input=1.0), "half a price"),
        ],
    )
    def test_a_choice_that_cannot_be_is_one_clear_error(self, tmp_path: Path, options: ModelOptions, what: str) -> None:
        with pytest.raises(UsageError, match=what):
            resolve(options, {"HOME": str(tmp_path)})

    def test_an_opened_script_is_metered_recorded_and_replays_alike(self, tmp_path: Path) -> None:
        (tmp_path / "s.toml").write_text('[[step]]\nanswer = "kernel"\n')
        ledger = Ledger(tmp_path / "run.db")
        settings = resolve(ModelOptions(f"scripted:{tmp_path / 's.toml'}"), {})
        model = open_model(settings, Accounts(Budget(Limits(usd=1.0)), ledger), tmp_path / "cache", record=tmp_path / "c")
        assert model.ask(request()).text == "kernel"
        replay = open_model(resolve(ModelOptions(f"cassette:{tmp_path / 'c'}"), {}), Accounts(Budget(Limits()), ledger), tmp_path / "cache")
        assert replay.ask(request()).text == "kernel"
        assert [(row.outcome, row.usd) for row in ledger.rows()] == [("answered", 0.0), ("answered", 0.0)]
