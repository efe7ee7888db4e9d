"""Hardware files: one YAML per chip in `piton/hardware`, read into `core.hardware.Hardware`, and the flat table that the engine parses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from piton.core.errors import FormatError, UsageError
from piton.core.hardware import Figure, Hardware

HARDWARE_DIR = Path(__file__).resolve().parent.parent / "hardware"

_INHERIT_KEY = "simulation_from"
"""A file may name another chip whose `simulation` figures it takes over; each then says so in its source."""


def hardware_names() -> tuple[str, ...]:
    """Names of the shipped hardware files, sorted."""
    return tuple(sorted(path.stem for path in HARDWARE_DIR.glob("*.yaml")))


def load_hardware(name_or_path: str | Path) -> Hardware:
    """The chip of that name (`ascend910b2`) or of that YAML file.

    Raises UsageError when there is no such file, FormatError when its content does not fit core.hardware.
    """
    path = _find(name_or_path)
    data = _read(path)
    parent = data.pop(_INHERIT_KEY, None)
    if parent is not None:
        data["simulation"] = _inherited(str(parent), path) | _mapping(data.get("simulation", {}), path, "simulation")
    hardware = _validated(data, path)
    if hardware.name != path.stem:
        raise FormatError("a hardware file is named after its chip", expected=f"name: {path.stem}", found=f"name: {hardware.name}", where=str(path))
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


def _read(path: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FormatError("not a YAML file", found=" ".join(str(error).split()), where=str(path)) from error
    return _mapping(data, path, "the file")


def _mapping(data: object, path: Path, what: str) -> dict[str, Any]:
    if isinstance(data, Mapping):
        return {str(key): value for key, value in data.items()}
    raise FormatError(f"{what} is not a mapping", expected="`name: value` entries", found=type(data).__name__, where=str(path))


def _inherited(parent: str, path: Path) -> dict[str, Any]:
    if parent == path.stem:
        raise FormatError(f"{_INHERIT_KEY} names the file itself", expected="another chip", found=parent, where=str(path))
    figures = load_hardware(parent).simulation
    return {name: Figure(value=figure.value, source=f"carried over from {parent}: {figure.source}") for name, figure in figures.items()}


def _validated(data: dict[str, Any], path: Path) -> Hardware:
    try:
        return Hardware.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise FormatError(f"field `{place}` is wrong", expected="the form of piton.core.hardware", found=first["msg"], where=str(path)) from error
