"""Are the published schemas and the tables of fields those of the records, complete, and told apart by a lasting id?"""

import json
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from piton.cli.schemas import text_of
from piton.core.errors import UsageError
from piton.core.operator import Frozen
from piton.core.program import ProgramReport
from piton.core.report import CaseResult, Report
from piton.report.comparison import Comparison
from piton.report.schema import document, field_notes, properties_of, records_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROOTS = {"report": Report, "compare": Comparison, "run": ProgramReport}


class Inner(Frozen):
    """A record."""

    depth: int
    """How deep."""


class Outer(Frozen):
    """A record with another in it."""

    inner: tuple[Inner, ...] | None = None
    bare: int = 0


@pytest.mark.parametrize("name", ["report", "compare", "run"])
def test_the_schema_in_docs_is_the_one_of_the_records_and_has_its_id(name: str) -> None:
    text = (DOCS / f"{name}.schema.json").read_text()
    assert text == text_of(name), f"write it again: piton schema {name} > docs/{name}.schema.json"
    schema = json.loads(text)
    assert (schema["$id"], schema["$schema"]) == (f"urn:piton:schema:{name}:1", "https://json-schema.org/draft/2020-12/schema")


@pytest.mark.parametrize(("name", "page"), [("report", "report-schema.md"), ("compare", "compare.md")])
def test_the_tables_of_fields_in_docs_are_those_of_the_records(name: str, page: str) -> None:
    written = (DOCS / page).read_text().partition("## Every field\n\n")[2]
    assert written == text_of(f"{name}-fields"), f"write it again below the heading: piton schema {name}-fields"


@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
def test_every_field_of_every_record_is_explained_in_a_sentence(root: type[BaseModel]) -> None:
    silent = [f"{record.__name__}.{name}" for record in records_of(root) for name in record.model_fields if name not in field_notes(record)]
    assert silent == []
    assert len(records_of(root)) > 5


@pytest.mark.parametrize(("name", "page"), [("report", "report-schema.md"), ("compare", "compare.md")])
def test_every_property_of_the_schema_is_in_the_tables_of_its_record(name: str, page: str) -> None:
    """Looked up in the schema and in the page, not in the records: what a reader of either misses is in neither."""
    sections = re.split(r"^### ", (DOCS / page).read_text(), flags=re.M)[1:]
    tables = {head.strip("`"): set(re.findall(r"^\| `(\w+)` \| \S", body, flags=re.M)) for head, _, body in (part.partition("\n") for part in sections)}
    schema = json.loads((DOCS / f"{name}.schema.json").read_text())
    title = ROOTS[name].__name__
    for record, fields in properties_of(schema).items():
        named = next((known for known in tables if re.sub(r"[^A-Za-z0-9._-]", "_", known) == (record or title)), "")
        assert set(fields) <= tables.get(named, set()), record


def test_a_schema_has_the_words_below_each_field_and_no_others() -> None:
    schema = json.loads(document(Outer, "outer", 7, "Made up"))
    assert schema["$defs"]["Inner"]["properties"]["depth"]["description"] == "How deep."
    assert "description" not in schema["properties"]["bare"]
    assert (schema["$id"], schema["title"]) == ("urn:piton:schema:outer:7", "Made up, schema version 7")
    assert field_notes(CaseResult)["wall_s"].startswith("Wall-clock seconds")


def test_a_schema_that_is_not_there_is_one_clear_message() -> None:
    with pytest.raises(UsageError, match="there is no schema 'metrics'"):
        text_of("metrics")
