"""Is the cost of one instruction what the sources say? Bank conflicts against the published scenarios, vector and chip-table rules exactly."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "fidelity"))

import published
import timing_driver
from timing_driver import ADD, BLOCK_REDUCE_SUM, BRCB, CAST, COMPARE, EXP, F16, F32, SELECT, WHOLE_REDUCE_SUM

from piton.catalog.hardware import load_hardware

FIXED = 23


def cost(line: str) -> int:
    return int(timing_driver.run("ascend910b1", f"{line}\ncost\n")[0]["cycles"])


@pytest.mark.parametrize("scenario", published.BANK_SCENARIOS)
def test_published_bank_conflict_scenarios_are_met_within_3_percent(scenario: int) -> None:
    simulated = timing_driver.run("ascend910b1", published.bank_script(scenario))[0]["cycles"]
    assert simulated == pytest.approx(published.bank_cycles(scenario), rel=0.03)


@pytest.mark.parametrize(("distance", "cycles_per_repeat"), [(0, 2), (128, 2), (256, 1), (512, 2), (768, 1)])
def test_sources_conflict_unless_they_are_half_the_bank_groups_apart(distance: int, cycles_per_repeat: int) -> None:
    assert cost(f"vector {ADD} {F16} {0x20000} 0 {0x8000 + distance} 64") == FIXED + 64 * cycles_per_repeat


@pytest.mark.parametrize(("stride", "cycles_per_repeat"), [(1, 1), (2, 1), (4, 2), (8, 4), (16, 8), (0, 1)])
def test_blocks_of_one_operand_in_one_bank_group_follow_each_other(stride: int, cycles_per_repeat: int) -> None:
    assert cost(f"strided {ADD} {F32} {0x20000} 0 -1 8 {stride} 0 1 8 1 8") == FIXED + 8 * cycles_per_repeat


def test_an_operation_in_place_is_free_of_conflicts() -> None:
    assert cost(f"vector {ADD} {F32} 0 0 {0x10100} 64") == FIXED + 64


@pytest.mark.parametrize(
    ("opcode", "dtype", "cycles_per_repeat"),
    [
        (EXP, F32, 2),
        (EXP, F16, 4),
        (CAST, F32, 1),
        (4, F32, 4),
        (4, F16, 8),
        (COMPARE, F32, 2),
        (SELECT, F16, 2),
        (WHOLE_REDUCE_SUM, F32, 7),
        (BLOCK_REDUCE_SUM, F16, 1),
        (BRCB, F32, 1),
    ],
)
def test_vector_costs_are_those_of_the_hardware_file(opcode: int, dtype: int, cycles_per_repeat: int) -> None:
    assert cost(f"vector {opcode} {dtype} {0x10000} 0 -1 10") == FIXED + 10 * cycles_per_repeat


def test_no_active_element_costs_only_the_issue() -> None:
    assert cost(f"vector {ADD} {F32} 0 0 0 0") == 0


def test_a_missing_parameter_is_named() -> None:
    chip = load_hardware("ascend910b1")
    without = chip.model_copy(update={"simulation": {name: figure for name, figure in chip.simulation.items() if name != "sync.flag_cycles"}})
    with pytest.raises(RuntimeError, match=r"missing parameter `sync\.flag_cycles`"):
        timing_driver.run(without, "")


def test_a_negative_figure_is_refused_with_its_line() -> None:
    chip = load_hardware("ascend910b1")
    broken = chip.model_copy(update={"simulation": {**chip.simulation, "queue.depth": chip.simulation["queue.depth"].model_copy(update={"value": -1.0})}})
    with pytest.raises(RuntimeError, match=r"line \d+: .*queue.depth -1"):
        timing_driver.run(broken, "")
