"""Does a whole program with a `__cube__` kernel build and run: Nd2Nz into L1, L1 back to global memory, the layout seen by its host code?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = r"""
#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "kernel_operator.h"

constexpr uint32_t kRows = 32, kColumns = 40, kUnits = 3; // a row of 80 bytes is 2.5 units of 32

class Fractals {
public:
    __aicore__ inline void Run(GM_ADDR in, GM_ADDR out)
    {
        AscendC::GlobalTensor<half> x, y;
        x.SetGlobalBuffer((__gm__ half *)in, kRows * kColumns);
        y.SetGlobalBuffer((__gm__ half *)out, kRows * kUnits * 16);
        AscendC::LocalTensor<half> local(AscendC::TPosition::A1, 0, kRows * kUnits * 16);
        AscendC::DataCopy(local, x, AscendC::Nd2NzParams{1, kRows, kColumns, 0, kColumns, kRows, 1, 0});
        AscendC::SetFlag<AscendC::HardEvent::MTE2_MTE3>(EVENT_ID0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_MTE3>(EVENT_ID0);
        AscendC::DataCopy(y, local, kRows * kUnits * 16);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
};

template <typename Kernel>
__global__ __cube__ void fractals(GM_ADDR in, GM_ADDR out)
{
    AscendC::InitSocState();
    Kernel kernel;
    kernel.Run(in, out);
}

int main()
{
    std::vector<uint16_t> input(kRows * kColumns), output(kRows * kUnits * 16, 1);
    for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<uint16_t>(i + 1);
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    void *x = nullptr, *y = nullptr;
    aclrtMalloc(&x, input.size() * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&y, output.size() * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(x, input.size() * 2, input.data(), input.size() * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    fractals<Fractals><<<1, nullptr, stream>>>((uint8_t *)x, (uint8_t *)y);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(output.data(), output.size() * 2, y, output.size() * 2, ACL_MEMCPY_DEVICE_TO_HOST);
    int wrong = 0;
    for (uint32_t row = 0; row < kRows; ++row)
        for (uint32_t column = 0; column < kUnits * 16; ++column) {
            const uint16_t expected = column < kColumns ? input[row * kColumns + column] : 0;
            wrong += output[column / 16 * kRows * 16 + row * 16 + column % 16] != expected;
        }
    std::printf("%d wrong\n", wrong);
    return 0;
}
"""


def test_a_program_brings_a_matrix_to_l1_as_fractals(tmp_path: Path) -> None:
    source = tmp_path / "fractals.asc"
    source.write_text(PROGRAM)
    command = [sys.executable, "-m", "piton.cli.main", "run", str(source), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert (report["outcome"]["verdict"], report["findings"], report["stdout"]) == ("passed", [], "0 wrong\n")
    (launch,) = [item for item in report["launches"] if item["kind"] == "kernel"]
    assert launch["kernel"] == "fractals<Fractals>"
    assert launch["gm_read_bytes"] == 32 * 80
