"""Does a submission get the same from an engine in a process of its own as from one beside its device code?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_broken_examples import EXAMPLES, evaluated

QUICK = {"crashes", "reads_out_of_bounds"}
"""A launch that ends by a signal, and one by a report. The budget and a wait for ever take longer."""
BROKEN = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())


def told(name: str, out: Path, engine: str) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """Exit status and outcome, and the whole operator without what clocks say."""
    status, _, outcome = evaluated(name, out, "--engine", engine)
    report = json.loads((out / "report.json").read_text())
    assert ("engine_own_process" in report["environment"]["isolation"]) == (engine == "own-process")
    return status, outcome, {"operators": [case["case"]["id"] for case in report["operators"][0]["cases"]], "digest": report["result_digest"]}


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in BROKEN])
def test_a_broken_example_is_told_the_same_wherever_the_engine_is(name: str, tmp_path: Path) -> None:
    assert told(name, tmp_path / "apart", "own-process") == told(name, tmp_path / "beside", "in-process")
