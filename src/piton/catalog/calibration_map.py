"""The mapping file of `piton calibrate`: which rows of a profile are which launch of which program, and which constants may change (docs/calibrate.md)."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pydantic import Field

from piton.catalog.profile_csv import Profile, ProfileRow
from piton.catalog.toml_file import TomlForm, read_toml
from piton.core.calibration import Constant, Observation, split_by_key
from piton.core.errors import FormatError, UsageError
from piton.core.hardware import Hardware

RELATIVE_BOUNDS = (0.25, 4.0)
"""Of a constant that the mapping gives no bounds for: a quarter of its value, and four times it."""
DEFAULT_CONSTANTS = (
    "launch.base_us",
    "launch.per_block_us",
    "mte2.latency_us",
    "mte3.latency_us",
    "hbm.read_cap_bytes_per_s",
    "hbm.total_cap_bytes_per_s",
    "vector.fixed_cycles",
)


class KernelEntry(TomlForm):
    """One launch of one program, and the rows that it stands for."""

    program: str
    """File with `main()`, relative to the mapping file."""
    rows: dict[str, str | int]
    """By column (lower case, without unit): the cell's text, `*` and `?` as in file names. All have to fit."""
    launch: str = ""
    """Name of the kernel in the program; empty for any."""
    index: int = 0
    """Which of its launches, from 1; 0 for the last."""
    group: str = ""
    """Name in the report; the kernel's when empty."""
    arguments: tuple[str, ...] = ()
    """What the program is given."""
    defines: tuple[str, ...] = ()
    """Macros as `NAME` or `NAME=VALUE`."""
    auto_sync: bool = True
    """The compiler's own synchronisation."""
    timing_only: bool = False
    """Time without computing data: for programs whose launches do not depend on results."""


class MappingForm(TomlForm):
    """The whole file."""

    kernel: tuple[KernelEntry, ...] = Field(min_length=1)
    """One table per launch."""
    constants: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Bounds by name; of a name with `.*` those of a common factor. Empty: DEFAULT_CONSTANTS."""


@dataclass(frozen=True)
class MatchedKernel:
    """An entry with what was measured."""

    entry: KernelEntry
    observation: Observation


@dataclass(frozen=True)
class CalibrationMap:
    """A mapping applied to a profile."""

    folder: Path
    kernels: tuple[MatchedKernel, ...]
    constants: dict[str, tuple[float, float]]
    unmatched_rows: int


def read_mapping(path: Path, profile: Profile, held_out_percent: int) -> CalibrationMap:
    """The mapping at `path`, applied. Raises FormatError for a column that the profile lacks, for an entry that no row fits, and for rows used twice."""
    form = read_toml(path, MappingForm)
    used: dict[int, int] = {}
    matched: list[tuple[KernelEntry, list[ProfileRow]]] = []
    for number, entry in enumerate(form.kernel, 1):
        rows = _rows_of(entry, profile, f"{path}: kernel {number}")
        for row in rows:
            if row.line in used:
                found = f"line {row.line} of {profile.file} fits kernels {used[row.line]} and {number}"
                raise FormatError("a row stands for two kernels", found=found, where=str(path), action="make `rows` narrower")
            used[row.line] = number
        matched.append((entry, rows))
    is_held_out = split_by_key([_key(entry) for entry, _ in matched], held_out_percent)
    kernels = tuple(MatchedKernel(entry, _observation(entry, rows, is_held_out[_key(entry)])) for entry, rows in matched)
    return CalibrationMap(path.parent, kernels, dict(form.constants), len(profile.rows) - len(used))


def _key(entry: KernelEntry) -> str:
    return " ".join(f"{column}={value}" for column, value in sorted(entry.rows.items()))


def _observation(entry: KernelEntry, rows: Sequence[ProfileRow], is_held_out: bool) -> Observation:
    group = entry.group or entry.launch or entry.program
    return Observation(_key(entry), group, median(row.duration_us for row in rows), len(rows), is_held_out)


def _rows_of(entry: KernelEntry, profile: Profile, where: str) -> list[ProfileRow]:
    wanted = {column.lower(): str(value) for column, value in entry.rows.items()}
    unknown = next((column for column in wanted if column not in profile.columns), None)
    if unknown is not None or not wanted:
        found = f"`{unknown}`" if unknown else "no column"
        raise FormatError("`rows` names a column that is not there", expected=f"of {', '.join(profile.columns)}", found=found, where=where, action="correct it")
    rows = [row for row in profile.rows if _fits(row.fields, wanted)]
    if not rows:
        text = ", ".join(f"{column} = {value}" for column, value in wanted.items())
        raise FormatError("no row of the profile fits", expected=text, found=f"{len(profile.rows)} other rows", where=where, action="correct `rows`")
    return rows


def _fits(fields: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(fields.get(column) == value or fnmatch.fnmatchcase(fields.get(column, ""), value) for column, value in wanted.items())


def constants_of(mapping: CalibrationMap, hardware: Hardware) -> tuple[Constant, ...]:
    """What the fit may change. Raises UsageError for a name that the hardware file lacks, and for bounds that are none."""
    bounds: dict[str, tuple[float, float] | None] = {**mapping.constants} or dict.fromkeys(DEFAULT_CONSTANTS)
    return tuple(_constant(name, found, hardware) for name, found in bounds.items())


def _constant(name: str, bounds: tuple[float, float] | None, hardware: Hardware) -> Constant:
    if name.endswith(".*"):
        if not figures_of(name, hardware):
            raise UsageError("no such constants", expected="the beginning of names in the `simulation` block", found=name, where=hardware.name)
        start = 1.0
    elif name in hardware.simulation:
        start = hardware.simulation[name].value
    else:
        raise UsageError(
            "no such constant", expected="a name of the `simulation` block", found=name, where=hardware.name, action="see `constants` in the mapping"
        )
    low, high = bounds or (start * RELATIVE_BOUNDS[0], start * RELATIVE_BOUNDS[1])
    high = min(high, _ceiling(name, hardware))
    if not 0 <= low < high:
        raise UsageError(
            f"{name} has no room between its bounds", expected="0 <= low < high, below the peaks of the `silicon` block", found=f"{low:g} to {high:g}"
        )
    return Constant(name, low, high, min(max(start, low), high))


def _ceiling(name: str, hardware: Hardware) -> float:
    """No simulated rate beats the peak it is compared with."""
    silicon = hardware.silicon
    ceilings = {
        "hbm.read_cap_bytes_per_s": silicon.hbm_read_bytes_per_s.value,
        "hbm.total_cap_bytes_per_s": silicon.hbm_write_bytes_per_s.value,
        "l2.write_cap_bytes_per_s": silicon.l2_write_bytes_per_s.value,
        "l2.read_cap_bytes_per_s": silicon.cube_path.l2_read_bytes_per_s.value if silicon.cube_path else float("inf"),
    }
    return ceilings.get(name, float("inf"))


def figures_of(name: str, hardware: Hardware) -> tuple[str, ...]:
    """The figures that a constant stands for."""
    if not name.endswith(".*"):
        return (name,)
    return tuple(item for item in hardware.simulation if item.startswith(name[:-1]))
