"""Scalar code of a kernel: which basic blocks count, what the scalar unit is charged for them, and the published loop that it is anchored to."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from piton.catalog.hardware import load_hardware
from piton.core.timeline import LOSS_REASONS
from piton.targets.vnpu.steps import DEVICE_FLAGS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "fidelity"))

import timing_driver

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

CHIP = "ascend910b1"
S, V = timing_driver.S, timing_driver.V
INCLUDE = ROOT / "src/piton/vnpu_cpp/include"

SCALAR_LOOP = """
    LocalTensor<half> x(TPosition::VECIN, 0, 4096), y(TPosition::VECIN, 8192, 4096), z(TPosition::VECOUT, 16384, 4096);
    for (int32_t i = 0; i < tiles; ++i) z.SetValue(i, static_cast<half>(static_cast<float>(x.GetValue(i)) + static_cast<float>(y.GetValue(i))));
"""
QUEUES = """
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 2> out;
    GlobalTensor<half> values;
    values.SetGlobalBuffer(reinterpret_cast<__gm__ half *>(memory));
    pipe.InitBuffer(in, 2, 8192);
    pipe.InitBuffer(out, 2, 8192);
    for (int32_t i = 0; i < tiles; ++i) {
        LocalTensor<half> x = in.AllocTensor<half>();
        DataCopy(x, values[i * 4096], 4096);
        in.EnQue(x);
        LocalTensor<half> read = in.DeQue<half>();
        LocalTensor<half> z = out.AllocTensor<half>();
        Add(z, read, read, 4096);
        in.FreeTensor(read);
        out.EnQue(z);
        LocalTensor<half> left = out.DeQue<half>();
        DataCopy(values[i * 4096], left, 4096);
        out.FreeTensor(left);
    }
"""


def compiled(body: str, level: str, folder: Path) -> list[int]:
    """Blocks before each record of a kernel with that body, compiled with Piton's device flags at that level of optimisation."""
    source = folder / "kernel.cpp"
    head = '#include "kernel_operator.h"\nusing namespace AscendC;\n'
    source.write_text(f'{head}extern "C" __global__ __aicore__ void counted_kernel(GM_ADDR memory, int32_t tiles) {{\n    (void)memory;\n{body}}}\n')
    flags = [flag for flag in DEVICE_FLAGS if flag not in ("-O2", "-fvisibility=hidden")]
    kernel, counter, program = folder / "kernel.o", folder / "counter.o", folder / "program"
    subprocess.run(["g++", *flags, level, '-DPITON_TU="k"', "-D__NPU_ARCH__=2201", f"-I{INCLUDE}", "-c", source, "-o", kernel], check=True)
    subprocess.run(["g++", "-std=c++17", f"-I{INCLUDE}", "-c", HERE / "cpp/block_counter.cpp", "-o", counter], check=True)
    subprocess.run(["g++", kernel, counter, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    return [int(line.split()[2]) for line in done.stdout.splitlines()]


def test_a_scalar_loop_counts_one_block_per_turn_at_every_optimisation(tmp_path: Path) -> None:
    found = {level: compiled(SCALAR_LOOP, level, tmp_path) for level in ("-O1", "-O2", "-O3")}
    assert found["-O1"][3:] == found["-O2"][3:] == found["-O3"][3:]
    assert found["-O2"][3:] == [1, 0, 0] * 2


def test_queues_count_no_block_of_ours(tmp_path: Path) -> None:
    found = compiled(QUEUES, "-O2", tmp_path)
    assert sum(found[-13 * 3 :]) <= 2 * 3


@lru_cache
def launch(script: str) -> dict[str, Any]:
    return timing_driver.run(CHIP, f"core\n{script}\nlaunch\n")[0]


def cycles(script: str) -> int:
    return int(launch(script)["kernel"])


def lost_to_code(script: str) -> int:
    return int(launch(script)["lost"][S][LOSS_REASONS.index("scalar_code")])


@pytest.mark.parametrize("entry", ["work 0 7", "load 2 0", f"issue {V} 3 5", "barrier 7", f"set {V} {S} 0\nwait {V} {S} 0", "sync"])
def test_scalar_code_delays_whatever_follows_by_its_cycles_once(entry: str) -> None:
    assert cycles(f"code 5000\n{entry}") - cycles(entry) == 5000


def test_scalar_code_runs_beside_other_pipes_until_they_are_waited_for() -> None:
    vector = f"work {V} 9000"
    assert cycles(f"{vector}\ncode 4000\nbarrier 7") == cycles(f"{vector}\nbarrier 7")


def test_scalar_code_is_busy_time_of_s_and_reported_as_such() -> None:
    script = "code 5000\nload 2 0"
    assert lost_to_code(script) == 5000
    assert launch(script)["busy"][S] - launch("load 2 0")["busy"][S] == 5000


def test_the_published_scalar_add_takes_34_cycles_per_element() -> None:
    block = int(load_hardware(CHIP).simulation["scalar.block_cycles"].value)
    element = f"code {block}\nload 2 0\nload 2 0\nstore 2 0"
    assert cycles("\n".join([element] * 101)) - cycles(element) == 34 * 100


def test_the_published_tile_of_add_takes_44_scalar_cycles() -> None:
    figures = load_hardware(CHIP).simulation
    tile = 9 * figures["scalar.block_cycles"].value + 4 * figures["scalar.issue_cycles"].value + 8 * figures["sync.flag_cycles"].value
    assert tile == pytest.approx(44.5, abs=2)
