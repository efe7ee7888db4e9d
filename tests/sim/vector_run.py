"""One stretch of V instructions over tensors at fixed places of the unified buffer, and comparison of bits: what the instruction-family tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from engine_rig import MTE2, MTE3, Record, Report, Rig, V, flag, gm, pad, ub

Array = npt.NDArray[Any]
A, B, C, D = 0, 49152, 98304, 131072
"""Places of the operands; D is the destination."""


def run(rig: Rig, sources: dict[int, Array], dst: Array, middle: list[Record]) -> tuple[Array, Report]:
    """`middle` on V over the sources at their places and `dst` at D; returns what D holds then."""
    rig.reset()
    out = rig.allocate(dst.nbytes)
    moves = [pad(ub(at), gm(rig.upload(data)), data.nbytes) for at, data in {**sources, D: dst}.items() if data.nbytes]
    report = rig.launch([*moves, *flag(MTE2, V), *middle, *flag(V, MTE3), pad(gm(out), ub(D), dst.nbytes)])
    return rig.download(out, dst.size, dst.dtype), report


def same_bits(got: Array, expected: Array) -> None:
    """Equal bits; any NaN for a NaN."""
    unsigned = f"u{got.itemsize}"
    both_nan = np.isnan(got) & np.isnan(expected) if got.dtype.kind == "f" else np.zeros(got.shape, bool)
    wrong = np.flatnonzero((got.view(unsigned) != expected.view(unsigned)) & ~both_nan)
    assert wrong.size == 0, f"element {wrong[0]}: got {got[wrong[0]]!r}, expected {expected[wrong[0]]!r}"


def floats(dtype: Any, n: int, seed: int = 1) -> Array:
    """Ordinary values of few distinct magnitudes (so that ties occur) with special ones among them."""
    rng = np.random.default_rng(seed)
    data = (rng.integers(-40, 40, n) * 0.25).astype(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
    data[: len(special)] = special[:n]
    rng.shuffle(data)
    return data


def bits_of(values: Array) -> int:
    """A scalar's bits, as they travel in a record."""
    return int(np.atleast_1d(values).view(f"u{values.itemsize}")[0])
