"""Matmul objects on a cube core: batches by layout, a scale per column, triangles, parts of k, HF32; against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from cube_steps import narrowed
from engine_rig import F16, F32, I8, Report, Rig
from test_engine_fixpipe import nibbles, to_hf32
from test_engine_matmul import FIELDS, RESULTS, fractals, whole

LAYOUTS = [f"{side}LayoutInfo{axis}" for side, axes in (("A", "BSNGD"), ("B", "BSNGD")) for axis in axes]
ALL_FIELDS = [*FIELDS, *LAYOUTS, "CLayoutInfoB", "CLayoutInfoS1", "CLayoutInfoN", "CLayoutInfoG", "CLayoutInfoS2", "BatchNum", "mxTypePara"]
Values = npt.NDArray[Any]
GENERATOR = np.random.default_rng(29)


def tiling(shape: tuple[int, int, int], cut: tuple[int, int, int], **more: int) -> list[int]:
    """TCubeTiling of one core with double buffers; `cut` is base block m, n, k."""
    m, n, k = shape
    values = {"usedCoreNum": 1, "M": m, "N": n, "Ka": k, "Kb": k, "singleCoreM": m, "singleCoreN": n, "singleCoreK": k}
    values |= dict(zip(("baseM", "baseN", "baseK"), cut, strict=True))
    values |= dict.fromkeys(("depthA1", "depthB1", "stepM", "stepN", "stepKa", "stepKb", "dbL0C"), 1) | {"dbL0A": 2, "dbL0B": 2}
    return [(values | more).get(name, 0) for name in ALL_FIELDS]


def layout(side: str, sizes: tuple[int, int, int, int, int]) -> dict[str, int]:
    """The five axes B, S, N, G, D of A or B, or B, S1, N, G, S2 of C, as fields of the tiling."""
    axes = ("B", "S1", "N", "G", "S2") if side == "C" else tuple("BSNGD")
    return {f"{side}LayoutInfo{axis}": size for axis, size in zip(axes, sizes, strict=True)}


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


@dataclass
class Call:
    """One kernel: what lies in front of the input."""

    kernel: str
    fields: list[int]
    a: Values
    b: Values
    out: Values
    bias: Values | None = None
    scales: Values | None = None
    numbers: dict[str, int] = field(default_factory=dict)
    options: tuple[int, int] = (0, 0)

    def run(self, rig: Rig) -> tuple[Report, Values]:
        addresses = [0 if values is None else rig.upload(np.ascontiguousarray(values)) for values in (self.a, self.b, self.bias, self.scales)]
        names = ("lefts", "rights", "loops", "strideA", "strideB", "stepA", "stepB", "stepC", "stepBias")
        numbers = [self.numbers.get(name, 0) for name in names]
        parts = [np.array(self.fields, np.int32), np.array(addresses, np.uint64).view(np.int32), np.array(numbers, np.int32)]
        source, out = rig.upload(np.concatenate(parts)), rig.upload(self.out, is_mutable=True)
        report = rig.run_kernel(self.kernel, source, out, *self.options)
        return report, rig.download(out, self.out.size, self.out.dtype.type).reshape(self.out.shape)


M, N, K = 40, 48, 64
CUT = (32, 48, 32)


@dataclass(frozen=True)
class Axes:
    """Sizes of a batch; `order` is how B, S, N, G, D lie in memory."""

    order: str
    b: int = 2
    n: int = 2
    groups: tuple[int, int] = (3, 3)

    def stored(self, values: Values) -> Values:
        """[b, n, g, rows, columns] as it lies in memory."""
        return np.ascontiguousarray(np.einsum("bngsd->" + self.order.lower(), values))


@pytest.mark.parametrize("groups", [(3, 3), (1, 3), (3, 1)])
@pytest.mark.parametrize(
    ("kernel", "inputs", "outputs"), [("bsngd to bngs1s2", "BSNGD", "BNGSD"), ("bsngd to bsngd", "BSNGD", "BSNGD"), ("sbngd to sbngd", "SBNGD", "SBNGD")]
)
def test_batches_beside_each_other_in_rows(rig: Rig, kernel: str, inputs: str, outputs: str, groups: tuple[int, int]) -> None:
    """One call per b takes all of N and G; the side with one group is used for all groups of the other."""
    axes = Axes(inputs, groups=groups)
    a, b = (whole(axes.b * axes.n * g * rows, K).reshape(axes.b, axes.n, g, rows, K) for g, rows in zip(groups, (M, N), strict=True))
    bias = whole(axes.b, axes.n * 3 * N)
    expected = np.einsum("bngmk,bnglk->bngml", *(np.repeat(x, 3 // x.shape[2], axis=2) for x in (a, b))) + bias.reshape(axes.b, axes.n, 3, 1, N)
    sizes = [(axes.b, rows, axes.n, g, columns) for rows, g, columns in ((M, groups[0], K), (N, groups[1], K), (M, 3, N))]
    fields = tiling((M, N, K), CUT, isBias=1, **layout("A", sizes[0]), **layout("B", sizes[1]), **layout("C", sizes[2]))
    is_outer = inputs == "BSNGD"
    steps = [axes.n * g * columns * (rows if is_outer else 1) for rows, g, columns in ((M, groups[0], K), (N, groups[1], K), (M, 3, N))]
    call = Call(
        f"batch {kernel}",
        fields,
        narrowed(axes.stored(a), F16),
        narrowed(axes.stored(b), F16),
        np.zeros_like(Axes(outputs).stored(expected), np.float32),
        bias=bias.astype(np.float32),
        numbers={
            "lefts": axes.n * groups[0], "rights": axes.n * groups[1], "loops": axes.b,
            "stepA": steps[0], "stepB": steps[1], "stepC": steps[2], "stepBias": axes.n * 3 * N,
        },
    )  # fmt: skip
    report, got = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, Axes(outputs).stored(expected))


def test_batches_one_behind_the_other_may_be_transposed(rig: Rig) -> None:
    a, b = whole(6 * K, M).reshape(6, K, M), whole(6 * K, N).reshape(6, K, N)
    fields = tiling((M, N, K), CUT, **layout("A", (1, K, 2, 3, M)), **layout("B", (1, K, 2, 3, N)), **layout("C", (1, M, 2, 3, N)))
    call = Call(
        "batch bngs1s2 turned", fields, narrowed(a, F16), narrowed(b, F16), np.zeros((6, M, N), np.float32), numbers={"lefts": 6, "rights": 6, "loops": 1}
    )
    report, got = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a.transpose(0, 2, 1) @ b)


def normal(kernel: str, *, lefts: int = 4, rights: int = 4, gap: int = 0) -> tuple[Call, Values]:
    """A batch in order, `gap` elements between matrices of A, and its products."""
    a, b = whole(lefts * M, K).reshape(lefts, M, K), whole(rights * K, N).reshape(rights, K, N)
    count = max(lefts, rights)
    numbers = {"lefts": lefts, "rights": rights, "loops": 1, "strideA": M * K + gap if gap else 0}
    apart = np.zeros((lefts, M * K + gap))
    apart[:, : M * K] = a.reshape(lefts, -1)
    call = Call(
        f"batch {kernel}", tiling((M, N, K), CUT, isBias=1), narrowed(apart, F16), narrowed(b, F16), np.zeros((count, M, N), np.float32), numbers=numbers
    )
    return call, np.repeat(a, count // lefts, axis=0) @ np.repeat(b, count // rights, axis=0)


@pytest.mark.parametrize(("lefts", "rights", "gap"), [(4, 4, 0), (4, 2, 0), (1, 3, 0), (4, 4, 32)])
def test_batches_in_order_may_be_of_different_numbers_and_apart(rig: Rig, lefts: int, rights: int, gap: int) -> None:
    call, expected = normal("normal", lefts=lefts, rights=rights, gap=gap)
    report, got = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("kernel", "count"), [("normal", 4), ("normal one bias", 1)])
def test_a_bias_is_one_per_matrix_or_the_same_for_all(rig: Rig, kernel: str, count: int) -> None:
    call, expected = normal(kernel)
    call.bias = whole(count, N).astype(np.float32)
    report, got = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, expected + call.bias.reshape(count, 1, N))


def test_matrices_of_a_batch_may_be_in_fractals(rig: Rig) -> None:
    a, b = whole(3 * M, K).reshape(3, M, K), whole(3 * K, N).reshape(3, K, N)
    left, right = (np.stack([fractals(narrowed(one, F16), 16) for one in values]) for values in (a, b))
    call = Call("batch normal nz", tiling((M, N, K), CUT), left, right, np.zeros((3, M, N), np.float32), numbers={"lefts": 3, "rights": 3, "loops": 1})
    report, got = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a @ b)


@pytest.mark.parametrize(
    ("text", "kernel", "lefts", "rights"),
    [
        ("need a layout in their MatmulType", "without layouts", 2, 2),
        ("one number has to be a multiple of the other", "normal", 3, 2),
        ("SetBatchNum first", "normal", 0, 2),
    ],
)
def test_batches_that_cannot_be_are_said(rig: Rig, text: str, kernel: str, lefts: int, rights: int) -> None:
    call, _ = normal(kernel, lefts=4, rights=4)
    call.numbers |= {"lefts": lefts, "rights": rights}
    assert text in call.run(rig)[0].first("device_exception")["message"]


def test_a_sum_over_groups_is_refused(rig: Rig) -> None:
    fields = tiling((M, N, K), CUT, **layout("A", (1, M, 1, 2, K)), **layout("B", (1, N, 1, 2, K)), **layout("C", (1, M, 1, 1, N)))
    a, b = narrowed(whole(2 * M, K), F16), narrowed(whole(2 * N, K), F16)
    call = Call("batch bsngd to bsngd", fields, a, b, np.zeros((M, N), np.float32), numbers={"lefts": 2, "rights": 2, "loops": 1})
    assert "the sum over G is not supported" in call.run(rig)[0].first("device_exception")["message"]


def form(kernel: str, shape: tuple[int, int, int], cut: tuple[int, int, int], dtype: int = F16, result: int = F32, **more: int) -> tuple[Call, Values, Values]:
    m, n, k = shape
    a, b = whole(m, k), whole(k, n)
    call = Call(f"form {kernel}", tiling(shape, cut, **more), narrowed(a, dtype), narrowed(b, dtype), np.zeros((m, n), RESULTS[result]))
    return call, a, b


@pytest.mark.parametrize(
    ("kernel", "dtype", "result", "cut"), [("i8 f16", I8, F16, (32, 64, 64)), ("i8 i8", I8, I8, (32, 32, 64)), ("f16 i8", F16, I8, (64, 64, 32))]
)
def test_every_column_has_its_scale(rig: Rig, kernel: str, dtype: int, result: int, cut: tuple[int, int, int]) -> None:
    call, a, b = form(kernel, (70, 90, 100), cut, dtype, result)
    factors = 2.0 ** -GENERATOR.integers(1, 5, 90)
    signed = np.uint64(1 << 46) if result == I8 else np.uint64(0)
    call.scales = factors.astype(np.float32).view(np.uint32).astype(np.uint64) | signed
    report, got = call.run(rig)
    assert report.diagnostics == []
    expected = (a @ b) * factors
    np.testing.assert_array_equal(got, np.clip(np.rint(expected), -128, 127) if result == I8 else expected)


def test_scales_of_the_first_columns_do_not_serve_the_others(rig: Rig) -> None:
    call, a, b = form("i8 f16", (32, 64, 64), (32, 64, 64), I8, F16)
    factors = 2.0 ** -GENERATOR.integers(1, 5, 64)
    call.scales = factors.astype(np.float32).view(np.uint32).astype(np.uint64)
    call.numbers = {"lefts": 16}
    report, got = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, (a @ b) * factors)


@pytest.mark.parametrize(("kernel", "m", "n", "size"), [("aligned", 32, 20, 768), ("strips", 20, 32, 1024)])
def test_blocks_one_behind_the_other_take_the_room_of_their_format(rig: Rig, kernel: str, m: int, n: int, size: int) -> None:
    a, b = whole(m, 32), whole(32, n)
    call = Call(f"sequence {kernel}", tiling((m, n, 32), (16, 16, 32)), narrowed(a, F16), narrowed(b, F16), np.zeros(size, np.float32))
    report, got = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(np.hstack([got[:512].reshape(32, 16), got[512:].reshape(32, -1)])[:m, :n], a @ b)


@pytest.mark.parametrize("kernel", ["upper", "lower"])
def test_blocks_on_the_other_side_of_the_diagonal_stay_as_they_were(rig: Rig, kernel: str) -> None:
    call, a, b = form(kernel, (100, 120, 64), (32, 48, 32))
    call.out = np.full((100, 120), 77, np.float32)
    report, got = call.run(rig)
    assert report.diagnostics == []
    rows, columns = np.arange(100)[:, None] // 32, np.arange(120)[None, :] // 48
    np.testing.assert_array_equal(got, np.where(rows <= columns if kernel == "upper" else rows >= columns, a @ b, 77))


def test_parts_of_k_are_results_of_their_own(rig: Rig) -> None:
    call, a, b = form("partial", (32, 96, 80), (32, 48, 32), stepKa=2, stepKb=2, depthA1=2, depthB1=2)
    call.out = np.zeros((2, 3, 32, 48), np.float32)
    report, got = call.run(rig)
    assert report.diagnostics == []
    parts = [[a[:, k : k + 32] @ b[k : k + 32, n : n + 48] for k in (0, 32, 64)] for n in (0, 48)]
    np.testing.assert_array_equal(got, parts)


def test_parts_of_k_cannot_all_go_to_one_place(rig: Rig) -> None:
    call, _, _ = form("partial", (32, 96, 80), (32, 48, 32))
    call.numbers["loops"] = 1
    assert "call Iterate and GetTensorC for each part" in call.run(rig)[0].first("device_exception")["message"]


@pytest.mark.parametrize("mode", [0, 1])
def test_hf32_rounds_matrices_until_it_is_switched_off(rig: Rig, mode: int) -> None:
    call, _, _ = form("f32 f32", (32, 32, 16), (32, 32, 16), F32)
    call.a = (1 + GENERATOR.integers(0, 1 << 13, (32, 16)) * 2.0**-13).astype(np.float32)  # every fourth one lies halfway
    call.b = np.eye(16, 32, dtype=np.float32)
    _, exact = call.run(rig)
    report, rounded = replace(call, options=(1, mode)).run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(exact[:, :16], call.a)
    np.testing.assert_array_equal(rounded[:, :16], to_hf32(call.a, towards_zero=mode == 1))


@pytest.mark.parametrize(("kernel", "turned"), [("plain", False), ("turned", True)])
def test_four_bit_matrices_are_read_in_pairs(rig: Rig, kernel: str, turned: bool) -> None:
    """From the second row of a larger A and the third of a larger B on, so that offsets count half bytes, too."""
    a, b, bias = (GENERATOR.integers(-8, 8, shape) for shape in ((70, 202), (202, 90), 90))
    stored = [a, b.T if turned else b]
    padded = [np.concatenate([np.full((rows, values.shape[1]), 7), values]) for rows, values in zip((1, 2), stored, strict=True)]
    fields = tiling((70, 90, 202), (64, 64, 64), isBias=1, stepKa=2, stepKb=2, depthA1=4, depthB1=4)
    call = Call(f"i4 {kernel}", fields, nibbles(padded[0]), nibbles(padded[1]), np.zeros((70, 90), np.int32), bias=bias.astype(np.int32))
    call.numbers = {"stepA": stored[0].shape[1], "stepB": 2 * stored[1].shape[1]}
    report, got = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, a @ b + bias)


def test_four_bit_products_have_scales_per_column(rig: Rig) -> None:
    a, b = GENERATOR.integers(-8, 8, (40, 128)), GENERATOR.integers(-8, 8, (128, 96))
    factors = 2.0 ** -GENERATOR.integers(1, 5, 96)
    call = Call("i4 f16", tiling((40, 96, 128), (32, 64, 64)), nibbles(a), nibbles(b.T), np.zeros((40, 96), np.float16))
    call.scales = factors.astype(np.float32).view(np.uint32).astype(np.uint64)
    report, got = call.run(rig)
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, (a @ b) * factors)


def test_a_cube_core_fills_global_memory_from_l1(rig: Rig) -> None:
    out = rig.upload(np.zeros(40008, np.float32), is_mutable=True)
    report = rig.run_kernel("fill on a cube core", out, out, 40000, 0)
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 40008, np.float32), [3.5] * 40000 + [0] * 8)
    refused = rig.run_kernel("fill on a cube core", out, out, 3, 0)
    assert "Fill of 12 bytes on a cube core: whole blocks of 32 bytes" in refused.first("device_exception")["message"]
