"""The command line on the null target: exit statuses, files, messages, stopping and going on."""

import json
import signal
import subprocess
from pathlib import Path

import pytest
from null_world import command, environment, make_submission, make_suite, piton

SLOW = {"grow": {"cases": {"3": {"compute": "exp", "wait_s": 60}}}}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One suite and one cache for all tests here."""
    root = tmp_path_factory.mktemp("cli")
    make_suite(root / "suite")
    make_submission(root / "right")
    make_submission(root / "wrong", {"grow": {"cases": {"2": {"compute": "wrong_by_little"}}}})
    return root


def options(submission: str, out: str, *more: str) -> tuple[str, ...]:
    return ("eval", submission, "--suite", "suite", "--trust", "--target", "null", "--out", out, *more)


def test_all_passed_exits_0_and_writes_report_and_page(world: Path) -> None:
    done = piton(world, *options("right", "runs/right"))
    assert done.returncode == 0, done.stderr
    assert "total 175.0" in done.stdout
    report = json.loads((world / "runs/right/report.json").read_text())
    assert (report["schema_version"], report["total_score"], len(report["operators"])) == (1, 175.0, 2)
    assert "<html" in (world / "runs/right/report.html").read_text()


def test_json_prints_nothing_but_the_report(world: Path) -> None:
    done = piton(world, *options("right", "runs/json", "--json", "--op", "twice", "--case", "1"))
    assert json.loads(done.stdout)["operators"][0]["operator"] == "twice"
    assert done.returncode == 0, "cases left out by --case are no failures"


def test_two_trials_are_asked_for_by_an_option_and_recorded(world: Path) -> None:
    done = piton(world, *options("right", "runs/two", "--trials", "2", "--op", "twice", "--case", "1"))
    assert (done.returncode, "two trials" in done.stdout) == (0, True), done.stderr
    assert json.loads((world / "runs/two/report.json").read_text())["trials"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("eval", "nowhere", "--suite", "suite", "--trust", "--target", "null"), "no submission"),
        (("eval", "right", "--suite", "suite", "--target", "null"), "--trust"),
        (("eval", "right", "--suite", "suite", "--trust", "--target", "null", "--profile", "lax"), "no precision profile 'lax'"),
        (("eval", "right", "--suite", "nosuchsuite", "--target", "null"), "nosuchsuite"),
        (("eval", "right", "--no-such-option"), "--no-such-option"),
        (("eval", "right", "--trials", "3"), "--trials"),
        (("report", "nowhere"), "no report here"),
        (options("right", "suite/metadata/null.json/run"), "Not a directory"),
        (options("right", "runs/both", "--resume", "--overwrite"), "exclude one another"),
    ],
)
def test_wrong_use_exits_2_with_one_message_and_no_traceback(world: Path, arguments: tuple[str, ...], message: str) -> None:
    done = piton(world, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_with_a_run_is_neither_mixed_nor_lost(world: Path) -> None:
    first = options("right", "runs/twice", "--op", "grow", "--case", "1")
    assert piton(world, *first).returncode == 0
    refused = piton(world, *first)
    assert refused.returncode == 2
    assert "already holds a run" in refused.stderr
    (world / "runs/twice/notes.txt").write_text("mine")
    assert piton(world, *first, "--overwrite").returncode == 0
    assert (world / "runs/twice/notes.txt").read_text() == "mine"


def test_a_failed_case_exits_1_says_why_and_is_rendered_the_same_again_without_a_device(world: Path) -> None:
    run = piton(world, *options("wrong", "runs/again"))
    assert run.returncode == 1
    for text in ("wrong_value: max_error", "relative error", "3 of 4 cases passed"):
        assert text in run.stdout
    shown = piton(world, "report", "runs/again")
    assert shown.returncode == 0
    assert shown.stdout.strip() in run.stdout
    again = piton(world, "report", "runs/again/report.json", "--json", "--html", "again.html")
    assert again.stdout == (world / "runs/again/report.json").read_text()
    assert (world / "again.html").read_text() == (world / "runs/again/report.html").read_text()


def start_slow_run(world: Path, out: str, *more: str, until: str = "grow/2 passed") -> subprocess.Popen[str]:
    """A run that hangs in its third case; returns once it has said `until`."""
    if not (world / "slow").exists():
        make_submission(world / "slow", SLOW)
    process = subprocess.Popen(
        command(*options("slow", out, *more)), cwd=world, env=environment(world), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if until in line:
            return process
    raise AssertionError(f"the run ended without saying {until!r}: {process.communicate()[1]}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_a_run_keeps_what_is_finished_and_says_how_to_go_on(world: Path, number: signal.Signals) -> None:
    out = f"runs/{number.name}"
    process = start_slow_run(world, out)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "go on with --resume" in output
    report = json.loads((world / out / "report.json").read_text())
    causes = [case["outcome"]["cause"] for case in report["operators"][0]["cases"]]
    assert causes == ["none", "none", "interrupted", "interrupted"]
    assert (report["is_complete"], report["total_score"]) == (False, None)
    assert len((world / out / "journal.jsonl").read_text().splitlines()) == 3


def test_a_killed_run_is_resumed_and_only_the_rest_runs(world: Path) -> None:
    process = start_slow_run(world, "runs/killed")
    process.kill()
    process.communicate(timeout=60)
    lines = (world / "runs/killed/journal.jsonl").read_text()
    resumed = start_slow_run(world, "runs/killed", "--resume", until="2 taken from the journal")
    resumed.send_signal(signal.SIGINT)
    resumed.communicate(timeout=60)
    assert (world / "runs/killed/journal.jsonl").read_text() == lines


def test_two_runs_do_not_share_a_folder(world: Path) -> None:
    process = start_slow_run(world, "runs/busy")
    others = [piton(world, *options("slow", "runs/busy", option)) for option in ("--resume", "--overwrite")]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert (world / "runs/busy/report.json").is_file(), "the run that was there goes on undisturbed"
    for other in others:
        assert other.returncode == 2
        assert "another run is using this folder" in other.stderr


def test_doctor_names_every_check_and_exits_0_or_3(world: Path) -> None:
    done = piton(world, "doctor", "--json")
    checks = json.loads(done.stdout)
    names = {check["name"] for check in checks}
    assert {"python", "venv", "python headers", "c++ compiler", "make", "torch", "disk", "cache", "memory", "isolation"} <= names
    assert done.returncode == (0 if all(check["is_ok"] or not check["is_required"] for check in checks) else 3)


def test_doctor_exits_3_and_says_how_when_the_compiler_is_missing(world: Path) -> None:
    done = subprocess.run(command("doctor"), cwd=world, env={**environment(world), "PATH": "/nowhere"}, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert "apt-get install" in done.stdout


def test_help_imports_neither_torch_nor_numpy(world: Path) -> None:
    code = "import sys, piton.cli.main; sys.exit(bool({'torch', 'numpy', 'rich.table', 'jinja2', 'yaml'} & set(sys.modules)))"
    assert subprocess.run([*command()[:1], "-c", code], cwd=world, env=environment(world), check=False).returncode == 0


def test_overwrite_keeps_the_run_until_the_next_one_can_start(world: Path) -> None:
    assert piton(world, *options("right", "runs/kept")).returncode == 0
    before = (world / "runs/kept/journal.jsonl").read_bytes()
    for wrong in (options("nowhere", "runs/kept", "--overwrite"), options("right", "runs/kept", "--overwrite", "--op", "nosuch")):
        assert piton(world, *wrong).returncode == 2
    assert (world / "runs/kept/journal.jsonl").read_bytes() == before
    assert (world / "runs/kept/report.json").is_file()


def test_a_terminal_without_unicode_shows_the_report(world: Path) -> None:
    piton(world, *options("right", "runs/ascii", "--case", "1"))
    done = subprocess.run(
        [*command(), "report", "runs/ascii"], cwd=world, env={**environment(world), "PYTHONIOENCODING": "ascii"}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"total" in done.stdout


def test_a_page_that_cannot_be_written_leaves_nothing_behind(world: Path) -> None:
    piton(world, *options("right", "runs/page", "--case", "1"))
    (world / "taken").mkdir(exist_ok=True)
    done = piton(world, "report", "runs/page", "--html", "taken")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert not list(world.glob(".new-*"))
