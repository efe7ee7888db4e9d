"""Is submission.toml read as it says, and is every mistake in it one clear error?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog import read_submission
from piton.catalog.method import read_submission_toml
from piton.core.errors import FormatError
from piton.core.method import ControlLoop, Feedback, Learning, Questions, Reporting, SelectionScheme
from piton.report.method_text import method_pairs, method_text

TEXT = """
[method]
name = "ours"
written_by = "both"
models = ["m 1"]
control_loop = "structured-feedback"
learning = ["SFT", "rl: multi-turn"]
input = "pytorch"
output = ["ascendc"]
platform = "Ascend NPU"
feedback = ["compilation", "other: hazards of the virtual NPU"]

[method.questions]
keeps_search_state = false
chooses_dynamically = false
revises_in_a_loop = true

[reporting]
llm_calls = 0
selection = "custom: the first that compiles"
libraries = {CANN = "8.5"}
"""


def read(tmp_path: Path, text: str) -> tuple[object, object]:
    """What a file with this text says."""
    (tmp_path / "submission.toml").write_text(text)
    return read_submission_toml(tmp_path / "submission.toml")


def test_a_file_says_what_stands_in_it(tmp_path: Path) -> None:
    (tmp_path / "submission.toml").write_text(TEXT)
    method, reporting = read_submission_toml(tmp_path / "submission.toml")
    assert method is not None
    assert method.control_loop is ControlLoop.STRUCTURED_FEEDBACK
    assert [tag.tag for tag in method.learning] == [Learning.SFT, Learning.RL]
    assert [str(tag) for tag in method.feedback] == ["compilation", "other: hazards of the virtual NPU"]
    assert method.feedback[0].tag is Feedback.COMPILATION
    assert method.axes()["platform"] == ("ascend_npu",)
    assert reporting == Reporting(llm_calls=0, selection=SelectionScheme.CUSTOM, selection_detail="the first that compiles", libraries={"CANN": "8.5"}), (
        "zero calls are stated, tokens are not"
    )


def test_nothing_said_is_nothing_known(tmp_path: Path) -> None:
    assert read(tmp_path, "") == (None, None)
    assert method_text(None) == ""


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_four_categories_have_the_surveys_numbers_and_names(tmp_path: Path, number: int) -> None:
    names = ["Direct Generation", "Refinement via Structured Feedback", "Search-Based Generation", "Adaptive Tool-Orchestrating Agents"]
    (tmp_path / "submission.toml").write_text(f"[method]\ncontrol_loop = {number}\n")
    method, _ = read_submission_toml(tmp_path / "submission.toml")
    assert method_pairs(method) == [("control loop", f"{number}, {names[number - 1]}")]


@pytest.mark.parametrize(
    ("answers", "category"),
    [
        ((True, True, True), ControlLoop.SEARCH_BASED),
        ((True, None, None), ControlLoop.SEARCH_BASED),
        ((False, True, True), ControlLoop.ADAPTIVE_ORCHESTRATION),
        ((False, False, True), ControlLoop.STRUCTURED_FEEDBACK),
        ((False, False, False), ControlLoop.DIRECT_GENERATION),
        ((None, True, True), None),
        ((False, None, True), None),
        ((False, False, None), None),
    ],
)
def test_the_first_question_that_is_answered_yes_decides(answers: tuple[bool | None, ...], category: ControlLoop | None) -> None:
    search, dynamic, loop = answers
    assert Questions(keeps_search_state=search, chooses_dynamically=dynamic, revises_in_a_loop=loop).category() is category


def test_answers_alone_give_the_category(tmp_path: Path) -> None:
    (tmp_path / "submission.toml").write_text("[method.questions]\nkeeps_search_state = true\n")
    method, _ = read_submission_toml(tmp_path / "submission.toml")
    assert method is not None
    assert method.control_loop is ControlLoop.SEARCH_BASED


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"SFT"', '"SFTT"', r"method.learning is wrong\n  expected: one of none, .*; nearest: sft"),
        ('"structured-feedback"', '"feedback"', "nearest: structured_feedback"),
        ('"structured-feedback"', "5", "a number from 1 to 4, or a name: direct_generation"),
        ('"structured-feedback"', "true", "a number from 1 to 4, or a name"),
        ('"structured-feedback"', "3", "the answers lead to structured_feedback"),
        ('"other: hazards of the virtual NPU"', '"other"', "`other` alone says nothing"),
        ('"SFT"', '"none"', "`none` alone"),
        ('"SFT"', "3", "a text such as `rl`"),
        ("llm_calls = 0", "llm_calls = -1", "reporting.llm_calls is wrong"),
        ("llm_calls = 0", "lm_calls = 0", r"unknown key reporting.lm_calls\n  expected: one of .*; nearest: llm_calls"),
        ("revises_in_a_loop", "revises", "unknown key method.questions.revises"),
        ('"custom: the first that compiles"', '"custom"', "`custom` alone says nothing"),
        ('"custom: the first that compiles"', '"first"', "one of last, average, best, custom"),
        ('"both"', '"robot"', "method.written_by is wrong"),
        ("[reporting]", "[report]", "unknown key report"),
        ("[reporting]", "[reporting", "not valid TOML"),
    ],
)
def test_a_mistake_is_one_clear_error(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, TEXT.replace(old, new, 1))
    assert "submission.toml" in caught.value.where


def submission(folder: Path, text: str | None) -> Path:
    """A submission with this submission.toml."""
    folder.mkdir()
    (folder / "exp.asc").write_text("// a kernel\n")
    if text is not None:
        (folder / "submission.toml").write_text(text)
    return folder


def test_a_submission_brings_its_method_and_is_named_by_it_too(tmp_path: Path) -> None:
    bare, told = submission(tmp_path / "bare", None), submission(tmp_path / "told", TEXT)
    without, with_it = read_submission(bare, tmp_path / "store"), read_submission(told, tmp_path / "store")
    assert (without.method, without.reporting) == (None, None)
    assert with_it.method is not None
    assert with_it.method.name == "ours"
    assert with_it.digest() != without.digest()


def test_a_broken_file_of_a_submission_is_named_where_the_user_has_it(tmp_path: Path) -> None:
    folder = submission(tmp_path / "s", "[method]\nlearning = 'magic'\n")
    with pytest.raises(FormatError) as caught:
        read_submission(folder, tmp_path / "store")
    assert caught.value.where == str(folder / "submission.toml")


def refusal(tmp_path: Path, text: str) -> FormatError | None:
    """The error that a file with this text is, or None when it loads."""
    try:
        read(tmp_path, text)
    except FormatError as error:
        return error
    return None


ODD = ("''", "0", "-1", "9223372036854775807", "1e999", "nan", "true", "[]", "[[]]", "{}", "[{}]", "[1, 'a']", "1979-05-27", r'"\u0000"', "['none']")


@pytest.mark.parametrize("line", [line for line in TEXT.splitlines() if " = " in line])
def test_whatever_a_key_holds_it_loads_or_is_one_clear_error(tmp_path: Path, line: str) -> None:
    key = line.partition(" = ")[0]
    texts = [TEXT.replace(line, f"{key} = {value}") for value in (*ODD, f"'{'x' * 5000}'", "9" * 5000)]
    errors = [error for text in texts if (error := refusal(tmp_path, text)) is not None]
    assert len(errors) >= 5
    assert [str(error) for error in errors if "submission.toml" not in error.where or len(str(error)) > 1000] == []
