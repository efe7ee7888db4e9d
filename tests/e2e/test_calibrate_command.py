"""Does `piton calibrate` find the constants of a chip again from times that it made, and can its hardware file be used?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from piton.catalog.hardware import load_hardware
from piton.catalog.hardware_file import write_hardware
from piton.core.hardware import Figure

PROGRAM = Path(__file__).resolve().parents[1] / "submissions" / "programs" / "copies.asc"
TRUTH = {"launch.base_us": 1.6, "launch.per_block_us": 0.06}
CONSTANTS = '[constants]\n"launch.base_us" = [0.3, 3.0]\n"launch.per_block_us" = [0.02, 0.4]\n'


def piton(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "piton.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, env={**os.environ, "COLUMNS": "200"})


def launches_on(target: str | Path, program: Path) -> list[dict[str, Any]]:
    done = piton("run", program, "--target", target, "--timing-only", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["hardware"], report["target"]) == (Path(target).stem, f"{Path(target).stem}-sim")
    assert report["hardware_digest"] == load_hardware(target).digest()
    assert str(Path(target).parent) not in json.dumps({**report, "program": ""})
    return [launch for launch in report["launches"] if launch["kind"] == "kernel"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program, a profile that another chip made, and a mapping of the eight launches."""
    shutil.copy(PROGRAM, tmp_path)
    chip = load_hardware("ascend910b1")
    changed = {name: Figure(value=value, source="made up") for name, value in TRUTH.items()}
    write_hardware(chip.model_copy(update={"name": "other", "simulation": {**chip.simulation, **changed}}), tmp_path / "other.yaml")
    launches = launches_on(tmp_path / "other.yaml", tmp_path / "copies.asc")
    rows = "".join(f"launch{number},{launch['time_us']},{launch['blocks']}\n" for number, launch in enumerate(launches, 1))
    (tmp_path / "op_summary.csv").write_text("Op Name,Task Duration(us),Block Dim\n" + rows)
    entries = (f'[[kernel]]\nrows = {{ "op name" = "launch{n}" }}\nprogram = "copies.asc"\nindex = {n}\ntiming_only = true\n' for n in range(1, 9))
    (tmp_path / "map.toml").write_text(CONSTANTS + "".join(entries))
    return tmp_path


def test_constants_of_another_chip_are_found_again_and_kept_in_a_hardware_file(folder: Path) -> None:
    options = ("--map", folder / "map.toml", "--hardware", "ascend910b1")
    compared = piton("calibrate", folder / "op_summary.csv", *options, "--json")
    assert compared.returncode == 0, compared.stderr
    assert json.loads(compared.stdout)["fitted_after"][-1]["median_error"] > 0.05
    kept = (folder / "map.calibration.jsonl").read_bytes()
    assert piton("calibrate", folder / "op_summary.csv", *options, "--json").stdout == compared.stdout
    assert (folder / "map.calibration.jsonl").read_bytes() == kept, "the second run simulated again"
    done = piton("calibrate", folder / "op_summary.csv", *options, "--out", folder / "mine.yaml", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {item["name"]: item["value"] for item in report["constants"]} == pytest.approx(TRUTH, rel=0.05)
    assert all(group["median_error"] < 0.02 for part in ("fitted_after", "held_out_after") for group in report[part])
    found = [launch["time_us"] for launch in launches_on(folder / "mine.yaml", folder / "copies.asc")]
    assert found == pytest.approx([launch["time_us"] for launch in launches_on(folder / "other.yaml", folder / "copies.asc")], rel=0.02)


def test_a_program_that_lacks_the_launch_is_named(folder: Path) -> None:
    text = (folder / "map.toml").read_text().replace("index = 8", "index = 9")
    (folder / "map.toml").write_text(text)
    done = piton("calibrate", folder / "op_summary.csv", "--map", folder / "map.toml", "--hardware", "ascend910b1")
    assert done.returncode == 2
    assert "lacks the launch" in done.stderr
    assert "Traceback" not in done.stderr
