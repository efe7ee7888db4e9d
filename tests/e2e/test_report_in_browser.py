"""Does a real browser show the report page as meant, at desktop and phone width, light and dark, and does nothing in it run but the page's own script?"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from browser import DARK, LIGHT, Seen, find_browser, look_at

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))

from report_world import failed_case, large_report, launch_of, operator_of, passed_case, small_report

from piton.core.finding import Finding, FindingKind
from piton.core.report import Report
from piton.core.verdict import Cause, Place, outcome
from piton.report.compare import compare
from piton.report.compare_page import comparison_html
from piton.report.html import html_text
from piton.report.lanes import BlockLanes, Lane, LaneChart, Timelines

pytestmark = pytest.mark.skipif(find_browser() is None, reason="no Chromium here (Debian: apt-get install chromium)")

HACK = "window.hacked = (window.hacked || 0) + 1; parent.hacked += 1"
PAYLOADS = (
    f"<script>{HACK}</script>",
    f"'\"><img src=x onerror='{HACK}'>",
    f"</style></title></script><svg onload='{HACK}'></svg>",
    f'<a href="javascript:{HACK}">x</a>',
)
LOOK = """(window, document) => {
  const root = document.documentElement;
  const style = window.getComputedStyle(document.body);
  const boxes = [...document.querySelectorAll("svg.plot")].map((plot) => {
    const box = plot.getBoundingClientRect();
    const marks = [...plot.querySelectorAll("a use")].map((mark) => mark.getBoundingClientRect());
    const inside = marks.filter((mark) => mark.left >= box.left && mark.right <= box.right && mark.top >= box.top && mark.bottom <= box.bottom).length;
    return { width: box.width, height: box.height, marks: marks.length, inside };
  });
  return {
    overflow: root.scrollWidth - root.clientWidth, width: root.clientWidth, ground: style.backgroundColor, ink: style.color, boxes,
    rows: document.querySelectorAll("table.cases tbody tr").length, headline: document.querySelector(".headline").textContent.trim(),
    theme: document.getElementById("theme").textContent, hasFilters: !document.getElementById("filters").hidden,
    bar: window.getComputedStyle(document.querySelector("td.pipe")).backgroundImage.includes("gradient"), hacked: window.hacked || 0,
  };
}"""
USE = """(window, document) => {
  const shown = () => [...document.querySelectorAll("table.cases tbody tr")].filter((row) => row.checkVisibility()).map((row) => row.cells[0].textContent);
  const column = (number) => [...document.querySelectorAll("#op-exp table.cases tbody tr")].map((row) => parseFloat(row.cells[number].textContent));
  const filters = document.getElementById("filters");
  const set = (name, value) => { const field = filters.querySelector(`[name=${name}]`); field.value = value; field.dispatchEvent(new window.Event("input")); };
  const found = {};
  const head = document.querySelectorAll("#op-exp table.cases th")[4];
  head.click(); found.up = column(4); head.click(); found.down = column(4); found.sorted = head.getAttribute("aria-sort");
  set("verdict", "hazard"); found.failed = shown(); found.hiddenOperator = !document.getElementById("op-gelu").checkVisibility();
  set("verdict", ""); set("text", "gelu passed"); found.gelu = shown(); found.said = document.getElementById("shown").textContent;
  set("text", ""); found.all = shown().length;
  filters.querySelector("[data-open='0']").click(); found.closed = shown().length;
  const before = window.getComputedStyle(document.body).backgroundColor;
  document.getElementById("theme").click();
  found.grounds = [before, window.getComputedStyle(document.body).backgroundColor];
  return found;
}"""

FOLLOW = """async (window, document) => {
  const row = document.getElementById("operator_number_20-3");
  const before = row.checkVisibility();
  await new Promise((done) => { window.addEventListener("hashchange", () => window.setTimeout(done, 50)); window.location.hash = "#operator_number_20-3"; });
  const box = row.getBoundingClientRect();
  return { before, after: row.checkVisibility(), isInView: box.top >= 0 && box.bottom <= window.innerHeight };
}"""

DRILL = """(window, document) => {
  const dialog = document.getElementById("case");
  const opener = (id) => document.querySelector(`#${id} button.drill`);
  const texts = (selector) => [...dialog.querySelectorAll(selector)].map((part) => part.textContent);
  const seen = () => ({ open: dialog.open, title: dialog.querySelector("span").textContent, heads: texts("h4"), terms: texts("dt"), text: dialog.textContent,
    overflow: dialog.scrollWidth - dialog.clientWidth,
    lanes: dialog.querySelectorAll("figure.lanes svg").length, ids: dialog.querySelectorAll("div [id]").length });
  const found = { before: dialog.open, tag: opener("exp-1").tagName, label: opener("exp-1").title };
  opener("exp-1").click(); found.first = seen();
  const [previous, next] = dialog.querySelectorAll("button[data-step]");
  previous.click(); found.start = seen().title;
  next.click(); next.click(); found.third = seen().title;
  next.click(); found.failed = seen();
  const link = dialog.querySelector("div a"); link.click(); found.left = dialog.open;
  opener("exp-1").click(); dialog.querySelector("button[autofocus]").click(); found.closed = dialog.open;
  return found;
}"""
UNAIDED = """(window, document) => {
  const limits = document.getElementById("limits-roof").getBoundingClientRect();
  const nameless = [...document.querySelectorAll("[role=img]")].filter((part) => !part.getAttribute("aria-label")).length;
  const stacks = [...document.querySelectorAll(".stack")].map((stack) => [...stack.children].map((part) => part.getBoundingClientRect().width));
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  const lanes = [...document.querySelectorAll("figure.lanes svg")].map((lane) => lane.getBoundingClientRect());
  return { levels: document.querySelectorAll("#breakdown ~ .card tbody tr").length, stacks, buttons: document.querySelectorAll("button.drill").length,
    hidden: document.getElementById("filters").hidden, dialog: document.getElementById("case").checkVisibility(), limits: [limits.width > 0, limits.height > 0],
    lanes: lanes.filter((box) => box.width > 100 && box.height > 10).length, nameless,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth };
}"""
OPEN = """async (window, document) => {
  document.querySelectorAll("details.operator").forEach((part) => { part.open = true; });
  await new Promise((done) => window.setTimeout(done, 50));
  return { nodes: document.getElementsByTagName("*").length, rows: document.querySelectorAll("button.drill").length };
}"""


def typical() -> Report:
    """Two operators: three cases that pass, one hazard, one very long name."""
    hazard = outcome(
        Cause.MISSING_SYNC, "reads what nothing orders " * 20, place=Place(file="csrc/ops/exp/" + "very_long_name" * 12 + ".cpp", line=3), overlap_bytes=64
    )
    first = passed_case("exp", "1", 7.0).model_copy(update={"launches": (launch_of("exp_kernel" * 30, 7.0),)})
    exp = operator_of("exp", first, passed_case("exp", "2", 9.0), passed_case("exp", "10", 5.5), failed_case(hazard, "11"))
    return small_report((exp, operator_of("gelu", passed_case("gelu", "1", 19.0))))


def hostile() -> Report:
    """Every text that a submission can choose tries to run a script."""
    operators = []
    for number, payload in enumerate(PAYLOADS):
        place = Place(file=payload, line=1, instruction=payload)
        finding = Finding(kind=FindingKind.OTHER, message=payload, place=place)
        good = passed_case(f"op{number}{payload}", payload).model_copy(update={"launches": (launch_of(payload, 10.0),), "findings": (finding,)})
        bad = failed_case(outcome(Cause.DEADLOCK, payload, place=place, kernel=payload), f"2{payload}", others=(outcome(Cause.FLAG_LEAK, payload),))
        operators.append(operator_of(f"op{number}{payload}", good, bad))
    return small_report(tuple(operators), name=PAYLOADS[0] + PAYLOADS[2])


def timelines() -> Timelines:
    """One drawn launch of exp/1 and one of exp/10."""
    vector = Lane("V", (("waits", "M0 12V0H200V12Z"), ("busy", "M0 12V6H200V12Z")), "busy 40 %, waits 30 %")
    blocks = (BlockLanes("block 0", (vector, Lane("MTE2", (("busy", "M0 12V0H300V12Z"),), "busy 99 %"))),)
    charts = [LaneChart("exp", case, "k" * 200, 1, 1, 7.0, ("0", "7"), "M0 0H9v2H0z", 1, blocks, "", "exp-1-1.json") for case in ("1", "10")]
    return Timelines(tuple(charts))


@pytest.fixture(scope="module", params=[LIGHT, DARK], ids=["light", "dark"])
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Seen]:
    return request.param, look_at(html_text(typical()), LOOK, tmp_path_factory.mktemp("page"), scheme=request.param)


def brightness(colour: str) -> float:
    """Mean of the channels of `rgb(r, g, b)`, 0 to 1."""
    return sum(map(int, colour[4:-1].split(","))) / 3 / 255


def test_nothing_overflows_at_desktop_and_phone_width(seen: tuple[int, Seen]) -> None:
    assert [(frame["width"], frame["overflow"]) for frame in seen[1].frames] == [(1280, 0), (390, 0)]


def test_both_figures_are_drawn_with_every_case_inside(seen: tuple[int, Seen]) -> None:
    for frame in seen[1].frames:
        assert [(box["marks"], box["inside"]) for box in frame["boxes"]] == [(4, 4), (4, 4)]
        assert all(box["width"] > 300 and box["height"] > 190 for box in frame["boxes"])
        assert frame["bar"]
        assert (frame["rows"], frame["headline"]) == (5, "✗ 4 of 5 cases passed")


def test_the_page_follows_the_scheme_of_the_system(seen: tuple[int, Seen]) -> None:
    scheme, found = seen
    for frame in found.frames:
        ground, ink = brightness(frame["ground"]), brightness(frame["ink"])
        assert (ground < 0.2 < 0.8 < ink) if scheme == DARK else (ink < 0.2 < 0.8 < ground)
        assert frame["theme"] == ("Light" if scheme == DARK else "Dark")


def test_the_console_has_no_errors_and_the_script_ran(seen: tuple[int, Seen]) -> None:
    assert seen[1].console == []
    assert all(frame["hasFilters"] for frame in seen[1].frames)


def test_tables_sort_cases_are_filtered_and_the_button_changes_the_scheme(tmp_path: Path) -> None:
    found = look_at(html_text(typical()), USE, tmp_path, widths=(1280,)).frames[0]
    assert (found["up"], found["down"], found["sorted"]) == ([5.5, 7, 9, None], [9, 7, 5.5, None], "descending")
    assert (found["failed"], found["hiddenOperator"]) == (["11"], True)
    assert (found["gelu"], found["said"]) == (["1"], "1 cases shown")
    assert (found["all"], found["closed"]) == (5, 0)
    assert brightness(found["grounds"][1]) < 0.2 < 0.8 < brightness(found["grounds"][0])


def test_one_click_gathers_everything_about_a_case_and_another_goes_to_the_next(tmp_path: Path) -> None:
    for found in look_at(html_text(typical(), timelines()), DRILL, tmp_path).frames:
        first = found["first"]
        assert (found["before"], found["tag"], found["label"], first["open"], first["title"]) == (False, "BUTTON", "everything about case 1", True, "exp 1")
        assert first["heads"] == [
            "Result",
            "Where the time goes",
            "Where T_HW comes from",
            "How outputs compared",
            "Launches",
            "Cases and where their numbers come from",
        ]
        assert {"verdict", "HAP", "MTE2", "mte2", "worst position", "kernel", "inputs"} <= set(first["terms"])
        assert (first["lanes"], first["ids"], first["overflow"]) == (3, 0, 0), "one overview and two pipes; no id twice"
        assert (found["start"], found["third"], found["failed"]["title"]) == ("exp 1", "exp 10", "exp 11")
        assert "reads what nothing orders" in found["failed"]["text"]
        assert (found["left"], found["closed"]) == (False, False)


def test_without_its_script_the_page_has_everything_but_sorting_filters_and_the_dialog(tmp_path: Path) -> None:
    page = re.sub(r"<script>.*?</script>", "", html_text(typical(), timelines()), flags=re.S)
    for frame in look_at(page, UNAIDED, tmp_path).frames:
        assert (frame["buttons"], frame["hidden"], frame["dialog"], frame["limits"]) == (0, True, False, [True, True])
        assert (frame["lanes"], frame["nameless"], frame["overflow"]) == (6, 0, 0)


def test_bars_of_limits_are_as_long_as_their_shares(tmp_path: Path) -> None:
    cases = [passed_case(case_id=str(number), unit=unit) for number, unit in enumerate(("mte2", "mte3", "mte2", "vector"))]
    (frame,) = look_at(html_text(small_report((operator_of("exp", *cases),))), UNAIDED, tmp_path, widths=(1280,)).frames
    vector, mte = frame["stacks"][0]
    assert mte / vector == pytest.approx(3.0, rel=0.02)


def test_a_whole_suite_stays_a_page_of_bearable_size_and_every_case_can_be_opened(tmp_path: Path) -> None:
    found = look_at(html_text(large_report()), OPEN, tmp_path, widths=(1280,)).frames[0]
    assert found["rows"] == 1060
    assert found["nodes"] < 120_000, "a browser lays out so many in about a second"


def test_a_link_to_a_case_opens_its_operator_and_goes_there(tmp_path: Path) -> None:
    found = look_at(html_text(large_report(21, 8)), FOLLOW, tmp_path, widths=(1280,)).frames[0]
    assert found == {"before": False, "after": True, "isInView": True}


def test_no_text_of_a_submission_runs_as_a_script(tmp_path: Path) -> None:
    found = look_at(html_text(hostile()), LOOK, tmp_path, widths=(390,))
    assert (found.hacked, found.frames[0]["hacked"], found.console) == (0, 0, [])
    assert (found.frames[0]["rows"], found.frames[0]["overflow"]) == (8, 0)


def test_a_script_that_got_into_the_page_would_still_not_run(tmp_path: Path) -> None:
    page = html_text(typical()).replace("<main>", f"<main><script>{HACK}</script><img src=x onerror='{HACK}'>")
    found = look_at(page, LOOK, tmp_path, widths=(390,))
    assert (found.hacked, found.frames[0]["hacked"]) == (0, 0)
    assert any("Content Security Policy" in line for line in found.console)


COMPARED = """(window, document) => {
  const root = document.documentElement;
  const links = [...document.querySelectorAll("svg.plot a")].map((link) => document.getElementById(link.getAttribute("href").slice(1)));
  document.getElementById("theme").click();
  const head = document.querySelector("table.sortable th:nth-child(6)");
  head.click();
  return { overflow: root.scrollWidth - root.clientWidth, rows: links.map((row) => row && row.cells[0].textContent), sorted: head.getAttribute("aria-sort"),
    theme: document.getElementById("theme").textContent, headline: document.querySelector(".headline").textContent.trim(), hacked: window.hacked || 0 };
}"""


def test_the_page_of_a_comparison_fits_both_widths_and_its_marks_lead_to_their_rows(tmp_path: Path) -> None:
    before = typical()
    slow = passed_case("gelu", "1", 25.0)
    after = small_report((before.operators[0], operator_of("gelu", slow)), name=PAYLOADS[0])
    seen = look_at(comparison_html(compare([before, after], [PAYLOADS[1], "after"])), COMPARED, tmp_path)
    for frame in seen.frames:
        assert (frame["overflow"], frame["rows"], frame["sorted"], frame["theme"], frame["hacked"]) == (0, ["gelu/1"], "ascending", "Light", 0)
        assert frame["headline"].startswith("✗ after against")
    assert seen.console == []


def test_a_whole_suite_is_shown_without_overflow_or_error(tmp_path: Path) -> None:
    found = look_at(html_text(large_report()), LOOK, tmp_path)
    assert [(frame["rows"], frame["overflow"]) for frame in found.frames] == [(1060, 0), (1060, 0)]
    assert all(box["inside"] == box["marks"] > 200 for frame in found.frames for box in frame["boxes"])
    assert found.console == []
