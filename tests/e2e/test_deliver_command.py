"""`piton deliver` from end to end: an operator of the reference kernels is packaged, tried on the virtual NPU, and evaluated again from the delivery."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def piton(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "piton.cli.main", *arguments], capture_output=True, text=True, check=False, env={**os.environ})


def test_a_delivered_operator_passes_its_checks_and_a_broken_one_says_where(tmp_path: Path) -> None:
    done = piton("deliver", str(ROOT / "kernels/reference"), "--op", "exp", "--out", str(tmp_path / "out"), "--json")
    record = json.loads(done.stdout)
    found = {check["name"]: check["status"] for check in record["checks"]}
    has_cmake = shutil.which("cmake") is not None
    assert found == {"files": "passed", "virtual NPU: exp": "passed", "build.sh, dry run": "passed" if has_cmake else "not made"}
    assert (done.returncode, record["verified_on_hardware"]) == (0, False)
    kernel = tmp_path / "out/csrc/ops/exp/op_kernel/exp_kernel.cpp"
    kernel.write_text(kernel.read_text().replace("LaunchExp(", "LaunchNothing("))
    broken = piton("deliver", str(tmp_path / "out"), "--out", str(tmp_path / "again"), "--no-dry-run")
    assert broken.returncode == 1
    assert "virtual NPU: exp" in broken.stdout
    assert "failed" in broken.stdout
