"""Baseline files: a versioned set of T_baseline as JSON (docs/formats.md). Every schema version that was ever written stays readable."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from piton.catalog.source import read_text, show
from piton.core.baseline import BASELINE_SCHEMA, BaselineSet
from piton.core.canonical import plain
from piton.core.errors import FormatError, UsageError

_LONGEST = 200
"""Characters of a place inside the file that a message shows: names in it are part of that."""
_HEAD = 4096
"""Characters in which the facts about a set stand, before its cases."""
_REFRESH = "make it anew with `piton baseline refresh`"


def baseline_text(baselines: BaselineSet) -> str:
    """The file of a set."""
    return json.dumps(plain(baselines), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_baselines(path: str | Path) -> BaselineSet:
    """The set in a file.

    Raises UsageError when there is none, FormatError for a file of another form, a schema version that this Piton does not know, or content that does not
    match its digest.
    """
    file = Path(path)
    if not file.is_file():
        raise UsageError("no baseline file here", where=str(file), action="give the file that `piton baseline refresh --out` wrote")
    content = _parse(file)
    version = content.get("schema_version")
    reader = _READERS.get(version) if isinstance(version, int) and not isinstance(version, bool) else None
    if reader is None:
        known = ", ".join(map(str, _READERS))
        action = "use the Piton that wrote it, or a newer one"
        raise FormatError("this Piton can't read the baseline file", expected=f"schema_version {known}", found=show(version), where=str(file), action=action)
    found = reader(content, file)
    if found.content_digest != found.digest():
        where, action = str(file), f"take the file as it was written, or {_REFRESH}"
        raise FormatError(
            "the baseline file was changed after it was written", expected=found.digest(), found=show(found.content_digest), where=where, action=action
        )
    return found


def is_baseline_file(path: Path) -> bool:
    """True for a file that says it is one, readable or not; of one that is cut off the beginning says so."""
    try:
        text = read_text(path)
    except (OSError, FormatError, UsageError):
        return False
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return all(f'"{name}"' in text[:_HEAD] for name in ("schema_version", "suite_digest", "toolchain"))
    return isinstance(content, dict) and {"schema_version", "content_digest", "cases", "toolchain"} <= content.keys()


def _parse(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise FormatError("the baseline file is not readable JSON", where=str(file), found=str(error), action=_REFRESH) from None
    if not isinstance(content, dict):
        raise FormatError("this is no baseline file", expected="an object", found=show(content), where=str(file), action=_REFRESH)
    return content


def _read_first(content: Mapping[str, Any], file: Path) -> BaselineSet:
    """Schema version 1: the record as it stands."""
    try:
        return BaselineSet.model_validate_json(json.dumps(content))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:_LONGEST]
        where = f"{file}: {place}" if place else str(file)
        raise FormatError("the baseline file does not have the form of its schema", where=where, found=first["msg"], action=_REFRESH) from None


_READERS: dict[int, Callable[[Mapping[str, Any], Path], BaselineSet]] = {BASELINE_SCHEMA: _read_first}
"""By schema version. A later version adds its reader here, and makes of the older ones what converts them."""
