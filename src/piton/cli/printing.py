"""How commands print: JSON in canonical values, and the short forms of numbers, shapes and anchors in tables."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from piton.core.canonical import plain
from piton.core.measurement import Anchor
from piton.core.operator import AttrValue
from piton.core.visible import visible
from piton.report.terminal import WIDTH

NONE = "–"
RUNNING = "running goldens"
_STEP = 1000
_PREFIXES = ("", "k", "M", "G", "T", "P")


def open_console(*, is_error: bool = False) -> Console:
    """Where a command prints: as wide as the terminal or $COLUMNS, elsewhere (a file, a pipe) as wide as a table needs."""
    console = Console(stderr=is_error)
    return console if console.is_terminal or os.environ.get("COLUMNS") else Console(stderr=is_error, width=WIDTH)


def print_json(value: object) -> None:
    """One JSON document on standard output; infinities and NaN are strings, as in report.json."""
    sys.stdout.write(json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def safe(text: str, style: str = "") -> Text:
    """Text of a file on its way to a terminal: no markup, no control characters."""
    return Text(visible(text), style=style)


def amount(value: float, unit: str = "") -> str:
    """Three digits and a decimal prefix, such as `2.10 M` or `181 MB`."""
    step = 0
    while abs(value) >= _STEP and step < len(_PREFIXES) - 1:
        value, step = value / _STEP, step + 1
    digits = f"{value:.0f}" if step == 0 or value >= 100 else f"{value:.3g}"
    return f"{digits} {_PREFIXES[step]}{unit}".strip()


def microseconds(value: float | None) -> str:
    """A time with two decimals, or a dash."""
    return NONE if value is None else f"{value:.2f}"


def anchored(anchor: Anchor | None) -> str:
    """A time with its origin: numbers of different provenance never share a column unlabelled."""
    return NONE if anchor is None else f"{anchor.value_us:.2f} {anchor.provenance.value}"


def shape_text(shape: Sequence[int]) -> str:
    """`[1024, 33]`."""
    return f"[{', '.join(map(str, shape))}]"


def attributes_text(attributes: dict[str, AttrValue]) -> str:
    """`scale=1.5, approximate=none`."""
    return ", ".join(f"{name}={_value(value)}" for name, value in attributes.items())


def _value(value: AttrValue) -> str:
    return f"[{', '.join(map(_value, value))}]" if isinstance(value, tuple) else f"{value}"


@contextmanager
def goldens_bar(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on a terminal; what it yields takes what is under way, the number of finished cases, and of all."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task(RUNNING, total=None)
        yield lambda name, done, total: progress.update(bar, description=name, completed=done, total=total)
