"""The JSON schemas that Piton publishes, by the name of what they describe."""

from __future__ import annotations

from piton.core.errors import UsageError
from piton.report.program import program_schema_text
from piton.report.schema import compare_schema_text, schema_text

_TEXTS = {"report": schema_text, "run": program_schema_text, "compare": compare_schema_text}


def text_of(name: str) -> str:
    """One schema as a JSON document. Raises UsageError for a name that has none."""
    if name not in _TEXTS:
        raise UsageError(f"there is no schema {name!r}", expected=", ".join(_TEXTS), action="check the name")
    return _TEXTS[name]()
