"""`piton compare` without a process of its own: what its gate stops, what it refuses, what it calls the runs."""

from pathlib import Path

import pytest
from report_world import failed_case, operator_of, passed_case, small_report

from piton.cli.comparing import CompareOptions, run_names, show_comparison
from piton.core.errors import PitonError, UsageError
from piton.core.report import HiddenSet
from piton.core.verdict import Cause, outcome
from piton.report.json_file import write_report
from piton.report.rescore import score_report


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, one in which a case is faster and another 2 % slower, and one in which a case broke."""
    root = tmp_path_factory.mktemp("runs")
    for name, cases in (
        ("first", (passed_case(), passed_case(case_id="2"))),
        ("mixed", (passed_case(time_us=6.0), passed_case(case_id="2", time_us=10.2))),
        ("broken", (passed_case(time_us=6.0), failed_case(outcome(Cause.DEADLOCK)))),
    ):
        write_report(small_report((operator_of("exp", *cases),)), root / name / "report.json")
    return root


@pytest.mark.parametrize(
    ("other", "gate", "least", "status"),
    [
        ("mixed", "never", 0.5, 0),
        ("mixed", "broken", 0.5, 0),
        ("mixed", "regression", 0.5, 1),
        ("mixed", "regression", 3.0, 0),
        ("broken", "never", 0.5, 0),
        ("broken", "broken", 0.5, 1),
        ("broken", "regression", 50.0, 1),
        ("first", "regression", 0.0, 0),
    ],
)
def test_the_gate_stops_what_it_names(runs: Path, capsys: pytest.CaptureFixture[str], other: str, gate: str, least: float, status: int) -> None:
    options = CompareOptions(prints_markdown=True, fails_on=gate, least_percent=least)
    assert show_comparison([str(runs / "first"), str(runs / other)], options) == status
    assert ("1 case is worse: exp/2" in capsys.readouterr().err) == bool(status)


def test_the_names_that_the_gate_prints_do_not_act_on_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, case in (("a", passed_case(case_id="1\x1b[2J")), ("b", failed_case(outcome(Cause.DEADLOCK), "1\x1b[2J"))):
        write_report(small_report((operator_of("exp", case),)), tmp_path / name / "report.json")
    assert show_comparison([str(tmp_path / name) for name in "ab"], CompareOptions(prints_markdown=True, fails_on="broken")) == 1
    told = capsys.readouterr().err
    assert "\x1b" not in told
    assert "1 case is worse: exp/1\\x1b[2J broke" in told


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (("first",), CompareOptions(), "nothing to compare with"),
        (("first", "mixed"), CompareOptions(fails_on="noise"), "--fail-on can't be read"),
        (("first", "mixed"), CompareOptions(prints_json=True, prints_markdown=True), "exclude one another"),
        (("first", "nowhere"), CompareOptions(), "no report here"),
    ],
)
def test_wrong_use_is_one_clear_message(runs: Path, names: tuple[str, ...], options: CompareOptions, message: str) -> None:
    with pytest.raises(PitonError, match=message):
        show_comparison([str(runs / name) for name in names], options)


@pytest.mark.parametrize("gate", ["broken", "regression"])
def test_a_gate_is_refused_where_hidden_cases_have_no_ids(tmp_path: Path, gate: str) -> None:
    found = small_report((operator_of("exp", passed_case()),)).model_copy(update={"hidden": HiddenSet(key_id="k", count=1, detail="counts")})
    write_report(score_report(found), tmp_path / "report.json")
    assert show_comparison([str(tmp_path), str(tmp_path)], CompareOptions(prints_markdown=True)) == 0
    with pytest.raises(UsageError, match="single cases of these runs can't be told apart"):
        show_comparison([str(tmp_path), str(tmp_path)], CompareOptions(prints_markdown=True, fails_on=gate))


def test_runs_are_called_by_their_folders_where_these_differ_and_numbered_where_nothing_does(tmp_path: Path) -> None:
    for name in ("a/x", "b/x", "b/y"):
        (tmp_path / name).mkdir(parents=True)
    first, second, third = (str(tmp_path / name) for name in ("a/x", "b/x", "b/y"))
    assert run_names([first, third]) == ["x", "y"]
    assert run_names([first, second]) == [first, second]
    assert run_names([first, first]) == [f"{first} (1)", f"{first} (2)"]
