"""What models, servers and files must not be able to do to a run: end it, upset its budget, or keep it busy for hours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from piton.agent.candidate import Tree, TreeError, parse_edits, read_tree
from piton.agent.model import ModelOptions, resolve
from piton.agent.model.cassette import RecordingModel, ReplayedModel
from piton.agent.model.errors import NoKeyError
from piton.agent.model.protocol import Answer, Message, Request, Speaker, Usage, usage_of
from piton.agent.model.scripted import ScriptedModel
from piton.core.errors import FormatError

BLOCK = "a.cpp\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n"


class Parrot:
    """Says the last message again."""

    name = "parrot"

    def ask(self, request: Request) -> Answer:
        return Answer(request.messages[-1].text, usage=Usage(1, 1))


def asked(text: str) -> Request:
    return Request((Message(Speaker.USER, text),))


@pytest.mark.parametrize("mark", ["<<<<<<< SEARCH\n", "```b\n", "```cpp\n<<<<<<< SEARCH\n", "`" * 50_000 + " x y!\n", "```" + "a" * 50_000 + " x y\n"])
def test_marks_repeated_without_end_are_read_at_once_and_are_no_edit(mark: str) -> None:
    assert parse_edits(mark * (100_000 if len(mark) < 100 else 2)) == ()


def test_an_edit_between_marks_that_mean_nothing_is_found() -> None:
    assert [edit.replace for edit in parse_edits("*" * 50_000 + "\n" + BLOCK + "<<<<<<< SEARCH\n" * 3)] == ["new\n"]


@pytest.mark.parametrize("path", ["a.cpp/b.cpp", "x" * 250 + ".cpp", "y/" * 600 + "a.cpp"])
def test_files_that_no_folder_can_hold_are_refused_before_they_are_written(path: str) -> None:
    with pytest.raises(TreeError):
        Tree({"a.cpp": "", path: ""})


@pytest.mark.parametrize("name", ["a.py", "a.cpp", "a.txt"])
def test_sources_in_latin_1_have_a_digest_and_can_be_sent_to_a_model(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"# caf\xe9\n")
    tree = read_tree(tmp_path)
    assert tree.source_digest == read_tree(tmp_path).source_digest
    assert asked(tree.files[name]).messages[0].text.encode() == "# caf\ufffd\n".encode()


def test_a_cut_emoji_in_an_answer_becomes_a_mark() -> None:
    assert Answer("half \ud83d of it").text == "half \ufffd of it"


def test_python_that_its_parser_gives_up_on_has_a_digest() -> None:
    assert Tree({"a.py": "-" * 50_000 + "1"}).source_digest != Tree({"a.py": "-" * 50_001 + "1"}).source_digest


@pytest.mark.parametrize("counts", [(-1, 5, 0), (5, -1, 0), (1 << 80, 5, 0), ("5", 5, 0), (None, 5, 0)])
def test_tokens_that_no_call_takes_are_unknown(counts: tuple[object, object, object]) -> None:
    assert usage_of(*counts) is None


def test_cached_tokens_are_a_part_of_the_input() -> None:
    assert usage_of(10, 5, 400) == Usage(10, 5, 10)
    assert usage_of(10, 5, -3) == Usage(10, 5, 0)
    assert usage_of(10, 5, "x") == Usage(10, 5, 0)


@pytest.mark.parametrize("step", ['answer_file = ""', 'answer = "x"\ntokens = [-5, 1]', 'answer = "x"\ntokens = [1, 99999999999999]'])
def test_a_wrong_step_of_a_script_is_refused_when_it_is_read(tmp_path: Path, step: str) -> None:
    (tmp_path / "script.toml").write_text(f"[[step]]\n{step}\n")
    with pytest.raises(FormatError):
        ScriptedModel(tmp_path / "script.toml")


def test_recording_goes_on_behind_a_line_that_a_kill_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "cassette.jsonl"
    RecordingModel(Parrot(), path).ask(asked("one"))
    path.write_text(path.read_text() + '{"piton_cassette": 1, "model": "par')
    RecordingModel(Parrot(), path).ask(asked("two"))
    replayed = ReplayedModel(path)
    assert [replayed.ask(asked(text)).text for text in ("one", "two")] == ["one", "two"]


@pytest.mark.parametrize("outcome", [{"answer": "text"}, {"answer": {"text": "x"}}, {"error": "rate_limit"}, {"error": {"kind": "quota"}}])
def test_a_line_of_a_cassette_without_its_fields_is_named(tmp_path: Path, outcome: dict[str, object]) -> None:
    path = tmp_path / "cassette.jsonl"
    path.write_text(json.dumps({"piton_cassette": 1, "model": "m", "request": "r", **outcome}) + "\n")
    with pytest.raises(FormatError, match=r"jsonl:1"):
        ReplayedModel(path)


@pytest.mark.parametrize("key", ["sk-secret\n", "sk secret", "sk-s\u00e9cret"])
def test_a_key_that_no_header_takes_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(NoKeyError, match="cannot be sent") as caught:
        resolve(ModelOptions(model="openai:m"), {"OPENAI_API_KEY": key, "PITON_CONFIG": ""})
    assert "cret" not in str(caught.value)
