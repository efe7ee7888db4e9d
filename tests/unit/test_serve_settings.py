"""Who may call, and what a client may choose."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from piton.cli import serving
from piton.cli.serve_app import serve_app
from piton.core.errors import TargetUnavailableError, UsageError
from piton.server.callers import Callers, read_callers
from piton.server.core import EvaluationCore
from piton.server.records import JobRecord
from piton.server.refusal import RefusedError
from piton.server.settings import JobOptions, ServeSettings, check_options, parse_options

_SETTINGS = ServeSettings(state_dir="s", cache_dir="c", targets=("null", "ascend910b2-sim"), suites=("piton", "some/where/mine/"), operators=("exp",))
_TOKEN = "0123456789abcdef"


def _tokens(root: Path, text: str, mode: int = 0o600) -> str:
    path = root / "tokens"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize(
    "text", ["{}", '{"target": "ascend910b2-sim"}', '{"suite": "mine"}', '{"operators": ["exp"], "cases": ["1"], "is_fast": true, "auto_sync": false}']
)
def test_what_the_server_offers_may_be_chosen(text: str) -> None:
    check_options(parse_options(text), _SETTINGS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"target": "ascend910b1-sim"}', "that target"),
        ('{"suite": "some/where/mine"}', "that suite"),
        ('{"suite": "/etc"}', "that suite"),
        ('{"operators": ["exp", "gelu"]}', "that operator"),
        ('{"seed": 0}', "choose seed"),
        ('{"trials": 1}', "choose trials"),
        ('{"precision_profile": "cann-bench"}', "choose precision_profile"),
    ],
)
def test_what_the_server_keeps_to_itself_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        check_options(parse_options(text), _SETTINGS)


def test_a_choice_that_the_server_gives_may_be_made() -> None:
    check_options(JobOptions(seed=0), _SETTINGS.model_copy(update={"may_set": frozenset({"seed"})}))


@pytest.mark.parametrize("text", ["[]", "{", '{"hidden": 1}', '{"seed": -1}', '{"jobs": 64}', '{"cases": "1"}'])
def test_options_that_are_none_are_one_clear_error(text: str) -> None:
    with pytest.raises(UsageError, match="options of the job can't be read"):
        parse_options(text)


def test_a_token_names_its_client(tmp_path: Path) -> None:
    callers = read_callers(_tokens(tmp_path, f"# comment\n\nana {_TOKEN}\nbob {_TOKEN}x\n"), "0.0.0.0")
    assert callers.identify(f"Bearer {_TOKEN}x", "10.0.0.1", "server") == "bob"


@pytest.mark.parametrize("header", ["", "Bearer", f"Bearer {_TOKEN}y", f"Bearer {_TOKEN[:-1]}", "Bearer \udcff"])
def test_no_or_a_wrong_token_is_refused(tmp_path: Path, header: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read_callers(_tokens(tmp_path, f"ana {_TOKEN}\n"), "127.0.0.1").identify(header, "127.0.0.1", "127.0.0.1")
    assert caught.value.status == 401


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "localhost:1", "[::1]:8765", "127.0.0.1"])
def test_this_machine_needs_no_token(host: str) -> None:
    assert Callers({}).identify("", "127.0.0.1", host) == "127.0.0.1"


@pytest.mark.parametrize("host", ["", "evil.example", "evil.example:8765", "127.0.0.1.evil.example:80", "10.0.0.1:8765"])
def test_a_page_under_another_name_does_not_reach_a_server_without_tokens(host: str) -> None:
    with pytest.raises(RefusedError) as caught:
        Callers({}).identify("", "127.0.0.1", host)
    assert caught.value.status == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1", "::", "server"])
def test_an_address_that_others_reach_needs_tokens(host: str) -> None:
    with pytest.raises(UsageError, match="needs tokens"):
        read_callers("", host)


@pytest.mark.parametrize(
    ("text", "mode", "problem"),
    [
        (f"ana {_TOKEN}\n", 0o644, "open to others"),
        ("ana short\n", 0o600, "can't be read"),
        (f"ana {_TOKEN}\nana {_TOKEN}x\n", 0o600, "can't be read"),
        (f"{_TOKEN}\n", 0o600, "can't be read"),
        ("# nobody\n", 0o600, "has no token"),
    ],
)
def test_a_wrong_token_file_is_one_clear_error(tmp_path: Path, text: str, mode: int, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        read_callers(_tokens(tmp_path, text, mode), "127.0.0.1")


def test_the_deadline_of_a_call_is_the_servers_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[ServeSettings] = []

    def take(options: serving.ServeOptions) -> int:
        given.append(serving.settings_of(options))
        return 0

    monkeypatch.setattr(serving, "run_server", take)
    assert CliRunner().invoke(serve_app, ["--host-deadline", "7"]).exit_code == 0
    assert CliRunner().invoke(serve_app, []).exit_code == 0
    assert [settings.bounds.host_deadline_s for settings in given] == [7.0, 300.0]


def test_a_server_that_is_stopped_while_it_prepares_ends_what_it_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    did: list[str] = []

    def stopped(core: EvaluationCore) -> None:
        did.append("prepared")
        raise KeyboardInterrupt

    monkeypatch.setattr(EvaluationCore, "prepare", stopped)
    monkeypatch.setattr(EvaluationCore, "close", lambda core: did.append("closed"))
    CliRunner().invoke(serve_app, ["--port", "0", "--target", "null", "--state", str(tmp_path)])
    assert did == ["prepared", "closed"]


@pytest.mark.parametrize(("options", "what"), [(JobOptions(target="cpu"), "target"), (JobOptions(suite="mine"), "suite")])
def test_a_job_of_an_earlier_start_that_is_no_longer_offered_is_told_so(tmp_path: Path, options: JobOptions, what: str) -> None:
    core = EvaluationCore(ServeSettings(state_dir=str(tmp_path), cache_dir=str(tmp_path), targets=("null",)))
    job = JobRecord(id="j", client="c", submission_digest="d", options=options)
    with pytest.raises(TargetUnavailableError, match=f"no longer offers the {what}"):
        core.request_of(job, tmp_path)
    core.close()
