"""Do the clients say what providers answer: text, tokens, and each failure as its type? Asked of a local server with the vendors' SDKs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from model_stub import Reply, StubServer, completion, failure, message

from piton.agent.model import Finish, Message, ModelError, Request, Sampling, Speaker, Usage
from piton.agent.model.anthropic_client import AnthropicModel
from piton.agent.model.errors import (
    BadRequestError,
    ContextOverflowError,
    MalformedAnswerError,
    PassingError,
    QuotaError,
    RateLimitError,
    RefusedKeyError,
    TimedOutError,
    UnavailableError,
    UnknownModelError,
)
from piton.agent.model.http_client import Endpoint, HttpModel
from piton.agent.model.openai_client import OpenAiModel
from piton.agent.model.refused import RefusedParameters

ASKED = Request(
    (Message(Speaker.SYSTEM, "be short"), Message(Speaker.USER, "a kernel, please")), Sampling(max_output_tokens=99, temperature=0.5, seed=7, stop=("END",))
)
PROVIDERS = {"openai": (OpenAiModel, completion, "/v1"), "anthropic": (AnthropicModel, message, "")}


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer().running() as server:
        yield server


def client(stub: StubServer, provider: str = "openai", timeout_s: float = 20.0, refused: RefusedParameters | None = None) -> HttpModel:
    kind, _, path = PROVIDERS[provider]
    return kind(Endpoint(provider, "m", "secret", stub.url + path, timeout_s), refused or RefusedParameters())


def test_a_completion_comes_back_with_its_tokens_and_was_asked_for_as_documented(stub: StubServer) -> None:
    stub.replies.append(completion())
    answer = client(stub).ask(ASKED)
    assert (answer.text, answer.finish, answer.usage, answer.model, answer.dropped) == ("answer", Finish.DONE, Usage(10, 5, 4), "m-2026", ())
    assert stub.paths == ["/v1/chat/completions"]
    assert stub.keys == ["Bearer secret"]
    messages = [{"role": "system", "content": "be short"}, {"role": "user", "content": "a kernel, please"}]
    assert stub.asked == [{"model": "m", "messages": messages, "max_completion_tokens": 99, "temperature": 0.5, "seed": 7, "stop": ["END"]}]


def test_a_message_comes_back_with_its_tokens_and_was_asked_for_as_documented(stub: StubServer) -> None:
    stub.replies.append(message())
    answer = client(stub, "anthropic").ask(ASKED)
    assert (answer.text, answer.finish, answer.usage, answer.model) == ("answer", Finish.DONE, Usage(15, 5, 4), "c-2026")
    assert answer.dropped == ("seed",), "there is no seed in this interface"
    assert stub.paths == ["/v1/messages"]
    assert stub.keys[0].removeprefix("Bearer ") == "secret"
    expected = {
        "system": "be short",
        "messages": [{"role": "user", "content": "a kernel, please"}],
        "max_tokens": 99,
        "temperature": 0.5,
        "stop_sequences": ["END"],
        "model": "m",
    }
    assert stub.asked == [expected]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (failure(401), RefusedKeyError),
        (failure(403), RefusedKeyError),
        (failure(404), UnknownModelError),
        (failure(402), QuotaError),
        (failure(429, code="insufficient_quota"), QuotaError),
        (failure(429), RateLimitError),
        (failure(500), UnavailableError),
        (failure(503), UnavailableError),
        (failure(529), UnavailableError),
        (failure(400, "This model's maximum context length is 100 tokens", code="context_length_exceeded"), ContextOverflowError),
        (failure(400, "prompt is too long: 300000 tokens > 200000 maximum"), ContextOverflowError),
        (failure(400, "messages: at least one message is required"), BadRequestError),
        (Reply(500, "<html>gateway</html>"), UnavailableError),
    ],
    ids=lambda value: str(getattr(value, "kind", getattr(value, "status", value))),
)
def test_each_failure_has_its_type(stub: StubServer, provider: str, reply: Reply, kind: type[ModelError]) -> None:
    stub.replies.append(reply)
    with pytest.raises(ModelError) as caught:
        client(stub, provider).ask(ASKED)
    assert type(caught.value) is kind
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_rate_limit_says_how_long_to_wait(stub: StubServer, provider: str) -> None:
    stub.replies.append(Reply(429, {"error": {"message": "slow down"}}, {"retry-after": "3"}))
    with pytest.raises(RateLimitError) as caught:
        client(stub, provider).ask(ASKED)
    assert caught.value.retry_after_s == 3.0


@pytest.mark.parametrize("reply", [completion(None), Reply(body={"choices": []}), Reply(body="this is no JSON"), Reply(body={"choices": [{}]})])
def test_an_answer_out_of_form_is_malformed_and_may_pass(stub: StubServer, reply: Reply) -> None:
    stub.replies.append(reply)
    with pytest.raises(MalformedAnswerError) as caught:
        client(stub).ask(ASKED)
    assert caught.value.is_passing


@pytest.mark.parametrize(("provider", "reply"), [("openai", completion("half", "length")), ("anthropic", message("half", "max_tokens"))])
def test_an_answer_that_was_cut_says_so(stub: StubServer, provider: str, reply: Reply) -> None:
    stub.replies.append(reply)
    assert client(stub, provider).ask(ASKED).finish is Finish.CUT


def test_an_answer_whose_tokens_nobody_counted_has_no_usage(stub: StubServer) -> None:
    stub.replies.append(completion(usage=None))
    assert client(stub).ask(ASKED).usage is None


def test_a_provider_that_does_not_answer_times_out(stub: StubServer) -> None:
    stub.replies.append(Reply(body={}, delay_s=1.5))
    with pytest.raises(TimedOutError):
        client(stub, timeout_s=0.3).ask(ASKED)


def test_a_provider_that_is_not_there_is_unavailable_with_the_reason() -> None:
    model = OpenAiModel(Endpoint("openai", "m", "k", "http://127.0.0.1:9/v1", 5.0), RefusedParameters())
    with pytest.raises(UnavailableError, match="refused"):
        model.ask(ASKED)


REFUSALS = [
    failure(400, "Unsupported value: 'temperature' does not support 0.5 with this model.", param="temperature", code="unsupported_value"),
    failure(400, "`temperature` is deprecated for this model."),
    failure(422, "Extra inputs are not permitted: temperature"),
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refused_parameter_is_dropped_and_remembered_by_later_processes(stub: StubServer, refusal: Reply, tmp_path: Path) -> None:
    file = tmp_path / "refused.json"
    stub.replies.extend([refusal, completion(), completion()])
    answer = client(stub, refused=RefusedParameters(file)).ask(ASKED)
    again = client(stub, refused=RefusedParameters(file)).ask(ASKED)
    assert answer.dropped == again.dropped == ("temperature",)
    assert ["temperature" in asked for asked in stub.asked] == [True, False, False]


def test_a_server_that_knows_the_old_name_of_the_length_only_is_asked_by_it(stub: StubServer) -> None:
    stub.replies.extend([failure(400, "Unrecognized request argument supplied: max_completion_tokens"), completion()])
    client(stub).ask(ASKED)
    assert (stub.asked[1]["max_tokens"], "max_completion_tokens" in stub.asked[1]) == (99, False)


def test_a_server_that_refuses_everything_is_not_asked_for_ever(stub: StubServer) -> None:
    stub.replies.extend([failure(400, "unknown parameter: max_completion_tokens"), failure(400, "unknown parameter: max_tokens")])
    with pytest.raises(MalformedAnswerError, match="neither"):
        client(stub).ask(ASKED)


def test_a_remembered_refusal_is_tried_again_after_a_month(tmp_path: Path) -> None:
    now = [1e9]
    refused = RefusedParameters(tmp_path / "r.json", lambda: now[0])
    refused.add("m", "seed")
    assert refused.of("m") == {"seed"}
    now[0] += 31 * 86_400
    assert refused.of("m") == frozenset()


def test_a_damaged_memory_of_refusals_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"m": 3')
    refused = RefusedParameters(tmp_path / "r.json")
    assert refused.of("m") == frozenset()
    refused.add("m", "seed")
    assert RefusedParameters(tmp_path / "r.json").of("m") == {"seed"}


def test_passing_errors_are_those_that_may_pass() -> None:
    assert {kind.__name__ for kind in PassingError.__subclasses__()} == {"RateLimitError", "UnavailableError", "TimedOutError", "MalformedAnswerError"}
