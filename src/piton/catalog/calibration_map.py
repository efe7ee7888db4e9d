"""The mapping file of `piton calibrate`: which rows of a profile are which launch of which program, and which constants may change (docs/calibrate.md)."""

from __future__ import annotations

import fnmatch
import math
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
_DIVISORS = ("bytes", "_hz")
"""In names of figures that something is divided by: never 0."""
_RESULT_BYTES = 4
"""Of an element in L0C."""
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
    wanted = {column.lower().replace("_", " "): str(value) for column, value in entry.rows.items()}
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
    """What the fit may change. Raises UsageError for a name that the hardware file lacks, for bounds that are none, and for a figure that two names change."""
    bounds: dict[str, tuple[float, float] | None] = {**mapping.constants} or dict.fromkeys(DEFAULT_CONSTANTS)
    owner: dict[str, str] = {}
    for name in bounds:
        for figure in figures_of(name, hardware):
            if (other := owner.setdefault(figure, name)) != name:
                raise UsageError("two constants change the same figure", found=f"{other} and {name} for {figure}", action="keep one of them")
    return tuple(_constant(name, found, hardware) for name, found in bounds.items())


def _constant(name: str, bounds: tuple[float, float] | None, hardware: Hardware) -> Constant:
    start = 1.0 if name.endswith(".*") else hardware.simulation[name].value
    low, high = bounds or (start * RELATIVE_BOUNDS[0], start * RELATIVE_BOUNDS[1])
    if not (math.isfinite(low) and math.isfinite(high)):
        raise UsageError(f"{name} has bounds that are no numbers", expected="two finite numbers", found=f"{low:g} to {high:g}", action="correct [constants]")
    least, most = _limits_of_all(name, hardware)
    low, high = max(low, least), min(high, most)
    is_divisor = any(mark in name for mark in _DIVISORS)
    if not 0 <= low < high or (is_divisor and low == 0):
        expected = f"0 {'<' if is_divisor else '<='} low < high, within the peaks of the `silicon` block"
        raise UsageError(f"{name} has no room between its bounds", expected=expected, found=f"{low:g} to {high:g}", action="correct [constants]")
    return Constant(name, low, high, min(max(start, low), high))


def _limits_of_all(name: str, hardware: Hardware) -> tuple[float, float]:
    """What a constant may be: a figure, or a factor that keeps every figure of its family within its limits."""
    if not name.endswith(".*"):
        return limits_of(name, hardware)
    values = {figure: hardware.simulation[figure].value for figure in figures_of(name, hardware)}
    limits = [(*limits_of(figure, hardware), value) for figure, value in values.items() if value > 0]
    return max((least / value for least, _, value in limits), default=0.0), min((most / value for _, most, value in limits), default=math.inf)


def limits_of(name: str, hardware: Hardware) -> tuple[float, float]:
    """Floor and ceiling of a figure: no simulated rate beats the peak it is compared with, no launch the shortest one."""
    silicon = hardware.silicon
    ceilings = {
        "hbm.read_cap_bytes_per_s": silicon.hbm_read_bytes_per_s.value,
        "hbm.total_cap_bytes_per_s": silicon.hbm_write_bytes_per_s.value,
        "l2.write_cap_bytes_per_s": silicon.l2_write_bytes_per_s.value,
        "l2.bytes": silicon.l2_bytes.value,
    }
    if (path := silicon.cube_path) is not None:
        cores = max(hardware.cores_aic, 1)
        ceilings |= {
            "l2.read_cap_bytes_per_s": path.l2_read_bytes_per_s.value,
            "mte2_l1.l2_rate_bytes_per_s": path.l2_read_bytes_per_s.value / cores,
            "mte1.l0a_rate_bytes_per_s": path.l0a_bytes_per_s.value / cores,
            "mte1.l0b_rate_bytes_per_s": path.l0b_bytes_per_s.value / cores,
            "fix.l0c_rate_bytes_per_s": path.fixp_elements_per_s.value * _RESULT_BYTES / cores,
        }
    return silicon.floor_us.value if name == "launch.minimum_us" else 0.0, ceilings.get(name, math.inf)


def figures_of(name: str, hardware: Hardware) -> tuple[str, ...]:
    """The figures that a constant stands for. Raises UsageError when there are none."""
    is_factor = name.endswith(".*")
    found = tuple(item for item in hardware.simulation if (item.startswith(name[:-1]) if is_factor else item == name))
    if not found:
        expected = "the beginning of names in the `simulation` block" if is_factor else "a name of the `simulation` block"
        raise UsageError("no such constant", expected=expected, found=name, where=hardware.name, action="see `constants` in the mapping")
    return found
