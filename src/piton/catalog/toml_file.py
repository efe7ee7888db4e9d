"""TOML files: read, and checked against a form with one clear error for the first thing wrong."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from piton.catalog.source import MAX_INT_BITS, read_text, show
from piton.core.errors import FormatError

_UNKNOWN_KEY = "unknown_key"


class TomlForm(BaseModel):
    """Base of every form of a TOML file: unknown keys are errors that name the known ones."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _knows_its_keys(cls, data: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key in data if isinstance(data, dict) else ():
            if key not in known:
                raise PydanticCustomError(_UNKNOWN_KEY, "{known}", {"key": key, "known": one_of(known, key)})
        return data


FormT = TypeVar("FormT", bound=BaseModel)


def one_of(known: Iterable[str], found: str) -> str:
    """`one of a, b, c; nearest: b` for an error about a word that is none of them."""
    words = list(known)
    near = difflib.get_close_matches(found, words, n=1) or [word for word in words if found and found in word]
    return f"one of {', '.join(words)}" + (f"; nearest: {near[0]}" if near else "")


def read_toml(path: Path, form: type[FormT], name: str = "") -> FormT:
    """The file at `path` as a `form`; `name` stands for it in messages. Raises UsageError when it can't be read, FormatError for what is wrong in it."""
    file = name or str(path)
    try:
        return form.model_validate(parse_toml(read_text(path, file), file))
    except ValidationError as error:
        _refuse(error, file)


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """The tables of a TOML document. Raises FormatError."""
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        tables = dict(tomllib.loads(text))
        if _has_huge_number(tables):
            raise ValueError(f"a whole number of more than {MAX_INT_BITS} bits")
        return tables
    except (ValueError, RecursionError) as error:  # beside TOMLDecodeError, which is one, a whole number of more digits than Python converts
        raise FormatError("not valid TOML", expected="a TOML document", found=show(str(error)), where=file, action="correct the syntax there") from None


def _has_huge_number(value: object) -> bool:
    """True for a whole number that Python itself would refuse to print in a message."""
    if isinstance(value, (dict, list)):
        return any(map(_has_huge_number, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int) and value.bit_length() > MAX_INT_BITS


def _refuse(error: ValidationError, file: str) -> NoReturn:
    first = error.errors(include_url=False)[0]
    steps = [str(step) for step in first["loc"]]
    action, expected = f"correct {Path(file).name}", first["msg"].removeprefix("Value error, ")
    if first["type"] == _UNKNOWN_KEY:
        key = str(first["ctx"]["key"])
        raise FormatError(f"unknown key {show('.'.join((*steps, key)))}", expected=expected, found=show(key), where=file, action=action) from None
    found = "nothing" if first["type"] == "missing" else show(first["input"])
    raise FormatError(f"{'.'.join(steps) or 'the file'} is wrong", expected=expected, found=found, where=file, action=action) from None
