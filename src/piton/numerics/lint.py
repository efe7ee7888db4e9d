"""What a suite's lint asks of a case's numbers before the case may enter the suite."""

from __future__ import annotations

from functools import partial

from piton.core.report import OutputCheck
from piton.numerics.chunks import map_spans, spans
from piton.numerics.compare import compare_output
from piton.numerics.impostors import as_output
from piton.numerics.measure import FloatPair, Screen, combine_screens, screen_chunk
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import Tolerance


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


def check_native_run(golden: GoldenOutput, native: GoldenOutput, tolerance: Tolerance, threads: int = 1) -> OutputCheck:
    """The same-dtype run in the role of a candidate, profile strict.

    If it fails, the case asks for more than the dtype can give, or the operator's threshold is too tight: both are for the author to mend.
    """
    return compare_output(as_output(native), golden, tolerance, "strict", lambda: native, threads)
