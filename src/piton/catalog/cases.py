"""cases.csv and cases.yaml: rows become cases of a given operator.

Both files may exist. Then cases.csv is the one that counts (it is the artifact of the four), and cases.yaml has to say the same: every case is compared
after reading, notes aside, and a difference is an error, since nobody could tell which of the two was meant.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic import Field, ValidationError, field_validator

from piton.catalog.golden_source import taken_by
from piton.catalog.inputs import InputsError, make_case_inputs
from piton.catalog.source import Form, Located, check_form, read_text, read_yaml, show
from piton.catalog.values import parse_cell, to_attr_value
from piton.core.case import Case
from piton.core.errors import FormatError, PitonError
from piton.core.operator import AttrSpec, AttrValue, Operator

CSV_COLUMNS = ("operator", "case_id", "input_shape", "dtype", "attrs", "value_range", "note")
"""Columns of cases.csv in the published order; attrs, value_range and note may be left out."""
_CELL_COLUMNS = ("input_shape", "dtype", "attrs", "value_range", "seed")
MAX_CASES = 10_000
"""Rows of one file; published operators have 20."""
_REQUIRED_COLUMNS = ("operator", "case_id", "input_shape", "dtype")


class CaseForm(Form):
    """One row, or one entry of `cases`."""

    operator: str
    case_id: int | str
    input_shape: list[Any]
    dtype: list[Any]
    attrs: dict[str, Any] = Field(default_factory=dict)
    value_range: list[Any] | None = None
    note: str = ""
    seed: int = Field(default=0, ge=0, lt=2**63)
    baseline_perf_us: Any = None
    """Placeholder in old files; anchors come from metadata."""
    t_hw_us: Any = None

    @field_validator("case_id")
    @classmethod
    def _is_a_name(cls, value: int | str) -> int | str:
        if not str(value).isprintable() or not 0 < len(str(value)) <= 100:
            raise ValueError("a printable name of at most 100 characters")
        return value

    @field_validator("attrs", mode="before")
    @classmethod
    def _empty(cls, value: Any) -> Any:
        return {} if value is None else value

    @field_validator("note", mode="before")
    @classmethod
    def _no_note(cls, value: Any) -> Any:
        return "" if value is None else value


@dataclass(frozen=True)
class _Row:
    """A form with the place it came from."""

    form: CaseForm
    where: str

    def refuse(self, problem: str, *, expected: str = "", found: object = "") -> NoReturn:
        """Raise a FormatError for this case."""
        where = f"{self.where}, case {self.form.case_id}"
        raise FormatError(show(problem, 300), expected=show(expected, 300), found=show(found), where=where, action="correct the case")


def read_cases(folder: Path, operator: Operator, *, is_strict: bool = False) -> tuple[Case, ...]:
    """Cases of `operator` in `folder`, in the order of the file. Raises FormatError with file and line (see the module for precedence)."""
    table, listing = folder / "cases.csv", folder / "cases.yaml"
    if not table.is_file() and not listing.is_file():
        raise FormatError("an operator without cases", expected="cases.csv or cases.yaml", where=str(folder), action="add one of them")
    from_csv = _cases(_csv_rows(table, is_strict=is_strict), operator, table, is_strict) if table.is_file() else None
    from_yaml = _cases(_yaml_rows(listing, is_strict=is_strict), operator, listing, is_strict) if listing.is_file() else None
    if from_csv is not None and from_yaml is not None:
        _agree(from_csv, from_yaml, folder)
    return from_csv or from_yaml or ()


def read_case_table(path: Path, operator: Operator) -> tuple[Case, ...]:
    """Cases of `operator` in a table of its own, such as one that was generated. Raises UsageError or FormatError with file and line."""
    return _cases(_csv_rows(path, is_strict=True), operator, path, True)


def case_places(place: Path) -> dict[str, str]:
    """`file:line` of every case of the file that counts in a folder, or of a table, by id; empty where that cannot be read (the reader of cases says why)."""
    table = place / "cases.csv" if place.is_dir() else place
    try:
        rows = _csv_rows(table, is_strict=False) if table.is_file() else _yaml_rows(place / "cases.yaml", is_strict=False)
    except PitonError:
        return {}
    return {str(row.form.case_id): row.where for row in rows}


def _cases(rows: list[_Row], operator: Operator, path: Path, is_strict: bool) -> tuple[Case, ...]:
    if not rows:
        raise FormatError("no cases in the file", expected="at least one", where=str(path), action="add a case")
    made: dict[str, Case] = {}
    for row in rows:
        case = _case(row, operator, is_strict)
        if case.id in made:
            row.refuse("case id used twice", expected="a new id", found=case.id)
        made[case.id] = case
    return tuple(made.values())


def _agree(table: tuple[Case, ...], listing: tuple[Case, ...], folder: Path) -> None:
    yaml_cases = {case.id: case for case in listing}
    for case in table:
        other = yaml_cases.pop(case.id, None)
        if other is None or other.digest() != case.digest():
            _disagree(folder, case.id, "missing there" if other is None else _difference(case, other))
    for name in yaml_cases:
        _disagree(folder, name, "missing in cases.csv")


def _disagree(folder: Path, case_id: str, found: str) -> NoReturn:
    raise FormatError(
        "cases.csv and cases.yaml differ",
        expected="the same cases in both",
        found=found,
        where=f"{folder / 'cases.yaml'}, case {case_id}",
        action="correct one of them, or remove cases.yaml (cases.csv counts)",
    )


def _difference(table: Case, listing: Case) -> str:
    for name in ("inputs", "attributes", "omitted", "seed"):
        left, right = getattr(table, name), getattr(listing, name)
        if repr(left) != repr(right):
            return f"{name}: {show(right)} here, {show(left)} in cases.csv"
    return "a different operator"


def _yaml_rows(path: Path, *, is_strict: bool) -> list[_Row]:
    located = read_yaml(path)
    entries = located.data.get("cases") if isinstance(located.data, dict) else None
    if not isinstance(entries, list):
        located.refuse("no list of cases", expected="a mapping with the key `cases` and a list", found=located.data)
    _check_count(len(entries) - 1, str(path))
    return [_yaml_row(located, index, is_strict) for index in range(len(entries))]


def _yaml_row(located: Located, index: int, is_strict: bool) -> _Row:
    loc = ("cases", index)
    return _Row(check_form(CaseForm, located, loc, is_strict=is_strict), located.where(loc))


def _csv_rows(path: Path, *, is_strict: bool) -> list[_Row]:
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=is_strict)  # a published note has text after its closing quote
    rows: list[_Row] = []
    try:
        _check_header(list(reader.fieldnames or ()), path, is_strict)
        start = reader.line_num + 1
        for raw in reader:
            _check_count(len(rows), f"{path}:{start}")
            rows.append(_csv_row(raw, f"{path}:{start}"))
            start = reader.line_num + 1
    except csv.Error as error:
        where = f"{path}:{reader.line_num}"
        raise FormatError("not a valid table", expected="comma-separated values", found=str(error), where=where, action="check the quotes") from error
    return rows


def _check_count(found: int, where: str) -> None:
    if found >= MAX_CASES:
        raise FormatError("too many cases", expected=f"at most {MAX_CASES}", found="more", where=where, action="check that it is the right file")


def _check_header(names: list[str], path: Path, is_strict: bool) -> None:
    missing = [name for name in _REQUIRED_COLUMNS if name not in names]
    unknown = [name for name in names if name not in CaseForm.model_fields] if is_strict else []
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if missing or unknown or repeated:
        problem = f"column {show((missing or unknown or repeated)[0])!r} is {'missing' if missing else 'unknown' if unknown else 'there twice'}"
        raise FormatError(problem, expected=",".join(CSV_COLUMNS), found=show(",".join(names)), where=f"{path}:1", action="correct the header")


def _csv_row(raw: dict[str | Any, Any], where: str) -> _Row:
    _check_cells(raw, where)
    cells = {name: _cell(name, text, where) for name, text in raw.items() if text.strip() or name not in _CELL_COLUMNS}
    try:
        return _Row(CaseForm.model_validate(cells), where)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        column = str(first["loc"][0])
        found = "an empty cell" if first["type"] == "missing" else show(first["input"])
        raise FormatError(f"column {column} is wrong", expected=first["msg"], found=found, where=where, action="correct the cell") from error


def _check_cells(raw: dict[str | Any, Any], where: str) -> None:
    broken = next((text for text in raw.values() if isinstance(text, str) and "\n" in text), None)
    if broken is not None:  # a quote that is never closed swallows the rows after it
        raise FormatError("a cell with a line break", expected="one row per line", found=show(broken), where=where, action="close the quotes")
    if None in raw or None in raw.values():
        problem = "more cells than columns" if None in raw else "fewer cells than columns"
        raise FormatError(problem, found=show(raw.get(None, "a short row")), where=where, action="quote cells that contain commas")


def _cell(name: str, text: str, where: str) -> Any:
    if name not in _CELL_COLUMNS:
        return text.strip() if name == "case_id" else text
    try:
        return parse_cell(text)
    except ValueError as error:
        problem = f"column {name} cannot be read: {error}"
        raise FormatError(problem, expected="JSON or a Python literal", found=show(text), where=where, action="correct the cell") from error


def _case(row: _Row, operator: Operator, is_strict: bool) -> Case:
    form = row.form
    if form.operator not in (operator.title, operator.name):
        row.refuse("a case of another operator", expected=operator.title, found=form.operator)
    try:
        inputs, omitted = make_case_inputs(operator, form.input_shape, form.dtype, form.value_range)
    except InputsError as error:
        row.refuse(error.problem, expected=error.expected, found=error.found)
    attributes = _attributes(row, operator, is_strict)
    return Case(operator=operator.name, id=str(form.case_id), inputs=inputs, attributes=attributes, omitted=omitted, seed=form.seed, note=form.note)


def _attributes(row: _Row, operator: Operator, is_strict: bool) -> dict[str, AttrValue]:
    """The case's value for every attribute, else the default.

    Published files leave out attributes without any default (strided_slice); the golden's own default holds then, and so the case has no entry either. They
    also name what no signature has: an argument of `get_input` alone is kept for it; what its **kwargs swallow, or what repeats a size or dtype, is a note for
    people, unless golden.py looks it up.
    """
    given = dict(row.form.attrs)
    made = {spec.name: _attribute(row, spec, given, is_strict) for spec in operator.attributes if is_strict or spec.name in given or _has_default(spec)}
    tensors = {spec.name for spec in operator.inputs}
    for name, value in given.items():
        if name in tensors and value is None:
            continue  # a published spelling of "this optional tensor is left out"
        place = "definition" if is_strict else taken_by(operator.golden_path, operator.name, name)
        if place == "inputs" and _is_plain(value):
            made[name] = tuple(value) if isinstance(value, list) else value
            continue
        if place == "kwargs" or (place in ("", "text") and _repeats_a_form(row, value)):
            continue
        row.refuse(f"unknown attribute {name!r}", expected=", ".join(made) or "no attributes", found=value)
    return made


def _repeats_a_form(row: _Row, value: object) -> bool:
    """True for a number that is a size of one of the inputs, or the name of their dtype: a note for people rather than an attribute."""
    return (isinstance(value, int) and value in _flat(row.form.input_shape)) or (isinstance(value, str) and value in _flat(row.form.dtype))


def _flat(value: object) -> list[object]:
    return [item for part in value for item in _flat(part)] if isinstance(value, list) else [value]


def _is_plain(value: object) -> bool:
    items = value if isinstance(value, list) else [value]
    return all(isinstance(item, (bool, int, float, str)) for item in items)


def _has_default(spec: AttrSpec) -> bool:
    return spec.default is not None or not spec.is_required


def _attribute(row: _Row, spec: AttrSpec, given: dict[str, Any], is_strict: bool) -> AttrValue:
    if spec.name not in given:
        if is_strict and not _has_default(spec):
            row.refuse(f"attribute {spec.name!r} is missing", expected=f"a value of type {spec.type}", found="nothing")
        return spec.default
    value = given.pop(spec.name)
    try:
        return to_attr_value(spec.type, value)
    except ValueError as error:
        row.refuse(f"attribute {spec.name!r}: {error}", expected=spec.type, found=value)
