"""Does a whole matrix product on cube cores build, run right on the virtual NPU and say where its time goes; is a flag that is missing found?"""

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

using namespace AscendC;

constexpr uint32_t kM = 48, kN = 64, kK = 96, kStep = 32, kSide = 16, kFractal = 256; // two blocks of 48 rows, K in steps of 32

class Product {
public:
    __aicore__ inline void Run(GM_ADDR left, GM_ADDR right, GM_ADDR out)
    {
        a.SetGlobalBuffer((__gm__ half *)left + GetBlockIdx() * kM * kK);
        b.SetGlobalBuffer((__gm__ half *)right);
        c.SetGlobalBuffer((__gm__ float *)out + GetBlockIdx() * kM * kN);
        pipe.InitBuffer(a1, 2, kM * kStep * sizeof(half));
        pipe.InitBuffer(b1, 2, kStep * kN * sizeof(half));
        pipe.InitBuffer(a2, 2, kM * kStep * sizeof(half));
        pipe.InitBuffer(b2, 2, kStep * kN * sizeof(half));
        pipe.InitBuffer(co1, 1, kM * kN * sizeof(float));
        LocalTensor<float> sums = co1.AllocTensor<float>();
        for (uint32_t step = 0; step < kK / kStep; ++step) {
            CopyIn(step);
            Split();
            Multiply(sums, step);
        }
        co1.EnQue(sums);
        sums = co1.DeQue<float>();
        Fixpipe(c, sums, FixpipeParamsV220(kN, kM, kM, kN, false));
        co1.FreeTensor(sums);
    }

private:
    __aicore__ inline void CopyIn(uint32_t step)
    {
        LocalTensor<half> left = a1.AllocTensor<half>(), right = b1.AllocTensor<half>();
        DataCopy(left, a[step * kStep], Nd2NzParams{1, kM, kStep, 0, kK, kM, 1, 0});
        DataCopy(right, b[step * kStep * kN], Nd2NzParams{1, kStep, kN, 0, kN, kStep, 1, 0});
        a1.EnQue(left);
        b1.EnQue(right);
    }
    __aicore__ inline void Split()
    {
        LocalTensor<half> left = a1.DeQue<half>(), right = b1.DeQue<half>();
        LocalTensor<half> rows = a2.AllocTensor<half>(), columns = b2.AllocTensor<half>();
        for (uint32_t i = 0; i < kM / kSide; ++i)
            LoadData(rows[i * kStep * kSide], left[i * kFractal], LoadData2DParams{0, kStep / kSide, kM / kSide, 0, 0, false, 0});
        for (uint32_t i = 0; i < kStep / kSide; ++i)
            LoadData(columns[i * kN * kSide], right[i * kFractal], LoadData2DParams{0, kN / kSide, kStep / kSide, 0, 0, true, 0});
        a1.FreeTensor(left);
        b1.FreeTensor(right);
        a2.EnQue(rows);
        b2.EnQue(columns);
    }
    __aicore__ inline void Multiply(const LocalTensor<float> &sums, uint32_t step)
    {
        LocalTensor<half> rows = a2.DeQue<half>(), columns = b2.DeQue<half>();
        MmadParams params(kM, kN, kStep, 0, false, step == 0);
        Mmad(sums, rows, columns, params);
        a2.FreeTensor(rows);
        b2.FreeTensor(columns);
    }

    TPipe pipe;
    TQue<TPosition::A1, 2> a1;
    TQue<TPosition::B1, 2> b1;
    TQue<TPosition::A2, 2> a2;
    TQue<TPosition::B2, 2> b2;
    TQue<TPosition::CO1, 1> co1;
    GlobalTensor<half> a, b;
    GlobalTensor<float> c;
};

__global__ __cube__ void product(GM_ADDR left, GM_ADDR right, GM_ADDR out)
{
    Product kernel;
    kernel.Run(left, right, out);
}

// Halves from whole numbers up to 8: sign, exponent and mantissa of an exact one.
static uint16_t Half(int value)
{
    if (value == 0) return 0;
    const int size = value < 0 ? -value : value;
    int power = 0;
    while (size >> (power + 1)) ++power;
    return static_cast<uint16_t>((value < 0) << 15 | (power + 15) << 10 | (size << (10 - power) & 0x3ff));
}

int main()
{
    std::vector<int> left(2 * kM * kK), right(kK * kN);
    for (size_t i = 0; i < left.size(); ++i) left[i] = static_cast<int>(i * 7 % 17) - 8;
    for (size_t i = 0; i < right.size(); ++i) right[i] = static_cast<int>(i * 5 % 13) - 6;
    std::vector<uint16_t> x, y;
    for (int value : left) x.push_back(Half(value));
    for (int value : right) y.push_back(Half(value));
    std::vector<float> output(2 * kM * kN, -1);
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    void *a = nullptr, *b = nullptr, *c = nullptr;
    aclrtMalloc(&a, x.size() * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&b, y.size() * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&c, output.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(a, x.size() * 2, x.data(), x.size() * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(b, y.size() * 2, y.data(), y.size() * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    product<<<2, nullptr, stream>>>((uint8_t *)a, (uint8_t *)b, (uint8_t *)c);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(output.data(), output.size() * 4, c, output.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    int wrong = 0;
    for (uint32_t i = 0; i < 2 * kM; ++i)
        for (uint32_t j = 0; j < kN; ++j) {
            int sum = 0;
            for (uint32_t k = 0; k < kK; ++k) sum += left[i * kK + k] * right[k * kN + j];
            wrong += output[i * kN + j] != static_cast<float>(sum);
        }
    std::printf("%d wrong\n", wrong);
    return 0;
}
"""


def run(folder: Path, program: str) -> dict[str, Any]:
    source = folder / "product.asc"
    source.write_text(program)
    command = [sys.executable, "-m", "piton.cli.main", "run", str(source), "--target", "ascend910b2-sim", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_a_product_through_queues_of_all_five_positions_is_right(tmp_path: Path) -> None:
    report = run(tmp_path, PROGRAM)
    assert (report["outcome"]["verdict"], report["findings"], report["stdout"]) == ("passed", [], "0 wrong\n")
    (launch,) = [item for item in report["launches"] if item["kind"] == "kernel"]
    assert launch["gm_read_bytes"] == 2 * (48 * 96 + 96 * 64) * 2
    assert launch["gm_written_bytes"] == 2 * 48 * 64 * 4
    # Three steps of two cores: an Mmad of 3 x 4 x 2 fractals; three loads of 2 fractals into L0A (5 cycles each) and two of 4 into L0B (17).
    assert (launch["busy_cycles"]["m"], launch["busy_cycles"]["mte1"]) == (6 * (10 + 24), 6 * (3 * (17 + 5) + 2 * (17 + 17)))
    assert launch["busy_cycles"]["fix"] == 2 * (12 + 316 + 196)  # set-up, 12288 bytes of L0C at 70 GB/s, latency


def test_a_product_that_leaves_before_it_is_there_is_found(tmp_path: Path) -> None:
    hasty = PROGRAM.replace("        co1.EnQue(sums);\n        sums = co1.DeQue<float>();\n", "")
    assert hasty != PROGRAM
    report = run(tmp_path, hasty)
    assert report["outcome"]["cause"] == "missing_sync"
    assert "HardEvent::M_FIX" in report["outcome"]["message"]
