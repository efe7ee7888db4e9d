"""metadata/<hardware>.json: anchors that a published suite quotes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from piton.catalog.source import read_text, show
from piton.core.errors import FormatError
from piton.core.measurement import Anchor, AnchorKind, Provenance
from piton.core.operator import Frozen

_KEYS = {AnchorKind.T_HW: "t_hw_us", AnchorKind.T_BASELINE: "baseline_perf_us"}


class QuotedAnchors(Frozen):
    """What a published file says about one case; None where it says nothing, or 0."""

    t_hw: Anchor | None = None
    t_baseline: Anchor | None = None


def load_metadata(root: str | Path, hardware_name: str) -> dict[tuple[str, str], QuotedAnchors]:
    """Quoted anchors by (operator, case id) for a hardware such as `ascend910b2`; empty when the suite at `root` has no file for it.

    The file is metadata/<name>.json, with or without the prefix `ascend`. Raises FormatError for a file of another form.
    """
    path = _find(Path(root), hardware_name)
    return {} if path is None else {key: quoted_anchors(entry, key, path, f"metadata/{path.name}") for key, entry in _entries(path)}


def metadata_names(root: str | Path) -> tuple[str, ...]:
    """Names of the hardware that the suite at `root` has a file for, sorted."""
    return tuple(sorted(path.stem for path in (Path(root) / "metadata").glob("*.json")))


def _find(root: Path, hardware_name: str) -> Path | None:
    names = (hardware_name, hardware_name.removeprefix("ascend"))
    paths = (root / "metadata" / f"{name}.json" for name in names)
    return next((path for path in paths if path.is_file()), None)


def _entries(path: Path) -> Iterator[tuple[tuple[str, str], Any]]:
    for level, operators in _mapping(_read(path), path, "file").items():
        if level.startswith("_"):
            continue
        for operator, cases in _mapping(operators, path, level).items():
            for case_id, entry in _mapping(cases, path, f"{level}.{operator}").items():
                yield (operator, case_id), entry


def _read(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}:{error.colno}"
        raise FormatError("not valid JSON", expected="a JSON object", found=error.msg, where=where, action="correct the syntax there") from error
    except (RecursionError, ValueError) as error:  # thousands of nested brackets; integers of more than 4300 digits
        raise FormatError("not readable JSON", expected="levels, operators, cases", found=str(error), where=str(path), action="check the file") from error


def _mapping(value: Any, path: Path, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(f"{show(name)} has the wrong form", expected="an object", found=show(value), where=str(path), action="correct the file")
    return value


def quoted_anchors(entry: Any, key: tuple[str, str], path: Path, method: str) -> QuotedAnchors:
    """The anchors of one case in a published file; `method` says where they are quoted from. Raises FormatError."""
    values = _mapping(entry, path, ".".join(key))
    made = {kind: _anchor(kind, values, ".".join(key), path, method) for kind in _KEYS}
    return QuotedAnchors(t_hw=made[AnchorKind.T_HW], t_baseline=made[AnchorKind.T_BASELINE])


def _anchor(kind: AnchorKind, values: dict[str, Any], name: str, path: Path, method: str) -> Anchor | None:
    value = values.get(_KEYS[kind])
    if value is None or value == 0:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= sys.float_info.max:
        raise FormatError(
            f"{show(f'{name}.{_KEYS[kind]}')} is wrong", expected="microseconds above 0", found=show(value), where=str(path), action="correct the number"
        )
    return Anchor(kind=kind, value_us=float(value), provenance=Provenance.QUOTED, method=method)
