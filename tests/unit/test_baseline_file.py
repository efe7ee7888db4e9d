"""Baseline files: written, read, refused; two of them compared."""

import json
from pathlib import Path

import pytest

from piton.catalog.baseline_file import baseline_text, is_baseline_file, read_baselines
from piton.core.baseline import BaselineSet, BaselineTime, case_identity
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import FormatError, UsageError
from piton.core.interval import ErrorBand
from piton.core.measurement import AnchorKind, Measurement, Provenance
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.report.baseline_diff import Change, diff_baselines

STORED = Path(__file__).resolve().parents[1] / "data" / "baselines_schema_1.json"
OPERATOR = Operator(
    name="grow",
    title="Grow",
    level=1,
    category="Elementwise",
    schema_text="grow(Tensor x, *, int k=3) -> Tensor y",
    inputs=(TensorSpec(name="x", dtypes=(DType.FLOAT32,)),),
    outputs=(TensorSpec(name="y", dtypes=(DType.FLOAT32,)),),
    attributes=(AttrSpec(name="k", type="int", default=3),),
)
CASE = Case(operator="grow", id="1", inputs=(CaseInput(argument="x", shape=(4,), dtype=DType.FLOAT32),))
BAND = ErrorBand(low=0.8, high=1.25, confidence=0.9, references=19, source="made up")


def timed(case: str, *samples: float, provenance: Provenance = Provenance.DEVICE, identity: str = "i") -> BaselineTime:
    return BaselineTime(operator="grow", case=case, identity=identity, time=Measurement(samples=samples, provenance=provenance, method="made up"))


def made(*cases: BaselineTime, **changed: object) -> BaselineSet:
    fields = {
        "name": "set",
        "version": "2026-11-30.1",
        "created": "2026-11-30T12:00:00+00:00",
        "piton": "0.1.0",
        "suite": "s",
        "suite_version": "1",
        "suite_digest": "a" * 64,
        "hardware": "h",
        "hardware_digest": "b" * 64,
        "target": "h-sim",
        "toolchain": "engine 1",
        "submission": "plain",
        "submission_digest": "c" * 64,
        "failed": {"grow/9": "stuck"},
    }
    return BaselineSet(**{**fields, **changed}, cases=cases).sealed()


def written(baselines: BaselineSet, path: Path) -> Path:
    path.write_text(baseline_text(baselines))
    return path


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    baselines = made(timed("1", 3.0, 1.0, 2.0), timed("2", 5.0, provenance=Provenance.SIMULATED))
    assert read_baselines(written(baselines, tmp_path / "a.json")) == baselines
    assert is_baseline_file(tmp_path / "a.json")


def test_a_file_of_the_first_schema_version_stays_readable() -> None:
    found = read_baselines(STORED)
    assert (found.title, found.target, found.failed) == ("stored-set 2026-11-30.2 (fb3c6757b8e1)", "ascend910b2", {"grow/3": "crashed: host_signal"})
    assert [(item.operator, item.case, item.time.value, item.time.provenance.value) for item in found.cases] == [
        ("grow", "1", 2.5, "device"),  # median of 2, 3, 2.5
        ("twice", "1", 11.25, "modelled"),
    ]
    assert (found.cases[1].time.interval.low, found.cases[1].time.interval.high) == (9.0, 15.0)


def test_the_digest_covers_everything_but_when_and_by_what_it_was_written() -> None:
    baselines = made(timed("1", 3.0))
    later = baselines.model_copy(update={"created": "2027", "piton": "9"})
    assert later.digest() == baselines.digest() == baselines.content_digest
    changes = {name: "other" for name in BaselineSet.model_fields if name not in ("created", "piton", "content_digest", "schema_version", "cases", "failed")}
    for name, value in {**changes, "failed": {}, "cases": (timed("1", 3.5),)}.items():
        assert baselines.model_copy(update={name: value}).digest() != baselines.digest(), name


def test_a_time_becomes_an_anchor_that_names_the_set_and_has_the_spread_of_its_samples() -> None:
    baselines = made(timed("1", 3.0, 1.0, 2.0))
    anchor = baselines.anchor(baselines.cases[0])
    assert (anchor.kind, anchor.value_us, anchor.provenance) == (AnchorKind.T_BASELINE, 2.0, Provenance.DEVICE)
    assert anchor.version == baselines.title == f"set 2026-11-30.1 ({baselines.content_digest[:12]})"
    assert "set 2026-11-30.1" in anchor.method
    assert (anchor.interval.low, anchor.interval.high) == (1.0, 3.0)


def test_the_identity_of_a_case_follows_signature_defaults_golden_and_the_case() -> None:
    known = case_identity(OPERATOR, CASE)
    assert case_identity(OPERATOR.model_copy(update={"golden_path": "/elsewhere/golden.py"}), CASE.model_copy(update={"note": "other words"})) == known
    others = [
        (OPERATOR.model_copy(update={"golden_digest": "x"}), CASE),
        (OPERATOR.model_copy(update={"attributes": (AttrSpec(name="k", type="int", default=4),)}), CASE),
        (OPERATOR, CASE.model_copy(update={"seed": 1})),
        (OPERATOR, CASE.model_copy(update={"id": "2"})),
    ]
    assert len({known, *(case_identity(*other) for other in others)}) == 5


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-20], "not readable JSON"),
        (lambda text: "[" * 100_000, "not readable JSON"),
        (lambda text: "[1]", "no baseline file"),
        (lambda text: "{}", "can't read the baseline file"),
        (lambda text: text.replace('"schema_version": 1', '"schema_version": 2'), "can't read the baseline file"),
        (lambda text: text.replace('"schema_version": 1', '"schema_version": true'), "can't read the baseline file"),
        (lambda text: text.replace('"schema_version": 1', '"schema_version": 1, "more": 1'), "form of its schema"),
        (lambda text: text.replace('"toolchain"', '"tool"'), "form of its schema"),
        (lambda text: text.replace("3.0", '"inf"'), "form of its schema"),
        (lambda text: text.replace("3.0", "0.0"), "form of its schema"),
        (lambda text: text.replace("3.0", "-1"), "form of its schema"),
        (lambda text: text.replace("3.0", "3.5"), "was changed after it was written"),
        (lambda text: text.replace("engine 1", "engine 2"), "was changed after it was written"),
    ],
)
def test_a_broken_file_is_one_clear_error(tmp_path: Path, damage: object, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(damage(baseline_text(made(timed("1", 3.0)))))
    with pytest.raises(FormatError, match=message) as error:
        read_baselines(path)
    assert str(path) in str(error.value)


def test_no_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no baseline file here"):
        read_baselines(tmp_path)
    assert not is_baseline_file(written(made(timed("1", 3.0)), tmp_path / "a.json").with_name("none.json"))
    (tmp_path / "report.json").write_text(json.dumps({"schema_version": 1, "cases": []}))
    assert not is_baseline_file(tmp_path / "report.json")


def test_a_file_that_was_cut_off_still_counts_as_one(tmp_path: Path) -> None:
    """A listing names it as broken, and does not pass over it."""
    path = tmp_path / "a.json"
    path.write_text(baseline_text(made(timed("1", 3.0)))[:-40])
    assert is_baseline_file(path)
    path.write_text('{"schema_version": 1, "suite_digest": ')
    assert not is_baseline_file(path)


def test_a_case_that_occurs_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        made(timed("1", 3.0), timed("1", 4.0))


def test_a_comparison_tells_what_moved_and_what_can_not_be_compared() -> None:
    simulated = {"provenance": Provenance.SIMULATED}
    before = made(timed("1", 2.0, **simulated), timed("2", 4.0, **simulated), timed("3", 5.0, identity="j", **simulated), timed("4", 1.0, **simulated))
    after = made(
        timed("1", 2.0, **simulated),
        timed("2", 5.0, **simulated),
        timed("3", 9.0, identity="k", **simulated),
        timed("5", 1.0, **simulated),
        version="2",
        toolchain="engine 2",
    )
    found = diff_baselines(before, after)
    assert {item.case: item.change for item in found.cases} == {
        "1": Change.SAME,
        "2": Change.SLOWER,
        "3": Change.REDEFINED,
        "4": Change.REMOVED,
        "5": Change.ADDED,
    }
    assert found.median_ratio == pytest.approx(1.125)  # of 1 and 1.25; the redefined one does not count
    assert found.differences == ("toolchain: engine 1, then engine 2",)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ((10.0, 11.0, 12.0), (12.0, 13.0, 14.0), Change.SAME),  # the whole ranges of three samples meet at 12
        ((10.0, 11.0, 12.0), (12.1, 13.0, 14.0), Change.SLOWER),
        ((12.1, 13.0, 14.0), (10.0, 11.0, 12.0), Change.FASTER),
        ((10.0,), (10.001,), Change.SPREAD_UNKNOWN),
        ((10.0,), (20.0, 20.1, 20.2), Change.SPREAD_UNKNOWN),
        ((10.0,), (10.0,), Change.SAME),
    ],
)
def test_device_times_differ_when_the_intervals_of_their_medians_do_not_meet(before: tuple[float, ...], after: tuple[float, ...], change: Change) -> None:
    (item,) = diff_baselines(made(timed("1", *before)), made(timed("1", *after))).cases
    assert item.change is change


def test_times_of_different_origins_are_not_compared() -> None:
    before = made(timed("1", 10.0), timed("2", 8.0, provenance=Provenance.SIMULATED), timed("3", 4.0, provenance=Provenance.SIMULATED))
    after = made(
        timed("1", 50.0, provenance=Provenance.SIMULATED), timed("2", 8.0, provenance=Provenance.MODELLED), timed("3", 5.0, provenance=Provenance.SIMULATED)
    )
    found = diff_baselines(before, after)
    assert [item.change for item in found.cases] == [Change.OTHER_ORIGIN, Change.OTHER_ORIGIN, Change.SLOWER]
    assert [item.ratio for item in found.cases] == [None, None, 1.25]
    assert found.median_ratio == 1.25, "of 5 and 1 and 1.25 only the last is of one origin"
    other = diff_baselines(made(before.cases[0]), made(after.cases[0]))
    assert other.median_ratio is None
