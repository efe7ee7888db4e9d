"""Are timelines written whole, under their names, and does a place that can't be written to cost nothing but them?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from piton.cli.evaluation import timeline_request
from piton.core.case import Case, SizeClass
from piton.core.errors import UsageError
from piton.core.execution import LaunchRecord
from piton.core.report import CaseResult
from piton.core.timeline import LaunchTimeline, TimelineRequest
from piton.core.verdict import PASSED
from piton.evaluate.progress import Event, Notice
from piton.evaluate.traces import TraceKeeper

TIMELINE = LaunchTimeline("k", 1, 2, "AIV", 1, 100, 10**9, (), 1, ())
CASE = Case(id="3", operator="exp", inputs=(), seed=0)
LAUNCH = LaunchRecord(
    kernel="k", blocks=1, cycles=1, time_us=1.0, instructions=1, busy_cycles={}, stall_cycles={}, gm_read_bytes=0, gm_written_bytes=0, kind="kernel"
)
RESULT = CaseResult(operator="exp", case=CASE, size=SizeClass.SMALL, outcome=PASSED, launches=(LAUNCH,))


def keeper(run: Path, heard: list[Event] | None = None) -> TraceKeeper:
    return TraceKeeper(run, TimelineRequest(), {"target": "null"}, (heard if heard is not None else []).append)


def test_each_launch_gets_a_file_that_says_what_it_is_of(tmp_path: Path) -> None:
    keeper(tmp_path).keep("exp", CASE, (TIMELINE, LaunchTimeline("other", 2, 2, "AIV", 1, 100, 10**9, (), 1, ())))
    assert sorted(path.name for path in (tmp_path / "traces").iterdir()) == ["exp-3-1.json", "exp-3-2.json"]
    about = json.loads((tmp_path / "traces/exp-3-2.json").read_text())["otherData"]
    assert (about["operator"], about["case"], about["target"], about["kernel"], about["launch"], about["launches"]) == ("exp", "3", "null", "other", 2, 2)


def test_a_case_lacks_a_timeline_until_it_has_one_and_only_if_it_launched(tmp_path: Path) -> None:
    traces = keeper(tmp_path)
    assert traces.lacks(RESULT)
    assert not traces.lacks(RESULT.model_copy(update={"launches": (LAUNCH.model_copy(update={"kind": "copy"}),)}))
    traces.keep("exp", CASE, (TIMELINE,))
    assert not traces.lacks(RESULT)


def test_a_case_id_is_never_a_path(tmp_path: Path) -> None:
    keeper(tmp_path).keep("exp", CASE.model_copy(update={"id": "../../up"}), (TIMELINE,))
    (made,) = (tmp_path / "traces").iterdir()
    assert made.name.startswith("exp-")
    assert made.parent == tmp_path / "traces"


def test_a_place_that_cannot_be_written_to_is_one_message_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "traces").write_text("a file is in the way")
    heard: list[Event] = []
    traces = keeper(tmp_path, heard)
    for _ in range(3):
        traces.keep("exp", CASE, (TIMELINE, TIMELINE))
    (notice,) = heard
    assert isinstance(notice, Notice)
    assert "timelines can't be written" in notice.message
    assert "--resume --trace" in notice.message


def test_a_full_disk_leaves_no_half_a_file(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces/.exp-3-1.json").symlink_to("/dev/full")
    heard: list[Event] = []
    keeper(tmp_path, heard).keep("exp", CASE, (TIMELINE,))
    assert [event for event in heard if isinstance(event, Notice) and "No space left" in event.message]
    assert list((tmp_path / "traces").iterdir()) == []


@pytest.mark.parametrize(("text", "blocks"), [("", ()), ("3", (3,)), ("5, 0,40-43,41", (0, 5, 40, 41, 42, 43)), ("0-63", tuple(range(64)))])
def test_blocks_are_read_from_numbers_and_ranges(text: str, blocks: tuple[int, ...]) -> None:
    assert timeline_request(text).blocks == blocks


@pytest.mark.parametrize("text", ["x", "1,", "-1", "5-2", "1-2-3", "0-64", "123456", "1;2"])
def test_anything_else_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--trace-cores"):
        timeline_request(text)
