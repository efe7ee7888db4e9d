"""Text files with positions: YAML as plain data that knows its lines, and forms checked against it.

Files come from other people, so the reader builds only scalars, lists and mappings: no tags, and bounded size and depth after aliases are written out.
Everything wrong in a file becomes a FormatError that names file, line and, for YAML syntax, column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from piton.core.errors import FormatError, UsageError

MAX_FILE_BYTES = 16 * 2**20
"""Far above any published file (the largest has 60 KB)."""
MAX_VALUES = 200_000
"""Values in one file, each alias counted as all it stands for; the largest published file has 5,000."""
MAX_DEPTH = 32
"""Nesting of lists and mappings; published files use at most 7."""

MAX_INT_BITS = 1024
"""Of a whole number; longer ones fit no type of ours, not even float64, and Python itself refuses to print those of more than 4300 digits."""
_MAX_NUMBER_LENGTH = 400
"""Characters of a plain scalar that is still looked at as a number."""
_MAX_PROBLEM = 300
"""Characters of a problem in a message: names from a file are part of it."""

Loc = tuple[int | str, ...]
FormT = TypeVar("FormT", bound=BaseModel)

_YAML_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAGS = ("tag:yaml.org,2002:str", "!")


class Form(BaseModel):
    """Base of every file form: unknown keys are kept apart, so that the reader can refuse or ignore them."""

    model_config = ConfigDict(frozen=True, extra="allow")


@dataclass(frozen=True)
class Located:
    """Plain data read from a file, with the 1-based line of every value by its path inside the data."""

    file: str
    data: Any
    lines: dict[Loc, int]

    def where(self, loc: Loc = ()) -> str:
        """`file:line` of the nearest known ancestor of `loc`."""
        for end in range(len(loc), -1, -1):
            if loc[:end] in self.lines:
                return f"{self.file}:{self.lines[loc[:end]]}"
        return self.file

    def refuse(self, problem: str, loc: Loc = (), *, expected: str = "", found: object = "", action: str = "") -> NoReturn:
        """Raise a FormatError at `loc`."""
        problem, expected = show(problem, _MAX_PROBLEM), show(expected, _MAX_PROBLEM)
        raise FormatError(problem, expected=expected, found=show(found), where=self.where(loc), action=action or f"correct {self.file}")


def show(value: object, limit: int = 120) -> str:
    """Short text of a value for an error message."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def read_text(path: Path, name: str = "") -> str:
    """UTF-8 text of `path` (a byte-order mark is dropped); `name` stands for it in messages.

    Raises UsageError when it cannot be read, FormatError when it is too big or not UTF-8.
    """
    name = name or str(path)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError("a file cannot be read", found=error.strerror or str(error), where=name, action="check the path and its permissions") from error
    if len(raw) > MAX_FILE_BYTES:
        raise FormatError("file too large", expected=f"at most {MAX_FILE_BYTES} bytes", found="more", where=name, action="check that it is the right file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise FormatError(
            "not UTF-8 text", expected="UTF-8", found=f"byte {raw[error.start]:#04x}", where=f"{name}:{line}", action="save it as UTF-8"
        ) from error


def read_yaml(path: Path, name: str = "") -> Located:
    """The one YAML document in `path`; `name` stands for it in messages. Raises FormatError for anything but plain scalars, lists and mappings."""
    return parse_yaml(read_text(path, name), name or str(path))


def parse_yaml(text: str, file: str) -> Located:
    """Like `read_yaml`, for text that is already here; `file` is used in messages."""
    try:
        return _Builder(file).document(yaml.parse(text, Loader=_YAML_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        problem = error.problem or error.context or "unreadable"
        raise FormatError("not valid YAML", expected="a YAML document", found=problem, where=place, action="correct the syntax there") from error
    except yaml.YAMLError as error:
        raise FormatError("not valid YAML", expected="printable text", found=show(str(error)), where=file, action="remove the unreadable characters") from error


@dataclass(frozen=True)
class _Anchored:
    """A value that aliases may repeat, with how many values and levels it has."""

    value: Any
    values: int
    depth: int


def _depth(value: Any) -> int:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max((_depth(item) for item in items), default=-1)


class _Builder:
    """Builds data and line table from parser events; iterative parsing keeps nesting under our own limit, not the interpreter's."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.lines: dict[Loc, int] = {}
        self.scalars: Any = yaml.SafeLoader("")
        self.values = 0
        self.anchors: dict[str, _Anchored] = {}

    def document(self, events: Iterator[Any]) -> Located:
        data: Any = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(event, "more than one YAML document", "one document", "drop the `---` that starts another")
                data = self._value(next(events), events, ())
        return Located(self.file, data, self.lines)

    def _value(self, event: Any, events: Iterator[Any], loc: Loc) -> Any:
        self.lines[loc] = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, loc)
        before = self.values
        self._count(1, len(loc), event)
        value = self._node(event, events, loc)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchored(value, self.values - before, _depth(value))
        return value

    def _count(self, values: int, depth: int, event: Any) -> None:
        self.values += values
        if depth > MAX_DEPTH:
            self._refuse(event, "deep nesting", f"at most {MAX_DEPTH} levels", "flatten it")
        if self.values > MAX_VALUES:
            self._refuse(event, "a very large document", f"at most {MAX_VALUES} values", "check the file and its aliases")

    def _alias(self, event: Any, loc: Loc) -> Any:
        known = self.anchors.get(event.anchor)
        if known is None:
            self._refuse(event, f"alias *{event.anchor} without a finished &{event.anchor} before it", "an earlier anchor", "write the value out")
        self._count(known.values, len(loc) + known.depth, event)
        return known.value

    def _node(self, event: Any, events: Iterator[Any], loc: Loc) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if event.tag is not None and event.tag != "!":
            self._refuse(event, f"YAML tag {event.tag}", "plain values", "drop the tag")
        return self._sequence(events, loc) if isinstance(event, yaml.SequenceStartEvent) else self._mapping(events, loc)

    def _sequence(self, events: Iterator[Any], loc: Loc) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(self._value(event, events, (*loc, len(items))))
        return items

    def _mapping(self, events: Iterator[Any], loc: Loc) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        event: Any
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                self._refuse(event, "a list, mapping or alias as a key", "a plain name", "use a name")
            key = str(event.value)
            if key in entries:
                self._refuse(event, f"key {key!r} twice", "each key once", "drop one of them")
            inner = (*loc, key)
            mark: Any = event.start_mark
            entries[key] = self._value(next(events), events, inner)
            self.lines[inner] = mark.line + 1  # a reader looks for the key, also when its value starts below it
        return entries

    def _scalar(self, event: Any) -> Any:
        if event.tag is not None and event.tag not in _TEXT_TAGS:
            self._refuse(event, f"YAML tag {event.tag}", "plain values", "drop the tag")
        if event.tag in _TEXT_TAGS or len(event.value) > _MAX_NUMBER_LENGTH:
            return event.value
        tag = self.scalars.resolve(yaml.ScalarNode, event.value, event.implicit)
        node = yaml.ScalarNode(tag, event.value)
        try:
            return _convert(self.scalars, tag.rpartition(":")[2], node)
        except (ValueError, OverflowError):  # a text that only looks like a number (`0b_`, 5000 digits) is a text
            return event.value

    def _refuse(self, event: Any, problem: str, expected: str, action: str) -> NoReturn:
        mark = event.start_mark
        where = f"{self.file}:{mark.line + 1}:{mark.column + 1}"
        raise FormatError(f"{show(problem, _MAX_PROBLEM)} is not used in these files", expected=expected, where=where, action=action)


def _convert(scalars: Any, kind: str, node: yaml.ScalarNode) -> Any:
    """Value of a plain scalar; dates and the like stay text."""
    if kind == "null":
        return None
    if kind == "bool":
        return scalars.construct_yaml_bool(node)
    if kind == "int":
        return _bounded(scalars.construct_yaml_int(node))
    return scalars.construct_yaml_float(node) if kind == "float" else node.value


def _bounded(value: int) -> int:
    if value.bit_length() > MAX_INT_BITS:
        raise ValueError("too large for a number")
    return value


def check_form(form: type[FormT], located: Located, loc: Loc = (), *, is_strict: bool = False) -> FormT:
    """The value at `loc` as a `form`. Raises FormatError with the line of the first thing wrong; unknown keys count only when `is_strict`."""
    data = located.data
    for step in loc:
        data = data[step]
    if not isinstance(data, dict):
        located.refuse(f"{_dotted(loc) or 'the document'} has the wrong form", loc, expected="a mapping of names to values", found=data)
    try:
        made = form.model_validate(data)
    except ValidationError as error:
        _refuse_invalid(located, loc, error)
    if is_strict:
        _refuse_unknown_keys(made, located, loc)
    return made


def _dotted(loc: Loc) -> str:
    return ".".join(str(step) for step in loc)


def _refuse_invalid(located: Located, loc: Loc, error: ValidationError) -> NoReturn:
    first = error.errors(include_url=False)[0]
    inner: Loc = tuple(first["loc"])
    name = _dotted((*loc, *inner)) or "the document"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    found = "nothing" if first["type"] == "missing" else show(first["input"])
    located.refuse(f"{name} is wrong{more}", (*loc, *inner), expected=first["msg"], found=found)


def _refuse_unknown_keys(made: BaseModel, located: Located, loc: Loc) -> None:
    for key in made.model_extra or {}:
        known = ", ".join(field.alias or name for name, field in type(made).model_fields.items())
        located.refuse(f"unknown key {key!r}", (*loc, key), expected=f"one of {known}", found=key, action="correct the name or drop the line")
    for name, field in type(made).model_fields.items():
        value = getattr(made, name)
        step = field.alias or name
        if isinstance(value, Form):
            _refuse_unknown_keys(value, located, (*loc, step))
        for index, item in enumerate(value if isinstance(value, tuple) else ()):
            if isinstance(item, Form):
                _refuse_unknown_keys(item, located, (*loc, step, index))
