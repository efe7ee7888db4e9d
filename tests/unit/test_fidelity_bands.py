"""Do hardware files, docs/fidelity.md and the tables of docs/timing-model.md tell the same error bands?"""

import importlib.util
import math
import re
from pathlib import Path
from types import ModuleType

import pytest

from piton.catalog.hardware import hardware_names, load_hardware

ROOT = Path(__file__).resolve().parents[2]
TABLES = {"add": r"Add case \d, .*L2 cold", "copy": r"(?:UB|L1) \d, .*", "bank": r"bank conflict scenario \d", "small": r"cast of .*"}
CLOCKS = 1.85 / 1.8
ROUNDING = 0.003
"""Times of a few us with two decimals: 0.005 of 2.50, and a digit of the band."""


def computed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fidelity_bands", ROOT / "benchmarks" / "fidelity" / "bands.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ratios() -> dict[str, list[float]]:
    """Simulated / measured of every row of the tables."""
    text = (ROOT / "docs" / "timing-model.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| ([\d.]+) \| ([\d.]+) \| [+-][\d.]+ %", text, re.MULTILINE)
    return {name: [float(simulated) / float(measured) for what, measured, simulated in rows if re.fullmatch(form, what)] for name, form in TABLES.items()}


def test_the_tables_have_the_references_that_the_bands_are_made_of() -> None:
    assert {name: len(found) for name, found in ratios().items()} == {"add": 6, "copy": 15, "bank": 8, "small": 12}


@pytest.mark.parametrize("kind", ["memory", "short", "vector", "pair"])
def test_the_shipped_bands_follow_from_the_tables_as_far_as_their_decimals_go(kind: str) -> None:
    low, high, level, references = computed().bands(ratios())[kind]
    shipped = load_hardware("ascend910b1").fidelity[kind]
    assert (shipped.low, shipped.high) == (pytest.approx(low, abs=ROUNDING), pytest.approx(high, abs=ROUNDING))
    assert (shipped.references, shipped.confidence) == (references, math.floor(100 * level) / 100)


def test_the_farthest_references_are_inside_the_band_of_their_kind() -> None:
    found, shipped = ratios(), load_hardware("ascend910b1").fidelity
    for kind, tables in (("memory", ("add", "copy")), ("short", ("small",))):
        assert all(shipped[kind].low <= ratio <= shipped[kind].high for table in tables for ratio in found[table])
    assert [ratio for table in found.values() for ratio in table if not shipped["vector"].low <= ratio <= shipped["vector"].high] == [
        min(found["add"]),
        max(found["small"]),
    ]


@pytest.mark.parametrize("kind", ["memory", "short", "vector", "pair"])
def test_a_chip_whose_parameters_are_carried_over_has_wider_bands(kind: str) -> None:
    measured, carried = load_hardware("ascend910b1").fidelity[kind], load_hardware("ascend910b2").fidelity[kind]
    assert (carried.low, carried.high) == computed().widened(measured.low, measured.high, CLOCKS)
    assert (carried.references, carried.confidence) == (measured.references, measured.confidence)


def test_the_page_tells_the_bands_of_the_hardware_files() -> None:
    page = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
    for kind, band in load_hardware("ascend910b1").fidelity.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{kind}` |"))
        assert f"| {band.low:.3f} to {band.high:.3f} | {100 * band.confidence:.0f} % |" in row
    carried = ", ".join(f"{kind} {band.low:.3f} to {band.high:.3f}" for kind, band in load_hardware("ascend910b2").fidelity.items())
    row = next(line for line in page.splitlines() if line.startswith("| `ascend910b2` |"))
    assert carried in row


def test_only_chips_with_references_have_bands() -> None:
    assert {name for name in hardware_names() if load_hardware(name).fidelity} == {"ascend910b1", "ascend910b2"}


def test_bands_are_no_part_of_what_a_hardware_file_is_known_by() -> None:
    hardware = load_hardware("ascend910b1")
    assert hardware.model_copy(update={"fidelity": {}}).digest() == hardware.digest()
    assert hardware.model_copy(update={"cores_aic": 23}).digest() != hardware.digest()
