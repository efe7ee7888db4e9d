"""How much faster is the fused comparison than the obvious torch code, in one run on one machine?

Both sides decide the first screen with NaN and infinity handling on the same tensors. They take turns, so that a busy machine slows both; the ratio of the
best times is what may be compared between machines. Usage: python benchmarks/compare/compare_ratio.py [--elements N] [--threads N] [--rounds N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from piton.core.dtype import DType
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import largest_finite, torch_name
from piton.numerics.impostors import as_output
from piton.numerics.tensors import GoldenOutput, golden_output
from piton.numerics.thresholds import default_tolerance

sys.path.append(str(Path(__file__).resolve().parents[1] / "speed"))

from figures import describe_machine

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)


def naive(got: torch.Tensor, golden: torch.Tensor, dtype: DType) -> bool:
    """The first screen as one would write it with torch: full-size float64 tensors, one operation after the other."""
    c, g = got.double(), golden.double()
    if not torch.equal(c.isnan(), g.isnan()):
        return False
    both_inf = c.isinf() & g.isinf()
    if not torch.equal(c[both_inf], g[both_inf]):
        return False
    top = largest_finite(dtype)
    c, g = c.clamp(-top, top), g.clamp(-top, top)
    valid = ~(c.isnan() | both_inf)
    error = ((c - g).abs() / (g.abs() + 1e-7))[valid]
    tau = default_tolerance(dtype).tau
    return bool(error.mean() < tau) and bool(error.max() < 10 * tau)


def as_torch(output: GoldenOutput) -> torch.Tensor:
    """A torch tensor with the output's bytes."""
    return torch.frombuffer(bytearray(output.data), dtype=getattr(torch, torch_name(output.dtype)))


def best_times(sides: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Smallest time of each side in seconds over `rounds` turns."""
    best = dict.fromkeys(sides, float("inf"))
    for _ in range(rounds):
        for name, run in sides.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def measure(dtype: DType, values: np.ndarray, threads: int, rounds: int) -> dict[str, float]:
    """Best times of both sides on an output with an error of tau / 4 everywhere."""
    tolerance = default_tolerance(dtype)
    golden, got = golden_output("y", values, dtype), golden_output("y", values * (1 + tolerance.tau / 4), dtype)
    tensors = as_torch(got), as_torch(golden)
    sides = {"fused": lambda: compare_output(as_output(got), golden, tolerance, threads=threads), "torch": lambda: naive(*tensors, dtype)}
    return best_times(sides, rounds)


def main() -> None:
    """Print one line per dtype."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE", help="also write the times with the description of the machine to FILE")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    values = np.random.default_rng(0).uniform(0.5, 2.0, options.elements)
    machine = describe_machine()
    print(f"measured on {machine['processor']}: {options.elements} elements, {options.threads} threads, best of {options.rounds}")
    rows = {}
    for dtype in DTYPES:
        times = measure(dtype, values, options.threads, options.rounds)
        fused, plain = (times[side] / options.elements * 1e9 for side in ("fused", "torch"))
        rows[dtype.value] = {"fused_ns_per_element": fused, "torch_ns_per_element": plain, "ratio": plain / fused}
        print(f"{dtype.value:10s} fused {fused:6.2f} ns/element   torch {plain:6.2f} ns/element   ratio {plain / fused:5.2f}")
    if options.json:
        content = {"machine": machine, "provenance": "measured", **{key: getattr(options, key) for key in ("elements", "threads", "rounds")}, "by_dtype": rows}
        Path(options.json).write_text(json.dumps(content, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
