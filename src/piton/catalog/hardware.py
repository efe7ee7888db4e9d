"""Hardware files: one YAML per chip in `piton/hardware`, read into `core.hardware.Hardware`, and the flat table that the engine parses."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from piton.catalog.source import Loc, Located, read_yaml, show
from piton.core.errors import UsageError
from piton.core.hardware import Figure, Hardware

HARDWARE_DIR = Path(__file__).resolve().parent.parent / "hardware"

_INHERIT_KEY = "simulation_from"
"""A file may name a shipped chip whose `simulation` figures it takes over; each then says so in its source."""
_NAME = re.compile(r"[A-Za-z0-9_.]{1,100}")
"""Names of figures: they become words of the engine's table."""
_COMPUTED = ("float32", "float16", "bfloat16")
"""Dtypes that every chip's vector rates have to name."""
_MAY_BE_ZERO = ("simulation", "memory_bytes", "cores_aic", "cores_aiv", "floor_us")
"""Figures that 0 makes sense for; everything else is a rate or a size that something is divided by."""


def hardware_names() -> tuple[str, ...]:
    """Names of the shipped hardware files, sorted."""
    return tuple(sorted(path.stem for path in HARDWARE_DIR.glob("*.yaml")))


def load_hardware(name_or_path: str | Path) -> Hardware:
    """The chip of that name (`ascend910b2`) or of that YAML file.

    Raises UsageError when there is no such file, FormatError with file and line when its content does not fit core.hardware or a figure cannot be one.
    """
    path = _find(name_or_path)
    located = read_yaml(path)
    data = dict(_mapping(located, located.data, ()))
    parent = data.pop(_INHERIT_KEY, None)
    if parent is not None:
        data["simulation"] = _inherited(parent, path, located) | dict(_mapping(located, data.get("simulation", {}), ("simulation",)))
    hardware = _validated(data, located)
    if hardware.name != path.stem:
        located.refuse("a hardware file is named after its chip", ("name",), expected=f"name: {path.stem}", found=f"name: {hardware.name}")
    _check_figures(hardware.model_dump(), (), located)
    _check_rates(hardware, located)
    return hardware


def flat_table(hardware: Hardware) -> str:
    """The figures the engine needs, one `name value` per line in a fixed order; values are exact (round trip through a double)."""
    return "".join(f"{name} {_number(value)}\n" for name, value in _figures(hardware))


def _figures(hardware: Hardware) -> Iterator[tuple[str, float]]:
    yield "clock.core_hz", hardware.clock_hz.value
    yield "cores.aic", hardware.cores_aic
    yield "cores.aiv", hardware.cores_aiv
    for memory, figure in sorted(hardware.memory_bytes.items()):
        yield f"memory.{memory}_bytes", figure.value
    for name, figure in sorted(hardware.simulation.items()):
        yield name, figure.value


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _find(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.suffix in {".yaml", ".yml"}:
        if path.is_file():
            return path
        raise UsageError("no such hardware file", found=str(path), action=f"give a YAML file or one of: {', '.join(hardware_names())}")
    shipped = HARDWARE_DIR / f"{name_or_path}.yaml"
    if str(name_or_path) in hardware_names():
        return shipped
    raise UsageError(
        "unknown hardware", expected=", ".join(hardware_names()), found=str(name_or_path), action="name a shipped chip or give the path of a YAML file"
    )


def _mapping(located: Located, value: object, loc: Loc) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        located.refuse(f"{loc[0] if loc else 'the file'} is not a mapping", loc, expected="`name: value` entries", found=type(value).__name__)
    return value


def _inherited(parent: object, path: Path, located: Located) -> dict[str, Any]:
    known = [name for name in hardware_names() if name != path.stem]
    if parent not in known:  # a shipped chip only: files of others could name one another in a circle
        located.refuse(f"{_INHERIT_KEY} names no chip to take figures from", (_INHERIT_KEY,), expected=", ".join(known), found=parent)
    figures = load_hardware(str(parent)).simulation
    if not figures:
        located.refuse(f"{parent} has no timing model to take figures from", (_INHERIT_KEY,), expected="a chip with `simulation` figures", found=parent)
    return {name: Figure(value=figure.value, source=f"carried over from {parent}: {figure.source}") for name, figure in figures.items()}


def _validated(data: dict[str, Any], located: Located) -> Hardware:
    try:
        return Hardware.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        loc = tuple(first["loc"])
        found = "nothing" if first["type"] == "missing" else show(first["input"])
        located.refuse(f"field `{'.'.join(map(str, loc))}` is wrong", loc, expected=first["msg"], found=found)


def _check_figures(data: object, loc: Loc, located: Located) -> None:
    """Refuse a figure that is infinite, NaN, negative, or 0 where it can't be, and a name that would break the engine's table."""
    if isinstance(data, dict):
        for name, value in data.items():
            if loc and not _NAME.fullmatch(name):
                located.refuse("a name of a figure", (*loc, name), expected="letters, digits, `_` and `.`", found=name)
            _check_figures(value, (*loc, name), located)
    elif isinstance(data, (int, float)):
        _check_number(data, loc, located)


def _check_rates(hardware: Hardware, located: Located) -> None:
    """Refuse a chip without a vector rate for a floating-point dtype: work formulas count in these, and a limit can't be said without them."""
    for block in ("convention", "silicon"):
        rates = getattr(hardware, block).vector_lanes_per_s
        for dtype in _COMPUTED:
            if dtype not in rates:
                loc: Loc = (block, "vector_lanes_per_s")
                located.refuse(f"{block} has no vector rate for {dtype}", loc, expected=f"a figure for {', '.join(_COMPUTED)}", found=", ".join(sorted(rates)))


def _check_number(value: float, loc: Loc, located: Located) -> None:
    may_be_zero = any(part in _MAY_BE_ZERO for part in loc)
    if not math.isfinite(value) or value < 0 or (value == 0 and not may_be_zero):
        located.refuse(
            f"{'.'.join(map(str, loc))} can't be a figure", loc, expected="a finite number" + (" of at least 0" if may_be_zero else " above 0"), found=value
        )
