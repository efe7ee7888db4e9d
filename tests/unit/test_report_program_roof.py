"""The table of `piton run`: bytes per level, what limits a launch, and how near it is to the roof."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from piton.catalog.hardware import load_hardware
from piton.core.execution import LaunchRecord
from piton.core.program import ProgramReport
from piton.core.verdict import PASSED
from piton.report.program import render_program, roof_of

CHIP = load_hardware("ascend910b1").figures("silicon")


def launch(**changes: object) -> LaunchRecord:
    figures = {"kernel": "add", "blocks": 48, "cycles": 1850, "time_us": 1.0, "instructions": 9, "stall_cycles": {}, "gm_read_bytes": 4096, "cores": 48}
    figures |= {"busy_cycles": {"v": 48 * 370, "mte2": 48 * 1000}, "gm_written_bytes": 2048, "hbm_bytes": 1_200_000, "l2_bytes": 3072}
    return LaunchRecord.model_validate(figures | changes)


def test_the_roof_is_that_of_the_unit_that_comes_nearest_to_its_peak() -> None:
    unit, share = roof_of(launch(), CHIP)
    assert (unit, share) == ("HBM", pytest.approx(1.2e6 / 1.6e6))
    assert roof_of(launch(hbm_bytes=16_000), CHIP) == ("V", pytest.approx(0.2))
    assert roof_of(launch(busy_cycles={"m": 24 * 925}, hbm_bytes=0), CHIP) == ("M", pytest.approx(0.5))


def test_a_device_copy_has_no_roof() -> None:
    assert roof_of(launch(kind="copy"), CHIP)[0] == ""


def test_bytes_per_level_limit_and_roof_stand_in_the_table() -> None:
    report = ProgramReport(
        piton="0", program="p.asc", target="t", is_auto_sync=True, outcome=PASSED, launches=(launch(hbm_bytes=16_384),), launch_count=1, chip=CHIP
    )
    shown = io.StringIO()
    Console(file=shown, width=240).print(render_program(report))
    for text in ("4/2", "3", "16", "mte2 54 %", "V 20 %"):
        assert text in shown.getvalue()


def test_bytes_of_a_mixed_launch_stand_in_one_of_its_rows_and_busy_shares_are_called_so() -> None:
    cube = {"cores": 24, "busy_cycles": {"m": 24 * 185}, "stall_cycles": {}, "wait_cycles": {}, "lost_cycles": {}}
    mixed = launch(blocks=24, cores=72, busy_cycles={"m": 24 * 185, "v": 48 * 370}, gm_read_bytes=7 << 20, hbm_bytes=1_228_800, cube=cube)
    report = ProgramReport(piton="0", program="p.asc", target="t", is_auto_sync=True, outcome=PASSED, launches=(mixed,), launch_count=1, chip=CHIP)
    shown = io.StringIO()
    Console(file=shown, width=320).print(render_program(report))
    (cubes,) = [line for line in shown.getvalue().splitlines() if "add, AIC" in line]
    (vectors,) = [line for line in shown.getvalue().splitlines() if "add, AIV" in line]
    assert "7168/2" in cubes
    assert "HBM 77 %" in cubes
    assert "7168" not in vectors
    assert "1200" not in vectors
    assert "V 20 %" in vectors
    assert "unit was busy, not of its peak" in " ".join(shown.getvalue().split())
