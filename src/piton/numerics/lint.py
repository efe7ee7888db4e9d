"""What a suite's lint asks of a case's numbers before the case may enter the suite."""

from __future__ import annotations

from functools import partial

from piton.numerics.chunks import map_spans, spans
from piton.numerics.measure import FloatPair, Screen, combine_screens, screen_chunk
from piton.numerics.tensors import GoldenOutput


def special_disagreements(golden: GoldenOutput, native: GoldenOutput, threads: int = 1) -> int:
    """Positions where the float64 golden and the same-dtype run differ in NaN or infinity (inf * 0 before a cast, overflow in float16).

    Such a case would fail correct kernels, so a suite must not have it. Integer outputs have no special values. Raises ValueError for outputs of unequal form.
    """
    if (golden.dtype, golden.shape) != (native.dtype, native.shape):
        raise ValueError(f"{golden.name}: {golden.dtype.value} {golden.shape} and {native.dtype.value} {native.shape} are no pair")
    if not golden.dtype.is_floating:
        return 0
    pair = FloatPair(native.array(), golden.array(), golden.dtype)
    found: Screen = combine_screens(map_spans(partial(screen_chunk, pair, bound=1.0), spans(golden.elements), threads))
    return found.nan_mismatches + found.sign_mismatches + found.one_sided
