"""Draws one block of a trace that `piton eval --trace` wrote, as an SVG for the documentation; a viewer shows far more.

usage: timeline_picture.py TRACE.json BLOCK BEGIN_US END_US > picture.svg
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

WIDTH, LEFT, ROW, GAP, TOP = 1200, 64, 30, 10, 54
RATE_HEIGHT = 64
CHARACTER = 5.6
COLOURS = {
    "instruction": "#3b78c3",
    "issue": "#8a8f98",
    "latency": "#b9d3f0",
    "bandwidth_share": "#e9a23b",
    "small_blocks": "#e9a23b",
    "bank_conflict": "#d6455d",
    "cache_miss": "#d6455d",
    "wait": "#ececec",
}
LEGEND = (
    ("instruction", "instruction"),
    ("issue", "S issues it"),
    ("latency", "bytes on their way (latency)"),
    ("bandwidth_share", "bandwidth shared with other cores"),
    ("bank_conflict", "bank conflicts"),
    ("wait", "waits"),
)
VECTOR = "#2f9e6e"

Event = dict[str, Any]


@dataclass(frozen=True)
class Window:
    """The part of the time that is drawn, in microseconds."""

    begin: float
    end: float

    def x(self, ts: float) -> float:
        """Where a time lies, clipped to the picture."""
        share = (min(max(ts, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return LEFT + share * (WIDTH - LEFT - 12)


def picture(trace: dict[str, Any], block: int, window: Window) -> str:
    """The SVG."""
    events = trace["traceEvents"]
    pid = next(event["pid"] for event in events if event["name"] == "process_name" and event["args"]["name"].startswith(f"block {block} "))
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name" and event["pid"] == pid}
    rows = [tid for tid, name in sorted(names.items()) if name.isupper()]
    first = TOP + RATE_HEIGHT + GAP
    places = {tid: first + number * (ROW + GAP) for number, tid in enumerate(rows)}
    height = first + len(rows) * (ROW + GAP) + 56
    parts = [*_frame(trace["otherData"], block, window, height), *_rates(events, window)]
    parts += [_label(places[tid], ROW, names[tid]) for tid in rows]
    parts += [_slice(event, places[event["tid"]], window) for event in events if event["ph"] == "X" and event["tid"] in places and _is_seen(event, window)]
    parts += _arrows(events, places, window)
    return "\n".join([*parts, *_legend(height - 22), "</svg>", ""])


def _is_seen(event: Event, window: Window) -> bool:
    return bool(event["ts"] < window.end and event["ts"] + event["dur"] > window.begin)


def _frame(about: dict[str, Any], block: int, window: Window, height: int) -> list[str]:
    title = f"{about['operator']}, case {about['case']}, on {about['target']} ({about['time']}): {about['kernel']}, block {block} of {about['blocks']}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">',
        '<defs><pattern id="w" width="6" height="6" patternTransform="rotate(45)" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#f6f6f6"/>'
        '<rect width="2" height="6" fill="#dcdcdc"/></pattern>'
        '<marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#333"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" font-size="13" font-weight="bold" fill="#222">{escape(title)}</text>',
    ]
    step = _step(window.end - window.begin)
    tick = -(-window.begin // step) * step
    while tick <= window.end:
        x = window.x(tick)
        parts.append(f'<path d="M{x:.1f} 38V{height - 40}" stroke="#eee"/><text x="{x:.1f}" y="34" text-anchor="middle" fill="#666">{tick:.1f} us</text>')
        tick += step
    return parts


def _step(span: float) -> float:
    return next(step for step in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 1e9) if span / step <= 14)


def _label(y: float, height: float, text: str) -> str:
    return f'<text x="{LEFT - 8}" y="{y + height / 2 + 4:.1f}" text-anchor="end" font-weight="bold" fill="#222">{escape(text)}</text>'


def _rates(events: list[Event], window: Window) -> list[str]:
    """HBM traffic of the whole chip, as a step line."""
    points = [(event["ts"], event["args"]["read"] + event["args"]["written"]) for event in events if event["ph"] == "C" and event["name"] == "HBM, GB/s"]
    most = max((rate for _, rate in points), default=0.0) or 1.0
    base = TOP + RATE_HEIGHT
    path, last = [f"M{LEFT} {base}"], 0.0
    for ts, rate in points:
        height = rate / most * (RATE_HEIGHT - 6)
        if ts >= window.begin:
            path.append(f"H{window.x(ts):.1f}" + (f"V{base - height:.1f}" if ts <= window.end else ""))
        else:
            path[0] = f"M{LEFT} {base}V{base - height:.1f}"
        last = ts
    end = f"H{window.x(last):.1f}V{base}Z"
    return [
        _label(TOP, RATE_HEIGHT - 14, "HBM"),
        f'<text x="{LEFT - 8}" y="{TOP + RATE_HEIGHT / 2 + 10}" text-anchor="end" fill="#666">to {most / 1000:.1f} TB/s</text>',
        f'<path d="{"".join(path)}{end}" fill="#d9c8ec" stroke="#8b5fbf"/>',
    ]


def _slice(event: Event, y: float, window: Window) -> str:
    x, width = window.x(event["ts"]), window.x(event["ts"] + event["dur"]) - window.x(event["ts"])
    kind = event["args"].get("reason", event["cat"]) if event["cat"] == "loss" else event["cat"]
    fill = "url(#w)" if kind == "wait" else VECTOR if _is_vector(event) else COLOURS[kind]
    shape = f'<rect x="{x:.2f}" y="{y}" width="{max(width, 0.4):.2f}" height="{ROW}" fill="{fill}"><title>{escape(event["name"])}</title></rect>'
    text = _words(event, kind)
    if len(text) * CHARACTER + 6 > width:
        return shape
    colour = "#666" if kind == "wait" else "#fff"
    return shape + f'<text x="{x + width / 2:.1f}" y="{y + ROW / 2 + 4}" text-anchor="middle" font-size="10" fill="{colour}">{escape(text)}</text>'


def _is_vector(event: Event) -> bool:
    return bool(event["cat"] == "instruction" and "repeats" in event["args"])


def _words(event: Event, kind: str) -> str:
    if kind == "wait":
        return str(event["name"]).rpartition(": ")[2]
    return str(event["name"]) if kind == "instruction" else ""


def _arrows(events: list[Event], places: dict[int, float], window: Window) -> list[str]:
    ends = {event["id"]: event for event in events if event["ph"] == "f" and event["tid"] in places}
    found = []
    for start in (event for event in events if event["ph"] == "s" and event["id"] in ends):
        end = ends[start["id"]]
        if window.begin <= start["ts"] and end["ts"] <= window.end:
            down = places[end["tid"]] > places[start["tid"]]
            y1, y2 = places[start["tid"]] + (ROW if down else 0), places[end["tid"]] + (0 if down else ROW)
            line = f"M{window.x(start['ts']):.1f} {y1}L{window.x(end['ts']):.1f} {y2}"
            found.append(f'<path d="{line}" stroke="#333" stroke-width="1" fill="none" marker-end="url(#a)"/>')
    return found


def _legend(y: float) -> list[str]:
    parts, x = [f'<rect x="{LEFT}" y="{y - 9}" width="14" height="11" fill="{VECTOR}"/>'], float(LEFT)
    for kind, text in LEGEND:
        fill = "url(#w)" if kind == "wait" else COLOURS[kind]
        shift = 16 if kind == "instruction" else 0
        parts.append(f'<rect x="{x + shift}" y="{y - 9}" width="14" height="11" fill="{fill}"/><text x="{x + shift + 19}" y="{y}" fill="#333">{text}</text>')
        x += shift + 30 + len(text) * 6.1
    parts.append(f'<path d="M{x} {y - 4}h22" stroke="#333" marker-end="url(#a)"/><text x="{x + 28}" y="{y}" fill="#333">flag</text>')
    return parts


def main() -> None:
    """Print the picture."""
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    trace = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.stdout.write(picture(trace, int(sys.argv[2]), Window(float(sys.argv[3]), float(sys.argv[4]))))


if __name__ == "__main__":
    main()
