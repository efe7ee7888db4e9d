"""The JSON schemas that Piton publishes, by the name of what they describe."""

from __future__ import annotations

from piton.core.errors import UsageError
from piton.report.program import program_schema_text
from piton.report.schema import compare_fields_text, compare_schema_text, fields_text, schema_text

_TEXTS = {
    "report": schema_text,
    "report-fields": fields_text,
    "run": program_schema_text,
    "compare": compare_schema_text,
    "compare-fields": compare_fields_text,
}
"""`...-fields` are tables in Markdown, for the documentation."""


def text_of(name: str) -> str:
    """One schema as a JSON document, or its tables. Raises UsageError for a name that has none."""
    if name not in _TEXTS:
        raise UsageError(f"there is no schema {name!r}", expected=", ".join(_TEXTS), action="check the name")
    return _TEXTS[name]()
