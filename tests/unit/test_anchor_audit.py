"""Does an audit call each published anchor what it is? On a chip with round figures and operators counted by hand; and on the whole published set, if given."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from piton.anchors import Candidate
from piton.anchors.limit import FLOOR, UNITS
from piton.anchors.work import Work
from piton.catalog import load_suite
from piton.catalog.hardware import load_hardware
from piton.catalog.metadata import QuotedAnchors
from piton.catalog.published import PublishedCase, published_of_suite, read_published
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import FormatError, UsageError
from piton.core.hardware import Figure, Hardware, Peaks
from piton.core.measurement import Anchor, AnchorKind, Provenance
from piton.core.operator import AttrValue
from piton.curate.anchor_audit import AnchorMark, AnchorState, AuditRow, PlatformAudit, audit_platform
from piton.curate.anchor_origin import Origins, find_origins, is_equal

SUITE = load_suite()
OPERATORS = {member.operator.name: member.operator for member in SUITE.members}
PUBLISHED = "PITON_PUBLISHED_CASES"
MILLION = 1_000_000


def figure(value: float) -> Figure:
    return Figure(value=value, source="test")


def peaks(hbm: float, lanes: float) -> Peaks:
    """Reads and writes at `hbm` bytes/s (writes into L2 four times as fast), vectors at `lanes` float32 lanes/s, halfs twice that."""
    return Peaks(
        hbm_read_bytes_per_s=figure(hbm),
        hbm_write_bytes_per_s=figure(hbm),
        l2_write_bytes_per_s=figure(4 * hbm),
        l2_bytes=figure(1e9),
        cube_flops={"float16": figure(1e14)},
        vector_lanes_per_s={"float32": figure(lanes), "float16": figure(2 * lanes), "bfloat16": figure(lanes)},
        floor_us=figure(1.0),
    )


CHIP = Hardware(
    name="ascend910b2",
    arch="dav-2201",
    clock_hz=figure(1e9),
    cores_aic=1,
    cores_aiv=2,
    memory_bytes={},
    convention=peaks(2e12, 1e13),
    silicon=peaks(1e12, 1e13),
)


def exp(elements: int, case_id: str = "1", dtype: DType = DType.FLOAT32, scale: float = 1.0) -> Case:
    attributes: dict[str, AttrValue] = {"base": -1.0, "scale": scale, "shift": 0.0}
    return Case(operator="exp", id=case_id, inputs=(CaseInput(argument="x", shape=(elements,), dtype=dtype),), attributes=attributes)


def quoted(t_hw_us: float | None, baseline_us: float | None) -> QuotedAnchors:
    def anchor(kind: AnchorKind, value: float | None) -> Anchor | None:
        return None if value is None else Anchor(kind=kind, value_us=value, provenance=Provenance.QUOTED, method="test")

    return QuotedAnchors(t_hw=anchor(AnchorKind.T_HW, t_hw_us), t_baseline=anchor(AnchorKind.T_BASELINE, baseline_us))


def published(case: Case, t_hw_us: float | None, baseline_us: float | None = None) -> PublishedCase:
    return PublishedCase(operator=OPERATORS[case.operator], case=case, quoted={"910b2": quoted(t_hw_us, baseline_us)})


def audited(*items: PublishedCase) -> PlatformAudit:
    return audit_platform(items, "910b2", CHIP)


def row(case: Case, t_hw_us: float | None, baseline_us: float | None = None) -> AuditRow:
    return audited(published(case, t_hw_us, baseline_us)).rows[0]


def test_equal_is_within_six_thousandths_and_two_thousandths_of_the_published_value() -> None:
    # 10 us: 0.006 + 0.2 % of 10 = 0.026
    assert is_equal(10.0, 10.025)
    assert is_equal(10.0, 9.975)
    assert not is_equal(10.0, 10.027)


def test_a_published_value_that_follows_from_its_case_is_equal() -> None:
    # 4 M floats are 16 MB; at 2 TB/s that takes 8 us, and 2 instructions an element take 0.8 us
    found = row(exp(4 * MILLION), 8.0)
    assert (found.state, found.derived_t_hw_us, found.limiting_unit, found.label, found.factor) == (AnchorState.EQUAL, 8.0, "mte2", "MTE", 1.0)
    assert found.silicon_t_hw_us == 16.0, "at 1 TB/s"


def test_a_value_of_another_element_type_is_stale_and_says_so() -> None:
    # as halfs it would be 8 MB, 4 us
    found = row(exp(4 * MILLION), 4.0)
    assert found.state is AnchorState.STALE
    assert found.factor == 0.5
    assert found.reasons[0] == "0.5 times the derived 8 us (mte2): that of about 8e+06 bytes read, the case has 1.6e+07"
    assert "as if x were float16 and not float32" in found.reasons


def test_a_value_of_another_case_is_stale_and_names_the_case() -> None:
    other = published(exp(5 * MILLION, "2"), 10.0)
    first, second = audited(published(exp(4 * MILLION), 10.0), other).rows
    assert (first.state, second.state) == (AnchorState.STALE, AnchorState.EQUAL)
    assert any("what case 2 has (5000000 float32)" in reason for reason in first.reasons)


def test_a_case_without_tensors_ends_no_audit() -> None:
    bare = exp(5 * MILLION, "2").model_copy(update={"inputs": ()})
    derived = Candidate(work=Work(choice="test", read_bytes=16 * MILLION, write_bytes=0), unit_times_us={**dict.fromkeys(UNITS, 0.0), "mte2": 8.0, FLOOR: 1.0})
    for case in (exp(4 * MILLION), bare):
        assert find_origins(Origins(OPERATORS["exp"], case, CHIP, (exp(4 * MILLION), bare)), 123.0, derived) == ()


def test_a_value_of_another_attribute_is_stale_and_names_the_attribute() -> None:
    slow = CHIP.model_copy(update={"convention": peaks(2e12, 1e12)})
    items = (published(exp(MILLION, "1"), 3.0), published(exp(MILLION, "2", scale=2.0), 3.0))
    first, second = audit_platform(items, "910b2", slow).rows
    # one million elements: 2 instructions take 2 us (4 MB read take 2 us too), 3 with a scale take 3 us
    assert second.state is AnchorState.EQUAL
    assert first.state is AnchorState.STALE
    assert "as if scale were 2.0 and not 1.0" in first.reasons


def test_a_value_that_is_another_units_time_is_stale_and_names_the_unit() -> None:
    # at 1e12 lanes/s, 3 M elements: vector 6 us, 12 MB read 6 us; with a scale vector 9 us. Published: 6, as if the vector did not count
    slow = CHIP.model_copy(update={"convention": peaks(2e12, 1e12)})
    found = audit_platform((published(exp(3 * MILLION, scale=2.0), 6.0),), "910b2", slow).rows[0]
    assert found.state is AnchorState.STALE
    assert "it is the time of mte2 alone, as if vector did not count" in found.reasons


def test_a_value_with_an_axis_twice_as_long_is_stale_and_names_the_axis() -> None:
    assert "as if the axis of 4000000 were 8000000" in row(exp(4 * MILLION), 16.0).reasons


def test_a_value_of_a_round_size_is_stale_and_names_the_size() -> None:
    # 6144 x 1000 floats are 24.6 MB, 12.288 us; 5120 x 1000 take 10.24 us
    case = exp(1).model_copy(update={"inputs": (CaseInput(argument="x", shape=(6144, 1000), dtype=DType.FLOAT32),)})
    assert "as if the axis of 6144 were 5120" in row(case, 10.24).reasons
    # 5555 rows would fit 11.11 us, but nobody chooses 5555
    assert row(case, 11.11).state is AnchorState.UNEXPLAINED


def test_a_value_that_nothing_gives_is_unexplained() -> None:
    found = row(exp(4 * MILLION), 16.7)
    assert (found.state, len(found.reasons)) == (AnchorState.UNEXPLAINED, 1)


def test_a_value_near_the_floor_is_not_given_an_origin_by_chance() -> None:
    assert row(exp(4 * MILLION), 1.0).state is AnchorState.UNEXPLAINED


def test_floor_and_tie_are_marked() -> None:
    assert row(exp(10), 1.0).marks == (AnchorMark.FLOORED,)
    assert row(exp(10), 1.04).marks == ()
    # 5 M floats at 2e12 B/s: 10 us; 2 instructions each at 1e12 lanes/s: 10 us
    tied = audit_platform((published(exp(5 * MILLION), 10.0),), "910b2", CHIP.model_copy(update={"convention": peaks(2e12, 1e12)})).rows[0]
    assert AnchorMark.TIED in tied.marks
    assert any("coin toss" in reason for reason in tied.reasons)


def test_what_the_documented_peaks_do_not_allow_is_marked_with_how_far() -> None:
    # silicon takes 16 us
    found = row(exp(4 * MILLION), 8.0, 12.0)
    assert found.marks == (AnchorMark.T_HW_BELOW_SILICON, AnchorMark.BASELINE_NEAR, AnchorMark.BASELINE_BELOW_SILICON)
    assert found.reasons == ("T_HW asks 2 times the documented peak of mte2", "T_baseline asks 1.33 times the documented peak of mte2")


def test_an_anchor_that_a_kernel_may_beat_is_marked_with_how_far() -> None:
    # silicon at 1 TB/s: 16 us for 16 MB; published 20 us
    assert row(exp(4 * MILLION), 16.5).marks == ()
    found = row(exp(4 * MILLION), 20.0)
    assert found.marks == (AnchorMark.T_HW_ABOVE_SILICON,)
    assert "T_HW is 1.25 times what the shortest known code needs" in found.reasons


@pytest.mark.parametrize(
    ("baseline_us", "mark"),
    [
        (80.0, AnchorMark.BASELINE_CAPPED),  # max(10 x 8, 10)
        (8.0, AnchorMark.BASELINE_NOT_ABOVE),
        (15.99, AnchorMark.BASELINE_NEAR),
        (16.0, None),
        (50.0, None),
    ],
)
def test_baselines_are_held_against_t_hw(baseline_us: float, mark: AnchorMark | None) -> None:
    chip = CHIP.model_copy(update={"silicon": CHIP.convention})  # nothing is below silicon then
    found = audit_platform((published(exp(4 * MILLION), 8.0, baseline_us),), "910b2", chip).rows[0]
    assert found.marks == (() if mark is None else (mark,))


def test_a_small_case_has_its_baseline_capped_at_ten_microseconds() -> None:
    # at the floor 10 x 1.0 and 10 are the same; at 0.5 us (an anchor below the floor) 10 counts
    assert AnchorMark.BASELINE_CAPPED in row(exp(10), 0.5, 10.0).marks


def test_what_is_not_published_and_what_has_no_formula_are_said() -> None:
    other = OPERATORS["exp"].model_copy(update={"name": "nobody", "attributes": ()})
    case = exp(10).model_copy(update={"operator": "nobody", "attributes": {}})
    unknown = PublishedCase(operator=other, case=case, quoted={"910b2": quoted(3.0, None)})
    audit = audited(unknown, published(exp(10, "2"), None))
    assert [item.state for item in audit.rows] == [AnchorState.NO_FORMULA, AnchorState.NOT_PUBLISHED]
    assert (audit.equal, audit.cases, audit.labels) == (0, 2, {"MTE": 1})


def test_a_case_that_the_formula_cannot_read_costs_no_other() -> None:
    odd = exp(10).model_copy(update={"attributes": {"base": "high", "scale": 1.0, "shift": 0.0}})
    first, second = audited(published(odd, 3.0), published(exp(4 * MILLION, "2"), 8.0)).rows
    assert (first.state, second.state) == (AnchorState.NO_FORMULA, AnchorState.EQUAL)
    assert first.reasons == ("the work formula of exp can't read case 1: sizes and attributes do not go together",)


LINE = {
    "operator": "rms_norm",
    "case": 3,
    "input_shape": [[4, 33], [33]],
    "dtype": ["float16", "float16"],
    "attrs": {"epsilon": 1e-5},
    "value_range": [-1, 1],
    "910b2": {"t_hw_us": 1.5, "baseline_us": 15.0, "model_us": 7},
    "note": "for people",
}


def write_lines(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return path


def test_a_line_of_a_table_becomes_a_case_with_what_is_published(tmp_path: Path) -> None:
    (found,) = read_published(write_lines(tmp_path / "cases.jsonl", LINE, ""), OPERATORS)
    assert (found.case.id, [item.shape for item in found.case.inputs], found.case.attributes) == ("3", [(4, 33), (33,)], {"epsilon": 1e-5})
    assert set(found.quoted) == {"910b2"}
    anchors = found.quoted["910b2"]
    assert anchors.t_hw is not None
    assert anchors.t_baseline is not None
    assert (anchors.t_hw.value_us, anchors.t_baseline.value_us, anchors.t_hw.provenance) == (1.5, 15.0, Provenance.QUOTED)


def test_a_tensor_among_the_attributes_is_one_that_is_left_out(tmp_path: Path) -> None:
    line = {**LINE, "operator": "moe_gating_top_k_softmax", "input_shape": [[8, 64]], "dtype": ["float16"], "attrs": {"k": 4, "finished": None}}
    (found,) = read_published(write_lines(tmp_path / "cases.jsonl", line), OPERATORS)
    assert (found.case.omitted, found.case.attributes) == (("finished",), {"k": 4})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON"),
        ("[1]", "not an object"),
        ({**LINE, "operator": "nobody"}, "an operator that the suite does not have"),
        ({**LINE, "input_shape": "4x33"}, "field `input_shape` is wrong"),
        ({key: value for key, value in LINE.items() if key != "dtype"}, r"field `dtype` is wrong[\s\S]*nothing"),
        ({**LINE, "input_shape": [[4, 33]]}, "number of inputs|input 'gamma'"),
        ({**LINE, "attrs": {"size": 3}}, r"unknown attribute 'size'[\s\S]*epsilon"),
        ({**LINE, "attrs": {"epsilon": "small"}}, "attribute 'epsilon'"),
        ({**LINE, "910b2": {"t_hw_us": -1}}, "microseconds above 0"),
        ({**LINE, "910b2": {"t_hw_us": 5.0}}, "a case is there twice"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: object, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read_published(write_lines(tmp_path / "cases.jsonl", LINE, line), OPERATORS)
    assert "cases.jsonl" in caught.value.where


def test_an_empty_table_and_a_suite_without_anchors_are_said(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no cases in the file"):
        read_published(write_lines(tmp_path / "cases.jsonl", ""), OPERATORS)
    with pytest.raises(UsageError, match="suite piton quotes no anchors"):
        published_of_suite(SUITE)


NEEDS_PUBLISHED = pytest.mark.skipif(PUBLISHED not in os.environ, reason=f"${PUBLISHED} does not name the table of all published cases")


@pytest.fixture(scope="module")
def whole() -> dict[str, PlatformAudit]:
    """The audit of all published cases by platform."""
    cases = read_published(Path(os.environ[PUBLISHED]), OPERATORS)
    return {platform: audit_platform(cases, platform, load_hardware(f"ascend{platform}")) for platform in ("910b2", "950pr")}


@NEEDS_PUBLISHED
@pytest.mark.parametrize(("platform", "least"), [("910b2", 1030), ("950pr", 1060)])
def test_the_whole_published_set_is_reproduced(whole: dict[str, PlatformAudit], platform: str, least: int) -> None:
    audit = whole[platform]
    assert audit.cases == 1060
    assert audit.equal >= least
    assert all(item.reasons for item in audit.rows if item.state is not AnchorState.EQUAL)


@NEEDS_PUBLISHED
def test_what_limits_published_cases_has_the_shares_of_the_paper(whole: dict[str, PlatformAudit]) -> None:
    shares = {label: 100 * count / 1060 for label, count in whole["910b2"].labels.items()}
    assert shares == pytest.approx({"MTE": 64, "Vector": 26, "Cube": 10}, abs=2)  # the paper: 63, 26, 11


@NEEDS_PUBLISHED
def test_the_page_states_what_the_audit_finds(whole: dict[str, PlatformAudit]) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/anchors.md").read_text()
    stated = {name: (int(first), int(second)) for name, first, second in re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)}
    found = {name: tuple(_count(whole[platform], name) for platform in ("910b2", "950pr")) for name in stated}
    assert len(stated) == 12
    for name, counts in stated.items():  # silicon counts may get sharper by a case here and there
        assert counts == (pytest.approx(found[name], rel=0.03, abs=3) if "silicon" in name else found[name]), name


def _count(audit: PlatformAudit, name: str) -> int:
    return audit.cases if name == "cases" else {**audit.states, **audit.marks}.get(name, 0)
