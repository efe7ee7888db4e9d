"""Can a simulated time beat the silicon roof? It must not: T_HW would mean nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "fidelity"))

import timing_driver
from timing_driver import ADD, F16, MTE2, MTE3, V

from piton.catalog.hardware import hardware_names, load_hardware
from piton.core.hardware import Hardware

SIMULATED = tuple(name for name in hardware_names() if load_hardware(name).simulation)
MIB = 1 << 20
GM = 0x200000000000


def stream(read_bytes: int, write_bytes: int, tile: int = 32768) -> str:
    """48 cores with nothing but bypassing loads and stores, as fast as the pipes take them."""
    lines: list[str] = []
    for core in range(48):
        lines.append("core")
        lines += [f"read {GM + offset} 1 {min(tile, read_bytes - offset)} 0 1" for offset in range(core * tile, read_bytes, 48 * tile)]
        lines += [f"write {GM + 1024 * MIB + offset} 1 {min(tile, write_bytes - offset)} 0 0" for offset in range(core * tile, write_bytes, 48 * tile)]
    return "\n".join([*lines, "launch", ""])


def roof_us(hardware: Hardware, read_bytes: int, write_bytes: int) -> float:
    """T_HW of that traffic: reads at HBM rate, writes at L2 rate as far as they fit, the rest at HBM rate."""
    peaks = hardware.silicon
    fitting = min(write_bytes, peaks.l2_bytes.value)
    write_s = fitting / peaks.l2_write_bytes_per_s.value + (write_bytes - fitting) / peaks.hbm_write_bytes_per_s.value
    return max(peaks.floor_us.value, 1e6 * read_bytes / peaks.hbm_read_bytes_per_s.value, 1e6 * write_s)


@pytest.mark.parametrize("name", SIMULATED)
@pytest.mark.parametrize(
    ("read_mib", "write_mib"), [(0.001, 0), (0, 0.001), (1, 1), (16, 16), (0, 128), (128, 0), (64, 128), (0, 192), (0, 256), (0, 384), (256, 300)]
)
def test_no_stream_beats_the_silicon_roof(name: str, read_mib: float, write_mib: float) -> None:
    hardware = load_hardware(name)
    read_bytes, write_bytes = int(read_mib * MIB), int(write_mib * MIB)
    (answer,) = timing_driver.run(hardware, stream(read_bytes, write_bytes))
    assert (answer["read"], answer["written"]) == (read_bytes, write_bytes)
    assert answer["cycles"] / hardware.clock_hz.value * 1e6 >= roof_us(hardware, read_bytes, write_bytes)


def test_large_streams_come_near_the_silicon_roof() -> None:
    hardware = load_hardware("ascend910b2")
    (answer,) = timing_driver.run(hardware, stream(256 * MIB, 0))
    assert answer["cycles"] / hardware.clock_hz.value * 1e6 <= 1.15 * roof_us(hardware, 256 * MIB, 0)


def test_a_second_launch_on_its_own_output_beats_no_roof_either() -> None:
    hardware = load_hardware("ascend910b2")
    size = 150 * MIB
    answers = timing_driver.run(hardware, stream(0, size) + "repeat\n")
    assert all(answer["cycles"] / 1800 >= roof_us(hardware, 0, size) for answer in answers)


@pytest.mark.parametrize("name", SIMULATED)
def test_no_vector_stream_beats_the_silicon_lanes(name: str) -> None:
    hardware = load_hardware(name)
    script = "".join("core\n" + f"vector {ADD} {F16} {0x20000} 0 {0x8100} 255\n" * 40 for _ in range(48))
    (answer,) = timing_driver.run(hardware, script + "launch\n")
    lanes = 48 * 40 * 255 * 128
    assert answer["busy"][V] >= 48 * 40 * 255
    assert answer["cycles"] >= lanes / hardware.silicon.vector_lanes_per_s["float16"].value * hardware.clock_hz.value


def test_stores_wait_for_the_loads_they_depend_on() -> None:
    script = f"core\nread {GM} 1 32768 0 0\nset {MTE2} {MTE3} 0\nwait {MTE2} {MTE3} 0\nwrite {GM + MIB} 1 32768 0 0\nlaunch\n"
    apart = script.replace(f"set {MTE2} {MTE3} 0\nwait {MTE2} {MTE3} 0\n", "")
    chained, free = (timing_driver.run("ascend910b2", text)[0]["cycles"] for text in (script, apart))
    assert chained > free
