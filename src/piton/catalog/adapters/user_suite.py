"""User-defined suites: a folder with suite.toml, written out as the four artifacts and read like any other suite.

One file says everything that is not code: task, cases, precision, scoring. Each operator's golden stays a Python file of the user's.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from piton.catalog.adapters.recognise import USER_FILE
from piton.catalog.adapters.user_example import EXAMPLE_GOLDEN, EXAMPLE_SUITE
from piton.catalog.schema import Schema, parse_schema
from piton.catalog.source import read_text, show
from piton.catalog.suite import load_suite
from piton.catalog.toml_file import parse_toml
from piton.core.canonical import digest, digest_bytes
from piton.core.errors import FormatError, UsageError
from piton.core.suite import Suite

_FORMAT_VERSION = 1
_DEFAULT_RANGE = [-1.0, 1.0]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SuiteTable(_Form):
    """[suite]"""

    name: str = Field(min_length=1, max_length=100)
    version: str = Field(min_length=1, max_length=100)


class ScoringTable(_Form):
    """[scoring]: whose times the cases quote. The score formula itself is the same for every suite."""

    hardware: str = Field(default="ascend910b2", pattern=r"^[\w.-]{1,64}$")


class CaseTable(_Form):
    """[[operator.case]]"""

    id: str | int = ""
    """By default its number."""
    shapes: list[Any]
    dtypes: list[Any]
    ranges: list[Any] = Field(default_factory=lambda: list(_DEFAULT_RANGE))
    attributes: dict[str, Any] = Field(default_factory=dict)
    seed: int = Field(default=0, ge=0, lt=2**63)
    note: str = ""
    t_hw_us: float | None = Field(default=None, gt=0)
    t_baseline_us: float | None = Field(default=None, gt=0)


class TensorTable(_Form):
    """One tensor of [operator.tensors]."""

    dtypes: list[str]
    description: str = ""


class OperatorTable(_Form):
    """[[operator]]"""

    operator_schema: str = Field(alias="schema")
    golden: str
    """Python file with a function of the operator's name, relative to suite.toml."""
    description: str = ""
    """Markdown file, or the text itself."""
    level: int = Field(default=1, ge=0, le=999)
    category: str = ""
    dtypes: list[str] = Field(default_factory=list)
    """Of every tensor that [operator.tensors] does not list."""
    tensors: dict[str, TensorTable] = Field(default_factory=dict)
    precision: dict[str, float] = Field(default_factory=dict)
    """tau by element type; the standard's where nothing is said."""
    case: list[CaseTable] = Field(min_length=1)


class UserFile(_Form):
    """suite.toml"""

    format: Literal[1] = _FORMAT_VERSION  # type: ignore[assignment]  # the constant is that number
    suite: SuiteTable
    scoring: ScoringTable = ScoringTable()
    operator: list[OperatorTable] = Field(min_length=1)


def write_example(folder: Path) -> tuple[Path, ...]:
    """Write a commented example of a user-defined suite; the files written. Raises UsageError when one of them is there already."""
    files = {folder / USER_FILE: EXAMPLE_SUITE, folder / "scaled_relu.py": EXAMPLE_GOLDEN}
    present = next((path for path in files if path.exists()), None)
    if present is not None:
        raise UsageError("a file is there already", where=str(present), action="choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return tuple(files)


def write_user_suite(root: Path, store: Path) -> Suite:
    """The suite of `root`/suite.toml, written out below `store` under the name of its content. Raises FormatError that names suite.toml."""
    file = root / USER_FILE
    form = _read(file)
    schemas = [_schema(item, file) for item in form.operator]
    goldens = [_inside(root, item.golden, file) for item in form.operator]
    place = store / f"user-{digest([_FORMAT_VERSION, form.model_dump(mode='json'), [digest_bytes(path.read_bytes()) for path in goldens]])}"
    if not place.is_dir():
        _write_all(form, schemas, goldens, root, place)
    try:
        suite = load_suite(place)
    except FormatError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise _in_user_words(error, file) from None
    return suite


def _read(file: Path) -> UserFile:
    try:
        return UserFile.model_validate(parse_toml(read_text(file), str(file)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(step) for step in first["loc"])
        found = "nothing" if first["type"] == "missing" else show(first["input"])
        raise FormatError(f"{name} is wrong", expected=first["msg"], found=found, where=str(file), action=f"correct {file.name}") from None


def _schema(item: OperatorTable, file: Path) -> Schema:
    try:
        return parse_schema(item.operator_schema)
    except ValueError as error:
        expected = "name(Tensor x, int k=1) -> Tensor y"
        raise FormatError(f"schema: {error}", expected=expected, found=show(item.operator_schema), where=str(file), action=f"correct {file.name}") from None


def _inside(root: Path, name: str, file: Path) -> Path:
    path = (root / name).resolve()
    if not path.is_file() or not path.is_relative_to(root.resolve()):
        raise FormatError("a golden that is not there", expected="a Python file below the folder", found=name, where=str(file), action="correct `golden`")
    return path


def _write_all(form: UserFile, schemas: list[Schema], goldens: list[Path], root: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=place.parent, prefix="new-"))
    staging.chmod(0o755)  # golden workers are another user
    try:
        _dump(staging / "suite.yaml", {"name": form.suite.name, "version": form.suite.version})
        for item, schema, golden in zip(form.operator, schemas, goldens, strict=True):
            _write_operator(item, schema, golden, root, staging / f"level{item.level}" / schema.name)
        _write_quoted(form, schemas, staging)
        staging.rename(place)
    except OSError:
        if not place.is_dir():  # otherwise another process wrote the same suite meanwhile
            raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _write_operator(item: OperatorTable, schema: Schema, golden: Path, root: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(golden, folder / "golden.py")
    _dump(folder / "proto.yaml", {"operator": _proto(item, schema)})
    _dump(folder / "cases.yaml", {"cases": [_case(case, number, schema) for number, case in enumerate(item.case, 1)]})
    text = root / item.description
    is_file = item.description.endswith(".md") and text.is_file()
    (folder / "desc.md").write_text(read_text(text) if is_file else f"# {schema.name}\n\n{item.description}\n", encoding="utf-8")


def _proto(item: OperatorTable, schema: Schema) -> dict[str, Any]:
    tensors = [argument for argument in schema.arguments if argument.is_tensor]
    attributes = [argument for argument in schema.arguments if not argument.is_tensor]
    return {
        "name": _title(schema.name),
        "category": item.category,
        "schema": item.operator_schema,
        "inputs": [_tensor(argument.name, item) for argument in tensors],
        "outputs": [_tensor(result.name, item) for result in schema.results],
        "attrs": [{"name": argument.name, "type": argument.attr_type} for argument in attributes],
        "precision_thresholds": item.precision,
    }


def _tensor(name: str, item: OperatorTable) -> dict[str, Any]:
    table = item.tensors.get(name)
    return {"name": name, "dtype": table.dtypes if table else item.dtypes, "description": table.description if table else ""}


def _case(case: CaseTable, number: int, schema: Schema) -> dict[str, Any]:
    return {
        "operator": _title(schema.name),
        "case_id": case.id or number,
        "input_shape": case.shapes,
        "dtype": case.dtypes,
        "attrs": case.attributes,
        "value_range": case.ranges,
        "note": case.note,
        "seed": case.seed,
    }


def _write_quoted(form: UserFile, schemas: list[Schema], place: Path) -> None:
    """metadata/<hardware>.json with the times that the user knows; an operator without any has no entry."""
    levels: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for item, schema in zip(form.operator, schemas, strict=True):
        for number, case in enumerate(item.case, 1):
            times = {"t_hw_us": case.t_hw_us or 0.0, "baseline_perf_us": case.t_baseline_us or 0.0}
            if any(times.values()):
                levels.setdefault(f"level{item.level}", {}).setdefault(schema.name, {})[str(case.id or number)] = times
    if levels:
        (place / "metadata").mkdir()
        (place / "metadata" / f"{form.scoring.hardware}.json").write_text(json.dumps(levels, indent=1), encoding="utf-8")


def _title(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _dump(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")


def _in_user_words(error: FormatError, file: Path) -> FormatError:
    """The same complaint about the user's file: the one it was found in is ours, and gone."""
    place = Path(error.where.partition(":")[0])
    about = place.parent.name if place.suffix in (".yaml", ".csv") else place.name
    case = f", case{error.where.rpartition(', case')[2]}" if ", case" in error.where else ""
    return FormatError(error.problem, expected=error.expected, found=error.found, where=f"{file}, operator {about}{case}", action=f"correct {file.name}")
