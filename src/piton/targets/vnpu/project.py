"""Operator projects: what their host code describes, and the sources that are generated from it.

Problem: a project has a kernel that expects macros and a key (DTYPE_X, TILING_KEY_IS, template arguments), host code that tiles, and nothing that launches.
Approach: the description (include/project/piton_project/describe.h) gives rows of element types, template combinations and tiling structures. Per row a device
source is written that sets the macros, includes the kernel and adds an entry; one binding for torch launches the entries.
Limits: the kernel's name is the operator's, or there is one kernel only; entries of different rows are compiled apart, combinations within one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from piton.core.operator import AttrType, Operator
from piton.targets.vnpu.declarations import parse
from piton.targets.vnpu.heads import Kind

DESCRIBER = "piton_describe.cpp"
_NORMS = "ascendc/norms/tilings.h"
_OF_THE_API = {
    "TCubeTiling": "ascendc/matmul/cube_tiling.h", "SoftMaxTiling": _NORMS, "LogSoftMaxTiling": _NORMS, "LayerNormTiling": _NORMS,
    "LayerNormSeparateTiling": _NORMS, "LayerNormGradTiling": _NORMS, "LayerNormGradBetaTiling": _NORMS, "DeepNormTiling": _NORMS,
    "GroupNormTiling": _NORMS, "BatchNormTiling": _NORMS, "RmsNormTiling": _NORMS,
}  # fmt: skip
"""Tiling structures that kernels know without the project, and where from: their host form is made by the same macros."""
DESCRIBER_TEXT = '#include "piton_project/describe.h"\nint main() { return piton_project::Describe(); }\n'
BINDING = "piton_binding.cpp"
_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$", max_length=200)]
_Type = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w: ]*$", max_length=200)]
_TYPES = {
    "DT_FLOAT": ("float", 0), "DT_FLOAT16": ("half", 1), "DT_INT8": ("int8_t", 2), "DT_INT32": ("int32_t", 3), "DT_UINT8": ("uint8_t", 4),
    "DT_INT16": ("int16_t", 6), "DT_UINT16": ("uint16_t", 7), "DT_UINT32": ("uint32_t", 8), "DT_INT64": ("int64_t", 9), "DT_UINT64": ("uint64_t", 10),
    "DT_DOUBLE": ("double", 11), "DT_BOOL": ("bool", 12), "DT_BF16": ("bfloat16_t", 27), "DT_INT4": ("AscendC::int4b_t", 29),
}  # fmt: skip
"""Types of host code: how device code calls them, and their documented numbers."""
_CXX_OF = {number: name for name, number in _TYPES.values()}
_TORCH_ATTRIBUTES: dict[AttrType, str] = {
    "int": "int?", "float": "float?", "bool": "bool?", "str": "str?", "int_list": "int[]?", "float_list": "float[]?", "bool_list": "bool[]?",
    "str_list": "str[]?", "dtype": "ScalarType?",
}  # fmt: skip
_PER_TYPE = re.compile(r"\b(?:ORIG_)?DTYPE_\w+|\bFORMAT_\w+")
"""What makes a kernel depend on the row that it is compiled for."""


class _Described(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FieldOf(_Described):
    """A member of a tiling structure."""

    type: _Type
    name: _Name
    count: int = Field(ge=0, le=4096)


class Structure(_Described):
    """A tiling structure that macros defined."""

    title: _Name
    fields: tuple[FieldOf, ...]


class TemplateParameter(_Described):
    """A parameter of the kernel's template."""

    name: _Name
    is_type: bool


class Template(_Described):
    """Parameters and the combinations to compile; a tiling key is a place in the list."""

    parameters: tuple[TemplateParameter, ...]
    combinations: tuple[tuple[int, ...], ...]
    kernel_types: tuple[int, ...] = ()
    """On which cores each of them runs, as KernelMetaType numbers it; -1: the kernel says so itself."""


class Described(_Described):
    """One OpDef."""

    type: _Name
    file: str
    line: int
    inputs: tuple[_Name, ...]
    outputs: tuple[_Name, ...]
    attributes: tuple[_Name, ...]
    rows: tuple[tuple[_Name, ...], ...]
    """Element types of inputs and then outputs."""
    structure: Annotated[str, StringConstraints(pattern=r"^\w*$", max_length=200)]
    """The tiling structure registered for it; empty if there is none."""
    template: Template | None


class Project(_Described):
    """What the describing program printed."""

    operators: tuple[Described, ...]
    structures: tuple[Structure, ...]

    def find(self, operator: str) -> Described | None:
        """The definition of that name, else the only one."""
        named = [item for item in self.operators if _folded(item.type) == _folded(operator)]
        return named[0] if named else self.operators[0] if len(self.operators) == 1 else None


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def find_kernel(texts: Sequence[str], described: Described) -> str | None:
    """Name of the kernel function in these sources: the operator's in snake case, else the only one."""
    found: list[str] = []
    for text in texts:
        for item in parse(text).declarations:
            if item.kind is Kind.FUNCTION and item.has_body and any(token.text == "__global__" for token in item.tokens):
                found += [name for name in item.names if name not in found]
    named = [name for name in found if _folded(name) == _folded(described.type)]
    return named[0] if named else found[0] if len(found) == 1 else None


def depends_on_row(texts: Sequence[str]) -> bool:
    """Does the kernel, or a header it may include, mention the macros of element types?"""
    return any(_PER_TYPE.search(text) for text in texts)


class Sources:
    """Generates the sources of one operator."""

    def __init__(self, described: Described, project: Project, kernel: str, *, per_row: bool) -> None:
        self._described = described
        self._project = project
        self._kernel = kernel
        self._rows = described.rows if per_row else described.rows[:1]

    def entries(self, kernel_sources: Sequence[str]) -> dict[str, str]:
        """One device source per row, by its name."""
        return {f"piton_entry_{index}.cpp": self._entry(index, kernel_sources) for index in range(len(self._rows))}

    def binding(self, operator: Operator, package: str) -> str:
        """The torch binding under the suite's signature."""
        schema, names = signature(operator)
        declared = [f"namespace {self._scope(i)} {{ void {self._kernel}(uint64_t, uint64_t, {self._addresses()}); }}" for i in range(len(self._rows))]
        launched = [self._launcher(index) for index in range(len(self._rows))]
        entries = ", ".join(f"&piton_launch_{index}" for index in range(len(self._rows)))
        quoted = ", ".join(f'"{name}"' for name in names)
        lines = [
            "#include <torch/library.h>",
            '#include "piton_project/addresses.h"',
            '#include "piton_project/binding.h"',
            '#include "vnpu/launch.h"',
            *declared,
            "namespace {",
            *launched,
            f'const piton_project::Generated piton_generated = {{"{operator.name}", {{{quoted}}}, {{{entries}}}}};',
            "void PitonRun(const c10::OperatorHandle &, torch::jit::Stack *stack) { piton_project::RunBoxed(piton_generated, stack); }",
            "}",
            f"TORCH_LIBRARY_FRAGMENT({package}, m) {{",
            f'    m.def("{schema}");',
            f'    m.impl("{operator.name}", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,',
            "           torch::CppFunction::makeFromBoxedFunction<&PitonRun>()));",
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _addresses(self) -> str:
        return f"piton_project::Addresses<{len(self._described.inputs) + len(self._described.outputs) + 2}>"

    def _scope(self, index: int) -> str:
        """Namespace of an entry, which is what a report shows before the kernel's name."""
        return f"row_{index}" if len(self._rows) == 1 else "_".join(dict.fromkeys(name.removeprefix("DT_").lower() for name in self._rows[index])) + f"_{index}"

    def _launcher(self, index: int) -> str:
        return (
            f"void piton_launch_{index}(uint32_t blocks, uint64_t key, uint64_t bytes, void *const *arguments) {{\n"
            f"    {self._addresses()} addresses;\n"
            "    std::copy_n(arguments, std::size(addresses.at), addresses.at);\n"
            f"    PITON_LAUNCH({self._scope(index)}::{self._kernel})(blocks, nullptr, nullptr)(key, bytes, addresses);\n"
            "}"
        )

    def _entry(self, index: int, kernel_sources: Sequence[str]) -> str:
        lines = [
            f'#line 1 "(entry of {self._kernel} for {", ".join(self._rows[index])})"',
            "#include <cstdint>",
            '#include "piton_project/kernel_numbers.h"',
            *self._tiling_name(),
            '#include "kernel_tiling/kernel_tiling.h"',
            *self._macros(self._rows[index]),
            *self._structures(),
            '#include "kernel_operator.h"',
            '#include "piton_project/entry.h"',
            *(f'#include "{path}"' for path in kernel_sources),
            f"namespace {self._scope(index)} {{",
            f"__global__ __aicore__ void {self._kernel}(uint64_t key, uint64_t bytes, {self._addresses()} addresses) {{",
            "    piton::BeginTiling(key, true, bytes);",
            *self._calls(),
            "    piton::EndTiling();",
            "}",
            "}",
            f"PITON_REGISTER_KERNEL(0, {self._scope(index)}::{self._kernel})",
        ]
        return "\n".join(lines) + "\n"

    def _macros(self, row: Sequence[str]) -> list[str]:
        lines: list[str] = []
        for name, kind in zip((*self._described.inputs, *self._described.outputs), row, strict=True):
            upper = name.upper()
            lines += [f"#define ORIG_DTYPE_{upper} {kind}", f"#define FORMAT_{upper} FORMAT_ND"]
            lines += [f"#define DTYPE_{upper} {_TYPES[kind][0]}"] if kind in _TYPES else []
        return list(dict.fromkeys(lines))

    def _structures(self) -> list[str]:
        """What the tiling macros of the host define, as the kernel sees it."""
        lines: list[str] = []
        for structure in self._project.structures:
            if structure.title in _OF_THE_API:
                lines.append(f'#include "{_OF_THE_API[structure.title]}"')
                continue
            members = " ".join(f"{_aligned(item.type)} {item.name}{f'[{item.count}]' if item.count else ''};" for item in structure.fields)
            lines.append(f"struct alignas(8) {structure.title} {{ {members} }};")
        return lines

    def _tiling_name(self) -> list[str]:
        """What GET_TILING_DATA reads, which the headers want to know before the structure can be defined: it may hold structures of theirs."""
        name = self._described.structure
        return [f"struct {name};", f"#define PITON_PROJECT_TILING {name}"] if name else []

    def _calls(self) -> list[str]:
        template = self._described.template
        if template is None:
            return [f"    piton_project::CallKernel(&::{self._kernel}, addresses);"]
        cases = [
            f"        case {key}: {_type_call(template, key)}piton_project::CallKernel(&::{self._instance(values)}, addresses); break;"
            for key, values in enumerate(template.combinations)
        ]
        return ["    switch (key) {", *cases, "        default: piton_project::FailCombination(key);", "    }"]

    def _instance(self, values: Sequence[int]) -> str:
        template = self._described.template
        assert template is not None
        arguments = [_CXX_OF.get(value, "void") if parameter.is_type else str(value) for parameter, value in zip(template.parameters, values, strict=True)]
        return f"{self._kernel}<{', '.join(arguments)}>" if arguments else self._kernel


def _type_call(template: Template, key: int) -> str:
    """What says on which cores a combination runs, whatever its kernel says."""
    kind = template.kernel_types[key] if key < len(template.kernel_types) else -1
    return f"piton::SubmitTaskType(KernelMetaType({kind}), VNPU_TYPE_SELECTED); " if kind >= 0 else ""


def signature(operator: Operator) -> tuple[str, list[str]]:
    """The suite's signature as torch reads it, and the names of its arguments in order."""
    listed = re.findall(r"\w+", operator.schema_text.rpartition("->")[0] or operator.schema_text)
    shown = {item.name: "Tensor[]" if item.is_list else "Tensor?" if item.is_optional else "Tensor" for item in operator.inputs}
    shown.update({item.name: _TORCH_ATTRIBUTES[item.type] for item in operator.attributes})
    names = sorted(shown, key=lambda name: listed.index(name, 1) if name in listed[1:] else len(listed))
    results = ", ".join("Tensor" for _ in operator.outputs)
    arguments = ", ".join(f"{shown[name]} {name}" for name in names)
    return f"{operator.name}({arguments}) -> {results if len(operator.outputs) == 1 else f'({results})'}", names


def _aligned(member_type: str) -> str:
    """Inner structures start at multiples of eight bytes on the host."""
    return f"alignas(8) {member_type}" if member_type in _OF_THE_API else member_type
