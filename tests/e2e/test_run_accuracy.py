"""Does `piton run --accuracy pessimistic` make the instructions worse whose accuracy nobody has published, and say so?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = r"""#include <cstdio>
#include <vector>
#include "acl/acl.h"
#include "kernel_operator.h"

__global__ __vector__ void invert(__gm__ float *x, __gm__ float *z) {
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 64 * sizeof(float));
    AscendC::GlobalTensor<float> from, to;
    from.SetGlobalBuffer(x);
    to.SetGlobalBuffer(z);
    AscendC::LocalTensor<float> tile = buffer.Get<float>();
    AscendC::DataCopy(tile, from, 64);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
    AscendC::Reciprocal(tile, tile, 64);
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::DataCopy(to, tile, 64);
}

int main() {
    std::vector<float> numbers(64), results(64);
    for (int at = 0; at < 64; ++at) numbers[at] = static_cast<float>(1 << at % 16);
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    float *x, *z;
    aclrtMalloc(reinterpret_cast<void **>(&x), 256, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(reinterpret_cast<void **>(&z), 256, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(x, 256, numbers.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE);
    invert<<<1, nullptr, stream>>>(x, z);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(results.data(), 256, z, 256, ACL_MEMCPY_DEVICE_TO_HOST);
    int exact = 0;
    for (int at = 0; at < 64; ++at) exact += results[at] == 1.0f / numbers[at];
    std::printf("%d exact", exact);
    aclrtFree(x);
    aclrtFree(z);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return exact == 64 ? 0 : 1;
}
"""


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "piton.cli.main", "run", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)


def test_a_program_whose_check_asks_for_exact_reciprocals_passes_in_one_mode_only(tmp_path: Path) -> None:
    program = tmp_path / "invert.asc"
    program.write_text(PROGRAM)
    usual = run(program, "--json")
    report = json.loads(usual.stdout)
    assert (usual.returncode, report["stdout"], report["accuracy"]) == (0, "64 exact", "exact"), report["outcomes"]
    worse = run(program, "--accuracy", "pessimistic", "--json")
    report = json.loads(worse.stdout)
    assert (worse.returncode, report["stdout"], report["accuracy"]) == (1, "0 exact", "pessimistic"), report["outcomes"]
    assert report["outcome"]["cause"] == "host_exit"
    assert "pessimistic accuracy mode" in run(program, "--accuracy", "pessimistic").stderr
