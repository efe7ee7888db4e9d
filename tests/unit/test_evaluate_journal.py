import json
from pathlib import Path

import pytest

from piton.core.case import Case, CaseInput, SizeClass
from piton.core.dtype import DType
from piton.core.errors import FormatError, UsageError
from piton.core.report import CaseResult
from piton.core.verdict import PASSED
from piton.evaluate.journal import Journal

CASE = Case(operator="exp", id="1", inputs=(CaseInput(argument="x", shape=(3,), dtype=DType.FLOAT16, low=float("-inf"), high=float("inf")),))
RESULT = CaseResult(operator="exp", case=CASE, size=SizeClass.SMALL, outcome=PASSED)


def write(path: Path, *keys: str) -> None:
    with Journal(path, "identity", is_resumed=False) as journal:
        for key in keys:
            journal.append(key, RESULT)


def found(path: Path, *keys: str) -> list[bool]:
    with Journal(path, "identity", is_resumed=True) as journal:
        return [journal.find(key) is not None for key in keys]


def test_a_finished_case_is_found_again_and_is_equal(tmp_path: Path) -> None:
    write(tmp_path / "j", "a")
    with Journal(tmp_path / "j", "identity", is_resumed=True) as journal:
        assert journal.find("a") == RESULT
        assert journal.find("b") is None


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_a_torn_last_line_costs_that_case_only(tmp_path: Path, cut: int) -> None:
    write(tmp_path / "j", "a", "b")
    data = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(data[:-cut])
    assert found(tmp_path / "j", "a", "b") == [True, False]
    with Journal(tmp_path / "j", "identity", is_resumed=True) as journal:
        journal.append("b", RESULT)
    assert found(tmp_path / "j", "a", "b") == [True, True]


def test_an_empty_journal_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "j").write_text('{"piton_jour')
    assert found(tmp_path / "j", "a") == [False]
    assert json.loads((tmp_path / "j").read_text())["evaluation"] == "identity"


def test_a_line_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "identity", is_resumed=False) as journal:
        journal.append("a", RESULT)
        assert len((tmp_path / "j").read_text().splitlines()) == 2


def test_a_void_is_not_found_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "identity", is_resumed=False) as journal:
        journal.append("a", RESULT.model_copy(update={"void": "device away"}))
    assert found(tmp_path / "j", "a") == [False]


def test_the_last_word_on_a_case_counts(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "identity", is_resumed=False) as journal:
        journal.append("a", RESULT.model_copy(update={"void": "device away"}))
        journal.append("a", RESULT)
    assert found(tmp_path / "j", "a") == [True]


def test_starting_anew_forgets_what_was_there(tmp_path: Path) -> None:
    write(tmp_path / "j", "a")
    write(tmp_path / "j")
    assert found(tmp_path / "j", "a") == [False]


@pytest.mark.parametrize("line", ["", "nonsense", "[]", '{"key": "b"}', '{"key": "b", "result": {"operator": 1}}'])
def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path, line: str) -> None:
    write(tmp_path / "j", "a")
    with open(tmp_path / "j", "a") as file:
        file.write(line + "\n")
    with pytest.raises(FormatError, match=r"j:3: a line of the journal is damaged"):
        found(tmp_path / "j")


@pytest.mark.parametrize("header", ["[]", "{}", '{"piton_journal": 1}', "nonsense"])
def test_a_file_that_is_no_journal_is_refused(tmp_path: Path, header: str) -> None:
    (tmp_path / "j").write_text(header + "\n")
    with pytest.raises((FormatError, UsageError)):
        found(tmp_path / "j")


def test_a_journal_of_another_evaluation_is_refused_and_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "j", "a")
    with pytest.raises(UsageError, match="another evaluation"):
        Journal(tmp_path / "j", "other", is_resumed=True)
    assert found(tmp_path / "j", "a") == [True]


def test_two_runs_cannot_write_to_one_journal(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "identity", is_resumed=False), pytest.raises(UsageError, match="another run"):
        Journal(tmp_path / "j", "identity", is_resumed=False)
    write(tmp_path / "j")
