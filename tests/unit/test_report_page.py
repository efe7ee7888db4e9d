import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from report_world import CHIP, check_of, failed_case, large_report, launch_of, operator_of, passed_case, small_report

import piton.report
from piton.core.execution import Diagnostic
from piton.core.finding import Finding, FindingKind
from piton.core.measurement import Provenance
from piton.core.report import Report
from piton.core.verdict import Cause, Place, outcome
from piton.report.bottleneck import bottleneck
from piton.report.hap_plot import hap_figure
from piton.report.html import html_text
from piton.report.markdown import markdown_text
from piton.report.pipe_cell import pipe_cell
from piton.report.plot import HEIGHT, LEFT, WIDTH, Axis, x_of, y_of
from piton.report.roofline import left_out_notes, roofline_figures
from piton.report.series import Located, series_of
from piton.report.terminal import terminal_text

STYLES = Path(piton.report.__file__).parent / "templates"
PAYLOAD = '"\'><img src=x onerror=alert(1)><script>alert(2)</script></style></title><a href="javascript:alert(3)">&lt;b&gt;{{ 7 * 7 }}\u202e'


class Elements(HTMLParser):
    """Every start tag with its attributes, and the text of the page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_report() -> Report:
    """Every text that a submission (or a suite from outside) can choose is the payload."""
    place = Place(file=PAYLOAD, line=3, instruction=PAYLOAD)
    wrong = outcome(Cause.MISSING_SYNC, PAYLOAD, place=place).model_copy(update={"numbers": {PAYLOAD: PAYLOAD, "earlier_line": 7}})
    found = Finding(kind=FindingKind.OTHER, message=PAYLOAD, place=place)
    good = passed_case(PAYLOAD, PAYLOAD)
    good = good.model_copy(
        update={
            "launches": (launch_of(PAYLOAD, 10.0),),
            "findings": (found,),
            "case": good.case.model_copy(update={"note": PAYLOAD, "attributes": {PAYLOAD: PAYLOAD}}),
        }
    )
    bad = failed_case(wrong, "2", PAYLOAD, others=(wrong,)).model_copy(update={"checks": (check_of(wrong).model_copy(update={"name": PAYLOAD}),)})
    void = passed_case(PAYLOAD, "3").model_copy(update={"void": PAYLOAD, "outcome": outcome(Cause.EVALUATION_FAILED)})
    broken = operator_of(
        f"{PAYLOAD} 2", bad, build=outcome(Cause.COMPILE_ERROR, PAYLOAD, place=place), diagnostics=(Diagnostic(file=PAYLOAD, message=PAYLOAD),)
    )
    report = small_report((operator_of(PAYLOAD, good, bad, void, diagnostics=(Diagnostic(file=PAYLOAD, message=PAYLOAD),)), broken), name=PAYLOAD)
    return report.model_copy(update={"findings": (found,)})


@pytest.fixture(scope="module")
def large() -> Report:
    return large_report()


@pytest.fixture(scope="module")
def large_page(large: Report) -> str:
    return html_text(large)


def test_no_text_of_a_submission_becomes_an_element_an_attribute_or_a_link() -> None:
    elements = Elements(html_text(hostile_report()))
    counted = Counter(tag for tag, _ in elements.tags)
    assert (counted["script"], counted["style"], counted["img"], counted["b"] > 0) == (1, 2, 0, True)
    assert [name for _, attributes in elements.tags for name in attributes if name.startswith("on")] == []
    links = [attributes["href"] for _, attributes in elements.tags if attributes.get("href") is not None]
    assert links
    assert [link for link in links if not re.fullmatch(r"#[A-Za-z0-9._-]+", link or "")] == []
    assert "onerror=alert(1)" in elements.text
    assert "49" not in re.findall(r"&lt;b&gt;(\S+)", elements.text)


def test_marks_that_turn_the_direction_of_writing_are_written_out() -> None:
    page = html_text(hostile_report())
    assert "\u202e" not in page
    assert "\\u202e" in page


def test_only_the_script_of_the_page_itself_may_run() -> None:
    page = html_text(hostile_report())
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    policy = next(attributes["content"] for tag, attributes in Elements(page).tags if attributes.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert f"script-src 'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'")


@pytest.mark.parametrize("make", [hostile_report, lambda: large_report(9, 20), lambda: small_report(())], ids=["hostile", "nine operators", "empty"])
def test_every_link_has_a_target_and_no_two_elements_share_an_id(make: object) -> None:
    assert callable(make)
    tags = Elements(html_text(make())).tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    assert {attributes["href"] for _, attributes in tags if "href" in attributes} <= {f"#{name}" for name in ids}


def test_the_same_report_gives_the_same_bytes() -> None:
    assert html_text(large_report(2, 20)) == html_text(large_report(2, 20))


def test_a_whole_published_suite_stays_below_four_megabytes(large_page: str) -> None:
    assert len(large_page.encode()) < 4_000_000
    assert large_page.count('<details class="operator') == 53
    start = '<details class="operator card" id="op-operator_number_0" data-name="operator_number_0" data-group="level 1 Elementwise">'
    assert start in large_page, "closed: a thousand rows are a long way"


def test_every_case_has_a_row_and_a_mark_where_it_has_the_numbers(large: Report, large_page: str) -> None:
    scored = [case for item in large.operators for case in item.cases if case.hap]
    with_work = [case for case in scored if case.t_hw and case.t_hw.work]
    rows, marks = (len(re.findall(start, large_page)) for start in ('<tr id="[^"]+" data-c=', r'<use href="#m\d" x='))
    assert (rows, marks) == (1060, len(scored) + len(with_work))


def test_operators_without_a_work_formula_are_named_beside_the_roofline(large_page: str) -> None:
    assert "Not in the roofline, because they have no work formula: operator_number_0 (18 cases), operator_number_5" in large_page


def test_a_report_without_figures_of_the_chip_says_why_there_is_no_roofline() -> None:
    report = small_report((operator_of("exp", passed_case()),)).model_copy(update={"chip": None})
    page = html_text(report)
    assert 'id="figure-hap"' in page
    assert 'id="figure-roofline' not in page
    assert "before the peaks of the chip were kept" in page


def test_the_page_lists_every_peak_that_t_hw_is_computed_from() -> None:
    report = small_report((operator_of("exp", passed_case()),))
    assert report.chip
    peaks = report.chip.peaks
    page = html_text(report)
    for name in ("hbm_read", "hbm_write", "l2_write", "l2_read", "l0a", "l0b"):
        assert f"<td>{name}_bytes_per_s</td>" in page, name
    for name in ("fixp_elements_per_s", "l2_bytes", "floor_us"):
        assert f"<td>{name}</td>" in page, name
    assert peaks.cube_path
    assert all(figure.source.replace("'", "&#39;") in page for _, figure in peaks.cube_path)
    bare = report.model_copy(update={"chip": report.chip.model_copy(update={"peaks": peaks.model_copy(update={"cube_path": None})})})
    assert "fixp_elements_per_s" not in html_text(bare), "a block that knows nothing of these ways"


def test_the_note_of_a_roofline_names_all_that_may_keep_t_hw_below_the_roofs() -> None:
    page = html_text(small_report((operator_of("exp", passed_case()),)))
    assert "below the roofs where something else decides: the floor, another unit, reads that hit L2, or padding to whole fractals." in page


@pytest.mark.parametrize("origin", list(Provenance))
def test_a_time_is_never_shown_without_its_origin(origin: Provenance) -> None:
    case = passed_case()
    assert case.time
    case = case.model_copy(update={"time": case.time.model_copy(update={"provenance": origin})})
    page = html_text(small_report((operator_of("exp", case),)))
    assert f"<li>T_cand <b>{origin.value}</b></li>" in page
    assert f'<th class="n">T_cand us<small>{origin.value}</small></th>' in page
    assert f"T_cand / T_HW ({origin.value} / modelled)" in page
    assert f"T lane-instr/s, {origin.value}" in page


def test_times_of_two_origins_in_one_column_name_theirs_in_every_cell(large_page: str) -> None:
    assert '<th class="n">T_HW us</th>' in large_page
    rows = re.findall(r'<tr id="[^"]+" data-c=.*?</tr>', large_page)
    assert sum(len(re.findall(r'<td class="n">[\d.]+ (?:modelled|quoted)</td>', row)) for row in rows) == 1060


def test_an_incomplete_run_and_a_void_say_so_and_rank_nothing() -> None:
    void = passed_case(case_id="2").model_copy(update={"void": "the device went away", "outcome": outcome(Cause.EVALUATION_FAILED)})
    page = html_text(small_report((operator_of("exp", passed_case(), void),)))
    for text in ("incomplete: does not rank", "1 of 2 cases passed", "the device went away", "<strong>–</strong>", "1 void"):
        assert text in page


def test_cases_that_fail_at_one_place_are_told_once_and_all_linked() -> None:
    found = outcome(Cause.UB_OVERFLOW, "too much", place=Place(file="a.cpp", line=3), used_bytes=5, available_bytes=4)
    other = outcome(Cause.UB_OVERFLOW, "too much elsewhere", place=Place(file="a.cpp", line=4))
    cases = [failed_case(found, str(number)) for number in range(1, 4)] + [failed_case(other, "4")]
    report = small_report((operator_of("exp", *cases),))
    page = html_text(report)
    assert page.count('<div class="failure" id=') == 2
    for text in ('3 cases: <a href="#exp-1">1</a>, <a href="#exp-2">2</a>, <a href="#exp-3">3</a>', '<li>used_bytes <span class="mono">5</span></li>'):
        assert text in re.sub(r"\s+", " ", page)
    assert terminal_text(report).count("3 cases: 1, 2, 3: resource_exceeded: ub_overflow at a.cpp:3") == 1
    assert markdown_text(report).count("3 cases: 1, 2, 3: resource") == 1


def test_endless_messages_and_lists_are_cut_with_a_word_about_the_rest() -> None:
    found = outcome(Cause.DEADLOCK, "x" * 1_000_000, place=Place(file="a.cpp", line=3))
    brief = outcome(Cause.FLAG_LEAK, "one flag")
    noisy = tuple(Diagnostic(file="a.cpp", line=number, message="m" * 10_000) for number in range(1000))
    report = small_report((operator_of("exp", failed_case(found, others=(brief,) * 500), diagnostics=noisy),))
    page = html_text(report)
    assert len(page) < 700_000
    for text in ("996000 more characters in report.json", "and 492 more in report.json", "and 800 more in report.json"):
        assert text in page


def test_the_worst_positions_of_a_wrong_output_are_shown_with_values() -> None:
    page = html_text(small_report((operator_of("exp", failed_case(outcome(Cause.MAX_ERROR, "wrong"))),)))
    assert '<td>y</td><td class="mono">[3, 0]</td><td class="n mono">0.25</td><td class="n mono">0.5</td><td class="n mono">0.5</td>' in page


def test_a_case_at_the_limit_is_on_top_of_the_hap_curve_and_one_as_fast_as_the_baseline_in_its_middle() -> None:
    cases = small_report((operator_of("exp", passed_case(time_us=5.0), passed_case(case_id="2", time_us=20.0)),)).operators[0].cases
    located = [Located(case, f"exp-{case.case.id}") for case in cases]
    figure = hap_figure(located, series_of(located), "simulated")
    assert figure is not None
    best, middle = figure.marks
    assert (best.x, best.y) == (round(x_of(figure.x, 1.0), 1), round(y_of(figure.y, 1.0), 1))
    assert (middle.x, middle.y) == (round(x_of(figure.x, 4.0), 1), round(y_of(figure.y, 0.5), 1))
    assert "HAP 0.500, T_cand 4.00 x T_HW, T_baseline 4.00 x T_HW" in middle.title


def test_a_roofline_mark_stands_at_its_intensity_and_rate_below_what_t_hw_allows() -> None:
    located = [Located(passed_case(time_us=10.0, t_hw_us=5.0), "exp-1")]
    (figure,) = roofline_figures(located, series_of(located), CHIP)
    (mark,) = figure.marks
    elements = 1009 * 1021
    intensity, rate = 4.0 / 4.0, 4.0 * elements / 10e-6 / 1e12
    assert (mark.x, mark.y, mark.tail_y) == (round(x_of(figure.x, intensity), 1), round(y_of(figure.y, rate), 1), round(y_of(figure.y, 2 * rate), 1))
    assert "50% of what T_HW allows" in mark.title
    assert [line.label for line in figure.lines] == ["HBM read 1.6 TB/s", "L2 write 5.2 TB/s", "float32 5.53"]


def test_names_of_curves_that_end_close_together_do_not_cover_one_another() -> None:
    cases = [passed_case(case_id=str(number), t_hw_us=1.0) for number in range(3)]
    anchors = [case.t_baseline.model_copy(update={"value_us": value}) for case, value in zip(cases, (2.0, 8.0, 265.0), strict=True) if case.t_baseline]
    cases = [case.model_copy(update={"t_baseline": anchor}) for case, anchor in zip(cases, anchors, strict=True)]
    located = [Located(case, case.case.id) for case in small_report((operator_of("exp", *cases),)).operators[0].cases]
    figure = hap_figure(located, series_of(located), "simulated")
    assert figure is not None
    heights = [line.y for line in figure.lines if line.kind == "curve"]
    assert len(heights) == 3
    assert all(lower - upper >= 20 for lower, upper in pairwise(heights))


@pytest.mark.parametrize(("read", "written", "intensity"), [(1, 100, 0.01), (100, 1, 0.01), (1, 3, 1.0), (1, 4, 0.25)])
def test_the_intensity_counts_the_bytes_of_the_slower_direction(read: int, written: int, intensity: float) -> None:
    """Reads go at 1.6 TB/s and writes at 5.2: up to 3.25 times the bytes, writes are the faster ones."""
    case = passed_case()
    assert case.t_hw
    assert case.t_hw.work
    unit = case.t_hw.work.read_bytes
    work = case.t_hw.work.model_copy(update={"read_bytes": read * unit, "write_bytes": written * unit})
    located = [Located(case.model_copy(update={"t_hw": case.t_hw.model_copy(update={"work": work})}), "exp-1")]
    (figure,) = roofline_figures(located, series_of(located), CHIP)
    assert figure.marks[0].x == round(x_of(figure.x, intensity), 1)


def test_cube_work_has_a_figure_of_its_own_and_pure_data_movement_is_named() -> None:
    cube, move = passed_case("matmul"), passed_case("transpose")
    assert cube.t_hw
    assert move.t_hw
    assert cube.t_hw.work
    assert move.t_hw.work
    cube_work = cube.t_hw.work.model_copy(update={"vector_lanes": {}, "cube_flops": {"float16": 1e9}})
    move_work = move.t_hw.work.model_copy(update={"vector_lanes": {}})
    cube = cube.model_copy(update={"t_hw": cube.t_hw.model_copy(update={"work": cube_work})})
    move = move.model_copy(update={"t_hw": move.t_hw.model_copy(update={"work": move_work})})
    located = [Located(cube, "a"), Located(move, "b")]
    assert [figure.name for figure in roofline_figures(located, series_of(located), CHIP)] == ["roofline-cube"]
    assert left_out_notes(located, CHIP) == ("Not in the roofline, because they only move data: their work formula has no arithmetic: transpose (1 cases).",)


def test_more_operators_than_colours_are_coloured_by_what_limits_them() -> None:
    few = [Located(passed_case(f"op{number}"), f"a{number}") for number in range(8)]
    many = [*few, Located(passed_case("op8", unit="vector"), "a8")]
    assert series_of(few).names[:2] == ("op0", "op1")
    assert series_of(many).names == ("limited by mte2", "limited by vector")


@pytest.mark.parametrize(("low", "high"), [(0.3, 40.0), (1e-6, 1e6), (0.9, 1.2), (3.0, 3.5)])
def test_a_logarithmic_axis_has_round_ticks_inside_it(low: float, high: float) -> None:
    values = Axis("x", low, high, is_log=True).values()
    assert all(low * 0.99 <= value <= high * 1.01 for value in values)
    assert len(values) <= 14


def test_what_lies_outside_an_axis_is_drawn_on_its_end() -> None:
    axis = Axis("x", 1.0, 10.0, is_log=True)
    assert (x_of(axis, 0.0), x_of(axis, 1e9)) == (LEFT, x_of(axis, 10.0))
    assert LEFT < x_of(axis, 3.0) < WIDTH
    assert 0 < y_of(axis, 3.0) < HEIGHT


def test_the_parts_of_a_pipe_are_busy_lost_waiting_and_overhead_and_never_more_than_all() -> None:
    found = bottleneck(passed_case())
    assert found is not None
    cells = {share.pipe: pipe_cell(share) for share in found.pipes}
    assert (cells["mte2"].busy, cells["mte2"].lost, cells["mte2"].waits, cells["mte2"].overhead) == (60, 10, 18, 3)
    assert cells["v"].largest == "30 MTE2"
    assert cells["v"].words == "V %: busy 50; waits 30 MTE2, 15 idle, 5 start"
    assert cells["v"].style == "--b:50;--s:30;--o:5"


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours (WCAG 2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("sheet", ["style.css", "dark.css"])
def test_texts_have_a_contrast_of_4_5_and_marks_of_3_in_both_schemes(sheet: str) -> None:
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", (STYLES / sheet).read_text()))
    texts = ("ink", "dim", "link", "good", "bad", "warn", "none")
    assert [name for name in texts for ground in ("card", "soft", "page") if contrast(colours[name], colours[ground]) < 4.5] == []
    series = [f"s{number}" for number in range(8)]
    assert [name for name in series if contrast(colours[name], colours["card"]) < 4.5] == [], "names stand on bars in the colour of the card"
    marks = (*series, "busy", "stall", "loss", "roof")
    assert [name for name in marks if contrast(colours[name], colours["card"]) < 3.0] == []


def test_a_summary_of_many_cases_lists_those_that_need_a_look() -> None:
    text = terminal_text(large_report(11, 20))
    assert "operator_number_0: 18 of 20 cases passed" in text
    quiet = small_report(tuple(operator_of(f"op{number}", *(passed_case(f"op{number}", str(case)) for case in range(30))) for number in range(7)))
    assert "float32 1009×1021" not in terminal_text(quiet)
    assert "float32 1009×1021" in terminal_text(small_report(quiet.operators[:6]))


def test_points_of_the_cases_add_up_to_the_score_of_the_operator() -> None:
    report = small_report((operator_of("exp", passed_case(), passed_case(case_id="2", time_us=7.0), failed_case(outcome(Cause.MAX_ERROR), "3")),))
    rows = re.findall(r'<tr id="exp-\d+".*?<td class="n">([\d.]+)</td><td>\w+</td></tr>', html_text(report))
    score = report.operators[0].score
    assert score is not None
    assert len(rows) == 3
    assert sum(map(float, rows)) + 20 == pytest.approx(score, abs=0.02)
