"""Is the difference between the profiles split rightly into other rates and other counts?"""

from __future__ import annotations

import pytest

from piton.anchors.limit import Candidate, priced
from piton.anchors.work import Work
from piton.core.dtype import DType
from piton.core.hardware import Figure, Hardware, Peaks
from piton.evaluate.anchor_difference import UnitDifference, compare_blocks


def figure(value: float) -> Figure:
    return Figure(value=value, source="test")


def peaks(hbm: float, **lanes: float) -> Peaks:
    return Peaks(
        hbm_read_bytes_per_s=figure(hbm),
        hbm_write_bytes_per_s=figure(hbm),
        l2_write_bytes_per_s=figure(hbm),
        l2_bytes=figure(1e9),
        cube_flops={},
        vector_lanes_per_s={name: figure(value) for name, value in lanes.items()},
        floor_us=figure(1.0),
    )


CHIP = Hardware(
    name="chip",
    arch="dav-2201",
    clock_hz=figure(1e9),
    cores_aic=1,
    cores_aiv=2,
    memory_bytes={},
    convention=peaks(2e12, float32=4e12, int8=8e12),
    silicon=peaks(1e12, float32=2e12),
)


def work(read: int, write: int = 0, **lanes: float) -> Work:
    return Work(choice="test", read_bytes=read, write_bytes=write, vector_lanes={DType(name): value for name, value in lanes.items()})


def pair(convention: Work, silicon: Work) -> tuple[Candidate, Candidate]:
    return priced(convention, CHIP.convention), priced(silicon, CHIP.silicon)


def unit(units: tuple[UnitDifference, ...], name: str) -> UnitDifference:
    return next(item for item in units if item.unit == name)


def test_rates_and_counts_are_factors_whose_product_is_the_ratio() -> None:
    # reads 8 MB: 4 us at 2 TB/s, 8 us at 1 TB/s; vector 24 M lanes: 6 us at 4 T/s, against 8 M lanes: 4 us at 2 T/s
    found = compare_blocks(*pair(work(8_000_000, float32=24e6), work(8_000_000, float32=8e6)), CHIP)
    assert found is not None
    reads, vector = unit(found.units, "mte2"), unit(found.units, "vector")
    assert (reads.convention_us, reads.silicon_us, reads.by_rates, reads.by_counts) == pytest.approx((4.0, 8.0, 2.0, 1.0))
    assert (vector.convention_us, vector.silicon_us, vector.by_rates, vector.by_counts) == pytest.approx((6.0, 4.0, 2.0, 1 / 3))
    # convention: vector, 6 us; its work at silicon rates: vector, 12 us; silicon: mte2, 8 us
    assert (found.t_hw.by_rates, found.t_hw.by_counts) == pytest.approx((2.0, 8 / 12))
    assert found.why == (
        "Silicon is 1.33 times convention (bound by vector in convention, mte2 in silicon): 2 times by the rates and 0.667 times by what is counted."
    )


def test_units_without_work_in_either_are_left_out() -> None:
    found = compare_blocks(*pair(work(8_000_000), work(8_000_000)), CHIP)
    assert found is not None
    assert [item.unit for item in found.units] == ["mte2"]
    assert found.why.endswith("2 times by the rates; HBM reads at 2 TB/s by convention, 1 TB/s in silicon.")


def test_the_floor_in_both_and_equal_times_are_said_as_such() -> None:
    floored = compare_blocks(*pair(work(10), work(20)), CHIP)
    assert floored is not None
    assert floored.why == "Both are the floor: no case is said to need less."
    equal = compare_blocks(*pair(work(8_000_000), work(4_000_000)), CHIP)
    assert equal is not None
    assert equal.why == "Both come out the same, bound by mte2 in both."


def test_counts_in_a_type_that_silicon_has_no_rate_for_are_not_split() -> None:
    found = compare_blocks(*pair(work(10, int8=80e6), work(10, float32=8e6)), CHIP)
    assert found is not None
    assert (found.t_hw.convention_us, found.t_hw.silicon_us, found.t_hw.by_rates, found.t_hw.by_counts) == (10.0, 4.0, None, None)
    assert "they do not count in the same dtypes" in found.why


def test_there_is_no_difference_without_both() -> None:
    convention, silicon = pair(work(10), work(10))
    assert compare_blocks(None, silicon, CHIP) is None
    assert compare_blocks(convention, None, CHIP) is None
