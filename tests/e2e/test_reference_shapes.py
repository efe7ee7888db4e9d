"""Are the reference and the baseline row operators right at the edges of their tilings?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "submissions"))

from row_shapes import ALL_ROWS, ROOT, write_row_suite

SUBMISSIONS = {"reference": ROOT / "kernels/reference", "baseline": ROOT / "src/piton/suites/piton/baselines"}


@pytest.fixture(scope="module", params=SUBMISSIONS)
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("shapes")
    suite = write_row_suite(folder / "suite")
    command = [sys.executable, "-m", "piton.cli.main", "eval", str(SUBMISSIONS[request.param]), "--suite", str(suite), "--trust"]
    done = subprocess.run([*command, "--out", str(folder / "run")], capture_output=True, text=True, timeout=280, check=False)
    assert (folder / "run/report.json").is_file(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / "run/report.json").read_text())
    return found


@pytest.mark.parametrize("name", ALL_ROWS)
def test_every_shape_passes_without_a_hazard(report: dict[str, Any], name: str) -> None:
    (cases,) = [item["cases"] for item in report["operators"] if item["operator"] == name]
    assert len(cases) == len(ALL_ROWS[name])
    for case, row in zip(cases, ALL_ROWS[name], strict=True):
        assert case["outcome"]["verdict"] == "passed", (row, case["outcome"])
        assert {finding["kind"] for finding in case["findings"]} <= ({"no_anchor"} if report["auto_sync"] is False else {"auto_sync_relied_on", "no_anchor"})
