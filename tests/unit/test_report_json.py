import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from piton.catalog.hardware import load_hardware
from piton.core.canonical import plain
from piton.core.case import Case, CaseInput, SizeClass
from piton.core.dtype import DType
from piton.core.errors import FormatError, UsageError
from piton.core.execution import CopyLog, Diagnostic, LaunchRecord
from piton.core.finding import Finding, FindingKind
from piton.core.interval import ErrorBand
from piton.core.measurement import Anchor, AnchorKind, CubePathFigures, Measurement, Provenance, WorkFigures
from piton.core.method import ControlLoop, Feedback, Learning, Method, Reporting, SelectionScheme, Tag
from piton.core.report import CaseResult, Environment, HiddenSet, Integrity, OperatorResult, OutputCheck, RegionCount, Report, WorstPosition
from piton.core.score import ScoreProfile
from piton.core.verdict import PASSED, Cause, Place, outcome
from piton.report.html import html_text
from piton.report.json_file import read_report, report_text, write_report
from piton.report.markdown import markdown_text
from piton.report.program import program_schema_text
from piton.report.rescore import score_report
from piton.report.schema import schema_text
from piton.report.terminal import terminal_text

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "<script>alert(1)</script>|[x](http://evil) [bold]"
MODELLED = Anchor(
    kind=AnchorKind.T_HW,
    value_us=5.0,
    provenance=Provenance.MODELLED,
    method="silicon",
    limiting_unit="mte2",
    unit_times_us={"mte2": 5.0},
    work=WorkFigures(
        read_bytes=8,
        write_bytes=8,
        vector_lanes={"float32": 4.0},
        cube_path=CubePathFigures(cube_flops={"float16": 1.0}, l2_read_bytes=2.0, l0a_bytes=3.0, l0b_bytes=4.0, l0c_elements=5.0, mte3_bytes=6.0),
    ),
)
BAND = ErrorBand(low=0.8, high=1.25, confidence=0.9, references=19, source="made up")
CHECK = OutputCheck(
    name="y",
    dtype=DType.FLOAT32,
    elements=4,
    precision_profile="strict",
    tau=1e-3,
    default_tau=1e-3,
    mean_error=0.5,
    max_error=float("inf"),
    mean_error_outside=0.25,
    small_value=RegionCount(positions=1, errors=1, native_errors=1),
    worst=(WorstPosition(index=(1, 2), got=float("nan"), expected=1.0, relative_error=float("inf")),),
    outcome=outcome(Cause.NAN_MISMATCH, "one NaN", positions=1),
)
PASSING = CaseResult(
    operator="exp",
    case=Case(
        operator="exp",
        id="1",
        inputs=(CaseInput(argument="x", shape=(4,), dtype=DType.FLOAT32, low=float("-inf"), high=float("nan")),),
        attributes={"base": 2.0},
    ),
    size=SizeClass.SMALL,
    outcome=PASSED,
    time=Measurement(samples=(10.0,), provenance=Provenance.SIMULATED, method="replay", interval=BAND.around(10.0)),
    t_hw=MODELLED,
    t_baseline=Anchor(
        kind=AnchorKind.T_BASELINE, value_us=20.0, provenance=Provenance.SIMULATED, method="v0", version="v0 on engine 1", interval=BAND.around(20.0)
    ),
    launches=(
        LaunchRecord(
            kernel=HOSTILE,
            blocks=2,
            cycles=18,
            time_us=10.0,
            instructions=3,
            busy_cycles={"v": 9},
            stall_cycles={"v": 1},
            gm_read_bytes=8,
            gm_written_bytes=8,
            cores=2,
            wait_cycles={"v": {"flag_mte2": 1, "launch": 26}},
            lost_cycles={"v": {"bank_conflict": 3}},
            hbm_bytes=16,
            l2_bytes=8,
        ),
    ),
    copies=CopyLog(host_to_device_bytes=4),
    findings=(Finding(kind=FindingKind.AUTO_SYNC_RELIED_ON, message=HOSTILE, place=Place(file="a.cpp", line=3)),),
    wall_s=1.5,
)
FAILING = PASSING.model_copy(
    update={
        "case": PASSING.case.model_copy(update={"id": "2"}),
        "outcome": outcome(Cause.NAN_MISMATCH, HOSTILE, place=Place(file="b.cpp", line=7, core=1), positions=3),
        "others": (outcome(Cause.UNWRITTEN_OUTPUT, "hole"),),
        "checks": (CHECK,),
        "second_checks": (CHECK.model_copy(update={"name": "z"}),),
        "time": None,
        "t_hw": MODELLED.model_copy(update={"provenance": Provenance.QUOTED}),
    }
)
REPORT = score_report(
    Report(
        suite="s",
        suite_version="1",
        suite_digest="d",
        submission="x",
        submission_digest="e",
        target="t",
        hardware="h",
        hardware_digest="f",
        chip=load_hardware("ascend910b2").figures("silicon").model_copy(update={"fidelity": {"short": BAND}}),
        score_profile=ScoreProfile.SIM,
        precision_profile="strict",
        integrity=Integrity(version="1", digest="i"),
        method=Method(
            name="m",
            written_by="model",
            models=("big 1",),
            control_loop=ControlLoop.SEARCH_BASED,
            learning=(Tag[Learning](tag=Learning.RL, detail=HOSTILE),),
            feedback=(Tag[Feedback](tag=Feedback.TIMING),),
        ),
        reporting=Reporting(llm_calls=3, tokens=4, wall_clock_s=5.0, samples=6, selection=SelectionScheme.LAST, libraries={"CANN": HOSTILE}),
        seed=0,
        trials=2,
        auto_sync=True,
        baselines=("v0 on engine 1",),
        operators=(
            OperatorResult(
                operator="exp",
                level=1,
                compiled=True,
                build_outcome=PASSED,
                diagnostics=(Diagnostic(file="a", message="m"),),
                cases=(PASSING, FAILING),
                score=None,
            ),
        ),
        findings=(Finding(kind=FindingKind.OTHER, message="left out"),),
        environment=Environment(piton="0", python="3", torch="2", compiler="g", machine="m", cores=1),
    )
)


def changed(value: object) -> object:
    """Another value of the same JSON type."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list):
        return [*value, "x"]
    assert isinstance(value, dict)
    return {**value, "x": 1}


def leaves(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Paths to everything inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from leaves(item, (*path, key))


def replaced(value: object, path: tuple[object, ...]) -> object:
    """`value` with what lies at `path` changed."""
    if not path:
        return changed(value)
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:])
    return copy


def test_every_field_of_the_canonical_result_is_in_its_digest() -> None:
    from piton.core.canonical import digest, plain

    content = plain(REPORT.canonical_result())
    paths = list(leaves(content))
    assert len(paths) > 150
    assert REPORT.result_digest == digest(content)
    assert [path for path in paths if digest(replaced(content, path)) == REPORT.result_digest] == []


def test_every_field_of_the_report_is_in_the_canonical_result_but_those_of_the_machine() -> None:
    sealed = tuple(case.model_copy(update={"is_sealed": True}) for case in REPORT.operators[0].cases)
    operators = (REPORT.operators[0].model_copy(update={"cases": sealed}), *REPORT.operators[1:])
    unusual = {"hidden": HiddenSet(key_id="k", count=80, detail="counts"), "missing_operators": {"x": 1}, "accuracy": "pessimistic"}
    hidden = REPORT.model_copy(update={"operators": operators, **unusual})
    assert set(Report.model_fields) - set(hidden.canonical_result()) == {"environment", "result_digest"}
    cases = hidden.canonical_result()["operators"][0]["cases"]
    assert set(CaseResult.model_fields) - set(cases[1]) == {"wall_s", "retries", "fault"}  # a case that is void has its fault


def test_a_report_keeps_the_digest_it_had_before_the_way_into_the_cube_was_counted() -> None:
    """Neither the work of a case nor the chip's peaks name a `cube_path` that isn't there."""
    operator = REPORT.operators[0]
    assert operator.cases[0].t_hw is not None
    assert operator.cases[0].t_hw.work is not None
    assert REPORT.chip is not None
    roof = operator.cases[0].t_hw.model_copy(update={"work": operator.cases[0].t_hw.work.model_copy(update={"cube_path": None})})
    cases = tuple(case.model_copy(update={"t_hw": roof}) for case in operator.cases)
    chip = REPORT.chip.model_copy(update={"peaks": REPORT.chip.peaks.model_copy(update={"cube_path": None})})
    old = REPORT.model_copy(update={"operators": (operator.model_copy(update={"cases": cases}),), "chip": chip}).canonical_result()
    assert "cube_path" not in str(old)
    assert "cube_path" in str(REPORT.canonical_result())


def test_a_report_of_public_cases_keeps_the_digest_it_had_before_there_were_hidden_ones() -> None:
    assert "hidden" not in REPORT.canonical_result()
    assert "is_sealed" not in REPORT.canonical_result()["operators"][0]["cases"][0]


def test_a_report_without_method_and_policy_keeps_the_digest_it_had_before_there_were_any() -> None:
    older = REPORT.model_copy(update={"integrity": None, "method": None, "reporting": None}).canonical_result()
    assert {"integrity", "method", "reporting"} & set(older) == set()
    assert {"integrity", "method", "reporting"} <= set(REPORT.canonical_result())


def test_terminal_and_markdown_tell_the_method_and_count_the_fair_reporting_record() -> None:
    for render in (terminal_text, markdown_text):
        for text in ("control loop: 3, Search-Based Generation", "feedback: timing", "11 of 11 items reported"):
            assert text in render(REPORT)
    assert "generation-time compute budget | submission | 3 LLM calls, 4 tokens, 5 s wall-clock" in markdown_text(REPORT)


def test_a_report_without_intervals_and_baseline_versions_keeps_the_digest_it_had_before_there_were_any() -> None:
    case, failing = REPORT.operators[0].cases
    older = {
        "time": case.time.model_copy(update={"interval": None}),
        "t_baseline": case.t_baseline.model_copy(update={"interval": None, "version": ""}),
    }
    cases = (case.model_copy(update=older), failing.model_copy(update={"t_baseline": None}))
    chip = REPORT.chip.model_copy(update={"fidelity": {}})
    operators = (REPORT.operators[0].model_copy(update={"cases": cases}),)
    content = score_report(REPORT.model_copy(update={"operators": operators, "chip": chip, "baselines": ()})).canonical_result()
    record = content["operators"][0]["cases"][0]
    assert {"level_intervals", "total_interval", "baselines"} & set(content) == set()
    assert "fidelity" not in content["chip"]
    assert "interval" not in content["operators"][0]
    assert [part for part in ("time", "hap", "t_hw", "t_baseline") if "interval" in record[part] or "version" in record[part]] == []


def test_a_report_of_one_trial_keeps_the_digest_it_had_before_there_were_two() -> None:
    once = REPORT.model_copy(update={"trials": 1})
    assert "trials" not in once.canonical_result()
    assert once.canonical_digest() != REPORT.result_digest
    assert "second_checks" not in once.canonical_result()["operators"][0]["cases"][0]


def test_a_report_without_reasons_of_waits_keeps_the_digest_it_had_before_there_were_any() -> None:
    case = REPORT.operators[0].cases[0]
    plain = case.launches[0].model_copy(update={"cores": 0, "wait_cycles": {}, "lost_cycles": {}, "hbm_bytes": None, "l2_bytes": None})
    older = REPORT.operators[0].model_copy(update={"cases": (case.model_copy(update={"launches": (plain,)}),)})
    (record,) = REPORT.model_copy(update={"operators": (older,)}).canonical_result()["operators"][0]["cases"][0]["launches"]
    assert set(LaunchRecord.model_fields) - set(record) == {"cores", "wait_cycles", "lost_cycles", "hbm_bytes", "l2_bytes", "cube"}
    assert set(REPORT.canonical_result()["operators"][0]["cases"][0]["launches"][0]) == set(LaunchRecord.model_fields) - {"cube"}


@pytest.mark.parametrize("name", ["sim", "device", "incomplete"])
def test_a_report_that_was_written_before_there_were_accuracies_and_mixed_launches_still_matches_its_digest(name: str) -> None:
    path = Path(__file__).parents[1] / "data" / f"report_edges_{name}.json"
    assert "accuracy" not in json.loads(path.read_text())
    assert read_report(path).accuracy == "exact"


def test_an_accuracy_that_is_not_exact_is_in_the_digest() -> None:
    assert REPORT.model_copy(update={"accuracy": "pessimistic"}).canonical_digest() != REPORT.canonical_digest()


def test_terminal_and_markdown_say_where_the_time_of_a_case_went() -> None:
    for render in (terminal_text, markdown_text):
        assert "launch bound: blocks start and end during 72 % of 10.00 us, GM 0 GB/s" in render(REPORT)


def test_every_rendering_says_that_there_were_two_trials() -> None:
    once = REPORT.model_copy(update={"trials": 1})
    for render in (html_text, markdown_text, terminal_text):
        assert ("two trials" in render(REPORT), "two trials" in render(once)) == (True, False)


def test_environment_and_wall_times_are_not_in_the_digest() -> None:
    slower = PASSING.model_copy(update={"wall_s": 9.0})
    operators = (REPORT.operators[0].model_copy(update={"cases": (slower, *REPORT.operators[0].cases[1:])}),)
    elsewhere = REPORT.model_copy(update={"environment": REPORT.environment.model_copy(update={"machine": "other"}), "operators": operators})
    assert score_report(elsewhere).result_digest == REPORT.result_digest


def test_a_written_report_is_read_back_to_the_byte(tmp_path: Path) -> None:
    write_report(REPORT, tmp_path / "report.json")
    again = read_report(tmp_path)
    assert report_text(again) == report_text(REPORT)
    assert report_text(score_report(again)) == report_text(REPORT)


def test_the_json_is_plain_json_without_nan(tmp_path: Path) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    json.loads(report_text(REPORT), parse_constant=refuse)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-30], "not readable JSON"),
        (lambda text: "[" * 100_000, "not readable JSON"),
        (lambda text: "[]", "can't read the report"),
        (lambda text: text.replace('"schema_version": 1', '"schema_version": 2'), "can't read the report"),
        (lambda text: text.replace('"seed": 0', '"seed": "many"'), "form of its schema"),
        (lambda text: text.replace('"seed": 0', '"seed": 0, "surprise": 1'), "form of its schema"),
        (lambda text: text.replace('"seed": 0', '"seed": 4'), "was changed after it was written"),
        (lambda text: text.replace('"ranked"', '"ranked_"'), "form of its schema"),
    ],
)
def test_a_broken_report_is_one_clear_error(tmp_path: Path, damage: object, message: str) -> None:
    (tmp_path / "report.json").write_text(damage(report_text(REPORT)))
    with pytest.raises(FormatError, match=message):
        read_report(tmp_path / "report.json")


def test_an_operator_without_cases_is_refused(tmp_path: Path) -> None:
    """Nothing writes one; no share of its cases could be told."""
    empty = REPORT.model_copy(update={"operators": (REPORT.operators[0].model_copy(update={"cases": ()}),)})
    (tmp_path / "report.json").write_text(report_text(empty.model_copy(update={"result_digest": empty.canonical_digest()})))
    with pytest.raises(FormatError, match="an operator without cases"):
        read_report(tmp_path / "report.json")


def test_no_report_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no report here"):
        read_report(tmp_path)


def test_the_schema_in_the_documentation_is_current() -> None:
    assert (ROOT / "docs" / "report.schema.json").read_text() == schema_text(), "write it again: piton schema > docs/report.schema.json"


def test_the_schema_knows_how_infinities_are_spelled() -> None:
    """The range of a case may be infinite, a share of something can't be."""
    records = json.loads(schema_text())["$defs"]
    low, confidence = records["CaseInput"]["properties"]["low"], records["Interval"]["properties"]["confidence"]
    assert low["type"] == ["number", "string"]
    assert all(re.search(low["pattern"], str(plain(value))) for value in (float("inf"), float("-inf"), float("nan")))
    assert not re.search(low["pattern"], "information")
    assert confidence["type"] == "number"


def test_the_published_schema_of_a_run_is_that_of_the_records() -> None:
    assert (ROOT / "docs" / "run.schema.json").read_text() == program_schema_text(), "write it again: piton schema run > docs/run.schema.json"


def test_columns_of_one_origin_name_it_in_the_head_and_mixed_ones_in_every_cell() -> None:
    text = terminal_text(REPORT)
    assert "simulated" in text
    assert "5.00 modelled" in text
    assert "5.00 quoted" in text
    assert "10.00 simulated" not in text


def test_a_failed_case_shows_cause_place_numbers_and_worst_position_in_every_rendering() -> None:
    for text in (terminal_text(REPORT), markdown_text(REPORT).replace("\\", ""), html_text(REPORT)):
        for part in ("nan_mismatch", "b.cpp:7, core 1", "got nan, expected 1"):
            assert part in text
    for text in (terminal_text(REPORT), markdown_text(REPORT).replace("\\", "")):
        assert "positions 3" in text
        assert "mte2 / v" in text
    assert '<li>positions <span class="mono">3</span></li>' in html_text(REPORT)


def test_texts_of_a_submission_never_become_markup() -> None:
    assert html_text(REPORT).count("<script") == 1, "only the page's own"
    assert "<script>" not in markdown_text(REPORT)
    assert "[x](http" not in markdown_text(REPORT)
    assert "[bold]" in terminal_text(REPORT)


def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = html_text(REPORT.model_copy(update={"operators": ()}))
    assert not any(word in page for word in ('="http', "src=", "@import", "url("))
