"""Profiles of the vendor's tools: `op_summary_*.csv` and `kernel_details.csv` of msprof, one row per executed kernel.

Columns are found by name, whatever their order, case, blanks and unit; other tables with a name and a duration work as well.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from piton.catalog.source import show
from piton.core.canonical import digest_bytes
from piton.core.errors import FormatError, UsageError

MAX_BYTES = 512 << 20
MAX_ROWS = 2_000_000
_NAMES = ("op name", "name", "kernel name", "operator")
_DURATIONS = ("task duration", "duration", "aicore time", "op duration", "median")
_BLOCKS = ("block dim", "block num", "mix block dim")
_UNITS = {"ns": 1e-3, "us": 1.0, "μs": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_WITH_UNIT = re.compile(r"^(.*?)\s*[(\s]\s*(ns|us|μs|µs|ms|s)\s*\)?$")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
"""A number with commas for thousands; a comma anywhere else may be a decimal one, which nobody should guess."""
_MISSING = {"", "n/a", "na", "nan", "-", "null"}


@dataclass(frozen=True)
class ProfileRow:
    """One executed kernel."""

    line: int
    """In the file, from 1."""
    name: str
    duration_us: float
    blocks: int | None
    """None where the profile does not say."""
    fields: Mapping[str, str]
    """Every cell by its column's name in lower case, without unit."""


@dataclass(frozen=True)
class Profile:
    """A CSV as it was read."""

    file: str
    digest: str
    columns: tuple[str, ...]
    rows: tuple[ProfileRow, ...]
    skipped: int
    """Rows without a duration: communication, host events."""


def read_profile(path: Path) -> Profile:
    """The table at `path`. Raises UsageError when it can't be read, FormatError for one that is no profile, with the columns it has."""
    data = _bytes_of(path)
    text = _decoded(data, path)
    head = next((line for line in text.splitlines() if line.strip()), "")
    reader = csv.reader(io.StringIO(text), delimiter=max(",;\t", key=head.count))
    try:
        lines = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise FormatError("not a CSV file", found=str(error), where=f"{path}:{reader.line_num}", action="export the profile again") from None
    if len(lines) < 2:
        raise FormatError(
            "a profile without rows", found=f"{len(lines)} lines", where=str(path), action="give op_summary_*.csv or kernel_details.csv of msprof"
        )
    return _Table(path, lines[0][1]).read(lines[1:], digest_bytes(data))


def _bytes_of(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(
                "the profile is too large", expected=f"at most {MAX_BYTES >> 20} MiB", where=str(path), action="keep the rows that are to be fitted"
            )
        return path.read_bytes()
    except OSError as error:
        raise UsageError("can't read the profile", found=error.strerror or str(error), where=str(path), action="check the path") from None


def _decoded(data: bytes, path: Path) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8-sig")
    with suppress(UnicodeDecodeError):
        return data.decode("gb18030")
    raise FormatError("neither UTF-8, UTF-16 nor GB 18030", where=str(path), action="save the table as UTF-8")


class _Table:
    """Where the columns are."""

    def __init__(self, path: Path, header: Sequence[str]) -> None:
        self._path = path
        named = [_column(cell) for cell in header]
        self._columns = [name for name, _ in named]
        self._units = dict(named)
        self._name = self._place(_NAMES, "the name of a kernel (Op Name, Name)")
        self._duration = self._place(_DURATIONS, "a duration (Task Duration(us), Duration(us))")
        self._blocks = next((self._columns.index(name) for name in _BLOCKS if name in self._columns), None)

    def _place(self, wanted: Sequence[str], what: str) -> int:
        for name in wanted:
            if (count := self._columns.count(name)) > 1:
                raise FormatError("two columns of one meaning", expected=what, found=f"{count} x `{name}`", where=f"{self._path}:1", action="keep one of them")
            if count:
                return self._columns.index(name)
        found = show(", ".join(self._columns), 300)
        raise FormatError(
            "a column is missing", expected=what, found=found, where=f"{self._path}:1", action="give op_summary_*.csv or kernel_details.csv of msprof"
        )

    def read(self, lines: Sequence[tuple[int, list[str]]], sha: str) -> Profile:
        """All rows. Raises FormatError for a duration that is no number."""
        if len(lines) > MAX_ROWS:
            raise FormatError(
                "too many rows", expected=f"at most {MAX_ROWS}", found=str(len(lines)), where=str(self._path), action="keep the rows to be fitted"
            )
        rows = [row for line, cells in lines if (row := self._row(line, cells)) is not None]
        if not rows:
            raise FormatError("no row has a duration", found=f"{len(lines)} rows", where=str(self._path), action="give a profile with executed kernels")
        return Profile(str(self._path), sha, tuple(self._columns), tuple(rows), len(lines) - len(rows))

    def _row(self, line: int, cells: Sequence[str]) -> ProfileRow | None:
        if len(cells) < len(self._columns) and max(self._name, self._duration) >= len(cells):
            found, expected = f"{len(cells)} cells", f"{len(self._columns)} as in the header"
            raise FormatError("a row is too short", expected=expected, found=found, where=f"{self._path}:{line}", action="is the file complete?")
        fields = {name: cell.strip() for name, cell in zip(self._columns, cells, strict=False)}
        duration = fields[self._columns[self._duration]].replace(" ", "")
        if duration.lower() in _MISSING:
            return None
        value = _number(duration)
        if value is None or value < 0:
            expected = "a number of at least 0, with a point for decimals (commas for thousands only)"
            raise FormatError(
                "a duration can't be read", expected=expected, found=show(duration), where=f"{self._path}:{line}", action="correct or drop the row"
            )
        if value == 0:
            return None
        blocks = None if self._blocks is None or self._blocks >= len(cells) else _number(cells[self._blocks].strip())
        unit = _UNITS[self._units[self._columns[self._duration]] or "us"]
        return ProfileRow(line, fields[self._columns[self._name]], value * unit, None if blocks is None else int(blocks), fields)


def _column(cell: str) -> tuple[str, str]:
    """Name in lower case with single blanks, also for `_`, and the unit it ends with."""
    name = " ".join(cell.replace("\ufeff", "").replace("_", " ").strip().strip('"').lower().split())
    match = _WITH_UNIT.match(name)
    return (match[1].strip(), match[2]) if match and match[1].strip() else (name, "")


def _number(text: str) -> float | None:
    """Also with commas for thousands; None for what is no finite number."""
    try:
        value = float(text.replace(",", "") if _GROUPED.fullmatch(text) else text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
