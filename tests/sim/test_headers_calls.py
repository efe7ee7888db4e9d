"""The vector unit's calls by count, by lanes, by bits and by the mask register, on the engine, against NumPy: every form with every type."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from engine_rig import Rig
from vector_run import Array, same_bits

DTYPES = {"f16": np.float16, "f32": np.float32, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "bf16": np.uint16}
"""bfloat16_t as its bits."""
COUNT, LANES, BITS, REGISTER = range(4)
MASK = (37, 0x00FF00FF00FF00FF_9249249249249249, 0x00FF00FF00FF00FF_9249249249249249)
REPEATS = 2
FLOATS, ARITHMETIC, LOGIC = ("f16", "f32"), ("f16", "f32", "i16", "i32"), ("i16", "u16")
SHIFTED, SPREAD = (*LOGIC, "i32", "u32"), (*ARITHMETIC, "u16", "u32", "bf16")
Model = Callable[[Array, Array, Array], Array]


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def operands(kind: str, seed: int) -> tuple[Array, Array, Array]:
    """Destination and two sources of 1 KiB: quarters, so that sums and products are exact; positive second operands of which the first is 3."""
    rng = np.random.default_rng(seed)
    n = 1024 // DTYPES[kind]().itemsize
    scale = 0.25 if kind in FLOATS else 1
    low = 0 if DTYPES[kind]().dtype.kind == "u" else -40
    d, a, b = (rng.integers(low, 40, n) * scale for _ in range(3))
    b = np.abs(b) + scale
    b[0] = 3
    return d.astype(DTYPES[kind]), a.astype(DTYPES[kind]), b.astype(DTYPES[kind])


def active(kind: str, form: int) -> Array:
    """Lanes of a repeat that take part."""
    lanes = np.arange(256 // DTYPES[kind]().itemsize)
    if form == LANES:
        return lanes[: MASK[0]]
    return np.array([lane for lane in lanes if MASK[1] >> int(lane) & 1])


def places(kind: str, form: int, block_step: int, repeat_step: int) -> Array:
    """Elements that the lanes of all repeats stand for, with steps in blocks of 32 bytes."""
    n = 1024 // DTYPES[kind]().itemsize
    if form == COUNT:
        return np.arange(n)
    block = 32 // DTYPES[kind]().itemsize
    lanes = active(kind, form)
    return np.concatenate([repeat * repeat_step * block + lanes // block * block_step * block + lanes % block for repeat in range(REPEATS)])


def called(rig: Rig, name: str, kind: str, form: int) -> tuple[Array, tuple[Array, Array, Array]]:
    """What the destination holds after the call, and what all held before."""
    given = operands(kind, form + len(name))
    rig.reset()
    out = rig.allocate(1024)
    report = rig.run_kernel(f"{name} {kind}", rig.upload(np.concatenate(given)), out, 0, form)
    assert report.causes() == []
    return rig.download(out, given[0].size, given[0].dtype), given


def wide(values: Array) -> Array:
    return values.astype(np.float32) if values.dtype == np.float16 else values


def rounded(step: Callable[[Array, Array], Array]) -> Model:
    return lambda d, a, b: step(wide(a), wide(b)).astype(a.dtype)


def relu(values: Array) -> Array:
    return np.maximum(values, 0)


def fused(d: Array, a: Array, b: Array) -> Array:
    return (wide(d) * wide(a) + wide(b)).astype(d.dtype)


BINARY: dict[str, tuple[tuple[str, ...], Model]] = {
    "Add": (ARITHMETIC, rounded(np.add)),
    "Sub": (ARITHMETIC, rounded(np.subtract)),
    "Mul": (ARITHMETIC, rounded(np.multiply)),
    "Div": (FLOATS, rounded(np.divide)),
    "Max": (ARITHMETIC, rounded(np.maximum)),
    "Min": (ARITHMETIC, rounded(np.minimum)),
    "And": (LOGIC, lambda d, a, b: a & b),
    "Or": (LOGIC, lambda d, a, b: a | b),
    "AddRelu": ((*FLOATS, "i16"), lambda d, a, b: relu(a + b)),
    "SubRelu": ((*FLOATS, "i16"), lambda d, a, b: relu(a - b)),
    "FusedMulAdd": (FLOATS, fused),
    "MulAddRelu": (FLOATS, lambda d, a, b: relu(fused(d, a, b))),
    "FusedMulAddRelu": (FLOATS, lambda d, a, b: relu(fused(d, a, b))),
}
UNARY: dict[str, tuple[tuple[str, ...], Callable[[Array], Array]]] = {
    "Exp": (FLOATS, np.exp),
    "Ln": (FLOATS, np.log),
    "Sqrt": (FLOATS, np.sqrt),
    "Rsqrt": (FLOATS, lambda a: 1 / np.sqrt(a)),
    "Reciprocal": (FLOATS, lambda a: 1 / a),
    "Abs": (FLOATS, np.abs),
    "Relu": ((*FLOATS, "i32"), relu),
    "Not": (LOGIC, np.invert),
}
NUMBER: dict[str, tuple[tuple[str, ...], Callable[[Array, Array], Array]]] = {
    "Adds": (ARITHMETIC, np.add),
    "Muls": (ARITHMETIC, np.multiply),
    "Maxs": (ARITHMETIC, np.maximum),
    "Mins": (ARITHMETIC, np.minimum),
    "LeakyRelu": (FLOATS, lambda a, number: np.where(a >= 0, a, a * number)),
    "ShiftLeft": (SHIFTED, np.left_shift),
    "ShiftRight": (SHIFTED, np.right_shift),
}


def cases(table: dict[str, tuple[tuple[str, ...], object]]) -> list[tuple[str, str]]:
    return [(name, kind) for name, (kinds, _) in table.items() for kind in kinds]


@pytest.mark.parametrize(("name", "kind"), cases(BINARY))
@pytest.mark.parametrize("form", [COUNT, LANES, BITS, REGISTER])
def test_two_tensors_make_a_third_where_a_lane_takes_part(rig: Rig, name: str, kind: str, form: int) -> None:
    got, (d, a, b) = called(rig, name, kind, form)
    to, one, two = (places(kind, form, *steps) for steps in ((2, 17), (1, 8), (1, 9)))
    expected = d.copy()
    expected[to] = BINARY[name][1](d[to], a[one], b[two])
    same_bits(got, expected)


@pytest.mark.parametrize(("name", "kind"), cases(UNARY))
@pytest.mark.parametrize("form", [COUNT, LANES, BITS, REGISTER])
def test_one_tensor_makes_another_where_a_lane_takes_part(rig: Rig, name: str, kind: str, form: int) -> None:
    got, (d, a, _) = called(rig, name, kind, form)
    to, one = places(kind, form, 2, 17), places(kind, form, 1, 8)
    with np.errstate(all="ignore"):
        model = UNARY[name][1](wide(a[one])).astype(a.dtype)
    expected = d.copy()
    expected[to] = model
    np.testing.assert_allclose(got[to].astype(np.float64), model.astype(np.float64), rtol=1e-3 if kind == "f16" else 1e-6)
    others = np.setdiff1d(np.arange(d.size), to)
    same_bits(got[others], d[others])


@pytest.mark.parametrize(("name", "kind"), cases(NUMBER))
@pytest.mark.parametrize("form", [COUNT, LANES, BITS, REGISTER])
def test_a_number_changes_a_tensor_where_a_lane_takes_part(rig: Rig, name: str, kind: str, form: int) -> None:
    got, (d, a, b) = called(rig, name, kind, form)
    to, one = places(kind, form, 2, 17), places(kind, form, 1, 8)
    expected = d.copy()
    expected[to] = NUMBER[name][1](a[one], b[0]).astype(a.dtype)
    same_bits(got, expected)


@pytest.mark.parametrize("kind", SPREAD)
@pytest.mark.parametrize("form", [COUNT, LANES, BITS, REGISTER])
def test_a_number_is_spread_over_lanes(rig: Rig, kind: str, form: int) -> None:
    got, (d, _, b) = called(rig, "Duplicate", kind, form)
    expected = d.copy()
    expected[places(kind, form, 2, 17)] = b[0]
    same_bits(got, expected)


@pytest.mark.parametrize("kind", ARITHMETIC)
@pytest.mark.parametrize("form", [COUNT, LANES, BITS])
def test_lanes_are_numbered(rig: Rig, kind: str, form: int) -> None:
    got, (d, _, _) = called(rig, "CreateVecIndex", kind, form)
    lanes = 256 // d.itemsize
    numbers = np.arange(d.size) if form == COUNT else np.concatenate([repeat * lanes + active(kind, form) for repeat in range(REPEATS)])
    expected = d.copy()
    expected[places(kind, form, 2, 17)] = (numbers + 3).astype(d.dtype)
    same_bits(got, expected)


@pytest.mark.parametrize("kind", SPREAD)
@pytest.mark.parametrize("form", [LANES, BITS, REGISTER])
def test_blocks_are_copied_where_a_lane_takes_part(rig: Rig, kind: str, form: int) -> None:
    got, (d, a, _) = called(rig, "Copy", kind, form)
    expected = d.copy()
    expected[places(kind, form, 2, 17)] = a[places(kind, form, 1, 8)]
    same_bits(got, expected)


@pytest.mark.parametrize("kind", SPREAD)
def test_each_element_fills_a_block(rig: Rig, kind: str) -> None:
    got, (d, a, _) = called(rig, "Brcb", kind, COUNT)
    block = 32 // d.itemsize
    expected = d.copy()
    for number in range(8 * REPEATS):
        start = (number // 8 * 16 + number % 8 * 2) * block
        expected[start : start + block] = a[number]
    same_bits(got, expected)


@pytest.mark.parametrize("kind", SPREAD)
@pytest.mark.parametrize("form", [COUNT, LANES, BITS])
def test_elements_are_gathered_by_their_bytes(rig: Rig, kind: str, form: int) -> None:
    """Lane i gets the element that lies as far from the end as i from the start."""
    got, (d, a, _) = called(rig, "Gather", kind, form)
    lanes = 256 // d.itemsize
    taken = np.arange(lanes) if form == COUNT else np.concatenate([repeat * lanes + active(kind, form) for repeat in range(REPEATS)])
    expected = d.copy()
    expected[places(kind, form, 1, 17)[: taken.size]] = a[2 * lanes - 1 - taken]
    same_bits(got, expected)


@pytest.mark.parametrize("kind", SPREAD)
@pytest.mark.parametrize("form", [COUNT, LANES])
def test_a_pattern_chooses_elements_and_their_number_is_told(rig: Rig, kind: str, form: int) -> None:
    """Every second of a fixed pattern, or the bits of a tensor."""
    got, (d, a, b) = called(rig, "GatherMask", kind, form)
    lanes = 256 // d.itemsize
    chosen = a[:lanes][1::2] if form == COUNT else a[:lanes][np.unpackbits(b.view(np.uint8)[: lanes // 8], bitorder="little").astype(bool)]
    same_bits(got[: chosen.size], chosen)
    assert got.view(np.uint16)[-1] == chosen.size


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("form", range(6))
def test_bits_choose_between_two_tensors_or_a_number(rig: Rig, kind: str, form: int) -> None:
    """By count, lanes and bits, first with a tensor, then with a number; the bits of a repeat are those of b, 8 bytes further in each repeat of halves."""
    got, (d, a, b) = called(rig, "Select", kind, form)
    lanes = 256 // d.itemsize
    bits = np.unpackbits(b.view(np.uint8), bitorder="little").astype(bool)
    one = {COUNT: np.arange(lanes), LANES: active(kind, LANES), BITS: active(kind, BITS)}[form % 3]
    other = b[one] if form < 3 else np.full(one.size, b[0])
    expected = d.copy()
    expected[one] = np.where(bits[one], a[one], other)
    same_bits(got, expected)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("form", [COUNT, LANES, BITS, REGISTER])
def test_a_multiple_is_added(rig: Rig, kind: str, form: int) -> None:
    got, (d, a, b) = called(rig, "Axpy", kind, form)
    to, one = places(kind, form, 2, 17), places(kind, form, 1, 8)
    expected = d.copy()
    expected[to] = (wide(a[one]) * wide(b[:1]) + wide(d[to])).astype(d.dtype)
    same_bits(got, expected)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("form", [COUNT, LANES, BITS])
@pytest.mark.parametrize("name", ["ReduceSum", "ReduceMax", "ReduceMin"])
def test_all_elements_become_one_number_and_its_place(rig: Rig, name: str, kind: str, form: int) -> None:
    got, (_, a, _) = called(rig, name, kind, form)
    lanes = np.arange(256 // a.itemsize)[: None if form == COUNT else MASK[0]] if form != BITS else active(kind, BITS)
    taken = lanes if form == COUNT else np.concatenate([lanes, 8 * 32 // a.itemsize + lanes])
    values = a[taken].astype(np.float64)
    if name == "ReduceSum":
        assert got[0] == values.sum()
        return
    best = int(np.argmax(values) if name == "ReduceMax" else np.argmin(values))
    assert got[0] == values[best]
    assert got[1:2].view(f"u{a.itemsize}")[0] == taken[best]


@pytest.mark.parametrize("kind", ARITHMETIC)
def test_numbers_progress_by_a_difference(rig: Rig, kind: str) -> None:
    got, (d, _, b) = called(rig, "ArithProgression", kind, COUNT)
    same_bits(got[:100], (b[0] + np.arange(100) * b[0]).astype(d.dtype))


def repeats_of(a: Array, kind: str, form: int) -> list[tuple[Array, Array]]:
    """Lanes that take part, and their elements, for each repeat; 9 blocks from repeat to repeat."""
    block = 32 // a.itemsize
    lanes = active(kind, form)
    return [(lanes, a[repeat * 9 * block + lanes]) for repeat in range(REPEATS)]


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("form", [LANES, BITS, REGISTER])
@pytest.mark.parametrize("name", ["WholeReduceSum", "WholeReduceMax", "WholeReduceMin"])
def test_a_repeat_becomes_its_sum_or_its_best_and_where_it_is(rig: Rig, name: str, kind: str, form: int) -> None:
    got, (_, a, _) = called(rig, name, kind, form)
    for repeat, (lanes, values) in enumerate(repeats_of(a, kind, form)):
        if name == "WholeReduceSum":
            assert got[repeat] == values.astype(np.float64).sum()
            continue
        best = int(np.argmax(values) if name == "WholeReduceMax" else np.argmin(values))
        assert got[2 * repeat] == values[best]
        assert got[2 * repeat + 1 :][:1].view(f"u{a.itemsize}")[0] == lanes[best]


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("form", [LANES, BITS, REGISTER])
@pytest.mark.parametrize("name", ["BlockReduceSum", "BlockReduceMax", "BlockReduceMin", "PairReduceSum", "ReducePairElem"])
def test_a_group_of_lanes_becomes_its_sum_or_its_best(rig: Rig, name: str, kind: str, form: int) -> None:
    form = LANES if name == "ReducePairElem" else form
    got, (_, a, _) = called(rig, name, kind, form)
    group = 2 if name.endswith(("PairReduceSum", "PairElem")) else 32 // a.itemsize
    step = {"Max": np.max, "Min": np.min}.get(name[-3:], np.sum)
    for repeat, (lanes, values) in enumerate(repeats_of(a, kind, form)):
        for number in np.unique(lanes // group):
            assert got[repeat * (256 // a.itemsize // group) + number] == step(values[lanes // group == number].astype(np.float64))


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["Compare", "Compares", "CompareScalar"])
def test_bits_say_where_the_first_is_less(rig: Rig, name: str, kind: str) -> None:
    got, (d, a, b) = called(rig, name, kind, COUNT)
    lanes = 256 // a.itemsize
    holds = a[:lanes] < (b[:lanes] if name == "Compare" else b[0])
    expected = d.view(np.uint8).copy()
    expected[: lanes // 8] = np.packbits(holds, bitorder="little")
    same_bits(got.view(np.uint8), expected)
