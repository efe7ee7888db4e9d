"""Do the benchmarks judge and edit as they say?"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "speed"))

import figures
import overhead
import rig

from piton.catalog import load_suite


@pytest.mark.parametrize(
    ("samples", "is_rate", "is_met"),
    [((5.1, 5.0), False, True), ((5.1, 5.2), False, False), ((4.9, 5.0), True, True), ((4.9, 4.8), True, False)],
)
def test_the_best_sample_is_held_against_the_bound(samples: tuple[float, ...], is_rate: bool, is_met: bool) -> None:
    figure = figures.Figure("what", "unit", samples, "how", bound=5.0, is_rate=is_rate)
    assert figure.is_met is is_met
    assert ("NOT MET" in figures.render([figure])) is not is_met


def test_a_figure_without_a_bound_is_not_judged() -> None:
    figure = figures.Figure("what", "unit", (1.0,), "how")
    assert figure.is_met is None
    assert "met" not in figures.render([figure]).lower()


def test_an_edit_changes_exactly_the_files_that_match(tmp_path: Path) -> None:
    names = ("a.cpp", "inner/a.cpp", "b.cpp", "c.h", "d.py")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    rig.touch(tmp_path, "a.cpp")
    assert [name for name in names if (tmp_path / name).read_text() != "text"] == ["a.cpp", "inner/a.cpp"]
    rig.touch(tmp_path)
    assert (tmp_path / "d.py").read_text() == "text"
    assert (tmp_path / "c.h").read_text() != "text"


def test_the_suite_of_tiny_cases_loads_with_as_many_as_asked_for(tmp_path: Path) -> None:
    (member,) = load_suite(str(overhead.tiny_suite(tmp_path, 7))).members
    assert [case.id for case in member.cases] == [str(number) for number in range(1, 8)]
