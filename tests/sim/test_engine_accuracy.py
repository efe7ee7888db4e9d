"""Does the pessimistic mode change the instructions whose accuracy is unknown, by one unit in the last place, and nothing else?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from engine_rig import ADD, CAST, DIV, EXP, F16, F32, FLOOR, I32, LN, MUL, RECIPROCAL, RSQRT, SQRT, SUB, Record, Rig, V, barrier, count, ub
from vector_run import A, Array, B, C, D, run, same_bits

APPROXIMATE = {"Exp": EXP, "Ln": LN, "Rsqrt": RSQRT, "Reciprocal": RECIPROCAL, "Div": DIV}
N = 2000


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as opened:
        yield opened


def instruction(opcode: int, dtype: int, at: int = D, source: int = A) -> Record:
    two = {ADD, SUB, MUL, DIV}
    operands = (ub(at, dtype), ub(source, dtype), ub(B, dtype)) if opcode in two else (ub(at, dtype), ub(source, dtype))
    return count(opcode, operands, N)


def both(rig: Rig, opcode: int, dtype: int, first: Array, second: Array) -> tuple[Array, Array]:
    """The result in the exact mode, and in the pessimistic one."""
    results = []
    for mode in (False, True):
        rig.configure(pessimistic=mode)
        results.append(run(rig, {A: first, B: second}, np.zeros(N, first.dtype), [instruction(opcode, dtype)])[0])
    return results[0], results[1]


def operands(numpy_type: Any) -> tuple[Array, Array]:
    random = np.random.default_rng(5)
    return (random.random(N) * 3 + 0.5).astype(numpy_type), (random.random(N) + 0.5).astype(numpy_type)


@pytest.mark.parametrize("name", APPROXIMATE)
@pytest.mark.parametrize(("dtype", "numpy_type"), [(F32, np.float32), (F16, np.float16)])
def test_an_approximate_result_is_off_by_one_unit_up_or_down(rig: Rig, name: str, dtype: int, numpy_type: Any) -> None:
    exact, got = both(rig, APPROXIMATE[name], dtype, *operands(numpy_type))
    kind = np.int32 if dtype == F32 else np.int16
    steps = got.view(kind).astype(np.int64) - exact.view(kind)
    changed = exact != 0
    assert set(steps[changed].tolist()) == {-1, 1}
    assert abs(float(steps[changed].mean())) < 0.1  # neither direction prevails


@pytest.mark.parametrize("opcode", [ADD, SUB, MUL, SQRT])
@pytest.mark.parametrize(("dtype", "numpy_type"), [(F32, np.float32), (F16, np.float16)])
def test_every_other_instruction_stays_as_it_is(rig: Rig, opcode: int, dtype: int, numpy_type: Any) -> None:
    exact, got = both(rig, opcode, dtype, *operands(numpy_type))
    same_bits(got, exact)


def test_the_same_operand_always_gives_the_same_result_in_place_too(rig: Rig) -> None:
    values, _ = operands(np.float32)
    values[N // 2 :] = values[: N // 2]
    rig.configure(pessimistic=True)
    apart, _ = run(rig, {A: values}, np.zeros(N, np.float32), [instruction(EXP, F32)])
    in_place, _ = run(rig, {A: values}, values, [instruction(EXP, F32, source=D)])
    same_bits(in_place, apart)
    same_bits(apart[N // 2 :], apart[: N // 2])


@pytest.mark.parametrize(("dtype", "numpy_type", "smallest"), [(F32, np.float32, 2.0**-126), (F16, np.float16, 2.0**-14)])
def test_subnormals_count_as_zeros_going_in_and_coming_out(rig: Rig, dtype: int, numpy_type: Any, smallest: float) -> None:
    subnormal = numpy_type(smallest / 2)
    first, second = np.full(N, subnormal, numpy_type), np.full(N, 2, numpy_type)
    second[: N // 2] = subnormal
    first[0], first[1], second[1] = numpy_type(smallest), -subnormal, 1
    rig.configure(pessimistic=True)
    quotient, _ = run(rig, {A: first, B: second}, np.zeros(N, numpy_type), [instruction(DIV, dtype)])
    assert np.isinf(quotient[0])  # by a zero
    same_bits(quotient[1:2], np.array([-0.0], numpy_type))
    assert np.isnan(quotient[2])  # zero by zero
    assert not quotient[N // 2 :].any()
    first[:] = numpy_type(smallest * 1.25)
    small, _ = run(rig, {A: first, B: np.full(N, 2, numpy_type)}, np.ones(N, numpy_type), [instruction(DIV, dtype)])
    assert not small.any()


def test_zeros_infinities_and_nans_stay_and_the_largest_number_stays_finite(rig: Rig) -> None:
    largest = np.finfo(np.float32).max
    first, second = np.ones(N, np.float32), np.ones(N, np.float32)
    first[:5] = (0.0, -0.0, np.inf, -np.inf, np.nan)
    first[5:] = largest * np.where(np.arange(N - 5) % 2, 1, -1)
    second[5:] = 1 + np.arange(N - 5, dtype=np.float32) % 2 * np.float32(0)
    _, got = both(rig, DIV, F32, first, second)
    same_bits(got[:5], first[:5])
    assert bool(np.all(np.isfinite(got[5:])))


def floor_of_quotient() -> list[Record]:
    return [count(DIV, (ub(C), ub(A), ub(B)), N), barrier(V), count(CAST, (ub(D, I32), ub(C)), N, mode=FLOOR)]


def less_one() -> list[Record]:
    return [count(EXP, (ub(C), ub(A)), N), barrier(V), count(SUB, (ub(D), ub(C), ub(B)), N)]


def test_a_kernel_that_is_right_only_for_an_exact_div_fails_there(rig: Rig) -> None:
    """The floor of the quotient of whole numbers: right with a correctly rounded quotient, wrong by one where it comes out below a whole number."""
    divisor = np.random.default_rng(2).integers(1, 50, N).astype(np.float32)
    quotient = np.random.default_rng(3).integers(1, 50, N).astype(np.int32)
    wrong = {}
    for mode in (False, True):
        rig.configure(pessimistic=mode)
        got, _ = run(rig, {A: divisor * quotient.astype(np.float32), B: divisor}, np.zeros(N, np.int32), floor_of_quotient())
        wrong[mode] = int(np.count_nonzero(got != quotient))
    assert wrong[False] == 0
    assert wrong[True] > N // 4


def test_a_kernel_that_is_right_only_for_an_exact_exp_fails_there(rig: Rig) -> None:
    """exp(x) - 1 for x near 0 keeps the error of Exp and loses the digits."""
    x = np.random.default_rng(4).uniform(1e-6, 2e-6, N).astype(np.float32)
    expected = np.exp(x.astype(np.float64)).astype(np.float32) - np.float32(1)
    worst = {}
    for mode in (False, True):
        rig.configure(pessimistic=mode)
        got, _ = run(rig, {A: x, B: np.ones(N, np.float32)}, np.zeros(N, np.float32), less_one())
        worst[mode] = float(np.max(np.abs(got / expected - 1)))
    assert worst[False] == 0.0
    assert worst[True] > 0.04
