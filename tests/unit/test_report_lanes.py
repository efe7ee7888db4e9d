"""Timelines in the page: read back from trace files, drawn step by step, and never in the way of the page."""

import json
from pathlib import Path

import pytest
from report_world import operator_of, passed_case, small_report

from piton.core.errors import FormatError
from piton.core.timeline import BlockTimeline, Instruction, LaunchTimeline, Slice
from piton.report import lanes
from piton.report.chrome_trace import write_trace
from piton.report.html import html_text
from piton.report.lanes import HEIGHT, STEPS, Timelines, lane_chart, read_timelines
from piton.report.trace_file import read_head, read_trace

REPORT = small_report((operator_of("exp", passed_case("exp", "1"), passed_case("exp", "2")),))
HOSTILE = "</figcaption><script>alert(1)</script>"


def instruction(name: str = "Exp") -> Instruction:
    return Instruction(name, "exp.cpp", 7, "work", "v", "", False, False, False, 10, 1, 0, (0, 0), 0, 0, 0, ())


def piece(pipe: str, kind: str, begin: int, end: int, reason: str = "") -> Slice:
    number = 0 if kind != "wait" else None
    return Slice(begin, end, pipe, kind, reason, number, 4 if kind == "wait" else None, 0, 0, 0)  # type: ignore[arg-type]


def block(number: int, begin: int, end: int, *slices: Slice, left_out: int = 0, gap: tuple[int, int] = (0, 0)) -> BlockTimeline:
    return BlockTimeline(number, begin, end, 1 + left_out, left_out, gap, (instruction(),), slices, (), ())


def launch(*tracks: BlockTimeline, cycles: int = 3000, number: int = 1, kernel: str = "exp_kernel") -> LaunchTimeline:
    return LaunchTimeline(kernel, number, 2, "AIV", len(tracks), cycles, 1_000_000_000, tracks, 64, ())


def write(folder: Path, timeline: LaunchTimeline, case_id: str = "1", operator: str = "exp") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{operator}-{case_id}-{timeline.number}.json"
    with path.open("w", encoding="ascii") as file:
        write_trace(timeline, {"operator": operator, "case": case_id}, file)
    return path


# V works for the first third and for half of the cycles of the second, waits for the rest of that one, and has nothing to do in the last.
STRIPES = tuple(
    part for start in range(1000, 2000, 10) for part in (piece("v", "run", start, start + 5), piece("v", "wait", start + 5, start + 10, "flag_mte2"))
)
FIRST = block(0, 0, 2000, piece("v", "run", 0, 1000), *STRIPES)
SECOND = block(3, 500, 3000, piece("mte2", "run", 500, 1500), piece("mte2", "loss", 1500, 3000, "latency"))


def test_a_lane_is_as_high_as_the_share_of_each_step_that_the_pipe_worked(tmp_path: Path) -> None:
    chart = lane_chart(read_trace(read_head(write(tmp_path, launch(FIRST, SECOND)))))
    (lane,) = chart.blocks[0].lanes
    third, half = STEPS // 3, HEIGHT // 2
    # waits are painted first and reach the top in both thirds; on them the busy part: all of the first third, half of the second
    busy = f"M0 {HEIGHT}V0H{third}V{half}H{2 * third}V{HEIGHT}H{STEPS}V{HEIGHT}Z"
    assert lane.areas == (
        ("waits", f"M0 {HEIGHT}V0H{2 * third}V{HEIGHT}H{STEPS}V{HEIGHT}Z"),
        ("busy", busy),
    )
    # 1000 + 100 x 5 busy and 100 x 5 waiting of 3000 cycles
    assert (lane.name, lane.words) == ("V", "busy 50 %, waits 17 %")


def test_shown_are_the_first_block_and_the_one_that_ends_last(tmp_path: Path) -> None:
    middle = block(1, 0, 2500, piece("v", "run", 0, 2500))
    chart = lane_chart(read_trace(read_head(write(tmp_path, launch(FIRST, middle, SECOND)))))
    assert [item.name for item in chart.blocks] == ["block 0", "block 3"]
    assert chart.span_count == 3
    assert chart.blocks[1].lanes[0].words == "busy 33 %, loses 50 %"
    # 3000 cycles at 1 GHz are 3 us: ticks at quarters
    assert chart.ticks == ("0", "0.75", "1.5", "2.25", "3")


def test_the_overview_has_a_line_per_block_from_begin_to_end(tmp_path: Path) -> None:
    chart = lane_chart(read_trace(read_head(write(tmp_path, launch(FIRST, SECOND)))))
    # in 300 steps: 0 to 2000 of 3000 cycles is 0 to 200, 500 to 3000 is 50 to 300
    assert chart.spans == "M0 0H200v1.6H0zM50 2H300v1.6H50z"


def test_instructions_that_were_left_out_show_as_a_gap(tmp_path: Path) -> None:
    cut = block(0, 0, 3000, piece("v", "run", 0, 300), left_out=5, gap=(300, 2700))
    chart = lane_chart(read_trace(read_head(write(tmp_path, launch(cut)))))
    gap = chart.blocks[0].lanes[1]
    assert (gap.name, gap.words, [state for state, _ in gap.areas]) == ("left out", "not recorded 80 %", ["gap"])
    assert "5 of the 6 instructions" in chart.left_out


def test_of_a_case_with_several_launches_the_longest_is_drawn(tmp_path: Path) -> None:
    write(tmp_path, launch(FIRST, cycles=3000, number=1))
    write(tmp_path, launch(FIRST, cycles=9000, number=2))
    (chart,) = read_timelines(tmp_path, REPORT).charts
    assert (chart.launch, chart.launches, chart.total_us) == (2, 2, pytest.approx(9.0))


def test_timelines_come_in_the_order_of_the_report_and_those_of_other_cases_are_left(tmp_path: Path) -> None:
    write(tmp_path, launch(FIRST, cycles=9000), "2")
    write(tmp_path, launch(FIRST), "1")
    write(tmp_path, launch(FIRST), "77")
    assert [chart.case_id for chart in read_timelines(tmp_path, REPORT).charts] == ["1", "2"]


def test_a_run_without_timelines_has_none_and_says_nothing(tmp_path: Path) -> None:
    assert read_timelines(tmp_path / "traces", REPORT) == Timelines()
    assert "Timelines of pipes" not in html_text(REPORT)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[" * 10_000, '{"otherData":{"operator":"exp"},"traceEvents":[', '{"otherData":[],"traceEvents":[\n]}', "\x00\xff"],
    ids=["empty", "no head", "deep", "half a head", "a list", "bytes"],
)
def test_a_broken_file_costs_its_own_picture_only(tmp_path: Path, text: str) -> None:
    write(tmp_path, launch(FIRST), "1")
    (tmp_path / "exp-2-1.json").write_text(text, encoding="latin-1")
    found = read_timelines(tmp_path, REPORT)
    assert [chart.case_id for chart in found.charts] == ["1"]
    assert found.notes == ("not drawn: exp-2-1.json can't be read",)
    assert "not drawn: exp-2-1.json can&#39;t be read" in html_text(REPORT, found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"begin_cycle":500', '"begin_cycle":-500'),
        ('"cycles":2000', '"cycles":"many"'),
        ('"args":{', '"args":[],"arg":{'),
        ('"cat":"block"', '"cat":"blocks"'),
        ('"pid":2,', '"pid":2,,'),
    ],
)
def test_events_that_make_no_sense_are_one_clear_error(tmp_path: Path, before: str, after: str) -> None:
    path = write(tmp_path, launch(FIRST, SECOND))
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    with pytest.raises(FormatError, match="the timeline can't be read"):
        read_trace(read_head(path))


def test_a_launch_of_no_cycles_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    about = {"operator": "exp", "case": "1", "kernel": "k", "launch": 1, "launches": 1, "cycles": 0, "clock_hz": 1, "left_out": ""}
    path.write_text(json.dumps({"displayTimeUnit": "ns", "otherData": about})[:-1] + ',"traceEvents":[\n')
    with pytest.raises(FormatError, match="no cycles"):
        read_head(path)


def test_a_page_has_room_for_so_many_timelines_and_says_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for case_id in ("1", "2"):
        write(tmp_path, launch(FIRST, cycles=3000 if case_id == "1" else 6000), case_id)
    monkeypatch.setattr(lanes, "MOST_CHARTS", 1)
    found = read_timelines(tmp_path, REPORT)
    assert [chart.case_id for chart in found.charts] == ["2"], "the longest launch"
    assert found.notes == ("1 more timelines are not drawn here; their files are in the run's folder",)
    monkeypatch.setattr(lanes, "MOST_CHARTS", 9)
    monkeypatch.setattr(lanes, "MOST_CHARACTERS", 100)
    assert len(read_timelines(tmp_path, REPORT).charts) == 1


def test_files_that_can_not_be_read_do_not_hide_how_many_more_are_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, case_id in enumerate("123456"):
        write(tmp_path, launch(FIRST, cycles=9000 - number), case_id)
    for case_id in "12":
        (tmp_path / f"exp-{case_id}-2.json").write_text("{}")
    second = tmp_path / "exp-2-1.json"
    second.write_text(second.read_text().replace('"begin_cycle":0', '"begin_cycle":-1'))
    monkeypatch.setattr(lanes, "MOST_CHARTS", 3)
    found = read_timelines(tmp_path, small_report((operator_of("exp", *(passed_case("exp", case_id) for case_id in "123456")),)))
    assert [chart.case_id for chart in found.charts] == ["1", "3"], "of the three longest one can't be read"
    assert found.notes == (
        "not drawn: exp-1-2.json can't be read",
        "not drawn: exp-2-2.json can't be read",
        "not drawn: exp-2-1.json can't be read",
        "3 more timelines are not drawn here; their files are in the run's folder",
    )


def test_the_name_of_a_kernel_stays_text(tmp_path: Path) -> None:
    write(tmp_path, launch(FIRST, kernel=HOSTILE))
    page = html_text(REPORT, read_timelines(tmp_path, REPORT))
    assert page.count("<script") == 1
    assert "&lt;/figcaption&gt;&lt;script&gt;" in page
    assert '<figure class="lanes" data-c="1">' in page
    assert 'aria-label="V: busy 50 %, waits 17 %"' in page
