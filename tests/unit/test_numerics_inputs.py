"""Are inputs the same on every host and for any number of threads, and are they what the case asks for?"""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.numerics.dtypes import decode, largest_finite, raw_bytes, storage_dtype
from piton.numerics.inputs import TWO_TRIAL_SHIFT, inward, make_inputs, make_tensor, special_count
from piton.numerics.streams import STREAM_CHUNK, below, half_words, stream_key, words

FLOATS = [DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT64, DType.FLOAT8_E4M3, DType.FLOAT8_E5M2]
INTEGERS = [DType.INT8, DType.UINT8, DType.INT16, DType.UINT16, DType.INT32, DType.UINT32, DType.INT64, DType.UINT64]


def case(*items: CaseInput) -> Case:
    return Case(operator="op", id="1", inputs=items)


def item(dtype: DType, low: float, high: float, shape: tuple[int, ...] = (1009,), **more: object) -> CaseInput:
    return CaseInput(argument="x", shape=shape, dtype=dtype, low=low, high=high, **more)


def draw(dtype: DType, low: float, high: float, shape: tuple[int, ...] = (1009,), seed: int = 0, **more: float) -> np.ndarray:
    array = make_inputs("1", case(item(dtype, low, high, shape)), seed, **more)["x"]
    assert isinstance(array, np.ndarray)
    return array


def values(array: np.ndarray, dtype: DType) -> np.ndarray:
    return decode(array, dtype) if dtype.is_floating else array


def fingerprint(array: np.ndarray) -> str:
    return hashlib.sha256(raw_bytes(array)).hexdigest()[:16]


PINNED = [
    (DType.FLOAT16, -1, 1, "fc46ed651f954a9a"),
    (DType.BFLOAT16, -1, 1, "185fe959d8fb1d12"),
    (DType.FLOAT32, -1, 1, "21b01044586ee28f"),
    (DType.FLOAT64, -1, 1, "8970c32d7614cf36"),
    (DType.FLOAT8_E4M3, -1, 1, "3af8643de7ada398"),
    (DType.FLOAT32, -math.inf, math.inf, "5115031e94d66c5b"),
    (DType.INT32, -5, 100, "2fdeb939315c7b9a"),
    (DType.INT64, -(10**12), 10**12, "ee2c4b8cae5f9a91"),
    (DType.BOOL, 0, 1, "dbab4d7766240ddc"),
]


@pytest.mark.parametrize(("dtype", "low", "high", "expected"), PINNED)
def test_the_data_of_a_seed_never_changes(dtype: DType, low: float, high: float, expected: str) -> None:
    """A change here changes every published result: raise GENERATOR_VERSION and say so."""
    assert fingerprint(make_tensor(item(dtype, low, high, (STREAM_CHUNK + 17,)), 12345)) == expected


def test_the_data_of_a_case_never_changes() -> None:
    """This also holds the case digest and the key in place."""
    assert fingerprint(draw(DType.FLOAT32, -1, 1)) == "4e3e82dd4b21e86f"


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT16, DType.INT32, DType.BOOL])
def test_the_data_does_not_depend_on_the_number_of_threads(dtype: DType) -> None:
    shape = (5 * STREAM_CHUNK + 1,)
    found = {fingerprint(draw(dtype, -3, 3, shape, threads=threads)) for threads in (1, 2, 5)}
    assert len(found) == 1


def test_every_part_of_the_name_changes_the_data() -> None:
    base = case(item(DType.FLOAT32, -1, 1))
    variants = [
        make_inputs("1", base, 0),
        make_inputs("2", base, 0),
        make_inputs("1", base, 1),
        make_inputs("1", base.model_copy(update={"seed": 1}), 0),
        make_inputs("1", base.model_copy(update={"operator": "other"}), 0),
        make_inputs("1", base.model_copy(update={"id": "2"}), 0),
        make_inputs("1", case(item(DType.FLOAT32, -1, 1, ())), 0),
    ]
    assert len({fingerprint(np.asarray(variant["x"])) for variant in variants}) == len(variants)


def test_a_note_changes_nothing() -> None:
    base = case(item(DType.FLOAT32, -1, 1))
    noted = base.model_copy(update={"note": "for people"})
    np.testing.assert_array_equal(np.asarray(make_inputs("1", base, 0)["x"]), np.asarray(make_inputs("1", noted, 0)["x"]))


def test_arguments_and_list_elements_have_streams_of_their_own() -> None:
    parts = [item(DType.FLOAT32, -1, 1, (8,), list_index=index) for index in (0, 1)]
    other = CaseInput(argument="w", shape=(8,), dtype=DType.FLOAT32)
    made = make_inputs("1", case(*parts, other), 0)
    assert isinstance(made["x"], list)
    assert len({fingerprint(array) for array in (*made["x"], np.asarray(made["w"]))}) == 3


def test_chunks_are_not_copies_of_each_other() -> None:
    array = draw(DType.FLOAT32, -1, 1, (2 * STREAM_CHUNK,))
    assert not np.array_equal(array[:STREAM_CHUNK], array[STREAM_CHUNK:])


@settings(max_examples=150, deadline=None)
@given(dtype=st.sampled_from(FLOATS), low=st.floats(-1e30, 1e30, allow_subnormal=False), width=st.floats(0, 1e30, allow_subnormal=False))
def test_no_floating_value_leaves_its_range_by_more_than_its_own_rounding(dtype: DType, low: float, width: float) -> None:
    high = low + width
    found = values(draw(dtype, low, high, (64,)), dtype)
    assert np.isfinite(found).all()
    first, last = inward(dtype, low, high)
    assert first <= found.min()
    assert found.max() <= last
    if first < last:
        assert first >= max(low, -largest_finite(dtype))
        assert last <= min(high, largest_finite(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_values_fill_their_range(dtype: DType) -> None:
    found = values(draw(dtype, -1, 3, (20_000,)), dtype)
    assert found.mean() == pytest.approx(1, abs=0.05)
    assert found.std() == pytest.approx(4 / math.sqrt(12), rel=0.03)
    assert (found.min(), found.max()) == (pytest.approx(-1, abs=0.01), pytest.approx(3, abs=0.01))


@pytest.mark.parametrize(("dtype", "edge"), [(DType.FLOAT16, 65504.0), (DType.FLOAT32, 3.4e38), (DType.BFLOAT16, 1e39)])
def test_the_boundaries_of_the_dtype_do_not_overflow(dtype: DType, edge: float) -> None:
    found = values(draw(dtype, -edge, edge, (5000,)), dtype)
    assert np.isfinite(found).all()
    assert np.abs(found).max() > 0.9 * min(edge, largest_finite(dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_all_zero_is_all_zero(dtype: DType) -> None:
    assert not raw_bytes(draw(dtype, 0, 0)).tobytes().strip(b"\0")


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32])
def test_infinite_ends_go_into_head_and_tail(dtype: DType) -> None:
    found = values(draw(dtype, -math.inf, math.inf, (10_007,)), dtype)
    count = special_count(10_007)
    assert count == 500
    assert (found[:count] == -np.inf).all()
    assert (found[-count:] == np.inf).all()
    assert np.abs(found[count:-count]).max() <= 1


def test_one_infinite_end_leaves_the_other_in_force() -> None:
    found = draw(DType.FLOAT32, 5, math.inf, (100,))
    assert np.isposinf(found).sum() == 5
    assert np.isposinf(found[-5:]).all()
    assert (found[:-5] >= 5).all()
    assert (found[:-5] <= 7).all()


def test_nan_ends_become_nan_at_both_ends_only() -> None:
    found = draw(DType.FLOAT32, math.nan, math.nan, (100,))
    assert list(np.flatnonzero(np.isnan(found))) == [0, 1, 2, 3, 4, 95, 96, 97, 98, 99]


@pytest.mark.parametrize(("elements", "expected"), [(1, 1), (39, 1), (40, 2), (10**6, 1024), (10**8, 1024)])
def test_special_values_stay_few(elements: int, expected: int) -> None:
    assert special_count(elements) == expected


def test_a_single_element_can_be_special() -> None:
    assert np.isneginf(draw(DType.FLOAT32, -math.inf, math.inf, ())).all()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_reach_both_ends_of_their_range(dtype: DType) -> None:
    found = draw(dtype, 3, 7, (500,))
    assert found.dtype == storage_dtype(dtype)
    assert sorted(set(found.tolist())) == [3, 4, 5, 6, 7]


def test_negative_integer_ranges_are_inclusive() -> None:
    assert sorted(set(draw(DType.INT64, -2, 1, (500,)).tolist())) == [-2, -1, 0, 1]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_ranges_are_clipped_to_the_dtype(dtype: DType) -> None:
    info = np.iinfo(storage_dtype(dtype))
    found = draw(dtype, -math.inf, math.inf, (5000,))
    assert int(found.max()) > info.max - info.max // 50
    assert int(found.min()) < info.min + info.max // 50


def test_fractional_integer_ranges_are_rounded_inwards() -> None:
    assert set(draw(DType.INT32, -1.5, 1.5, (100,)).tolist()) == {-1, 0, 1}


@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (1009,)])
def test_bool_is_never_all_false_when_true_is_allowed(shape: tuple[int, ...]) -> None:
    assert all(draw(DType.BOOL, 0, 1, shape, seed).any() for seed in range(20))


def test_bool_of_the_default_range_is_mixed() -> None:
    assert 0.4 < draw(DType.BOOL, -1, 1, (5000,)).mean() < 0.6


@pytest.mark.parametrize(("dtype", "low", "high"), [(DType.FLOAT32, 1, 0), (DType.INT32, 1, 0), (DType.INT32, 0.2, 0.8), (DType.INT32, math.nan, 1)])
def test_an_empty_range_is_our_error(dtype: DType, low: float, high: float) -> None:
    with pytest.raises(EvaluatorError, match="range"):
        draw(dtype, low, high)


def test_an_unsupported_dtype_is_named() -> None:
    with pytest.raises(EvaluatorError, match="hifloat32"):
        draw(DType.HIFLOAT32, 0, 1)


def test_the_second_trial_shifts_floating_inputs_and_nothing_else() -> None:
    plain, shifted = (
        make_inputs("1", case(item(DType.FLOAT32, -1, 1), CaseInput(argument="i", shape=(9,), dtype=DType.INT32)), 0, shift) for shift in (0.0, 0.01)
    )
    assert np.allclose(np.asarray(shifted["x"]) - np.asarray(plain["x"]), TWO_TRIAL_SHIFT, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(shifted["i"]), np.asarray(plain["i"]))


def test_the_shift_leaves_special_values_and_reaches_all_zero_inputs() -> None:
    assert np.isneginf(draw(DType.FLOAT32, -math.inf, math.inf, (40,), shift=0.01)[0])
    assert set(draw(DType.FLOAT32, 0, 0, shift=0.01).tolist()) == {np.float32(0.01)}


def test_raw_words_are_those_of_philox() -> None:
    """Known answer of Philox4x64-10 (Random123, kat_vectors): all-zero key and counter. numpy counts up before it draws."""
    generator = np.random.Philox(key=0, counter=[2**64 - 1] * 4)
    assert [hex(word) for word in generator.random_raw(4)] == ["0x16554d9eca36314c", "0xdb20fe9d672d0fdc", "0xd7e772cee186176b", "0x7e68b68aec7ba23b"]


def test_half_words_take_the_low_half_first() -> None:
    whole = words(5, 0, 2)
    assert half_words(5, 0, 3).tolist() == [int(whole[0]) & 0xFFFFFFFF, int(whole[0]) >> 32, int(whole[1]) & 0xFFFFFFFF]


@pytest.mark.parametrize("bound", [1, 2, 1 << 16, (1 << 16) + 1, 10**12, (1 << 64) - 1, 1 << 64])
def test_below_stays_below(bound: int) -> None:
    drawn = below(1, 0, 1000, bound).tolist()
    assert max(drawn) < bound
    assert max(drawn) >= bound * 9 // 10 - 1


def test_keys_of_different_names_differ() -> None:
    assert stream_key("a", 1) != stream_key("a", 2)


def test_a_tensor_is_drawn_in_its_shape() -> None:
    assert make_tensor(item(DType.FLOAT16, 0, 1, (3, 5)), 1).shape == (3, 5)
    assert make_tensor(item(DType.FLOAT16, 0, 1, (0, 5)), 1).shape == (0, 5)
