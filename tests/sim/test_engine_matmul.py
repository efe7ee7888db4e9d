"""Matmul objects against NumPy: types, transposes, formats, tails, bias, atomics, several ways to ask; what is impossible is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from cube_steps import narrowed
from engine_rig import BF16, F16, F32, I8, I32, SIZE, Report, Rig

# fmt: off
FIELDS = [
    "usedCoreNum", "M", "N", "Ka", "Kb", "singleCoreM", "singleCoreN", "singleCoreK", "baseM", "baseN", "baseK", "depthA1", "depthB1", "stepM",
    "stepN", "isBias", "transLength", "iterateOrder", "shareMode", "shareL1Size", "shareL0CSize", "shareUbSize", "batchM", "batchN", "singleBatchM",
    "singleBatchN", "stepKa", "stepKb", "depthAL1CacheUB", "depthBL1CacheUB", "dbL0A", "dbL0B", "dbL0C",
]
# fmt: on
GENERATOR = np.random.default_rng(23)
ALL, STEPWISE, TWICE, SUMS, NOTHING_SET, TOO_FAR = range(6)
Values = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """One call; `cut` is base block m, n, k, `tiling` what differs from one base block of everything in L1."""

    kernel: str
    shape: tuple[int, int, int]
    cut: tuple[int, int, int]
    dtype: int = F16
    result: int = F32
    turned: tuple[bool, bool] = (False, False)
    way: int = ALL
    bias: int = 0
    is_nz: bool = False
    atomic: int = 0
    scale: int = 0
    tiling: dict[str, int] = field(default_factory=dict)
    settings: dict[str, int] = field(default_factory=dict)

    def fields(self) -> list[int]:
        m, n, k = self.shape
        values = {"usedCoreNum": 1, "M": m, "N": n, "Ka": k, "Kb": k, "singleCoreM": m, "singleCoreN": n, "singleCoreK": k}
        values |= dict(zip(("baseM", "baseN", "baseK"), self.cut, strict=True))
        values |= dict.fromkeys(("depthA1", "depthB1", "stepM", "stepN", "stepKa", "stepKb", "dbL0C"), 1) | {"dbL0A": 2, "dbL0B": 2}
        values["isBias"] = int(self.bias != 0)
        values |= self.tiling
        return [values.get(name, 0) for name in FIELDS] + [0] * (50 - len(FIELDS))


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def whole(rows: int, columns: int) -> Values:
    return GENERATOR.integers(-4, 5, (rows, columns))


def fractals(values: Values, unit: int) -> Values:
    """A matrix in columns of `unit` elements, 16-row aligned."""
    rows, columns = -(-values.shape[0] // 16) * 16, -(-values.shape[1] // unit) * unit
    padded = np.zeros((rows, columns), values.dtype)
    padded[: values.shape[0], : values.shape[1]] = values
    return np.ascontiguousarray(padded.reshape(rows, columns // unit, unit).transpose(1, 0, 2))


def stored(values: Values, case: Case, *, is_turned: bool) -> Values:
    plain = narrowed(values.T if is_turned else values, case.dtype)
    return fractals(plain, 32 // SIZE[case.dtype]) if case.is_nz else np.ascontiguousarray(plain)


def as_numbers(data: Values, dtype: int) -> Values:
    return (data.astype(np.uint32) << 16).view(np.float32) if dtype == BF16 else data


RESULTS = {F32: np.float32, F16: np.float16, BF16: np.uint16, I32: np.int32, I8: np.int8}


def run(rig: Rig, case: Case, a: Values, b: Values, bias: Values | None = None, out: int = 0) -> tuple[Report, int]:
    """The kernel on these matrices (m x k, k x n); the address of C."""
    m, n, _ = case.shape
    addresses = [rig.upload(stored(values, case, is_turned=turned)) for values, turned in zip((a, b), case.turned, strict=True)]
    addresses += [0 if bias is None else rig.upload(narrowed(bias, case.bias) if case.bias != I32 else bias.astype(np.int32)), case.scale]
    settings = {"tailM": 0, "tailN": 0, "tailK": 0, "isSequential": 0, "orgM": 0, "orgN": 0, "orgK": 0, "resultN": 0} | case.settings
    numbers = [int(case.turned[0]), int(case.turned[1]), case.way, case.atomic, *settings.values()]
    parts = [np.array(case.fields(), np.int32), np.array(addresses, np.uint64).view(np.int32), np.array(numbers, np.int32)]
    source = rig.upload(np.concatenate(parts))
    out = out or rig.allocate(m * n * SIZE[case.result])
    return rig.run_kernel(case.kernel, source, out, 0), out


def check(rig: Rig, case: Case) -> None:
    m, n, k = case.shape
    a, b = whole(m, k), whole(k, n)
    bias = GENERATOR.integers(-8, 9, n) if case.bias else None
    report, out = run(rig, case, a, b, bias)
    assert report.diagnostics == []
    expected = a @ b if bias is None else a @ b + bias
    np.testing.assert_array_equal(as_numbers(rig.download(out, m * n, RESULTS[case.result]), case.result).reshape(m, n), expected)


TURNS = [(False, False), (False, True), (True, False), (True, True)]
SMALL = Case("matmul f16 f32", (70, 90, 100), (32, 48, 32))
TYPES = [
    SMALL,
    replace(SMALL, kernel="matmul f16 f16", result=F16),
    replace(SMALL, kernel="matmul bf16 bf16", dtype=BF16, result=BF16, shape=(40, 33, 20), cut=(32, 32, 32)),
    replace(SMALL, kernel="matmul f32 f32", dtype=F32, cut=(32, 48, 16)),
    replace(SMALL, kernel="matmul i8 i32", dtype=I8, result=I32, cut=(32, 64, 64)),
    replace(SMALL, kernel="matmul mdl f16 f32", tiling={"stepM": 2, "stepN": 1, "stepKa": 2, "stepKb": 1, "depthA1": 8, "depthB1": 2}),
    replace(SMALL, kernel="matmul mdl f32 f32", dtype=F32, cut=(32, 48, 16), tiling={"stepN": 2, "stepKa": 3, "stepKb": 3, "depthA1": 6, "depthB1": 6}),
    replace(SMALL, kernel="matmul nz f16 f32", is_nz=True, shape=(64, 96, 80)),
    replace(SMALL, kernel="matmul nz f32 f32", is_nz=True, dtype=F32, shape=(64, 96, 80), cut=(32, 48, 16)),
]


@pytest.mark.parametrize("turned", TURNS)
@pytest.mark.parametrize("case", TYPES, ids=lambda case: case.kernel)
def test_products_are_exact_on_whole_numbers(rig: Rig, case: Case, turned: tuple[bool, bool]) -> None:
    check(rig, replace(case, turned=turned))
