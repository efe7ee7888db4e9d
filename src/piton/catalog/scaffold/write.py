"""Render a submission to start from into a new folder."""

from __future__ import annotations

import json
import keyword
import re
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from piton.catalog.scaffold.plan import ROWS, Kind, Layout, Plan, plan_of
from piton.catalog.scaffold.signature import Parameter, Result, cpp_name, parameters_of, results_of, return_type, torch_schema
from piton.core.dtype import DType
from piton.core.errors import UsageError
from piton.core.operator import Operator

_COLUMNS = 160
_PACKAGE = re.compile(r"[a-z_][a-z0-9_]{0,99}")
_TYPES = {
    DType.FLOAT16: {"name": "float16", "element": "kFloat16", "device": "half", "torch": "at::kHalf"},
    DType.BFLOAT16: {"name": "bfloat16", "element": "kBfloat16", "device": "bfloat16_t", "torch": "at::kBFloat16"},
    DType.FLOAT32: {"name": "float32", "element": "kFloat32", "device": "float", "torch": "at::kFloat"},
    DType.INT32: {"name": "int32", "element": "kInt32", "device": "int32_t", "torch": "at::kInt"},
}
"""Element types that kernels are made for, as each side names them."""


@dataclass(frozen=True)
class Scaffold:
    """What was written."""

    folder: Path
    kind: Kind
    files: tuple[str, ...]
    """Paths inside the folder."""
    gap: str
    """What the kernel does instead of the operator; empty for a complete one."""


def write_scaffold(operator: Operator, folder: str | Path, package: str = "cann_bench", suite_option: str = "", layout: Layout = Layout.FOLDERS) -> Scaffold:
    """Write a submission for `operator` to `folder`, which must not exist; `suite_option` goes into the commands of its README.

    Nothing is left behind when it fails. Raises UsageError for a folder that exists, a package name that Python or C++ would not take, and a signature that
    torch has no words for.
    """
    target = Path(folder).expanduser()
    _check(target, package)
    plan = replace(plan_of(operator), layout=layout)
    texts = _render(operator, plan, {"folder": shlex.quote(str(folder)), "name": target.name, "package": package, "suite_option": suite_option})
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=".piton-new-", dir=target.parent))
    try:
        for path, text in texts.items():
            place = staging / "new" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        (staging / "new").rename(target)  # fails for a folder with content that came to be meanwhile
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return Scaffold(folder=target, kind=plan.kind, files=tuple(texts), gap=_gap(operator, plan))


def _check(target: Path, package: str) -> None:
    if target.exists() or target.is_symlink():
        raise UsageError("this folder exists already", where=str(target), action="choose another one with --out; piton new never overwrites")
    if not _PACKAGE.fullmatch(package) or keyword.iskeyword(package) or cpp_name(package) != package:
        raise UsageError("this is no name for a package", expected="small letters, digits and underscores", found=package, action="check --package")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("piton.catalog.scaffold"),
        undefined=StrictUndefined,
        autoescape=False,  # the output is C++, Python and Markdown, never HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters["quoted"] = lambda text: json.dumps(text, ensure_ascii=False)
    environment.filters["wrapped"] = wrapped
    environment.filters["block"] = block
    return environment


def wrapped(head: str, items: Sequence[str], tail: str) -> str:
    """`head` (to its opening bracket), the items separated by commas, and `tail`, in lines of at most 160 columns that start below the first item."""
    lines = [head]
    for index, item in enumerate(items):
        part = item + (tail if index + 1 == len(items) else ", ")
        if index > 0 and len(lines[-1]) + len(part.rstrip()) > _COLUMNS:
            lines.append(" " * len(head))
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines) if items else head + tail


def block(head: str, statement: str) -> str:
    """`head { statement }` in one line if it fits, else in three."""
    line = f"{head} {{ {statement} }}"
    return line if len(line) <= _COLUMNS else f"{head} {{\n    {statement}\n}}"


def _render(operator: Operator, plan: Plan, names: dict[str, str]) -> dict[str, str]:
    """Texts by path."""
    listed = _files(operator.name, names["package"], plan)
    contents = [(path, text) for path, (_, text) in listed.items() if text]
    context = {**names, **_signature(operator), **_kernel(operator, plan), "contents": contents}
    made = {path: _environment().get_template(f"files/{template}.j2").render(context) for path, (template, _) in listed.items()}
    return {path: text.rstrip("\n") + "\n" for path, text in made.items()}


def _files(op: str, package: str, plan: Plan) -> dict[str, tuple[str, str]]:
    """Template and description by path."""
    about = {"README.md": ("README.md", ""), "piton.yaml": ("piton.yaml", "name, package and compile options")}
    if plan.layout is Layout.SINGLE:
        return {**about, f"{op}.asc": ("single.asc", "tiling, device code, launch and torch binding")}
    return {**about, **_folder_files(op, package, plan.kind)}


def _folder_files(op: str, package: str, kind: Kind) -> dict[str, tuple[str, str]]:
    typed = {
        "csrc/common/element_type.h": ("element_type.h", "element types"),
        "csrc/common/torch_arguments.h": ("torch_arguments.h", "checks of arguments"),
    }
    return {
        f"{package}/__init__.py": ("init.py", "the Python package"),
        "csrc/extension.cpp": ("extension.cpp", "makes the library a Python module"),
        "csrc/common/tiling.h": ("tiling.h", "shares and tiles, from the number of cores and the size of the unified buffer"),
        **(typed if kind is not Kind.OTHER else {}),
        **({"csrc/common/float_tiles.h": ("float_tiles.h", "loads and stores of float32 tiles")} if kind is Kind.ROWS else {}),
        f"csrc/ops/{op}/op_kernel/{op}_kernel.cpp": ("kernel.cpp", "device code and its launch"),
        f"csrc/ops/{op}/op_kernel/{op}_launch.h": ("launch.h", "what plugin and launcher share"),
        f"csrc/ops/{op}/op_plugin/{op}_plugin.cpp": ("plugin.cpp", "the torch binding, host only"),
    }


def _signature(operator: Operator) -> dict[str, object]:
    """What templates need of the signature."""
    parameters, results = parameters_of(operator), results_of(operator)
    leader = _leader(operator, parameters)
    return {
        "op": operator.name,
        "title": "".join(part.capitalize() for part in operator.name.split("_")),
        "guard": f"{operator.name.upper()}_SUBMISSION",
        "schema": torch_schema(operator),
        "returns": return_type(operator),
        "declared": [_declared(item) for item in parameters],
        "undeclared": [_declared(item) if item is leader else item.cpp for item in parameters],
        "first": leader.name,
        "first_is_list": leader.is_list,
        "tensors": [item for item in parameters if item.is_tensor],
        "numbers": [item for item in parameters if item.kernel],
        "results": [_renamed(item, parameters) for item in results],
        "python_parameters": _python_parameters(parameters),
        "python_arguments": [f"{item.schema_name}={item.schema_name}" if item.is_keyword_only else item.schema_name for item in parameters],
        "python_returns": _python_returns(results),
    }


def _leader(operator: Operator, parameters: tuple[Parameter, ...]) -> Parameter:
    """The tensor that results are like until somebody says otherwise."""
    found = next((item for item in parameters if item.is_tensor and not item.is_optional), None)
    if found is None:
        raise UsageError(f"no submission can be started for {operator.name}", expected="a tensor among its arguments that is always there", found="none")
    return found


def _declared(item: Parameter) -> str:
    return f"{item.cpp}{'' if item.cpp.endswith('&') else ' '}{item.name}"


def _renamed(item: Result, parameters: tuple[Parameter, ...]) -> Result:
    """A result that shares its name with an argument gets another one: both are variables of one function."""
    is_taken = any(item.name == parameter.name for parameter in parameters)
    return Result(f"{item.name}Out", item.is_list, item.dtype) if is_taken else item


def _python_parameters(parameters: tuple[Parameter, ...]) -> list[str]:
    """Parameters of the wrapper; a default that stands before a parameter without one has to go."""
    last_required = max((index for index, item in enumerate(parameters) if "=" not in item.python and not item.is_keyword_only), default=-1)
    items: list[str] = []
    for index, item in enumerate(parameters):
        if item.is_keyword_only and "*" not in items:
            items.append("*")
        items.append(item.python.split(" = ")[0] if index < last_required else item.python)
    return items


def _python_returns(results: tuple[Result, ...]) -> str:
    types = ["list[torch.Tensor]" if item.is_list else "torch.Tensor" for item in results]
    return types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"


def _kernel(operator: Operator, plan: Plan) -> dict[str, object]:
    """What templates need of the kernel."""
    part = operator.name if plan.kind is Kind.ROWS else "other" if plan.kind is Kind.OTHER else "elementwise"
    output = cpp_name(operator.outputs[0].name)
    device_includes, host_includes = _device_includes(operator, plan.kind), _host_includes(operator, plan)
    return {
        "part": part,
        "formula": plan.formula,
        "is_rows": plan.kind is Kind.ROWS,
        "is_typed": plan.kind is not Kind.OTHER,
        "is_complete": plan.kind.is_complete,
        "types": [_TYPES[item] for item in operator.inputs[0].dtypes if item in _TYPES],
        "output": output,
        "headline": _headline(operator, plan),
        "gap": _gap(operator, plan),
        "way": _WAYS[plan.kind],
        "device_includes": device_includes,
        "host_includes": host_includes,
        "all_includes": sorted({"algorithm", "cstdint", *device_includes, *host_includes}),
    }


_ELEMENTWISE_WAY = """each core takes an equal share of the elements, tile by tile: load, compute, store. A tile fills the unified buffer. 16-bit types
 * are computed in float32 and rounded once."""
_WAYS = {
    Kind.ELEMENTWISE: _ELEMENTWISE_WAY,
    Kind.ELEMENTWISE_GAP: _ELEMENTWISE_WAY,
    Kind.ROWS: """each core takes an equal share of the rows, tile by tile, and computes in float32. A tile fills the unified buffer. Numbers per row go
 * through the scalar unit.""",
    Kind.OTHER: "each core takes an equal share of the bytes, tile by tile.",
}


def _headline(operator: Operator, plan: Plan) -> str:
    if plan.kind is Kind.ROWS:
        return f"{operator.name} {ROWS[operator.name].text}."
    return f"{operator.name}: {plan.formula.text}." if plan.formula else f"{operator.name}: FILL IN what it computes."


def _gap(operator: Operator, plan: Plan) -> str:
    first = next((item.name for item in operator.inputs), "")
    if plan.kind is Kind.ELEMENTWISE_GAP:
        return f"copies {first} element by element"
    return f"copies bytes of {first} to {operator.outputs[0].name}" if plan.kind is Kind.OTHER else ""


def _device_includes(operator: Operator, kind: Kind) -> tuple[str, ...]:
    if kind is Kind.ROWS:
        return ROWS[operator.name].includes
    return ("algorithm",) if kind is Kind.OTHER else ("type_traits",)


def _host_includes(operator: Operator, plan: Plan) -> list[str]:
    if plan.kind is Kind.OTHER:
        lists = any(item.is_list for item in operator.outputs)
        return [*(["tuple"] if len(operator.outputs) > 1 else []), *(["vector"] if lists else [])]
    uses_maths = plan.formula is not None and any("std::" in item.host for item in plan.formula.constants)
    return ["cmath"] if uses_maths else []
