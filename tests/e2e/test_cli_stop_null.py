"""Ctrl-C and SIGTERM at any moment: one line, no traceback, and a run that can be resumed by the command it prints."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from null_world import command, environment, make_submission, make_suite

_STOP_AT = """
import os, sys, threading

class Stopper:
    "Sends the signal when a module is about to be loaded."
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), {number})
            for _ in range(1000):
                pass
        return None

sys.meta_path.insert(0, Stopper())
sys.argv = ["piton"] + {arguments!r}
from piton.cli.start import run
run()
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("stops")
    make_suite(root / "suite")
    make_submission(root / "right")
    return root


def options(out: str, *more: str) -> list[str]:
    return ["eval", "right", "--suite", "suite", "--trust", "--target", "null", "--out", out, *more]


def stop_at(world: Path, module: str, number: signal.Signals, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    code = _STOP_AT.format(module=module, number=int(number), arguments=arguments)
    return subprocess.run([sys.executable, "-c", code], cwd=world, env=environment(world), capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("module", "number"),
    [("piton.cli.main", signal.SIGINT), ("typer", signal.SIGTERM), ("piton.core.errors", signal.SIGINT), ("pydantic", signal.SIGINT)],
)
def test_a_stop_while_loading_is_one_line(world: Path, module: str, number: signal.Signals) -> None:
    done = stop_at(world, module, number, options("runs/never"))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "piton: stopped\n")


def test_the_stopper_of_these_tests_does_nothing_for_a_module_that_is_not_loaded(world: Path) -> None:
    done = stop_at(world, "no_such_module", signal.SIGINT, ["--version"])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("said", ["preparing target null ...", "grow/1 passed"])
def test_a_stop_at_any_stage_leaves_a_run_that_the_printed_command_completes(world: Path, said: str) -> None:
    out = f"runs/at {said.split()[0].replace('/', '-')}"
    process = subprocess.Popen(
        [*command()[:1], "-m", "piton", *options(out)],
        cwd=world,
        env=environment(world),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if said in line:
            process.send_signal(signal.SIGINT)
            break
    rest, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert process.returncode in (130, 0), errors  # the run may have ended before the signal came
    if process.returncode == 0:
        return
    (hint,) = [line for line in (rest + errors).splitlines() if "piton: stopped" in line]
    arguments = shlex.split(hint.partition("go on with --resume: ")[2])
    assert (arguments[0], arguments[-3:]) == ("piton", ["--out", out, "--resume"])
    assert arguments.count("--out") == 1
    resumed = subprocess.run(command(*arguments[1:]), cwd=world, env=environment(world), capture_output=True, text=True, timeout=120, check=False)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads((world / out / "report.json").read_text())["is_complete"]


def test_a_stop_before_anything_was_done_says_to_start_again(world: Path) -> None:
    done = stop_at(world, "piton.evaluate.sandbox.runner", signal.SIGINT, options("runs/early"))
    assert done.returncode == 130
    assert done.stderr == "piton: stopped before anything was done; give the same command again\n"
    assert not (world / "runs/early").exists()


def test_a_background_job_whose_shell_ignores_ctrl_c_goes_on(world: Path) -> None:
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + _STOP_AT.format(module="typer", number=int(signal.SIGINT), arguments=["--version"])
    done = subprocess.run([sys.executable, "-c", code], cwd=world, env=environment(world), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
