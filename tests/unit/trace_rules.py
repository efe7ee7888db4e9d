"""The rules of the Chrome trace event format that viewers rely on, checked on a whole trace."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

Trace = dict[str, Any]
Event = dict[str, Any]
PHASES = {"X", "M", "C", "s", "f", "i"}
WORK = ("instruction", "loss", "issue")
"""Categories whose cycles make up the busy cycles of a pipe."""


def check_trace(trace: Trace) -> None:
    """AssertionError for the first rule that is broken."""
    events = trace["traceEvents"]
    assert trace["displayTimeUnit"] == "ns"
    for event in events:
        assert event["ph"] in PHASES, event
        assert all(type(event[name]) is int and event[name] > 0 for name in ("pid", "tid")), event
        assert event["ts"] >= 0, event
        assert event["name"], event
        assert event["ph"] != "X" or event["dur"] >= 0, event
    _check_names(events)
    for row in complete(events).values():
        _check_row(row)
    _check_arrows(events)


def complete(events: list[Event]) -> dict[tuple[int, int], list[Event]]:
    """Complete events by thread, in order."""
    rows: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[event["pid"], event["tid"]].append(event)
    return {key: sorted(row, key=lambda item: (item["ts"], item["args"]["begin_cycle"])) for key, row in rows.items()}


def cycles_by_row(trace: Trace) -> dict[str, Counter[str]]:
    """Cycles per name of the thread and category, summed over processes; losses and waits by reason as well."""
    events = trace["traceEvents"]
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for key, row in complete(events).items():
        for event in row:
            found[names[key]][event["cat"]] += event["args"]["cycles"]
            if "reason" in event["args"]:
                found[names[key]][event["args"]["reason"]] += event["args"]["cycles"]
    return found


def _check_names(events: list[Event]) -> None:
    named = [(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"]
    assert len(named) == len(set(named))
    assert len({tid for _, tid in named}) == len(named), "a thread number belongs to one process: some viewers merge equal ones"
    assert set(complete(events)) == set(named)
    processes = [event["pid"] for event in events if event["name"] == "process_name"]
    assert len(processes) == len(set(processes))
    assert {event["pid"] for event in events if event["ph"] != "i"} == set(processes)


def _check_row(row: list[Event]) -> None:
    for one, other in pairwise(row):
        assert one["args"]["begin_cycle"] + one["args"]["cycles"] <= other["args"]["begin_cycle"], (one, other)
        assert round(one["ts"] + one["dur"], 6) <= other["ts"], (one, other)
        assert int(one["ts"] * 1000) + int(one["dur"] * 1000) <= int(other["ts"] * 1000), ("a viewer that cuts doubles to nanoseconds", one, other)


def _check_arrows(events: list[Event]) -> None:
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert set(starts) == set(ends)
    assert len(starts) + len(ends) == sum(event["ph"] in "sf" for event in events)
    rows = complete(events)
    for number, start in starts.items():
        end = ends[number]
        assert start["ts"] <= end["ts"]
        assert (start["name"], start["cat"]) == (end["name"], end["cat"])
        for event in (start, end):
            assert any(_is_inside(event, item) for item in rows[event["pid"], event["tid"]]), event


def _is_inside(event: Event, item: Event) -> bool:
    return bool(item["ts"] <= event["ts"] <= round(item["ts"] + item["dur"], 6))
