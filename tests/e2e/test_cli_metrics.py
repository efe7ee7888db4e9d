"""Do `piton metrics` and `piton report --fair` say of real files what is known of them, and refuse what makes no sense?"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from null_world import make_submission, make_suite, piton
from typer.testing import CliRunner

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))

from metrics_world import EXAMPLE, WRONG, run, write_example

from piton.cli.main import app
from piton.core.errors import PitonError
from piton.evaluate.integrity import INTEGRITY_VERSION
from piton.report.json_file import write_report

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "metrics"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example set, and with runs of submissions `a` and `b`."""
    root = tmp_path_factory.mktemp("metrics")
    shutil.copytree(EXAMPLES, root / "set")
    for name, submission, results in (
        ("a1", "a", {"exp": (2.0, 2.0)}),
        ("a2", "a", {"exp": (2.0, WRONG)}),
        ("b1", "b", {"exp": (0.5, 0.5)}),
        ("other", "a", {"exp": (1.0, 1.0)}),
    ):
        target = "ascend950pr-sim" if name == "other" else "ascend910b2-sim"
        write_report(run(submission, results, target=target), root / name / "report.json")
    return root


def said(monkeypatch: pytest.MonkeyPatch, place: Path, *arguments: str) -> str:
    """What the command prints in a folder; in this process, since starting one takes longer than all else."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "160")
    done = CliRunner().invoke(app, [*arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def values(text: str, method: str, group: str = "all") -> dict[str, float]:
    """Metrics by name out of the JSON."""
    (found,) = [item for item in json.loads(text)["methods"] if item["name"] == method]
    (metrics,) = [item["found"]["metrics"] for item in found["groups"] if item["group"] == group]
    return {metric["name"]: metric["value"] for metric in metrics}


def test_the_example_has_the_numbers_worked_out_by_hand(place: Path) -> None:
    done = piton(place, "metrics", "set", "--k", "1,2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    direct, refined = values(done.stdout, "direct"), values(done.stdout, "refined")
    # direct: exp is right in samples 1 and 3, gelu in sample 3, softmax never; of 3 samples there are 3 pairs.
    assert direct["pass@1"] == pytest.approx((2 / 3 + 1 / 3 + 0) / 3)
    assert direct["pass@2"] == pytest.approx((3 / 3 + 2 / 3 + 0) / 3)
    assert direct["Compilation@1"] == pytest.approx((1 + 1 + 1 / 3) / 3)
    # speed-ups: exp sqrt(2 x 0.5) = 1 and sqrt(4 x 1) = 2, gelu 1.
    assert direct["fast_2@1"] == pytest.approx((1 / 3 + 0 + 0) / 3)
    assert direct["speed-up (geometric mean)"] == pytest.approx((2**0.5 * 1) ** 0.5)
    # refined, last turns: exp 2 and 2, gelu 2 and wrong, softmax 1 and 0.5.
    assert refined["pass@1"] == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert refined["pass@2"] == 1.0
    assert refined["speed-up (geometric mean)"] == pytest.approx((2 * 2 * 0.5**0.5) ** (1 / 3))


def test_average_and_best_look_at_the_earlier_turns(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {select: values(said(monkeypatch, place, "metrics", "set", "--select", select, "--json"), "refined") for select in ("best", "average")}
    # exp: sample 1 right in both turns, 2 in the second; gelu: sample 1 in the second, 2 in the first; softmax: sample 1 and 2 in the second.
    assert found["best"]["pass@1"] == 1.0
    assert found["average"]["pass@1"] == pytest.approx(((1 + 1 / 2) / 2 + (1 / 2 + 1 / 2) / 2 + (1 / 2 + 1 / 2) / 2) / 3)


def test_runs_alone_are_samples_of_their_submission(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = said(monkeypatch, place, "metrics", "a1", "a2", "b1", "--k", "1", "--json")
    assert values(done, "a")["pass@1"] == 0.5
    assert values(done, "b")["fast_0.5@1"] == 1.0
    assert values(said(monkeypatch, place, "metrics", "a1", "a2", "b1", "--task", "case", "--json"), "a")["pass@1"] == 0.75


def test_the_table_has_a_column_per_method_and_says_whose_times_they_are(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = said(monkeypatch, place, "metrics", "set", "--group-by", "level", "--fair")
    for text in ("all: 3 tasks", "level 2: 1 task", "direct", "refined", "fast_1@1 = SU_1@1", "T_baseline (simulated) / T_cand (simulated)"):
        assert text in shown
    assert "control loop: 2, Refinement via Structured Feedback" in " ".join(shown.split())
    assert "9 of 11 items reported; missing: integrity policy and tolerances, generation-time compute budget" in shown


def test_the_page_about_metrics_shows_the_table_that_is_printed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [line.strip() for line in said(monkeypatch, place, "metrics", "set", "--k", "1,2", "--p", "1,2").splitlines()]
    page = (EXAMPLES.parents[1] / "docs" / "metrics.md").read_text()
    table = [line.strip() for line in page[page.index("all: 3 tasks") : page.index("`direct` has three samples")].splitlines() if line.strip("` ")]
    assert [line for line in table if line not in shown] == []
    assert len(table) == 14


def test_markdown_is_a_table_with_the_records(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = said(monkeypatch, place, "metrics", "set", "--markdown").replace("\\", "")
    assert "| `pass@1` | 0.333 [0.000, 0.667] | 0.833 [0.500, 1.000] |" in shown
    assert "## Fair-reporting record of direct" in shown
    assert "| generation-time compute budget | submission | 3 LLM calls, 42,000 tokens, 310 s wall-clock |" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("set", "--k", "3"), "k = 3 needs at least 3 samples of every task"),
        (("set", "--k", "0"), "--k can't be read at '0'"),
        (("set", "--k", "1;2"), "--k can't be read at '1;2'"),
        (("set", "--p", "nan"), "--p can't be read at 'nan'"),
        (("a1", "other"), "the runs can't be taken together: target differs"),
        (("set", "--suite", "piton"), "the run is of another suite"),
        (("set", "set"), "a method is there more than once"),
        (("nowhere",), "no report here"),
        (("nowhere.toml",), "a file cannot be read"),
    ],
)
def test_what_makes_no_sense_is_one_clear_error(place: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(PitonError, match=re.escape(message)):
        said(monkeypatch, place, "metrics", *arguments)


def test_the_example_is_what_its_maker_writes(tmp_path: Path) -> None:
    write_example(tmp_path)
    for name in EXAMPLE:
        assert (tmp_path / name / "report.json").read_text() == (EXAMPLES / name / "report.json").read_text(), (
            "write it again: python tests/unit/metrics_world.py"
        )


def test_a_run_keeps_what_its_submission_says_and_metrics_of_a_suite_count_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite, submission = make_suite(tmp_path / "suite"), make_submission(tmp_path / "submission", operators=("grow",))
    (submission / "submission.toml").write_text("[method]\nname = 'hand'\nwritten_by = 'person'\n[reporting]\nsamples = 2\n")
    done = piton(tmp_path, "eval", submission, "--suite", suite, "--trust", "--target", "null", "--op", "grow", "--out", "run")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "run/report.json").read_text())
    assert (report["method"]["name"], report["reporting"]["samples"], report["integrity"]["version"]) == ("hand", 2, INTEGRITY_VERSION)
    fair = json.loads(said(monkeypatch, tmp_path, "report", "run", "--fair", "--json"))
    assert (fair["reported"], fair["of"], len(fair["items"])) == (11, 11, 11)
    assert values(said(monkeypatch, tmp_path, "metrics", "run", "--json"), "hand")["pass@1"] == 1.0
    whole = said(monkeypatch, tmp_path, "metrics", "run", "--suite", str(suite), "--json")
    assert values(whole, "hand")["pass@1"] == 0.5
    assert json.loads(whole)["methods"][0]["groups"][0]["found"]["untried"] == ["twice"]


def test_the_record_of_several_runs_is_a_matter_of_metrics(place: Path) -> None:
    done = piton(place, "report", "a1", "a2", "--fair")
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (2, "", False)
    assert "piton metrics" in done.stderr


def test_a_run_that_is_given_twice_is_no_second_sample(place: Path) -> None:
    twice = str(place / "a1"), str(place / "a1" / "report.json")
    with pytest.raises(PitonError, match="a sample of a is there more than once"):
        CliRunner().invoke(app, ["metrics", *twice], catch_exceptions=False)
