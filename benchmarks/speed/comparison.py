"""How fast is the comparison? 64M float16 elements against the golden, and the same statement in plain torch on the same tensors in turns."""

from __future__ import annotations

import sys

import numpy as np
from figures import Figure
from rig import ROOT, timed

from piton.core.dtype import DType
from piton.numerics.compare import compare_output
from piton.numerics.impostors import as_output
from piton.numerics.tensors import golden_output
from piton.numerics.thresholds import default_tolerance

sys.path.append(str(ROOT / "benchmarks" / "compare"))

from compare_ratio import as_torch, naive

ELEMENTS = 1 << 26
THREADS = 2
ROUNDS = 5
TORCH_ELEMENTS = 1 << 24
"""The plain code makes full-size float64 copies: 64M elements of them need 6 GiB."""


def measure() -> list[Figure]:
    """Millions of elements per second, of an output with an error of a quarter of the tolerance everywhere."""
    tolerance = default_tolerance(DType.FLOAT16)
    values = np.random.default_rng(0).uniform(0.5, 2.0, ELEMENTS)
    golden, got = golden_output("y", values, DType.FLOAT16), golden_output("y", values * (1 + tolerance.tau / 4), DType.FLOAT16)
    small = [as_torch(golden_output("y", values[:TORCH_ELEMENTS] * factor, DType.FLOAT16)) for factor in (1 + tolerance.tau / 4, 1)]
    del values
    fused, plain = [], []
    for _ in range(ROUNDS):
        fused.append(timed(lambda: compare_output(as_output(got), golden, tolerance, threads=THREADS)))
        plain.append(timed(lambda: naive(small[0], small[1], DType.FLOAT16)))
    rates = tuple(ELEMENTS / 1e6 / item.wall_s for item in fused)
    others = tuple(TORCH_ELEMENTS / 1e6 / item.wall_s for item in plain)
    method = f"{ELEMENTS >> 20}M elements, {THREADS} threads, {ROUNDS} rounds in turns with torch"
    ratios = tuple(one / other for one, other in zip(rates, others, strict=True))
    return [
        Figure("compare fp16 64M", "M elem/s", rates, method, bound=200.0, is_rate=True, cpu_s=tuple(item.cpu_s for item in fused)),
        Figure("the same in plain torch", "M elem/s", others, f"{TORCH_ELEMENTS >> 20}M elements", is_rate=True, cpu_s=tuple(item.cpu_s for item in plain)),
        Figure("ratio to plain torch", "x", ratios, "of the two above, round by round", is_rate=True),
    ]
