"""report.json: written atomically, read with one clear error for whatever is wrong with it. Schema: docs/report-schema.md."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from pydantic import ValidationError

from piton.core.canonical import plain
from piton.core.errors import FormatError, UsageError
from piton.core.report import SCHEMA_VERSION, Report

NAME = "report.json"


def report_text(report: Report) -> str:
    """The report as JSON; infinities and NaN are the strings of the canonical form, so that any JSON reader takes it."""
    return json.dumps(plain(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_report(report: Report, path: Path) -> None:
    """Write `report` to `path`; a reader sees the old file or the new one, never half of it."""
    write_text(path, report_text(report))


def write_text(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step; a failure leaves nothing behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def read_report(path: Path) -> Report:
    """The report in `path`, a file or the folder of a run.

    Raises UsageError when there is none, FormatError for a broken file, another schema version, or content that does not match its own digest.
    """
    file = path / NAME if path.is_dir() else path
    if not file.is_file():
        raise UsageError("no report here", where=str(file), action="give the folder of a finished run, or its report.json")
    content = _parse(file)
    found = content.get("schema_version") if isinstance(content, dict) else None
    if found != SCHEMA_VERSION:
        expected = f"schema_version {SCHEMA_VERSION}"
        raise FormatError("this Piton can't read the report", where=str(file), expected=expected, found=repr(found), action="use the Piton that wrote it")
    report = _validate(file, content)
    if empty := [item.operator for item in report.operators if not item.cases]:
        raise FormatError("the report has an operator without cases", where=str(file), expected="at least one", found=empty[0][:60], action="evaluate again")
    if report.result_digest != report.canonical_digest():
        raise FormatError("the report was changed after it was written", where=str(file), expected=report.result_digest, found=report.canonical_digest())
    return report


def _parse(file: Path) -> object:
    try:
        content: object = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError("the report is not readable JSON", where=str(file), found=str(error), action="evaluate again") from None
    return content


def _validate(file: Path, content: object) -> Report:
    try:
        return Report.model_validate_json(json.dumps(content))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise FormatError("the report does not have the form of its schema", where=f"{file}: {place}", found=first["msg"], action="evaluate again") from None
