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


VARIANTS = {
    "bias": replace(SMALL, bias=F32),
    "bias of halves": replace(SMALL, kernel="matmul f16 f16", result=F16, bias=F16),
    "bias of whole numbers": replace(SMALL, kernel="matmul i8 i32", dtype=I8, result=I32, cut=(32, 64, 64), bias=I32),
    "one step of k with bias": replace(SMALL, bias=F32, shape=(70, 90, 30)),
    "step by step": replace(SMALL, way=STEPWISE, bias=F32),
    "columns first": replace(SMALL, tiling={"iterateOrder": 1}),
    "two results in L0C": replace(SMALL, tiling={"dbL0C": 2}),
    "no double buffers": replace(SMALL, tiling={"dbL0A": 1, "dbL0B": 1}),
    "all of k of A stays": replace(SMALL, tiling={"iterateOrder": 1, "depthA1": 4, "depthB1": 2}),
    "more slots than pieces": replace(SMALL, tiling={"depthA1": 30, "depthB1": 30}),
    "two objects": replace(SMALL, way=TWICE, shape=(64, 90, 100), tiling={"singleCoreM": 32}),
    "sums of parts of k": replace(SMALL, way=SUMS, shape=(32, 48, 96), tiling={"singleCoreK": 32}),
    "a part of a larger matrix": replace(
        SMALL, settings={"tailM": 70, "tailN": 90, "tailK": 100}, tiling={"singleCoreM": 16, "singleCoreN": 16, "singleCoreK": 16}
    ),
    "shapes set again": replace(SMALL, tiling={"M": 999, "N": 999, "Ka": 999}, settings={"orgM": 70, "orgN": 90, "orgK": 100}),
    "one row": replace(SMALL, shape=(1, 90, 100)),
    "a vector": replace(SMALL, kernel="matmul vector f16 f32", shape=(1, 90, 600), cut=(16, 48, 256)),
    "a constant size": replace(SMALL, kernel="matmul fixed f16 f32"),
}


@pytest.mark.parametrize("case", VARIANTS.values(), ids=VARIANTS)
def test_every_way_to_ask_gives_the_product(rig: Rig, case: Case) -> None:
    check(rig, case)


@pytest.mark.parametrize(("kernel", "dtype", "result", "factor"), [("matmul i8 f16", I8, F16, 0.5), ("matmul f16 i8", F16, I8, 0.25)])
def test_results_are_scaled_on_the_way_to_narrow_types(rig: Rig, kernel: str, dtype: int, result: int, factor: float) -> None:
    signed = 1 << 46 if result == I8 else 0
    case = replace(SMALL, kernel=kernel, dtype=dtype, result=result, cut=(32, 64, 64), scale=int(np.float32(factor).view(np.uint32)) | signed)
    a, b = whole(70, 100), whole(100, 90)
    report, out = run(rig, case, a, b)
    assert report.diagnostics == []
    expected = (a @ b) * factor
    expected = np.clip(np.rint(expected), -128, 127) if result == I8 else expected
    np.testing.assert_array_equal(rig.download(out, 70 * 90, RESULTS[result]).reshape(70, 90), expected)


def test_results_in_fractals_lie_in_columns_of_sixteen(rig: Rig) -> None:
    case = replace(SMALL, kernel="matmul nz out f16", shape=(64, 96, 80), result=F16)
    a, b = whole(64, 80), whole(80, 96)
    report, out = run(rig, case, a, b)
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 64 * 96, np.float16), fractals((a @ b).astype(np.float16), 16).ravel())


def test_results_one_behind_the_other_are_blocks(rig: Rig) -> None:
    case = replace(SMALL, shape=(40, 50, 32), settings={"isSequential": 1})
    a, b = whole(40, 32), whole(32, 50)
    _, out = run(rig, case, a, b)
    c = a @ b
    blocks = [c[:32, :48], c[32:, :48], c[:32, 48:], c[32:, 48:]]
    np.testing.assert_array_equal(rig.download(out, 40 * 50, np.float32), np.concatenate([block.ravel() for block in blocks]))


def test_an_atomic_result_adds_to_what_is_there(rig: Rig) -> None:
    a, b, before = whole(70, 100), whole(100, 90), whole(70, 90).astype(np.float32)
    out = rig.upload(before, is_mutable=True)
    report, _ = run(rig, replace(SMALL, atomic=1), a, b, out=out)
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 70 * 90, np.float32).reshape(70, 90), a @ b + before)


def test_rows_beyond_65535_elements_need_the_check_of_intrinsics(rig: Rig) -> None:
    case = replace(SMALL, shape=(2, 16, 70000), tiling={"singleCoreK": 64})
    a, b = np.zeros((2, 70000), np.int64), whole(70000, 16)
    a[:, :64] = whole(2, 64)
    refused, _ = run(rig, case, a, b)
    assert "set intrinsicsCheck in the MatmulConfig" in refused.first("device_exception")["message"]
    report, out = run(rig, replace(case, kernel="matmul long rows"), a, b)
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 32, np.float32).reshape(2, 16), a @ b)


IMPOSSIBLE = {
    "Iterate without matrix A: call SetTensorA first": replace(SMALL, way=NOTHING_SET),
    "call GetTensorC after each Iterate": replace(SMALL, way=TOO_FAR),
    "SetBias, but the tiling's isBias is 0": replace(SMALL, bias=F32, tiling={"isBias": 0}),
    "the MatmulType of B has to have ISTRANS true": replace(SMALL, kernel="matmul fixed f16 f32", turned=(False, True)),
    "the tiling's singleCoreM is 0": replace(SMALL, tiling={"singleCoreM": 0}),
    "baseM and baseN multiples of 16": replace(SMALL, cut=(30, 48, 32)),
    "takes 131072 bytes, L0A has 65536": replace(SMALL, cut=(256, 48, 256)),
    "takes 81920 bytes, L0B has 65536": replace(SMALL, cut=(32, 320, 128)),
    "takes 262144 bytes, L0C has 131072": replace(SMALL, cut=(256, 256, 16)),
    "takes 1310720 bytes, L1 has 524288": replace(SMALL, cut=(128, 128, 64), tiling={"depthA1": 40, "depthB1": 40}),
}


@pytest.mark.parametrize(("text", "case"), IMPOSSIBLE.items(), ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_work_is_said_with_the_numbers(rig: Rig, text: str, case: Case) -> None:
    m, n, k = case.shape
    report, _ = run(rig, case, whole(m, k), whole(k, n), GENERATOR.integers(0, 3, n) if case.bias else None)
    assert text in report.first("device_exception")["message"]


def test_pieces_that_stay_in_l1_are_loaded_once(rig: Rig) -> None:
    """All of k of A fits, columns come first: A is read once, B once per row of blocks."""
    few = replace(SMALL, shape=(64, 96, 64), tiling={"iterateOrder": 1, "depthA1": 2, "depthB1": 2})
    a, b = whole(64, 64), whole(64, 96)
    report, _ = run(rig, few, a, b)
    loads = [entry for entry in report.trace[0] if entry[0] == 1]
    assert len(loads) == 2 * 2 + 2 * 2 * 2
