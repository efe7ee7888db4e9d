"""Sort32 and MrgSort against NumPy: order, ties, lists, repeats, suspension, misuse."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import F16, F32, GET_MRG_RESULT, MRG_SORT, MTE2, MTE3, NUMPY, SORT32, U32, UNBOUNDED, Record, Rig, S, V, flag, gm, pad, record, ub
from vector_run import A, Array, B, C, D, floats, run, same_bits


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def pairs_of(scores: Array, indices: Array) -> Array:
    """The 8-byte structures: score in the low bytes, index in the high four."""
    low = scores.view(f"u{scores.itemsize}").astype(np.uint64)
    return low | indices.astype(np.uint64) << np.uint64(32)


def descending(scores: Array) -> Array:
    """A stable order, largest first, NaN before all."""
    keys = np.where(np.isnan(scores), -np.inf, -scores.astype(np.float64))
    return np.lexsort((np.arange(scores.size), keys, ~np.isnan(scores)))


def sort32(dtype: int, repeats: int) -> Record:
    made = record(SORT32, V, p=(repeats,))
    made.dst, made.src0, made.src1 = ub(D, dtype), ub(A, dtype), ub(B, U32)
    return made


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("repeats", [0, 1, 5, 255])
def test_each_repeat_sorts_32_elements_and_equal_ones_keep_their_order(rig: Rig, dtype: int, repeats: int) -> None:
    n = 32 * max(repeats, 1)
    scores, indices = floats(NUMPY[dtype], n), np.arange(n, dtype=np.uint32)[::-1].copy()
    before = np.full(n, 99, np.uint64)
    got, report = run(rig, {A: scores, B: indices}, before, [sort32(dtype, repeats)])
    assert report.diagnostics == []
    expected = before.copy()
    for repeat in range(repeats):
        part = slice(32 * repeat, 32 * repeat + 32)
        order = descending(scores[part])
        expected[part] = pairs_of(scores[part][order], indices[part][order])
    same_bits(got, expected)


def merge(addresses: list[int], lengths: list[int], *, valid: int, repeats: int = 1, stops: bool = False, dtype: int = F32, to: int = D) -> Record:
    made = record(MRG_SORT, V, p=(repeats, valid, int(stops)))
    a = [*addresses, 0, 0, 0, 0][:4]
    made.dst, made.src0, made.src1 = ub(to, dtype), ub(a[0], dtype), ub(a[1], dtype)
    made.scalar = a[2] | a[3] << 32
    made.mask[0] = sum(length << (16 * at) for at, length in enumerate(lengths))
    made.mask[1] = UNBOUNDED | UNBOUNDED << 32
    return made


def sorted_list(dtype: int, n: int, seed: int) -> Array:
    scores = floats(NUMPY[dtype], n, seed)
    return pairs_of(scores[descending(scores)], np.arange(n, dtype=np.uint32) + 1000 * seed)


def scores_of(pairs: Array, dtype: int) -> Array:
    return (pairs & np.uint64(0xFFFF if dtype == F16 else 0xFFFFFFFF)).astype(np.uint16 if dtype == F16 else np.uint32).view(NUMPY[dtype])


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize(("lengths", "valid"), [([5, 40], 3), ([32, 32, 32], 7), ([1, 17, 64, 9], 15), ([0, 8, 0, 8], 15)])
def test_lists_are_merged_and_the_first_list_wins_a_tie(rig: Rig, dtype: int, lengths: list[int], valid: int) -> None:
    lists = [sorted_list(dtype, n, seed) for seed, n in enumerate(lengths, 1)]
    addresses = [A, B, C, C + 4096]
    joined = np.concatenate(lists)
    got, report = run(rig, dict(zip(addresses, lists, strict=False)), np.zeros(joined.size, np.uint64), [merge(addresses, lengths, valid=valid, dtype=dtype)])
    assert report.diagnostics == []
    same_bits(got, joined[descending(scores_of(joined, dtype))])


def test_repeats_merge_groups_of_four_joined_lists(rig: Rig) -> None:
    lists = [sorted_list(F32, 16, seed) for seed in range(1, 13)]
    got, report = run(rig, {A: np.concatenate(lists)}, np.zeros(192, np.uint64), [merge([A, A + 128, A + 256, A + 384], [16] * 4, valid=15, repeats=3)])
    assert report.diagnostics == []
    groups = [np.concatenate(lists[at : at + 4]) for at in (0, 4, 8)]
    same_bits(got, np.concatenate([group[descending(scores_of(group, F32))] for group in groups]))


def test_suspension_stops_with_the_first_list_that_is_used_up_and_counts_what_was_taken(rig: Rig) -> None:
    rising = pairs_of(np.array([9, 8], np.float32), np.arange(2, dtype=np.uint32))
    other = pairs_of(np.array([8.5, 7, 6], np.float32), np.arange(2, 5, dtype=np.uint32))
    rig.reset()
    out = rig.allocate(40)
    before = np.full(5, 77, np.uint64)
    moves = [pad(ub(at), gm(rig.upload(values)), values.nbytes) for at, values in ((A, rising), (B, other), (D, before))]
    ask = record(GET_MRG_RESULT, S)
    report = rig.launch([*moves, *flag(MTE2, V), merge([A, B], [2, 3], valid=3, stops=True), ask, *flag(V, MTE3), pad(gm(out), ub(D), 40)])
    assert [int(report.answers[6]) >> (16 * at) & 0xFFFF for at in range(4)] == [2, 1, 0, 0]
    same_bits(rig.download(out, 5, np.uint64), np.array([rising[0], other[0], rising[1], 77, 77], np.uint64))


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        (merge([A, B], [4, 4], valid=5), "bad_parameter"),
        (merge([A, B], [4096, 4], valid=3), "bad_parameter"),
        (merge([A, A + 32], [4, 4], valid=3, repeats=2), "bad_parameter"),
        (merge([A, A + 16], [4, 4], valid=3, to=A + 32), "bad_overlap"),
        (merge([A + 4, B], [4, 4], valid=3), "misaligned"),
        (merge([A, B], [4, 4], valid=3, to=D + 8), "misaligned"),
        (merge([196608 - 8, B], [2, 1], valid=3), "out_of_bounds"),
    ],
)
def test_a_misuse_of_mrg_sort_is_reported(rig: Rig, step: Record, cause: str) -> None:
    _, report = run(rig, {A: np.zeros(64, np.uint64), B: np.zeros(64, np.uint64)}, np.zeros(4, np.uint64), [step])
    assert report.causes()[0] == cause


def test_undefined_scores_stay_with_their_pairs(rig: Rig) -> None:
    indices = np.arange(32, dtype=np.uint32)
    _, report = run(rig, {B: indices}, np.zeros(32, np.uint64), [sort32(F32, 1)])
    assert report.causes() == ["undefined_data"]
