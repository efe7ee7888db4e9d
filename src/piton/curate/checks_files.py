"""Structural checks of an operator's files: artifacts, golden.py against the schema, desc.md, thresholds, degenerate lists. Nothing is run."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from piton.catalog import parse_schema
from piton.catalog.description import FILE as TEXT
from piton.catalog.description import CodeBlock
from piton.catalog.golden_source import NO_DEFAULT, UNREADABLE, FunctionSource
from piton.catalog.schema import Argument
from piton.core.case import Case
from piton.core.dtype import DType
from piton.curate.violation import Problem, Subject
from piton.numerics.impostors import NAMES as IMPOSTORS
from piton.numerics.thresholds import lint_thresholds

SECTIONS = ("Definition", "Interface", "Constraints", "Supported range", "Numerical tolerance", "Edge cases", "Example")
MOST_DEGENERATE = 2
"""Cases per operator and impostor."""
_EXTRA = frozenset({"seed"})
"""What get_input may take beyond the schema."""


def artifacts(subject: Subject) -> Iterator[Problem]:
    """The four artifacts are there."""
    for name in (TEXT, "proto.yaml", "cases.csv", "golden.py"):
        if not (subject.folder / name).is_file():
            yield Problem(problem=f"{name} is missing", expected="desc.md, proto.yaml, cases.csv, golden.py", found="no such file", action="add it")


def golden_signature(subject: Subject) -> Iterator[Problem]:
    """Schema and golden function have the same arguments, in the same order, with the same defaults."""
    path = subject.operator.golden_path
    assert subject.golden is not None
    function = subject.golden.function(subject.operator.name)
    if function is None:
        yield Problem(problem=f"no function {subject.operator.name}", expected=subject.operator.schema_text, where=path, action="define it")
        return
    where, arguments = f"{path}:{function.line}", parse_schema(subject.operator.schema_text).arguments
    wanted = tuple(item.name for item in arguments)
    if function.arguments != wanted and not function.takes_any:
        yield Problem(
            problem="golden and schema differ in their arguments",
            expected=", ".join(wanted),
            found=", ".join(function.arguments),
            where=where,
            action="name and order them alike: a submission is called with the schema's names",
        )
    for argument in arguments:
        found = _default_problem(argument, function)
        if found:
            yield Problem(
                problem=f"golden and schema differ in {argument.name}", expected=found[0], found=found[1], where=where, action="give both one default"
            )


def _default_problem(argument: Argument, function: FunctionSource) -> tuple[str, str] | None:
    """Expected and found default, or None when they agree; a golden may be laxer than its schema where that has no default."""
    if argument.name not in function.arguments or argument.is_tensor or argument.is_required:
        return None
    found = function.defaults[function.arguments.index(argument.name)]
    if found is UNREADABLE:
        return None
    if found is NO_DEFAULT:
        return f"default {argument.default!r}", "no default"
    given = tuple(found) if isinstance(found, list) else found
    return None if given == argument.default else (f"default {argument.default!r}", f"default {given!r}")


def input_builder(subject: Subject) -> Iterator[Problem]:
    """get_input takes what the golden takes, and the seed."""
    assert subject.golden is not None
    function = subject.golden.function("get_input")
    if function is None or function.takes_any:
        return
    known = {item.name for item in parse_schema(subject.operator.schema_text).arguments} | _EXTRA
    unknown = [name for name, value in zip(function.arguments, function.defaults, strict=True) if name not in known and value is NO_DEFAULT]
    if unknown:
        where = f"{subject.operator.golden_path}:{function.line}"
        yield Problem(problem=f"get_input needs {', '.join(unknown)}", expected="arguments of the schema, or seed", found=", ".join(unknown), where=where)


def fixed_seeds(subject: Subject) -> Iterator[Problem]:
    """No seed is written down in golden.py."""
    assert subject.golden is not None
    for line in subject.golden.fixed_seeds:
        yield Problem(
            problem="a seed is written down in golden.py",
            expected="random values that follow the seed of the run",
            found="a call with a number as its seed",
            where=f"{subject.operator.golden_path}:{line}",
            action="take the argument `seed` of get_input",
        )


def index_rules(subject: Subject) -> Iterator[Problem]:
    """Index outputs say what they point at."""
    operator = subject.operator
    inputs, attributes = {spec.name for spec in operator.inputs}, {spec.name: spec for spec in operator.attributes}
    for spec in operator.outputs:
        if spec.indexes and spec.indexes not in inputs:
            yield Problem(problem=f"index output {spec.name} points into {spec.indexes!r}", expected=", ".join(sorted(inputs)), found=spec.indexes)
        if spec.index_axis and (spec.index_axis not in attributes or attributes[spec.index_axis].type != "int"):
            yield Problem(problem=f"axis of index output {spec.name} is no whole-number attribute", expected="an int attribute", found=spec.index_axis)


def thresholds(subject: Subject) -> Iterator[Problem]:
    """A threshold above ten times the standard's has a written reason."""
    for text in lint_thresholds(subject.operator, _reasoned(subject)):
        _, _, problem = text.partition(": ")
        yield Problem(
            problem=problem, expected="at most 10 tau, or a paragraph of desc.md that names the dtype and says why it is relaxed", action="tighten it"
        )


def _reasoned(subject: Subject) -> list[DType]:
    """Dtypes that a paragraph about a relaxed tolerance names."""
    text = subject.description.text if subject.description else ""
    relaxed = [part for part in re.split(r"\n\s*\n", text.lower().replace("not relaxed", "")) if "relax" in part]
    return [dtype for dtype in subject.operator.thresholds if any(dtype.value in part for part in relaxed)]


def desc_sections(subject: Subject) -> Iterator[Problem]:
    """desc.md has its seven sections, in order."""
    if subject.description is None:
        return
    found = tuple(item.title for item in subject.description.sections)
    if found != SECTIONS:
        where = str(subject.folder / TEXT)
        yield Problem(problem="desc.md lacks its sections, or their order", expected=", ".join(SECTIONS), found=", ".join(found) or "none", where=where)


def desc_schema(subject: Subject) -> Iterator[Problem]:
    """desc.md repeats the schema line."""
    if subject.description is not None and subject.operator.schema_text not in subject.description.text:
        where = str(subject.folder / TEXT)
        yield Problem(problem="desc.md does not show the schema", expected=subject.operator.schema_text, where=where, action="copy it from proto.yaml")


def desc_names(subject: Subject) -> Iterator[Problem]:
    """desc.md names every argument."""
    if subject.description is None:
        return
    words = set(re.findall(r"\w+", subject.description.text))
    missing = [item.name for item in parse_schema(subject.operator.schema_text).arguments if item.name not in words]
    if missing:
        where = str(subject.folder / TEXT)
        yield Problem(problem="desc.md does not name every argument", expected="all names of the schema", found=f"not there: {', '.join(missing)}", where=where)


def desc_code(subject: Subject) -> Iterator[Problem]:
    """Python blocks of desc.md are Python, and call the operator with names that it has."""
    if subject.description is None:
        return
    blocks = [block for block in subject.description.blocks if block.language in ("python", "py")]
    if not blocks and subject.is_own:
        yield Problem(problem="desc.md has no example in Python", expected="a block ```python", where=str(subject.folder / TEXT), action="show one call")
    for block in blocks:
        if not _is_schema(block.code):
            yield from _block_problems(subject, block)


def _is_schema(code: str) -> bool:
    """True for a schema line, which published texts fence as Python."""
    try:
        parse_schema(code)
    except ValueError:
        return False
    return True


def _block_problems(subject: Subject, block: CodeBlock) -> Iterator[Problem]:
    path = subject.folder / TEXT
    try:
        tree = ast.parse(block.code)
    except (SyntaxError, ValueError) as error:
        line = block.line + (getattr(error, "lineno", 1) or 1) - 1
        yield Problem(
            problem="a Python block of desc.md is not Python", found=str(error), where=f"{path}:{line}", action="correct it, or name another language"
        )
        return
    known = {item.name for item in parse_schema(subject.operator.schema_text).arguments}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == subject.operator.name):
        unknown = [item.arg for item in call.keywords if item.arg is not None and item.arg not in known]
        if unknown:
            where = f"{path}:{block.line + call.lineno - 1}"
            yield Problem(
                problem="an example calls the operator with a name that it lacks", expected=", ".join(sorted(known)), found=", ".join(unknown), where=where
            )


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""


def degenerate_list(subject: Subject) -> Iterator[Problem]:
    """Entries of `degenerate` name cases and impostors that exist, a sibling of the same dtype, and at most two cases per impostor."""
    cases = {case.id: case for case in subject.cases}
    where = str(subject.folder / "proto.yaml")
    for entry in subject.degenerate:
        unknown = [name for name in entry.impostors if name not in IMPOSTORS]
        if unknown:
            yield Problem(problem=f"degenerate names impostor {unknown[0]!r}", expected=", ".join(IMPOSTORS), found=unknown[0], case=entry.case, where=where)
        missing = [name for name in (entry.case, entry.sibling) if name not in cases]
        if missing:
            yield Problem(problem=f"degenerate names case {missing[0]!r}", expected="cases of the operator", found=missing[0], where=where)
        elif _dtype(cases[entry.case]) is not _dtype(cases[entry.sibling]):
            found = f"{_dtype(cases[entry.case])} and {_dtype(cases[entry.sibling])}"
            yield Problem(problem="the sibling of a degenerate case has another dtype", expected="one dtype", found=found, case=entry.case, where=where)
    for name, times in Counter(name for entry in subject.degenerate for name in entry.impostors).items():
        if times > MOST_DEGENERATE:
            yield Problem(problem=f"too many cases are degenerate for {name}", expected=f"at most {MOST_DEGENERATE}", found=str(times), where=where)


def _dtype(case: Case) -> DType | None:
    return case.inputs[0].dtype if case.inputs else None
