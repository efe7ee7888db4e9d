"""Published anchors with the cases they belong to: a table of one JSON object per line, or a suite that quotes them in its metadata.

A line of the table has `operator`, `case`, `input_shape`, `dtype`, `attrs`, `value_range` as a row of cases.csv has them, and per platform (`910b2`,
`950pr`, ...) an object with `t_hw_us` and `baseline_us`. Other keys are for people.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from pydantic import Field, ValidationError

from piton.catalog.inputs import InputsError, make_case_inputs
from piton.catalog.metadata import QuotedAnchors, load_metadata, metadata_names, quoted_anchors
from piton.catalog.source import Form, read_text, show
from piton.catalog.values import to_attr_value
from piton.core.case import Case
from piton.core.errors import FormatError, UsageError
from piton.core.operator import AttrValue, Frozen, Operator
from piton.core.suite import Suite

_VALUES = ("t_hw_us", "baseline_us")
_MAX_ROWS = 100_000


class PublishedCase(Frozen):
    """One case with what is published about it."""

    operator: Operator
    case: Case
    quoted: dict[str, QuotedAnchors]
    """By platform, such as `910b2`."""


class _RowForm(Form):
    operator: str
    case: int | str
    input_shape: list[Any]
    dtype: list[Any]
    attrs: dict[str, Any] = Field(default_factory=dict)
    value_range: list[Any] | None = None


def published_of_suite(suite: Suite) -> tuple[PublishedCase, ...]:
    """The suite's cases with what its metadata/*.json say. Raises UsageError for a suite that quotes nothing, FormatError for a broken file."""
    quoted = {name: load_metadata(suite.root, name) for name in metadata_names(suite.root)}
    if not any(quoted.values()):
        where = str(Path(suite.root) / "metadata")
        raise UsageError(f"suite {suite.name} quotes no anchors", expected="metadata/<hardware>.json", where=where, action="give a checkout that has them")
    nothing = QuotedAnchors()
    return tuple(
        PublishedCase(operator=member.operator, case=case, quoted={name: found.get((member.operator.name, case.id), nothing) for name, found in quoted.items()})
        for member in suite.members
        for case in member.cases
    )


def read_published(path: Path, operators: Mapping[str, Operator]) -> tuple[PublishedCase, ...]:
    """The cases of a table. Raises UsageError for a file that is not there, FormatError with file and line for a row that does not fit its operator."""
    rows: dict[tuple[str, str], PublishedCase] = {}
    for number, text in _lines(path):
        row = _Row(path, number, text, operators).read()
        if rows.setdefault((row.operator.name, row.case.id), row) is not row:
            found = f"{row.operator.name} {show(row.case.id)}"
            raise FormatError("a case is there twice", expected="every case once", found=found, where=f"{path}:{number}", action="drop one of the lines")
    if not rows:
        raise FormatError("no cases in the file", expected="one JSON object per line", where=str(path), action="check that it is the right file")
    return tuple(rows.values())


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    lines = read_text(path).splitlines()
    if len(lines) > _MAX_ROWS:
        raise FormatError("too many cases", expected=f"at most {_MAX_ROWS}", found=str(len(lines)), where=str(path), action="check that it is the right file")
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


class _Row:
    """One line on its way to a PublishedCase."""

    def __init__(self, path: Path, number: int, text: str, operators: Mapping[str, Operator]) -> None:
        self._path, self._where, self._operators = path, f"{path}:{number}", operators
        self._data = self._object(text)

    def read(self) -> PublishedCase:
        form = self._form()
        operator = self._operators.get(form.operator)
        if operator is None:
            self._refuse("an operator that the suite does not have", expected=", ".join(self._operators), found=form.operator)
        try:
            inputs, omitted = make_case_inputs(operator, form.input_shape, form.dtype, form.value_range)
        except InputsError as error:
            self._refuse(error.problem, expected=error.expected, found=error.found)
        attributes = self._attributes(operator, form.attrs)
        case = Case(operator=operator.name, id=str(form.case), inputs=inputs, attributes=attributes, omitted=omitted)
        return PublishedCase(operator=operator, case=case, quoted=dict(self._quoted(operator, case)))

    def _refuse(self, problem: str, *, expected: str = "", found: object = "") -> NoReturn:
        raise FormatError(show(problem, 300), expected=show(expected, 300), found=show(found), where=self._where, action="correct the line")

    def _object(self, text: str) -> dict[str, Any]:
        try:
            data = json.loads(text)
        except (RecursionError, ValueError) as error:  # json.JSONDecodeError is one; so are integers of more than 4300 digits
            self._refuse("not valid JSON", expected="a JSON object", found=str(error))
        if not isinstance(data, dict):
            self._refuse("not an object", expected="a JSON object", found=data)
        return data

    def _form(self) -> _RowForm:
        try:
            return _RowForm.model_validate(self._data)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            found = "nothing" if first["type"] == "missing" else first["input"]
            self._refuse(f"field `{'.'.join(map(str, first['loc']))}` is wrong", expected=first["msg"], found=found)

    def _attributes(self, operator: Operator, given: dict[str, Any]) -> dict[str, AttrValue]:
        specs = {spec.name: spec for spec in operator.attributes}
        tensors = {spec.name for spec in operator.inputs}
        made: dict[str, AttrValue] = {}
        for name, value in given.items():
            if name in tensors and value is None:
                continue  # a published spelling of "this optional tensor is left out"
            if name not in specs:
                self._refuse(f"unknown attribute {name!r}", expected=", ".join(specs) or "no attributes", found=value)
            try:
                made[name] = to_attr_value(specs[name].type, value)
            except ValueError as error:
                self._refuse(f"attribute {name!r}: {error}", expected=specs[name].type, found=value)
        return made

    def _quoted(self, operator: Operator, case: Case) -> Iterator[tuple[str, QuotedAnchors]]:
        for platform, values in self._data.items():
            if isinstance(values, dict) and any(name in values for name in _VALUES):
                entry = {"t_hw_us": values.get("t_hw_us"), "baseline_perf_us": values.get("baseline_us")}
                yield platform, quoted_anchors(entry, (operator.name, case.id), self._path, f"{self._path.name}, {platform}")
