"""Does the benchmark of the modelled baseline fit, leave out and judge as it says?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "baseline_model"))

import fitting
import rows

from piton.catalog.eager_constants import CONSTANTS_PATH

BENCHMARK = Path(rows.__file__).parent
TABLE = os.environ.get("PITON_PUBLISHED_CASES", "")


def noise_free(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns 1, a, b with times 3 + 2 a + 0 b, of 200 rows over three orders of magnitude."""
    draw = np.random.default_rng(seed)
    columns = np.column_stack([np.ones(200), 10 ** draw.uniform(-1, 2, 200), 10 ** draw.uniform(-1, 2, 200)])
    return columns, columns @ np.array([3.0, 2.0, 0.0])


def test_constants_of_exact_times_are_found_and_superfluous_ones_vanish() -> None:
    columns, times = noise_free()
    np.testing.assert_allclose(fitting.fit(columns, times), [3, 2, 0], rtol=0.02, atol=0.02)


def test_a_few_rows_that_are_far_off_do_not_lead_the_fit() -> None:
    columns, times = noise_free()
    times[:20] *= 50
    np.testing.assert_allclose(fitting.fit(columns, times), [3, 2, 0], rtol=0.05, atol=0.05)


def test_a_factor_of_two_costs_the_same_above_and_below() -> None:
    assert fitting.cost(np.array([2.0, 0.5]), np.ones(2)) == pytest.approx(np.log(2))


def test_no_row_of_an_operator_has_a_say_in_what_is_predicted_for_it() -> None:
    columns, times = noise_free()
    operators = ["a" if place < 50 else "b" if place < 120 else "c" for place in range(200)]
    before = fitting.leave_one_out(columns, times, operators)
    ratio = fitting.leave_one_out_ratio(times, times, operators)
    times[:50] *= 7
    np.testing.assert_array_equal(fitting.leave_one_out(columns, times, operators)[:50], before[:50])
    assert not np.array_equal(fitting.leave_one_out(columns, times, operators)[50:], before[50:])
    np.testing.assert_allclose(ratio, noise_free()[1])


def test_the_band_counts_every_operator_alike() -> None:
    """90 rows of `a` are measured at 1 time the model, 5 of `b` at 2 and 5 of `c` at 3: a third of the weight each."""
    measured = np.array([1.0] * 90 + [2.0] * 5 + [3.0] * 5)
    operators = ["a"] * 90 + ["b"] * 5 + ["c"] * 5
    assert fitting.band(np.ones(100), measured, operators, 0.05) == (1.0, 3.0)
    assert fitting.band(np.ones(100), measured, operators, 0.4) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("baseline", "t_hw", "expected"), [(10.0, 0.5, True), (23.4, 2.34, True), (171.28, 17.13, True), (9.9, 0.5, False), (15.6, 1.57, False)]
)
def test_derived_baselines_are_told_from_measured_ones(baseline: float, t_hw: float, expected: bool) -> None:
    assert rows.is_derived(baseline, t_hw) is expected


@pytest.mark.slow
@pytest.mark.skipif(not TABLE, reason="PITON_PUBLISHED_CASES names no table of published cases")
def test_the_constants_of_the_package_are_what_the_benchmark_fits() -> None:
    # Its output ends with the text of the constants file.
    command = [sys.executable, str(BENCHMARK), "--cases", TABLE, "--version", "2026-11-30"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.stdout.endswith(f"\n{CONSTANTS_PATH.read_text()}\n")
