"""Is T_HW what its formula says, and does the convention block reproduce the published anchors?"""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from piton.anchors import Block, Candidate, bottleneck, choose_baseline, fastest, has_formula, t_hw
from piton.anchors.elementwise import exp_silicon, gelu_silicon
from piton.anchors.limit import candidates, priced
from piton.anchors.normalization import rms_norm_convention, rms_norm_silicon, softmax_silicon
from piton.anchors.work import UNITS, CubePath, Work, unit_times_us
from piton.catalog import load_suite
from piton.catalog.hardware import load_hardware
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import FormatError
from piton.core.hardware import CubePathPeaks, Figure, Hardware, Peaks
from piton.core.measurement import Anchor, AnchorKind, Provenance
from piton.core.operator import AttrValue, Operator
from piton.core.score import ScoreProfile
from piton.evaluate.arguments import all_attributes

PUBLISHED = Path(__file__).parent.parent / "data" / "published_t_hw_910b2.csv"
WITH_ANCHORS = ("exp", "gelu", "rms_norm", "softmax")
SUITE = load_suite()


def figures(**values: float) -> dict[str, Figure]:
    return {name: Figure(value=value, source="test") for name, value in values.items()}


def peaks(hbm: float, l2_write: float, l2_bytes: float, fp32_lanes: float) -> Peaks:
    rates = figures(read=hbm, write=hbm, l2=l2_write, size=l2_bytes, floor=1.0)
    return Peaks(
        hbm_read_bytes_per_s=rates["read"],
        hbm_write_bytes_per_s=rates["write"],
        l2_write_bytes_per_s=rates["l2"],
        l2_bytes=rates["size"],
        cube_flops=figures(float16=354e12),
        vector_lanes_per_s=figures(float32=fp32_lanes, float16=2 * fp32_lanes, bfloat16=fp32_lanes),
        floor_us=rates["floor"],
    )


CHIP = Hardware(
    name="chip",
    arch="dav-2201",
    clock_hz=Figure(value=1.8e9, source="test"),
    cores_aic=24,
    cores_aiv=48,
    memory_bytes={},
    convention=peaks(1.92e12, 6.4e12, 192e6, 6e12),
    silicon=peaks(1.6e12, 5.2e12, 192 * 2**20, 48 * 64 * 1.8e9),
)


def operator(name: str) -> Operator:
    member = SUITE.member(name)
    assert member is not None
    return member.operator


def case_of(name: str, shape: tuple[int, ...], dtype: DType, attributes: dict[str, AttrValue]) -> Case:
    """x has this shape; gamma of rms_norm its last axis."""
    x = CaseInput(argument="x", shape=shape, dtype=dtype)
    others = (CaseInput(argument="gamma", shape=shape[-1:], dtype=dtype),) if name == "rms_norm" else ()
    return Case(operator=name, id="1", inputs=(x, *others), attributes=attributes)


def exp_case(elements: int, dtype: DType, *, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> Case:
    return case_of("exp", (elements,), dtype, {"base": base, "scale": scale, "shift": shift})


def published_rows() -> list[dict[str, str]]:
    with PUBLISHED.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("row", published_rows(), ids=lambda row: f"{row['operator']}-{row['case_id']}")
def test_the_convention_block_reproduces_the_published_anchor(row: dict[str, str]) -> None:
    case = case_of(row["operator"], tuple(json.loads(row["shape"])), DType(row["dtype"]), json.loads(row["attributes"]))
    anchor = t_hw(operator(case.operator), case, load_hardware("ascend910b2"), block="convention")
    assert anchor is not None
    assert anchor.value_us == pytest.approx(float(row["t_hw_us"]), rel=0.005, abs=0.006)


def test_operators_without_a_work_formula_have_no_limit() -> None:
    chip = load_hardware("ascend910b2")
    for member in SUITE.members:
        assert (t_hw(member.operator, member.cases[0], chip) is not None) is has_formula(member.operator), member.operator.name


def test_all_published_rows_of_every_operator_are_checked() -> None:
    assert Counter(row["operator"] for row in published_rows()) == dict.fromkeys(WITH_ANCHORS, 20)


def test_t_hw_of_a_read_bound_case_is_read_bytes_over_the_read_rate() -> None:
    anchor = t_hw(operator("exp"), exp_case(16_000_000, DType.FLOAT32), CHIP)
    assert anchor is not None
    assert anchor.value_us == pytest.approx(16e6 * 4 / 1.6e12 * 1e6)
    assert (anchor.limiting_unit, anchor.kind, anchor.provenance) == ("mte2", AnchorKind.T_HW, Provenance.MODELLED)
    assert set(anchor.unit_times_us) == {"mte1", "mte2", "mte3", "fixp", "vector", "cube", "floor"}


def test_a_tiny_case_takes_the_floor() -> None:
    anchor = t_hw(operator("exp"), exp_case(10, DType.FLOAT32), CHIP)
    assert anchor is not None
    assert (anchor.value_us, anchor.limiting_unit) == (1.0, "floor")


def test_bfloat16_gelu_is_limited_by_the_vector_unit() -> None:
    anchor = t_hw(operator("gelu"), case_of("gelu", (16_000_000,), DType.BFLOAT16, {"approximate": "none"}), CHIP)
    assert anchor is not None
    assert anchor.limiting_unit == "vector"
    in_half = 2 * 2 + 6 / 2  # to float32 and to half, and back; six instructions on twice the lanes
    assert anchor.value_us == pytest.approx(16e6 * in_half / (48 * 64 * 1.8e9) * 1e6)


def test_float16_takes_the_cheaper_of_half_and_float32_arithmetic() -> None:
    choices = {work.choice: dict(work.vector_lanes) for work in exp_silicon(exp_case(1000, DType.FLOAT16), CHIP)}
    assert choices == {"half arithmetic": {DType.FLOAT16: 1000.0}, "float32 arithmetic": {DType.FLOAT32: 3000.0}}
    anchor = t_hw(operator("exp"), exp_case(10**8, DType.FLOAT16), CHIP)
    assert anchor is not None
    assert anchor.method.endswith("half arithmetic")
    assert anchor.unit_times_us["vector"] == pytest.approx(1e8 / (2 * 48 * 64 * 1.8e9) * 1e6)


@pytest.mark.parametrize(
    ("attributes", "instructions"),
    [
        ({}, 1),
        ({"scale": 2.0}, 2),
        ({"shift": 1.0}, 2),
        ({"scale": 2.0, "shift": 1.0}, 2),
        ({"base": 2.0}, 2),
        ({"base": 2.0, "shift": 1.0}, 2),
        ({"base": 1.0, "shift": 1.0}, 2),
    ],
)
def test_silicon_exp_folds_its_constants(attributes: dict[str, float], instructions: int) -> None:
    (work,) = exp_silicon(exp_case(100, DType.FLOAT32, **attributes), CHIP)
    assert dict(work.vector_lanes) == {DType.FLOAT32: 100.0 * instructions}


def test_the_silicon_count_is_never_above_the_convention_count() -> None:
    for name in WITH_ANCHORS:
        member = SUITE.member(name)
        assert member is not None
        for case in member.cases:
            chip = CHIP.model_copy(update={"silicon": CHIP.convention})
            silicon, convention = (
                min(priced(choice.work, CHIP.convention).time_us for choice in candidates(member.operator, case, chip, block))
                for block in ("silicon", "convention")
            )
            assert silicon <= convention, (case.operator, case.id)


def test_gelu_of_bfloat16_needs_two_more_instructions_in_float32() -> None:
    (wide,) = gelu_silicon(case_of("gelu", (10,), DType.FLOAT32, {"approximate": "tanh"}), CHIP)
    (brain, _) = gelu_silicon(case_of("gelu", (10,), DType.BFLOAT16, {"approximate": "tanh"}), CHIP)
    assert brain.vector_lanes[DType.FLOAT32] - wide.vector_lanes[DType.FLOAT32] == 20


@pytest.mark.parametrize(("dtype", "lanes"), [(DType.FLOAT32, (3.0, 3.0)), (DType.BFLOAT16, (5.0, 5.0))])
def test_normalisations_take_three_instructions_and_casts_for_bfloat16(dtype: DType, lanes: tuple[float, float]) -> None:
    softmax, *_ = softmax_silicon(case_of("softmax", (3, 100), dtype, {"dim": 0}), CHIP)
    rms_norm, *_ = rms_norm_silicon(case_of("rms_norm", (3, 100), dtype, {"epsilon": 1e-6}), CHIP)
    assert (softmax.vector_lanes[DType.FLOAT32], rms_norm.vector_lanes[DType.FLOAT32]) == (300 * lanes[0], 300 * lanes[1])


def test_rms_norm_reads_gamma_once_and_writes_as_much_as_x() -> None:
    work = rms_norm_convention(case_of("rms_norm", (50, 100), DType.FLOAT16, {"epsilon": 1e-6}), "910b2")
    assert (work.read_bytes, work.write_bytes) == (2 * (5000 + 100), 2 * 5000)


def test_writes_up_to_the_l2_size_go_at_the_l2_rate_and_the_rest_at_the_hbm_rate() -> None:
    rates = peaks(hbm=1e12, l2_write=4e12, l2_bytes=1e6, fp32_lanes=1e12)
    fits = unit_times_us(Work("all in L2", read_bytes=0, write_bytes=1_000_000), rates)
    spills = unit_times_us(Work("twice L2", read_bytes=0, write_bytes=2_000_000), rates)
    assert fits["mte3"] == pytest.approx(0.25)
    assert spills["mte3"] == pytest.approx(0.25 + 1.0)


@pytest.mark.parametrize(("write_bytes", "mte3"), [(1_000_000, 0.25), (3_000_000, 5.0 + 2.0)])
def test_hbm_reads_and_takes_what_does_not_fit_into_l2_one_after_the_other(write_bytes: int, mte3: float) -> None:
    rates = peaks(hbm=1e12, l2_write=4e12, l2_bytes=1e6, fp32_lanes=1e12)
    times = unit_times_us(Work("", read_bytes=5_000_000, write_bytes=write_bytes), rates, shares_hbm=True)
    assert (times["mte2"], times["mte3"]) == pytest.approx((5.0, mte3))


def test_a_large_case_is_limited_by_reads_and_spilled_writes_together() -> None:
    """400 MB in and out: 192 MiB of them may stay in L2."""
    anchor = t_hw(operator("exp"), exp_case(100_000_000, DType.FLOAT32), CHIP)
    assert anchor is not None
    assert (anchor.limiting_unit, anchor.value_us) == ("mte3", pytest.approx((400e6 + 400e6 - 192 * 2**20) / 1.6e6))


def test_vector_and_cube_times_add_up_over_dtypes() -> None:
    rates = peaks(hbm=1e12, l2_write=4e12, l2_bytes=1e6, fp32_lanes=1e12)
    work = Work("mixed", 0, 0, cube_flops={DType.FLOAT16: 354e6}, vector_lanes={DType.FLOAT32: 1e6, DType.FLOAT16: 1e6})
    times = unit_times_us(work, rates)
    assert times["vector"] == pytest.approx(1.0 + 0.5)
    assert times["cube"] == pytest.approx(1.0)


def test_a_hardware_file_without_the_rate_is_a_clear_error() -> None:
    rates = peaks(hbm=1e12, l2_write=4e12, l2_bytes=1e6, fp32_lanes=1e12)
    with pytest.raises(FormatError, match="no vector_lanes_per_s for int4"):
        unit_times_us(Work("int4", 0, 0, vector_lanes={DType.INT4: 1.0}), rates)


def test_an_operator_without_formula_has_no_t_hw() -> None:
    unknown = operator("exp").model_copy(update={"name": "mystery"})
    assert not has_formula(unknown)
    assert t_hw(unknown, exp_case(10, DType.FLOAT32), CHIP) is None


def test_an_operator_of_our_name_with_other_attributes_has_no_t_hw() -> None:
    foreign = operator("exp").model_copy(update={"attributes": ()})
    assert t_hw(foreign, case_of("exp", (10,), DType.FLOAT32, {}), CHIP) is None


def anchor_from(provenance: Provenance) -> Anchor:
    return Anchor(kind=AnchorKind.T_BASELINE, value_us=2.0, provenance=provenance, method="test")


SIMULATED, MODELLED, QUOTED, MEASURED = (anchor_from(item) for item in (Provenance.SIMULATED, Provenance.MODELLED, Provenance.QUOTED, Provenance.DEVICE))


@pytest.mark.parametrize(
    ("profile", "known", "chosen"),
    [
        (ScoreProfile.SIM, (SIMULATED, MODELLED, QUOTED, MEASURED), SIMULATED),
        (ScoreProfile.SIM, (None, MODELLED, QUOTED, MEASURED), MODELLED),
        (ScoreProfile.SIM, (None, None, QUOTED, MEASURED), QUOTED),
        (ScoreProfile.SIM, (None, None, None, MEASURED), None),
        (ScoreProfile.CANN_BENCH, (SIMULATED, MODELLED, QUOTED, MEASURED), MEASURED),
        (ScoreProfile.CANN_BENCH, (SIMULATED, MODELLED, QUOTED, None), QUOTED),
        (ScoreProfile.CANN_BENCH, (SIMULATED, MODELLED, None, None), None),
    ],
)
def test_the_baseline_follows_the_order_of_the_profile(profile: ScoreProfile, known: tuple[Anchor | None, ...], chosen: Anchor | None) -> None:
    simulated, modelled, quoted, measured = known
    assert choose_baseline(simulated, modelled, quoted, profile, measured=measured) is chosen


CUBE_PATH = CubePathPeaks(**figures(l2_read_bytes_per_s=5e12, l0a_bytes_per_s=10e12, l0b_bytes_per_s=5e12, fixp_elements_per_s=2e12))
RATES = peaks(hbm=1e12, l2_write=4e12, l2_bytes=1e6, fp32_lanes=1e12).model_copy(update={"cube_path": CUBE_PATH})
PATH = CubePath({DType.FLOAT16: 708e6}, l2_read_bytes=20e6, l0a_bytes=10e6, l0b_bytes=10e6, l0c_elements=1e6, mte3_bytes=400_000)


def test_the_way_into_the_cube_and_out_of_it_has_a_time_for_each_unit() -> None:
    work = Work("product", read_bytes=1_000_000, write_bytes=400_000, cube_flops={DType.FLOAT16: 354e6}, path=PATH, writes_from_cube=True)
    times = unit_times_us(work, RATES)
    assert tuple(times) == UNITS
    assert times["mte1"] == pytest.approx(10e6 / 10e12 * 1e6 + 10e6 / 5e12 * 1e6)
    assert times["mte2"] == pytest.approx(20e6 / 5e12 * 1e6)  # more than 1e6 bytes at 1e12 from HBM
    assert times["mte3"] == pytest.approx(400_000 / 4e12 * 1e6)  # what goes to the cube cores, the results go another way
    assert times["fixp"] == pytest.approx(1e6 / 2e12 * 1e6)  # more than the write of 400 kB at 4e12
    assert times["cube"] == pytest.approx(2.0)  # with padding and idle cores


def test_results_of_vector_cores_are_written_by_mte3_and_the_accumulators_still_have_to_be_emptied() -> None:
    work = Work("product", read_bytes=6_000_000, write_bytes=800_000, cube_flops={DType.FLOAT16: 354e6}, path=PATH)
    times = unit_times_us(work, RATES)
    assert times["mte2"] == pytest.approx(6.0)  # 6 MB from HBM take longer than 20 MB from L2
    assert times["mte3"] == pytest.approx(0.2 + 0.1)
    assert times["fixp"] == pytest.approx(0.5)


def test_a_block_of_peaks_that_does_not_know_the_way_into_the_cube_gives_it_no_time() -> None:
    work = Work("product", read_bytes=1_000_000, write_bytes=400_000, cube_flops={DType.FLOAT16: 354e6}, path=PATH)
    times = unit_times_us(work, RATES.model_copy(update={"cube_path": None}))
    assert (times["mte1"], times["fixp"]) == (0.0, 0.0)
    assert times["mte2"] == pytest.approx(1.0)


def test_paths_of_two_products_add_up() -> None:
    both = PATH + CubePath({DType.INT8: 1.0, DType.FLOAT16: 2.0}, l0a_bytes=1.0)
    assert both == CubePath({DType.FLOAT16: 708e6 + 2, DType.INT8: 1.0}, 20e6, 10e6 + 1, 10e6, 1e6, 400_000)


@pytest.mark.parametrize(
    ("unit", "label"),
    [("mte1", "MTE"), ("mte2", "MTE"), ("mte3", "MTE"), ("fixp", "MTE"), ("vector", "Vector"), ("cube", "Cube"), ("floor", "floor")],
)
def test_data_movers_are_rolled_up_as_mte(unit: str, label: str) -> None:
    times = dict.fromkeys((*UNITS, "floor"), 1.0) | {unit: 2.0}
    assert (Candidate(Work("x", 0, 0), times).limiting_unit, bottleneck(unit)) == (unit, label)
    assert Candidate(Work("x", 0, 0), times).bottleneck == label


def test_of_choices_that_take_equally_long_the_one_with_least_to_do_is_taken() -> None:
    busy, idle = (Candidate(Work(name, 0, 0), dict.fromkeys(UNITS, time) | {"floor": 1.0}) for name, time in (("busy", 0.9), ("idle", 0.1)))
    assert fastest((busy, idle)) is idle
    assert fastest(()) is None


def test_a_case_whose_attributes_a_formula_cannot_read_is_one_message() -> None:
    with pytest.raises(FormatError, match=r"the work formula of exp can't read case 1[\s\S]*x \[8\]"):
        candidates(operator("exp"), case_of("exp", (8,), DType.FLOAT32, {"base": "high", "scale": 1.0, "shift": 0.0}), CHIP)


@pytest.mark.parametrize("value", [None, 7])
def test_a_case_that_a_formula_cannot_read_has_no_t_hw(value: int | None) -> None:
    """A suite from outside may leave an attribute to its golden, or mean something else by it: neither ends a run."""
    member = SUITE.member("softmax")
    assert member
    case = member.cases[0].model_copy(update={"attributes": {"dim": value}})
    assert t_hw(member.operator, case, load_hardware("ascend910b2")) is None


@pytest.mark.parametrize(("name", "block"), [("piton", "silicon"), ("piton", "convention"), ("cann-lowbit", "silicon")])
def test_every_case_of_our_suites_can_be_read(name: str, block: Block) -> None:
    chip = load_hardware("ascend950pr")
    for member in load_suite(name).members:
        for case in member.cases:
            filled = case.model_copy(update={"attributes": all_attributes(member.operator, case)})
            assert candidates(member.operator, filled, chip, block), f"{member.operator.name}/{case.id}"
