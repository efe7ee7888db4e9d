"""JSON schemas of what Piton writes, generated from the records themselves; docs/*.schema.json are these texts.

Each field's description is the docstring below it in the record, so that there is one place to say what it means.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel

from piton.core.report import SCHEMA_VERSION, Report
from piton.report.comparison import SCHEMA_VERSION as COMPARE_VERSION
from piton.report.comparison import Comparison

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})


def schema_text() -> str:
    """The schema of report.json as a JSON document."""
    return document(Report, "report", SCHEMA_VERSION, "Piton report")


def compare_schema_text() -> str:
    """The schema of what `piton compare --json` prints."""
    return document(Comparison, "compare", COMPARE_VERSION, "Piton comparison of reports")


def document(model: type[BaseModel], name: str, version: int, title: str) -> str:
    """The schema of one kind of document. `$id` names kind and version and stays the same while the version does."""
    schema = model.model_json_schema(mode="serialization")
    records = {_defined_name(record): record for record in records_of(model)}
    _describe(schema, model)
    for defined, part in schema.get("$defs", {}).items():
        if defined in records:
            _describe(part, records[defined])
    _spell_infinities(schema)
    schema["$schema"] = DIALECT
    schema["$id"] = f"urn:piton:schema:{name}:{version}"
    schema["title"] = f"{title}, schema version {version}"
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _spell_infinities(part: object) -> None:
    """Let numbers without bounds be the texts that stand for infinities and NaN (`core.canonical.plain`)."""
    if isinstance(part, dict):
        if part.get("type") == "number" and not _BOUNDS & part.keys():
            part.update(type=["number", "string"], pattern="^(-?inf|nan)$")
        part = list(part.values())
    for inner in part if isinstance(part, list) else ():
        _spell_infinities(inner)


def records_of(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The model and every record inside it, each once."""
    found: dict[type[BaseModel], None] = {}
    pending = [model]
    while pending:
        record = pending.pop()
        if record not in found:
            found[record] = None
            pending += [inner for field in record.model_fields.values() for inner in _models(field.annotation)]
    return list(found)


def field_notes(record: type[BaseModel]) -> dict[str, str]:
    """The docstring below each field of a record; fields without one are not in it."""
    notes: dict[str, str] = {}
    for base in reversed(record.__mro__):
        is_written = issubclass(base, BaseModel) and base is not BaseModel and not base.__pydantic_generic_metadata__["args"]
        notes.update(_notes_in(base) if is_written else ())
    return {name: text for name, text in notes.items() if name in record.model_fields}


def _defined_name(record: type[BaseModel]) -> str:
    """What a schema calls a record: generic ones have brackets in their name."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", record.__name__)


def _notes_in(record: type[BaseModel]) -> Iterator[tuple[str, str]]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(record))).body
    assert isinstance(definition, ast.ClassDef)
    for field, note in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(note, ast.Expr) and isinstance(note.value, ast.Constant):
            yield field.target.id, inspect.cleandoc(str(note.value.value)).replace("\n", " ")


def _describe(part: dict[str, Any], record: type[BaseModel]) -> None:
    for name, text in field_notes(record).items():
        part["properties"][name].setdefault("description", text)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """Records named anywhere in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def fields_text() -> str:
    """Every field of report.json as Markdown (the end of docs/report-schema.md)."""
    return _fields(Report)


def compare_fields_text() -> str:
    """The same of what `piton compare --json` prints (the end of docs/compare.md)."""
    return _fields(Comparison)


def _fields(model: type[BaseModel]) -> str:
    """A table for each record, in the order in which they occur."""
    parts = []
    for record in sorted(records_of(model), key=lambda item: (item is not model, item.__name__)):
        about = inspect.cleandoc(record.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        notes = field_notes(record)
        lines = [f"| `{name}` | {_cell(notes.get(name, ''))} |" for name in record.model_fields]
        parts.append("\n".join([f"### `{record.__name__}`", "", about, "", "| field | meaning |", "|---|---|", *lines]))
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def properties_of(schema: Mapping[str, Any]) -> dict[str, list[str]]:
    """Names of the fields by record, the document itself as ""."""
    parts = {"": schema, **schema.get("$defs", {})}
    return {name: list(part["properties"]) for name, part in parts.items() if "properties" in part}
