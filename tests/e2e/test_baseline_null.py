"""Baseline files from end to end on the null target: measured from a submission as on a device, used in a score, listed, shown, compared."""

import json
from pathlib import Path

import pytest
from null_world import make_submission, make_suite, piton

from piton.catalog.baseline_file import baseline_text, read_baselines
from piton.cli.baselines import compare_baselines, list_baselines, show_baselines
from piton.core.errors import UsageError
from piton.core.execution import CaseCall, Execution
from piton.core.finding import FindingKind
from piton.core.measurement import Measurement, Provenance
from piton.core.protocols import Runner
from piton.core.report import Report
from piton.core.score import ScoreProfile
from piton.evaluate.pipeline import evaluate_on
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.refresh import Refreshed, finish, refresh_on
from piton.evaluate.refresh_request import Hooks, RefreshRequest, beside
from piton.report.terminal import terminal_text
from piton.targets.null import NullDevice, NullSession, NullTarget


class FakeDevice(NullTarget):
    """A target that measures: every time has three samples, 10 % apart. It stands for a device at the boundary; nothing here ran on hardware."""

    provenance = Provenance.DEVICE

    def __init__(self) -> None:
        super().__init__()
        self.device = self

    def missing(self) -> tuple[str, ...]:
        return ()

    def open(self, *arguments: object) -> NullSession:
        session = NullDevice().open(*arguments)
        inner = session.call

        def call(wanted: CaseCall) -> Execution:
            execution = inner(wanted)
            if execution.time is None:
                return execution
            middle = execution.time.value if execution.time.value > 0.01 else 0.0  # a clock counts in steps
            time = Measurement(samples=(middle, 0.9 * middle, 1.1 * middle), provenance=Provenance.DEVICE, method="3 repeats, L2 flushed")
            return Execution(**{**vars(execution), "time": time})

        session.call = call  # type: ignore[method-assign]
        return session


def words(text: str) -> str:
    """Text whatever the width of its tables."""
    return " ".join(text.split())


class World:
    """A foreign suite whose published baselines are 20 us and T_HW 5 us, and what is evaluated on it."""

    def __init__(self, runner: Runner, shared: Path, root: Path) -> None:
        self.runner, self.shared, self.root = runner, shared, root

    def request(self, submission: str, run: str, **options: object) -> EvaluationRequest:
        values = {"suite": str(self.shared / "suite"), "cache_dir": str(self.shared / "cache"), "is_trusted": True, "target": "null", "operators": ("grow",)}
        folder = str(self.root / submission) if submission else ""
        return EvaluationRequest(submission=folder, run_dir=str(self.root / run), **{**values, **options})

    def refresh(self, submission: str, name: str, **options: object) -> Refreshed:
        wanted = RefreshRequest(evaluation=self.request(submission, "unused"), out=self.root / name, **options)
        found = refresh_on(FakeDevice(), self.runner, wanted, Hooks())
        wanted.out.write_text(baseline_text(found.baselines))
        finish(wanted)
        return found

    def refresh_all(self, submission: str, name: str) -> Refreshed:
        """A refresh of every operator of the suite."""
        wanted = RefreshRequest(evaluation=self.request(submission, "unused", operators=()), out=self.root / name)
        return refresh_on(FakeDevice(), self.runner, wanted, Hooks())

    def evaluate(self, submission: str, run: str, **options: object) -> Report:
        return evaluate_on(FakeDevice(), self.runner, self.request(submission, run, **options))


@pytest.fixture
def world(runner: Runner, shared: Path, tmp_path: Path) -> World:
    return World(runner, shared, tmp_path)


def test_the_times_of_a_submission_on_a_device_become_baselines_that_a_score_names(world: World) -> None:
    slow = {"default": {"compute": "exp", "time_us": 40.0}, "cases": {"2": {"compute": "wrong_by_little"}, "3": {"causes": ["host_signal"]}}}
    make_submission(world.root / "vendor", {"grow": slow}, ("grow",))
    make_submission(world.root / "mine", operators=("grow",))
    found = world.refresh("vendor", "first.json", version="2026-11-30.1")
    baselines = read_baselines(world.root / "first.json")
    assert {item.case: item.time.samples for item in baselines.cases} == {"1": (40.0, 36.0, 44.0), "4": (40.0, 36.0, 44.0)}
    assert {name: reason.partition(":")[0] for name, reason in baselines.failed.items()} == {"grow/2": "wrong_value", "grow/3": "crashed"}
    assert not beside(world.root / "first.json", ".run").exists()

    report = world.evaluate("mine", "run", baseline=str(world.root / "first.json"))
    assert report.score_profile is ScoreProfile.CANN_BENCH
    assert report.baselines == (found.baselines.title, f"quoted by suite {report.suite_version}")
    cases = {case.case.id: case for case in report.operators[0].cases}
    assert [(cases[number].t_baseline.value_us, cases[number].t_baseline.provenance.value) for number in "12"] == [(40.0, "device"), (20.0, "quoted")]
    # T_cand 10 us, samples 9 to 11: HAP 35 / (5 + 35); between 31 / (6 + 31) for baseline 36 and candidate 11, and 39 / (4 + 39)
    assert cases["1"].hap.ranked == pytest.approx(35 / 40)
    assert (cases["1"].hap.interval.low, cases["1"].hap.interval.high) == (pytest.approx(31 / 37), pytest.approx(39 / 43))
    assert cases["1"].hap.interval.confidence == pytest.approx(0.75)  # three samples: 1 - 2 / 8
    # the published baseline counts as exact: 15 / (6 + 15) and 15 / (4 + 15)
    assert (cases["2"].hap.interval.low, cases["2"].hap.interval.high) == (pytest.approx(15 / 21), pytest.approx(15 / 19))
    # ends are added up: 100 (0.2 + 0.3 + 0.5 * mean), two cases with each baseline
    assert report.total_interval.low == pytest.approx(50 + 50 * (31 / 37 + 15 / 21) / 2)
    assert report.total_interval.high == pytest.approx(50 + 50 * (39 / 43 + 15 / 19) / 2)
    text = terminal_text(report)
    assert f"T_baseline: {found.baselines.title}; quoted by suite" in text
    assert "intervals of medians of samples (75 %)" in text


def test_a_stale_time_is_refused_with_a_finding_and_the_published_one_counts(world: World) -> None:
    make_submission(world.root / "mine", operators=("grow",))
    baselines = world.refresh("mine", "first.json").baselines
    times = [item.model_copy(update={"identity": "another"}) if item.case == "1" else item for item in baselines.cases]
    (world.root / "stale.json").write_text(baseline_text(baselines.model_copy(update={"cases": tuple(times)}).sealed()))
    report = world.evaluate("mine", "run", baseline=str(world.root / "stale.json"))
    cases = {case.case.id: case for case in report.operators[0].cases}
    assert [cases[number].t_baseline.provenance.value for number in "12"] == ["quoted", "device"]
    assert [[item.kind for item in cases[number].findings if item.kind is FindingKind.STALE_ANCHOR] for number in "12"] == [[FindingKind.STALE_ANCHOR], []]
    assert "finding (case 1) stale_anchor: T_baseline of grow/1 in" in words(terminal_text(report))


def test_a_run_is_not_gone_on_with_under_other_baselines(world: World) -> None:
    make_submission(world.root / "mine", operators=("grow",))
    make_submission(world.root / "slow", {"grow": {"default": {"compute": "exp", "time_us": 90.0}}}, ("grow",))
    world.refresh("mine", "first.json", version="1")
    world.refresh("slow", "second.json", version="2")
    world.evaluate("mine", "run", baseline=str(world.root / "first.json"))
    again = world.evaluate("mine", "run", baseline=str(world.root / "first.json"), is_resumed=True)
    assert again.operators[0].cases[0].t_baseline.value_us == 10.0
    with pytest.raises(UsageError, match="another evaluation"):
        world.evaluate("mine", "run", baseline=str(world.root / "second.json"), is_resumed=True)


def test_what_an_earlier_refresh_of_other_kernels_left_is_not_taken(world: World) -> None:
    make_submission(world.root / "mine", operators=("grow",))
    make_submission(world.root / "slow", {"grow": {"default": {"compute": "exp", "time_us": 90.0}}}, ("grow",))
    out = world.root / "set.json"
    refresh_on(FakeDevice(), world.runner, RefreshRequest(evaluation=world.request("mine", "unused"), out=out), Hooks())
    assert beside(out, ".run").is_dir(), "kept until the file is written"
    found = refresh_on(FakeDevice(), world.runner, RefreshRequest(evaluation=world.request("slow", "unused"), out=out), Hooks())
    assert {item.time.value for item in found.baselines.cases} == {90.0}


def test_a_time_that_is_too_short_to_measure_costs_its_case_alone(world: World) -> None:
    make_submission(world.root / "mine", {"grow": {"cases": {"2": {"compute": "exp", "time_us": 0.001}}}}, ("grow",))
    found = world.refresh("mine", "first.json").baselines
    assert [item.case for item in found.cases] == ["1", "3", "4"]
    assert list(found.failed) == ["grow/2"]
    assert "0 us" in found.failed["grow/2"]


def test_operators_that_the_submission_lacks_are_named(world: World) -> None:
    make_submission(world.root / "mine", operators=("grow",))
    found = world.refresh_all("mine", "first.json")
    assert {item.operator for item in found.baselines.cases} == {"grow"}
    assert found.lacking
    assert {name.partition("/")[0] for name in found.lacking} == {"twice"}


@pytest.mark.parametrize("damage", [b"no journal\n", None], ids=["first line", "last line"])
def test_a_damaged_journal_says_which_folder_to_delete(world: World, damage: bytes | None) -> None:
    make_submission(world.root / "mine", operators=("grow",))
    wanted = RefreshRequest(evaluation=world.request("mine", "unused"), out=world.root / "set.json")
    refresh_on(FakeDevice(), world.runner, wanted, Hooks())
    journal = beside(wanted.out, ".run") / "journal.jsonl"
    journal.write_bytes(damage or journal.read_bytes() + b"{}\n")
    with pytest.raises(UsageError) as error:
        refresh_on(FakeDevice(), world.runner, wanted, Hooks())
    assert f"delete the folder {beside(wanted.out, '.run')}" in error.value.action
    assert "--resume" not in str(error.value)


def test_simulated_times_are_refused_for_a_device(world: World) -> None:
    make_submission(world.root / "mine", operators=("grow",))
    wanted = RefreshRequest(evaluation=world.request("mine", "unused"), out=world.root / "sim.json")
    found = refresh_on(NullTarget(), world.runner, wanted, Hooks()).baselines
    (world.root / "sim.json").write_text(baseline_text(found))
    with pytest.raises(UsageError, match="another world"):
        world.evaluate("mine", "run", baseline=str(world.root / "sim.json"))


def test_a_suite_without_plain_kernels_asks_for_a_submission(world: World) -> None:
    wanted = RefreshRequest(evaluation=world.request("", "unused"), out=world.root / "set.json")
    with pytest.raises(UsageError, match="suite suite has no plain kernels") as error:
        refresh_on(NullTarget(), world.runner, wanted, Hooks())
    assert "--submission" in error.value.action


def test_files_are_listed_shown_and_compared(world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    make_submission(world.root / "mine", operators=("grow",))
    make_submission(world.root / "slow", {"grow": {"cases": {"2": {"compute": "exp", "time_us": 90.0}}}}, ("grow",))
    folder = world.root / "sets"
    folder.mkdir()
    for submission, version in (("mine", "1"), ("slow", "2")):
        world.refresh(submission, f"sets/{version}.json", version=version)
    (folder / "other.json").write_text("{}")
    assert list_baselines([str(folder)], prints_json=False) == 0
    listed = capsys.readouterr().out
    assert (listed.count("suite-null"), "other.json" in listed) == (2, False)
    assert show_baselines(str(folder / "2.json"), [], prints_json=False) == 0
    assert "grow 2 90.00 3 [81.00 .. 99.00] device" in words(capsys.readouterr().out)
    assert compare_baselines(str(folder / "1.json"), str(folder / "2.json"), shows_all=False, prints_json=False) == 0
    compared = words(capsys.readouterr().out)
    assert "grow 2 slower 10.00 90.00 +800.0 % device" in compared
    assert "3 same, 1 slower; median +0.0 %" in compared
    assert "not the same: submission: mine, then slow" in compared
    (folder / "2.json").write_text((folder / "2.json").read_text().replace("90.0", "91.0"))
    assert list_baselines([str(folder)], prints_json=True) == 1
    answer = json.loads(capsys.readouterr().out)
    assert ([item["version"] for item in answer["sets"]], list(answer["broken"])) == (["1"], [str(folder / "2.json")])
    with pytest.raises(UsageError, match="no such file or folder"):
        list_baselines([str(folder / "none")], prints_json=False)


def test_the_command_line_measures_scores_and_says_when_a_case_failed(tmp_path: Path) -> None:
    make_suite(tmp_path / "suite")
    make_submission(tmp_path / "mine", {"grow": {"cases": {"2": {"compute": "wrong_by_little"}}}}, ("grow",))
    place = ("--suite", "suite", "--trust", "--target", "null", "--op", "grow")
    done = piton(tmp_path, "baseline", "refresh", "--submission", "mine", *place, "--set-version", "7", "--out", "set.json")
    assert (done.returncode, "suite-null 7" in done.stdout, "failed: grow/2: wrong_value" in done.stdout) == (1, True, True), done.stderr
    done = piton(tmp_path, "eval", "mine", *place, "--case", "1", "--baseline", "set.json", "--out", "run")
    assert "T_baseline: suite-null 7 (" in done.stdout, done.stderr
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["operators"][0]["cases"][0]["t_baseline"]["version"] == report["baselines"][0]
