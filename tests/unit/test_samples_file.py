"""Is samples.toml read as it says, and is every mistake in it one clear error?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog.samples import read_samples
from piton.core.errors import FormatError, PitonError, UsageError
from piton.core.method import ControlLoop


def write(root: Path, text: str, *runs: str) -> Path:
    """A samples.toml with these runs beside it."""
    for run in runs:
        (root / run).mkdir(parents=True)
    (root / "samples.toml").write_text(text)
    return root


def test_runs_are_samples_and_turns_are_of_one_sample(tmp_path: Path) -> None:
    text = """
        suite = "piton"
        [[method]]
        name = "a"
        control_loop = 3
        runs = ["x-*", "y"]
        [[method.sample]]
        turns = ["t/2", "t/1"]
        task = "exp"
        [method.reporting]
        llm_calls = 7
        [[method]]
        name = "b"
        runs = ["y"]
    """
    found = read_samples(write(tmp_path, text, "x-10", "x-9", "y", "t/1", "t/2"))
    first, second = found.methods
    names = [[path.relative_to(tmp_path).as_posix() for path in sample.turns] for sample in first.samples]
    assert names == [["x-9"], ["x-10"], ["y"], ["t/2", "t/1"]], "numbers by value, and turns as they were listed"
    assert [sample.task for sample in first.samples] == ["", "", "", "exp"]
    assert found.suite == "piton"
    assert first.method is not None
    assert first.method.control_loop is ControlLoop.SEARCH_BASED
    assert first.reporting is not None
    assert first.reporting.llm_calls == 7
    assert (second.name, second.reporting) == ("b", None)


def test_the_file_may_be_given_itself(tmp_path: Path) -> None:
    write(tmp_path, "[[method]]\nname = 'a'\nruns = ['r']\n", "r")
    assert read_samples(tmp_path / "samples.toml") == read_samples(tmp_path)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", FormatError, "method is wrong"),
        ("format = 2\n[[method]]\nname='a'\nruns=['r']", FormatError, "format is wrong"),
        ("[[method]]\nruns=['r']", FormatError, "method.0.name is wrong"),
        ("[[method]]\nname='a'", FormatError, "a method needs samples"),
        ("[[method]]\nname='a'\nruns=['r']\n[[method]]\nname='a'\nruns=['r']", FormatError, "each method once; a is there more often"),
        ("[[method]]\nname='a'\nruns=['q']", UsageError, "no run of that name"),
        ("[[method]]\nname='a'\nruns=['q*']", UsageError, "no run of that name"),
        ("[[method]]\nname='a'\n[[method.sample]]\nturns=[]", FormatError, "method.0.sample.0.turns is wrong"),
        ("[[method]]\nname='a'\n[[method.sample]]\nturn=['r']", FormatError, r"unknown key method.0.sample.0.turn\n.*nearest: turns"),
        ("[[method]]\nname='a'\nlearning='magic'\nruns=['r']", FormatError, "method.0.learning is wrong"),
    ],
)
def test_a_mistake_is_one_clear_error(tmp_path: Path, text: str, kind: type[PitonError], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        read_samples(write(tmp_path, text, "r"))
    assert "samples.toml" in caught.value.where
