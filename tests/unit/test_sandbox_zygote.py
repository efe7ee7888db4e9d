"""Does the starter of sandboxed processes end quietly when its parent is gone, and is it replaced when it is gone itself?"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from piton.core.protocols import Limits, ProcessJob, Role
from piton.evaluate.sandbox import make_runner, wire
from piton.evaluate.sandbox.runner import SandboxRunner

START = "import sys; from piton.evaluate.sandbox.zygote import main; main(int(sys.argv[1]), ())"


def test_a_starter_whose_parent_is_gone_ends_without_a_word() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        done = subprocess.run([sys.executable, "-c", START, str(theirs.fileno())], pass_fds=(theirs.fileno(),), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_message_to_a_parent_that_was_killed_is_dropped() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        wire.tell(theirs, {"pid": 1})


def test_a_zygote_that_was_killed_is_replaced_and_its_jobs_live_on() -> None:
    runner = make_runner()
    try:
        waits = runner.start(ProcessJob(Role.HOST, (sys.executable, "-I", "-c", "input()"), cwd="/"))
        os.kill(zygote_of(runner), signal.SIGKILL)
        for _ in range(2):
            assert runner.run(ProcessJob(Role.HOST, (sys.executable, "-I", "-c", "print(7)"), cwd="/")).stdout == "7\n"
        ended = waits.wait(20.0)
        assert ended is not None
        assert ended.exit_code == 1  # input() meets the end of its input
    finally:
        runner.close()


def zygote_of(runner: SandboxRunner) -> int:
    """The process that starts programs."""
    process = runner._programs._process
    assert process is not None
    return process.pid


@pytest.mark.parametrize(("code", "is_killed"), [("import os; os.kill(os.getpid(), 9)", True), ("while True: pass", False), ("exit(3)", False)])
def test_a_kill_that_a_bound_explains_is_told_from_one_that_nothing_explains(code: str, is_killed: bool) -> None:
    runner = make_runner()
    try:
        result = runner.run(ProcessJob(Role.HOST, (sys.executable, "-I", "-c", code), cwd="/", limits=Limits(wall_s=30.0, cpu_s=1)))
    finally:
        runner.close()
    assert result.is_killed == is_killed
