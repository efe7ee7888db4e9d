"""What an operator's host code says about its kernel: element types per row, template combinations, tiling structures.

Problem: the kernel can be compiled only for element types and template arguments that its definition allows.
Approach: the definition (OP_ADD) and the template table (ASCENDC_TPL_*) are compiled with our host headers and print themselves, as in a build of an operator
project; of the definition's file only the class is taken, since tiling in the same file may need much more. Tiling structures are read as text (structures.py).
Limits: a program made of foreign code runs here; it runs in the sandbox.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from builder import Builder
from pydantic import ValidationError
from selection import Kernel
from structures import Index

from piton.core.protocols import Limits, ProcessJob, Role, Runner
from piton.targets.vnpu.project_described import Described, Project

_CLASS = re.compile(r"class\s+\w+\s*(?:final\s*)?:\s*public\s+(?:\w+::)*OpDef\b.*?OP_ADD\s*\(\s*\w+\s*\)\s*;", re.DOTALL)
_SETTERS = "SetTiling|SetInferShape|SetInferDataType|SetInferShapeRange|SetCheckSupport"
_FUNCTIONS = re.compile(rf"(?:this->(?:AICore\(\)\s*)?)?\.?(?:{_SETTERS})\s*\(\s*[\w:]+\s*\)\s*;?")
_LISTS = re.compile(r"^(?:static\s+|const\s+|constexpr\s+)+[\w:<> ]+\s+\w+(?:\[\])?\s*(?:=\s*)?\{[^;]*\};", re.MULTILINE)
_LIMITS = Limits(wall_s=30.0, cpu_s=20, memory_bytes=2 << 30, processes=512)
"""The user of the sandbox may have other processes on a busy machine, which count too."""
_MAIN = "int main() { return piton_project::Describe(); }\n"


class DefinitionError(Exception):
    """The definition cannot be read; the text says why."""


@dataclass(frozen=True)
class Described910b:
    """One operator with what its kernel sees of the host."""

    described: Described
    project: Project


def describe(kernel: Kernel, index: Index, builder: Builder, runner: Runner) -> Described910b:
    """Raises DefinitionError."""
    texts = [path.read_text("utf-8", errors="replace") for path in kernel.definitions]
    if not texts:
        raise DefinitionError("no definition (OP_ADD) was found for this kernel")
    tables = _tables(kernel)
    problem = ""
    for wholly in (False, True):
        printed, said = _printed(_source(kernel, texts, tables, wholly=wholly), builder, runner)
        if printed:
            return _chosen(kernel, printed, index)
        problem = problem or said
    raise DefinitionError(problem)


def _source(kernel: Kernel, texts: list[str], tables: list[Path], *, wholly: bool) -> str:
    includes = [f'#include "{path}"' for path in tables]
    if wholly:
        return "\n".join([*includes, *(f'#include "{path}"' for path in kernel.definitions), _MAIN])
    lists = [match for text in texts for match in _LISTS.findall(text)]
    classes = [_FUNCTIONS.sub(";", match) for text in texts for match in _CLASS.findall(text)]
    return "\n".join([*includes, "namespace ops {", *lists, *(_without_functions(item) for item in classes), "}", _MAIN])


def _without_functions(text: str) -> str:
    """A chain that ended in a call that was cut stays one statement."""
    return re.sub(r"this->AICore\(\)\s*;\s*;", "this->AICore();", re.sub(r"this->AICore\(\)\s*;\s*\.", "this->AICore().", text))


def _tables(kernel: Kernel) -> list[Path]:
    """Headers of the kernel with a template table for this chip."""
    seen = included_headers(kernel)
    return [path for path in seen if "ASCENDC_TPL_ARGS_DECL" in path.read_text("utf-8", errors="replace")]


def included_headers(kernel: Kernel) -> list[Path]:
    """Headers of the operator's op_kernel folder that the kernel includes, directly or not."""
    found: dict[Path, None] = {}
    waiting = [kernel.file]
    while waiting:
        file = waiting.pop()
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', file.read_text("utf-8", errors="replace"), re.MULTILINE):
            for folder in (file.parent, kernel.folder / "op_kernel"):
                path = (folder / name).resolve()
                if path.is_file() and path not in found and "arch35" not in path.parts:
                    found[path] = None
                    waiting.append(path)
                    break
    return list(found)


def _printed(source: str, builder: Builder, runner: Runner) -> tuple[Project | None, str]:
    program, said = builder.describer(source)
    if program is None:
        return None, said
    job = ProcessJob(role=Role.BUILD, argv=(str(program),), cwd=str(program.parent), readable=(str(program.parent),), limits=_LIMITS)
    result = runner.run(job)
    try:
        return Project.model_validate(json.loads(result.stdout)), ""
    except (ValueError, ValidationError) as error:
        return None, f"the definition printed something else: {str(error)[:200]} {result.stderr[-200:]}"


def _chosen(kernel: Kernel, printed: Project, index: Index) -> Described910b:
    described = printed.find(kernel.file.stem)
    if described is None and printed.operators:
        described = next((item for item in printed.operators if item.type.lower() in kernel.file.stem.replace("_", "")), printed.operators[0])
    if described is None:
        raise DefinitionError("the definition registers no operator")
    structures, title = index.of(described.type, kernel.folder)
    return Described910b(described.model_copy(update={"structure": title}), Project(operators=(described,), structures=tuple(structures)))
