"""Are the shipped hardware files sound, and does a broken one say what is wrong?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog.hardware import HARDWARE_DIR, flat_table, hardware_names, load_hardware
from piton.core.errors import FormatError, UsageError
from piton.targets.registry import hardware_name, target_names

HBM_PEAK = 1.6e12
SIMULATED = tuple(name for name in hardware_names() if load_hardware(name).simulation)
"""Chips with a timing model."""


def write_variant(folder: Path, old: str, new: str) -> Path:
    """The 910B2 file under another name with one replacement."""
    text = (Path(__file__).resolve().parents[2] / "src/piton/hardware/ascend910b2.yaml").read_text(encoding="utf-8")
    assert old in text
    path = folder / "variant.yaml"
    path.write_text(text.replace("name: ascend910b2", "name: variant").replace(old, new, 1), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", hardware_names())
def test_every_figure_names_its_source(name: str) -> None:
    hardware = load_hardware(name)
    figures = [hardware.clock_hz, *hardware.memory_bytes.values(), *hardware.simulation.values()]
    for peaks in (hardware.convention, hardware.silicon):
        figures += [peaks.hbm_read_bytes_per_s, peaks.hbm_write_bytes_per_s, peaks.l2_write_bytes_per_s, peaks.l2_bytes, peaks.floor_us]
        figures += [*peaks.cube_flops.values(), *peaks.vector_lanes_per_s.values()]
        if (path := peaks.cube_path) is not None:
            figures += [path.l2_read_bytes_per_s, path.l0a_bytes_per_s, path.l0b_bytes_per_s, path.fixp_elements_per_s]
    assert all(len(figure.source) > 5 for figure in figures)


@pytest.mark.parametrize("name", SIMULATED)
def test_the_simulator_has_no_rate_above_silicon(name: str) -> None:
    hardware = load_hardware(name)
    rates = {key: figure.value for key, figure in hardware.simulation.items()}
    assert rates["hbm.read_cap_bytes_per_s"] <= hardware.silicon.hbm_read_bytes_per_s.value
    assert rates["hbm.total_cap_bytes_per_s"] <= hardware.silicon.hbm_write_bytes_per_s.value
    assert rates["l2.write_cap_bytes_per_s"] <= hardware.silicon.l2_write_bytes_per_s.value
    assert rates["l2.bytes"] <= hardware.silicon.l2_bytes.value
    path = hardware.silicon.cube_path
    assert path is not None
    assert rates["l2.read_cap_bytes_per_s"] <= path.l2_read_bytes_per_s.value
    assert rates["mte2_l1.l2_rate_bytes_per_s"] * hardware.cores_aic <= path.l2_read_bytes_per_s.value
    assert rates["mte1.l0a_rate_bytes_per_s"] * hardware.cores_aic <= path.l0a_bytes_per_s.value
    assert rates["mte1.l0b_rate_bytes_per_s"] * hardware.cores_aic <= path.l0b_bytes_per_s.value
    assert rates["fix.l0c_rate_bytes_per_s"] / 4 * hardware.cores_aic <= path.fixp_elements_per_s.value
    assert rates["launch.minimum_us"] >= hardware.silicon.floor_us.value


@pytest.mark.parametrize("name", SIMULATED)
@pytest.mark.parametrize(("dtype", "width"), [("int8", 1), ("float16", 2), ("bfloat16", 2), ("float32", 4)])
def test_no_product_that_the_cubes_memories_can_hold_beats_silicon(name: str, dtype: str, width: int) -> None:
    """The largest k that fits L0A and L0B with 16 rows and columns, and the largest square that fits L0C."""
    hardware = load_hardware(name)
    rates = {key: figure.value for key, figure in hardware.simulation.items()}
    for m, n, k in ((16, 16, 65536 // width // 16), (176, 176, 65536 // width // 176 // 32 * 32), (128, 256, 65536 // width // 256)):
        products = (m // 16) * (n // 16) * (k * width // 32)
        cycles = rates["cube.fixed_cycles"] + products * rates[f"cube.b{width * 8}_cycles"]
        assert 2 * m * n * k * hardware.cores_aic * hardware.clock_hz.value / cycles <= hardware.silicon.cube_flops[dtype].value


def test_the_910b2_convention_is_the_published_one() -> None:
    convention = load_hardware("ascend910b2").convention
    assert (convention.hbm_read_bytes_per_s.value, convention.l2_write_bytes_per_s.value, convention.l2_bytes.value) == (1.92e12, 6.4e12, 192e6)
    assert (convention.cube_flops["float16"].value, convention.cube_flops["int8"].value, convention.cube_flops["float32"].value) == (354e12, 708e12, 86e12)
    assert (convention.vector_lanes_per_s["float32"].value, convention.vector_lanes_per_s["float16"].value) == (6e12, 12e12)


def test_the_950pr_convention_is_the_published_one() -> None:
    hardware = load_hardware("ascend950pr")
    convention = hardware.convention
    assert (hardware.edition, hardware.arch) == ("950pr", "dav-3510")
    assert (convention.hbm_read_bytes_per_s.value, convention.l2_write_bytes_per_s.value, convention.l2_bytes.value) == (1.6e12, 5.2e12, 128e6)
    assert (convention.cube_flops["float16"].value, convention.cube_flops["int8"].value, convention.cube_flops["float32"].value) == (432e12, 865e12, 216e12)
    assert (convention.vector_lanes_per_s["float32"].value, convention.vector_lanes_per_s["bfloat16"].value) == (27e12, 54e12)


def test_documented_peaks_of_the_950pr_follow_from_its_cores_and_clock() -> None:
    hardware = load_hardware("ascend950pr")
    clock, silicon = hardware.clock_hz.value, hardware.silicon
    assert silicon.cube_flops["float16"].value == pytest.approx(32 * 16**3 * 2 * clock, rel=1e-3)
    assert silicon.cube_flops["float8_e4m3"].value == pytest.approx(2 * 32 * 16**3 * 2 * clock, rel=1e-3)
    assert silicon.cube_flops["float4_e2m1"].value == pytest.approx(4 * 32 * 16**3 * 2 * clock, rel=1e-3)
    assert silicon.vector_lanes_per_s["float16"].value == 64 * 128 * 2 * clock


def test_every_target_has_a_chip_with_a_timing_model_and_the_950pr_has_none() -> None:
    assert {hardware_name(target) for target in target_names()} == set(SIMULATED)
    with pytest.raises(UsageError, match=r"ascend950pr has no timing model yet[\s\S]*ascend910b2-sim[\s\S]*--hardware ascend950pr"):
        hardware_name("ascend950pr-sim")


def test_no_chip_takes_its_timing_from_one_that_has_none(tmp_path: Path) -> None:
    path = write_variant(tmp_path, "simulation_from: ascend910b1", "simulation_from: ascend950pr")
    with pytest.raises(FormatError, match="ascend950pr has no timing model to take figures from"):
        load_hardware(path)


def test_carried_over_figures_say_so() -> None:
    hardware = load_hardware("ascend910b2")
    assert hardware.simulation["queue.depth"].source.startswith("carried over from ascend910b1: ")
    assert set(hardware.simulation) == set(load_hardware("ascend910b1").simulation)


def test_an_own_figure_replaces_the_carried_over_one(tmp_path: Path) -> None:
    own = "\nsimulation:\n  queue.depth: {value: 5, source: measured here}"
    path = write_variant(tmp_path, "simulation_from: ascend910b1", f"simulation_from: ascend910b1{own}")
    assert load_hardware(path).simulation["queue.depth"].value == 5


def test_the_flat_table_has_one_exact_value_per_line() -> None:
    hardware = load_hardware("ascend910b2")
    rows = dict(line.split(" ") for line in flat_table(hardware).splitlines())
    assert rows["clock.core_hz"] == "1800000000"
    assert {name: float(rows[name]) for name in hardware.simulation} == {name: figure.value for name, figure in hardware.simulation.items()}


def test_an_unknown_chip_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"ascend910b1, ascend910b2, ascend950pr[\s\S]*ascend999"):
        load_hardware("ascend999")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(UsageError, match=r"nowhere/chip\.yaml"):
        load_hardware("nowhere/chip.yaml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cores_aiv: 48", "cores_aiv: many", "field `cores_aiv` is wrong"),
        ("cores_aic: 24\n", "", "field `cores_aic` is wrong"),
        ("arch: dav-2201", "arch: dav-2201\ncolour: red", "field `colour` is wrong"),
        ("name: variant", "name: other", "named after its chip"),
        ("simulation_from: ascend910b1", "simulation_from: variant", "names no chip to take figures from"),
        ("simulation_from: ascend910b1", "simulation_from: ./variant.yaml", "names no chip to take figures from"),
        ("convention:", "convention: [", "not valid YAML"),
        ("clock_hz: {value: 1.8e9", "clock_hz: {value: 0", "clock_hz.value can't be a figure"),
        ("hbm_read_bytes_per_s: {value: 1.92e12", "hbm_read_bytes_per_s: {value: .nan", "convention.hbm_read_bytes_per_s.value can't be a figure"),
        ("cores_aiv: 48", "cores_aiv: -1", "cores_aiv can't be a figure"),
        ("  l0a: {value: 65536", '  "l0a 1\\nub_bytes": {value: 65536', "a name of a figure"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, old: str, new: str, message: str) -> None:
    if old == "name: variant":
        path = write_variant(tmp_path, "arch: dav-2201", "arch: dav-2201")
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    else:
        path = write_variant(tmp_path, old, new)
    with pytest.raises(FormatError, match=message):
        load_hardware(path)


@pytest.mark.parametrize("block", ["convention", "silicon"])
def test_a_chip_without_a_vector_rate_for_a_float_is_refused_with_its_place(tmp_path: Path, block: str) -> None:
    text = (HARDWARE_DIR / "ascend910b2.yaml").read_text().replace("name: ascend910b2\n", "name: chip\n")
    start = text.index("vector_lanes_per_s:", text.index(f"\n{block}:"))
    cut = text.index("    float16: {", start)
    (tmp_path / "chip.yaml").write_text(text[:cut] + text[text.index("\n", cut) + 1 :])
    with pytest.raises(FormatError, match=f"{block} has no vector rate for float16") as caught:
        load_hardware(tmp_path / "chip.yaml")
    assert caught.value.where.startswith(str(tmp_path / "chip.yaml"))


MEASURED = Path(__file__).resolve().parents[2] / "benchmarks" / "fidelity" / "measured"


@pytest.mark.parametrize("path", sorted(MEASURED.glob("*.yaml")), ids=lambda path: path.name)
def test_a_chip_of_the_benchmarks_has_every_parameter_of_the_timing_model(path: Path) -> None:
    assert set(load_hardware("ascend910b1").simulation) <= set(load_hardware(str(path)).simulation)
