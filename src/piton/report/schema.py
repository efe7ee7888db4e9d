"""JSON schema of report.json, generated from the records themselves (docs/report.schema.json is this text)."""

from __future__ import annotations

import json

from piton.core.report import SCHEMA_VERSION, Report


def schema_text() -> str:
    """The schema as a JSON document."""
    schema = Report.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"Piton report, schema version {SCHEMA_VERSION}"
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
