"""How far the times that target `cpu` measures from outside are from what kernels really took: `python benchmarks/cpu_times.py [--rounds N]`.

Three kernels, each of a known time: one that spins for an exact time by the processor's clock, one that works, and one that cheats by waiting in the first
call of a batch. Each leaves its own time in its output; the median of all calls is compared with. Needs g++. The first line says how busy the machine was.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

import numpy as np  # noqa: E402 - the path is set above so that the command works in a plain checkout

from piton.catalog import read_submission  # noqa: E402 - as above
from piton.core.dtype import DType  # noqa: E402 - as above
from piton.core.execution import CaseCall, TensorArgument  # noqa: E402 - as above
from piton.core.operator import AttrSpec, Operator, TensorSpec  # noqa: E402 - as above
from piton.evaluate.sandbox import make_runner  # noqa: E402 - as above
from piton.targets.cpu.session import CpuSession  # noqa: E402 - as above
from piton.targets.cpu.target import open_cpu  # noqa: E402 - as above

ELEMENTS = 4096
KERNEL = """#include <chrono>
#include <cmath>
#include <piton/cpu.h>

namespace kernel {
// y[0] holds the kernel's own time in us. Modes: 0 spin for `amount` ns; 1 `amount` rounds of exp; 2 spin, and 20 times as long after a pause.
void timed(const piton::Tensor& x, std::int64_t mode, std::int64_t amount, const piton::Output& y)
{
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const float* from = x.data<float>();
    float* to = y.data<float>();
    for (std::int64_t index = 0; index < x.elements; ++index) {
        to[index] = from[index];
    }
    if (mode == 1) {
        for (std::int64_t round = 0; round < amount; ++round) {
            for (std::int64_t index = 0; index < x.elements; ++index) {
                to[index] = std::exp(-to[index]);
            }
        }
    } else {
        static Clock::time_point last = start;
        const bool is_first = start - last > std::chrono::microseconds(20 * amount / 1000 / 10);  // a new batch: the process stood still
        const std::int64_t wanted = mode == 2 && is_first ? 20 * amount : amount;
        while (Clock::now() - start < std::chrono::nanoseconds(wanted)) {
        }
        last = Clock::now();
    }
    to[0] = std::chrono::duration<float, std::micro>(Clock::now() - start).count();
}
}  // namespace kernel
"""
OPERATOR = Operator(
    name="timed",
    title="Timed",
    level=1,
    category="none",
    schema_text="timed(Tensor x, int mode, int amount) -> Tensor y",
    inputs=(TensorSpec(name="x", dtypes=(DType.FLOAT32,)),),
    outputs=(TensorSpec(name="y", dtypes=(DType.FLOAT32,)),),
    attributes=(AttrSpec(name="mode", type="int"), AttrSpec(name="amount", type="int")),
)
ROWS = (
    ("spins for 20 us", 0, 20_000),
    ("spins for 115 us", 0, 115_000),
    ("spins for 1 ms", 0, 1_000_000),
    ("exp, 1 round", 1, 1),
    ("exp, 10 rounds", 1, 10),
    ("spins for 115 us, 20 times that in a batch's first call", 2, 115_000),
)


def main() -> None:
    """Measure every row and print a table."""
    parser = argparse.ArgumentParser(prog="python benchmarks/cpu_times.py", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kernel (default 5)")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; measured times in us, of {options.rounds} measurements each")
    print(f"{'kernel':58} {'own':>9} {'measured':>9} {'error':>8} {'spread':>8} {'interval':>9}")
    with opened() as session:
        for name, mode, amount in ROWS:
            print(row(session, name, (mode, amount), options.rounds), flush=True)


def row(session: CpuSession, name: str, attributes: tuple[int, int], rounds: int) -> str:
    """One line: the kernel's own time, the measured one, and how far apart they are."""
    runs = [session.call(call(*attributes)) for _ in range(rounds)]
    if any(run.time is None for run in runs):
        return f"{name:58} failed: {runs[0].outcomes}"
    own = statistics.median(float(np.frombuffer(item.outputs[0].data, np.float32)[0]) for run in runs for item in run.timed)
    times = [run.time for run in runs if run.time is not None]
    values = [time.value for time in times]
    widths = [(time.bounds.high - time.bounds.low) / time.value for time in times if time.bounds is not None]
    middle = statistics.median(values)
    spread = (max(values) - min(values)) / middle
    return f"{name:58} {own:9.2f} {middle:9.2f} {middle / own - 1:+8.1%} {spread:8.1%} {statistics.median(widths):9.1%}"


def call(mode: int, amount: int) -> CaseCall:
    """A call of the kernel."""
    x = np.random.default_rng(3).uniform(0.1, 0.9, ELEMENTS).astype(np.float32)
    form = (ELEMENTS,)
    return CaseCall(
        case_id="1",
        tensors=(TensorArgument("x", form, DType.FLOAT32, memoryview(x.tobytes())),),
        order=("x", "mode", "amount"),
        attributes={"mode": mode, "amount": amount},
        results=(TensorArgument("y", form, DType.FLOAT32, None),),
    )


@contextmanager
def opened() -> Iterator[CpuSession]:
    """A session with the kernel, built in a folder that is removed."""
    with tempfile.TemporaryDirectory(prefix="piton-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / "sources").mkdir()
        (root / "sources" / "timed.cpp").write_text(KERNEL)
        target, runner = open_cpu(str(root / "cache")), make_runner()
        try:
            target.toolchain.prepare(runner)
            submission = read_submission(root / "sources", root / "store")
            build = target.toolchain.build(submission, OPERATOR, runner, str(root / "build"))
            if build.outcome is not None:
                raise SystemExit(build.outcome.message)
            session = target.device.open(submission, OPERATOR, build, runner)
            yield session
            session.close()
        finally:
            runner.close()


if __name__ == "__main__":
    main()
