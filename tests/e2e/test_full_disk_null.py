"""A disk that is full in the middle of a run: one message, exit status 3, and the command that it names goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from null_world import command, environment, make_submission, make_suite

_ON_A_SMALL_DISK = """
import json, subprocess, sys
folder, world = sys.argv[1], sys.argv[2]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2300k", "none", folder], check=True)
run = [*{command!r}, "--out", folder + "/run"]
first = subprocess.run(run, cwd=world, env={environment!r}, capture_output=True, text=True)
lines = open(folder + "/run/journal.jsonl").readlines()
subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
again = subprocess.run([*run, "--resume"], cwd=world, env={environment!r}, capture_output=True, text=True)
after = open(folder + "/run/journal.jsonl").readlines()
print(json.dumps([first.returncode, first.stderr, len(lines), again.returncode, again.stderr, len(after), after[:len(lines)] == lines]))
"""


def test_a_run_on_a_disk_that_fills_up_ends_with_one_message_and_can_be_gone_on_with(tmp_path: Path) -> None:
    """The results of `grow` have 600 kB each: there is room for one of them and for what the journal takes ahead, not for more ahead of the second."""
    disk, world = tmp_path / "disk", tmp_path / "world"
    disk.mkdir()
    make_suite(world / "suite")
    make_submission(world / "large", {"grow": {"default": {"causes": ["host_signal"], "message": "x" * 600_000}}})
    alone = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    if subprocess.run([*alone, "mount", "-t", "tmpfs", "none", str(disk)], capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system of our own can be mounted here")
    run = command("eval", "large", "--suite", "suite", "--trust", "--target", "null")
    code = _ON_A_SMALL_DISK.format(command=run, environment=environment(world))
    done = subprocess.run([*alone, sys.executable, "-c", code, str(disk), str(world)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    status, errors, lines, resumed, more, after, is_kept = json.loads(done.stdout)
    assert (status, resumed) == (3, 1), (errors, more)
    assert "no more can be written; everything that was finished is in it" in errors
    assert "Traceback" not in errors
    assert lines >= 2
    assert (after, is_kept) == (9, True)
    assert f"--out {disk}/run --resume" in errors
