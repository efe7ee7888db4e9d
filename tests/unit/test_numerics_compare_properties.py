"""Does the chunked, threaded comparison say the same as the rules written down naively over whole float64 arrays?"""

from __future__ import annotations

import dataclasses
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piton.core.dtype import DType
from piton.core.verdict import Cause
from piton.numerics import chunks
from piton.numerics.chunks import CHUNK
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import largest_finite
from piton.numerics.impostors import as_output
from piton.numerics.integers import absolute_difference
from piton.numerics.judge import Profile
from piton.numerics.streams import unit_float64
from piton.numerics.tensors import GoldenOutput, golden_output
from piton.numerics.thresholds import default_tolerance

DTYPES = [DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT8_E5M2]


def naive_errors(got: np.ndarray, golden: np.ndarray, native: np.ndarray, dtype: DType) -> dict[str, list[tuple[float, bool, bool]]]:
    """Relative error, "candidate is an error here" and "native is an error here" of every measured position, by region (rules 2 to 4)."""
    row, top = default_tolerance(dtype), largest_finite(dtype)
    found: dict[str, list[tuple[float, bool, bool]]] = {"small": [], "cancel": [], "outside": []}
    for triple in zip(got.tolist(), golden.tolist(), native.tolist(), strict=True):
        if math.isnan(triple[1]) or (math.isinf(triple[0]) and triple[0] == triple[1]):
            continue
        c, g, n = (value if math.isnan(value) else max(-top, min(top, value)) for value in triple)
        error, native_error = (abs(value - g) / (abs(g) + 1e-7) for value in (c, n))
        if abs(g) < row.small_bound:
            found["small"].append((error, abs(c - g) > row.small_error, not abs(n - g) <= row.small_error))
        elif abs(c) < row.cancel_zero and abs(g) < row.cancel_bound:
            found["cancel"].append((error, error > 10 * row.tau, not native_error <= 10 * row.tau))
        else:
            found["outside"].append((error, not error < 10 * row.tau, False))
    return found


def mean(errors: list[float]) -> float:
    return math.fsum(errors) / len(errors) if errors else 0.0


def naive_special(got: np.ndarray, golden: np.ndarray) -> Cause | None:
    """Rules 4 and 5 where no error is measured."""
    if any(math.isnan(c) != math.isnan(g) for c, g in zip(got, golden, strict=True)):
        return Cause.NAN_MISMATCH
    if any(math.isinf(c) and math.isinf(g) and c != g for c, g in zip(got, golden, strict=True)):
        return Cause.INF_MISMATCH
    has_finite = any(math.isfinite(c) and math.isfinite(g) for c, g in zip(got, golden, strict=True))
    is_same = all(c == g or math.isnan(c) for c, g in zip(got, golden, strict=True))
    return None if has_finite or is_same else Cause.SPECIAL_MISMATCH


def naive_cause(got: np.ndarray, golden: np.ndarray, native: np.ndarray, dtype: DType, profile: Profile) -> Cause:
    """The rules in the plainest form."""
    tau = default_tolerance(dtype).tau
    found = naive_errors(got, golden, native, dtype)
    errors = [error for region in found.values() for error, _, _ in region]
    is_screened = mean(errors) < tau and all(error < 10 * tau for error in errors)
    too_many = {name: sum(c for _, c, _ in region) > 2 * max(sum(n for _, _, n in region), 1) for name, region in found.items()}
    reasons = [
        (Cause.MAX_ERROR, any(is_error for _, is_error, _ in found["outside"])),
        (Cause.MEAN_ERROR, profile == "strict" and not mean([error for error, _, _ in found["outside"]]) < tau),
        (Cause.SMALL_VALUE_ERRORS, too_many["small"]),
        (Cause.CANCELLATION_ERRORS, too_many["cancel"]),
    ]
    return naive_special(got, golden) or next((cause for cause, holds in reasons if holds and not is_screened), Cause.NONE)


def sample(seed: int, dtype: DType, size: int, flaws: int) -> tuple[GoldenOutput, GoldenOutput, GoldenOutput]:
    """Candidate, golden, native: values across all regions, with noise around the gates and a few special values."""
    random = np.random.default_rng(seed)
    golden = random.choice([-1.0, 1.0], size) * 2.0 ** random.uniform(-20, 3, size)
    scale = default_tolerance(dtype).tau * random.choice([0.0, 0.5, 0.98, 1.5, 9.0, 12.0])
    got, native = (golden * (1 + scale * random.uniform(0, 1, size)) for _ in range(2))
    row = default_tolerance(dtype)
    bound = random.choice([np.inf, row.cancel_bound, row.small_bound])
    places = random.permutation(np.flatnonzero(np.abs(golden) < bound))[:flaws]
    got[places] = random.choice([0.0, 1e-3, 1.0, np.inf, -np.inf, np.nan], places.size, p=[0.6, 0.3, 0.04, 0.02, 0.02, 0.02])
    native[random.integers(0, size, flaws)] *= -1
    matching = random.integers(0, size, 2)
    if random.random() < 0.5:
        got[matching] = golden[matching] = random.choice([np.nan, np.inf])
    return tuple(golden_output("y", values, dtype) for values in (got, golden, native))  # type: ignore[return-value]


@settings(max_examples=300, deadline=None)
@given(
    seed=st.integers(0, 2**32), dtype=st.sampled_from(DTYPES), size=st.integers(1, 400), flaws=st.sampled_from([0, 0, 1, 3, 8]),
    profile=st.sampled_from(["strict", "cann-bench"]),
)  # fmt: skip
def test_the_comparison_agrees_with_the_naive_rules(seed: int, dtype: DType, size: int, flaws: int, profile: Profile) -> None:
    got, golden, native = sample(seed, dtype, size, flaws)
    result = compare_output(as_output(got), golden, default_tolerance(dtype), profile, lambda: native)
    assert result.outcome.cause is naive_cause(got.values(), golden.values(), native.values(), dtype, profile)


def test_the_sample_reaches_every_cause() -> None:
    """Otherwise the property above would say little."""
    found = set()
    for seed in range(400):
        got, golden, native = sample(seed, DTYPES[seed % 3], 200, (0, 1, 3, 8)[seed % 4])
        found.add(naive_cause(got.values(), golden.values(), native.values(), golden.dtype, "strict"))
    assert found >= {Cause.NONE, Cause.MAX_ERROR, Cause.MEAN_ERROR, Cause.NAN_MISMATCH, Cause.SMALL_VALUE_ERRORS, Cause.CANCELLATION_ERRORS}


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), dtype=st.sampled_from(DTYPES), size=st.integers(1, 200))
def test_an_output_always_matches_itself(seed: int, dtype: DType, size: int) -> None:
    bits = np.random.default_rng(seed).integers(0, 256, size * dtype.bits // 8, dtype=np.uint8)
    output = GoldenOutput("y", dtype, (size,), bits.data)
    assert compare_output(as_output(output), output, default_tolerance(dtype)).outcome.cause is Cause.NONE


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=30))
def test_absolute_differences_of_int64_are_those_of_python(pairs: list[tuple[int, int]]) -> None:
    left, right = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    assert absolute_difference(left, right).tolist() == [abs(a - b) for a, b in pairs]


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.FLOAT32])
def test_the_result_does_not_depend_on_the_number_of_threads(dtype: DType) -> None:
    got, golden, native = sample(7, dtype, 40 * CHUNK + 13, 5000)
    got = dataclasses.replace(got, data=memoryview(np.nan_to_num(got.array(), nan=1.0, posinf=2.0, neginf=-2.0).view(np.uint8)))
    golden = dataclasses.replace(golden, data=memoryview(np.nan_to_num(golden.array(), nan=1.0, posinf=2.0, neginf=-2.0).view(np.uint8)))
    results = [compare_output(as_output(got), golden, default_tolerance(dtype), "cann-bench", lambda: native, threads) for threads in (1, 2, 3, 8)]
    assert all(result == results[0] for result in results)
    assert results[0].mean_error > 0


@pytest.mark.parametrize("size", [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1])
def test_the_last_element_counts_at_every_chunk_border(size: int) -> None:
    values = np.ones(size)
    golden = golden_output("y", values, DType.FLOAT32)
    values[-1] = 2.0
    result = compare_output(as_output(golden_output("y", values, DType.FLOAT32)), golden, default_tolerance(DType.FLOAT32))
    assert (result.outcome.cause, result.worst[0].index, result.finite_positions) == (Cause.MAX_ERROR, (size - 1,), size)
    assert result.mean_error == pytest.approx(1 / size)


def test_spans_cover_everything_once() -> None:
    for size in (0, 1, 7, 8, 9):
        assert [index for span in chunks.spans(size, 4) for index in range(span.start, span.stop)] == list(range(size))


def test_map_spans_keeps_the_order_with_threads() -> None:
    pieces = chunks.spans(1000, 3)
    assert chunks.map_spans(lambda span: span.start, pieces, 4) == [span.start for span in pieces]


def test_a_sum_that_overflows_is_infinite() -> None:
    assert chunks.exact_sum([1e308, 1e308]) == math.inf


def test_no_full_size_float64_copy_is_made() -> None:
    size = 1 << 22
    golden = golden_output("y", np.ones(size), DType.FLOAT16)
    tracemalloc.start()
    compare_output(as_output(golden), golden, default_tolerance(DType.FLOAT16), threads=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size * 8 / 4


def test_the_mean_is_the_same_number_on_every_host() -> None:
    size = 3 * CHUNK + 11
    unit = unit_float64(1, 0, size)
    golden = golden_output("y", unit + 1, DType.FLOAT32)
    got = golden_output("y", (unit + 1) * (1 + 1e-5 * unit[::-1]), DType.FLOAT32)
    result = compare_output(as_output(got), golden, default_tolerance(DType.FLOAT32))
    assert result.mean_error.hex() == "0x1.4f9f7e19bed2ap-18"
