"""`piton evolve` with a scripted model on the virtual NPU: a slower candidate, one that does not build; then a faster one with --resume."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from piton.catalog import load_suite
from piton.catalog.scaffold import write_scaffold

FILE = "csrc/ops/exp/op_kernel/exp_kernel.cpp"


def piton(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.run([sys.executable, "-m", "piton.cli.main", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def step(old: str, new: str) -> str:
    block = f"{FILE}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"
    return f"[[step]]\nanswer = {json.dumps(block)}\n"


def test_a_run_keeps_what_it_measured_and_goes_on_with_it(tmp_path: Path) -> None:
    member = load_suite().member("exp")
    assert member is not None
    write_scaffold(member.operator, tmp_path / "start")
    script = step("kBuffers = 2;", "kBuffers = 1;") + step("kBuffers = 2;", "kBuffers = two;") + step("nowhere", "x") + step("nowhere", "x")
    (tmp_path / "first.toml").write_text(script)
    common = ("evolve", "start", "--op", "exp", "--case", "3", "--parallel", "1", "--controller", "direct", "--out", "run")
    done = piton(tmp_path, *common, "--model", "scripted:first.toml", "--rounds", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "second.toml").write_text(step("AscendC::Adds(y, y, offset_, count);", "if (offset_ != 0.0f) {\n    AscendC::Adds(y, y, offset_, count);\n}"))
    other = piton(tmp_path, *common, "--model", "scripted:second.toml", "--seed", "9", "--resume")
    assert (other.returncode, "begun with other options" in other.stderr) == (2, True)
    again = piton(tmp_path, *common, "--model", "scripted:second.toml", "--rounds", "3", "--resume")
    assert again.returncode == 0, again.stdout + again.stderr
    assert again.stdout.count("measured:") == 1, "nothing is measured twice"
    found = json.loads(piton(tmp_path, "runs", "show", "run", "--json").stdout)
    assert [item["is_right"] for item in found["list"]] == [True, True, False, True]
    assert "two" in found["list"][2]["summary"]
    first, slower, _, faster = (item["ratio"] for item in found["list"])
    assert faster < first <= slower
    assert piton(tmp_path, "runs", "export", "run", "--out", "best").returncode == 0
    assert "offset_ != 0.0f" in (tmp_path / "best" / FILE).read_text()
    assert json.loads(piton(tmp_path, "runs", "list", ".", "--json").stdout)["runs"][0]["best"] == round(faster, 4)
