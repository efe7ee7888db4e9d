"""Operator projects: what their host code describes, and the sources that are generated from it.

Problem: a project has a kernel that expects macros and a key (DTYPE_X, TILING_KEY_IS, template arguments), host code that tiles, and nothing that launches.
Approach: the description (include/project/piton_project/describe.h) gives rows of element types, template combinations and tiling structures. Per row a device
source is written that sets the macros, includes the kernel and adds an entry; one binding for torch launches the entries.
Limits: the kernel's name is the operator's, or there is one kernel only; entries of different rows are compiled apart, combinations within one. Tiling keys are
asked for when the kernel runs, unless it asks the preprocessor: then each has an entry.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from piton.core.operator import Operator
from piton.targets.vnpu.declarations import parse
from piton.targets.vnpu.heads import Kind
from piton.targets.vnpu.project_described import Described, Project, Row, Template, folded
from piton.targets.vnpu.project_match import Matched

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
_TYPES = {
    "DT_FLOAT": ("float", 0), "DT_FLOAT16": ("half", 1), "DT_INT8": ("int8_t", 2), "DT_INT32": ("int32_t", 3), "DT_UINT8": ("uint8_t", 4),
    "DT_INT16": ("int16_t", 6), "DT_UINT16": ("uint16_t", 7), "DT_UINT32": ("uint32_t", 8), "DT_INT64": ("int64_t", 9), "DT_UINT64": ("uint64_t", 10),
    "DT_DOUBLE": ("double", 11), "DT_BOOL": ("bool", 12), "DT_BF16": ("bfloat16_t", 27), "DT_INT4": ("AscendC::int4b_t", 29),
}  # fmt: skip
"""Types of host code: how device code calls them, and their documented numbers."""
_CXX_OF = {number: name for name, number in _TYPES.values()}
_TORCH_ATTRIBUTES: dict[str, str] = {
    "int": "int?", "float": "float?", "bool": "bool?", "str": "str?", "int_list": "int[]?", "float_list": "float[]?", "bool_list": "bool[]?",
    "str_list": "str[]?", "dtype": "ScalarType?",
}  # fmt: skip
_FILL = "piton_project"
_FILL_ENTRY = ('#include "piton_project/fill.h"', f"PITON_REGISTER_KERNEL(1, {_FILL}::InitialValue)")
_FILLER = """void piton_fill(uint64_t bytes, uint64_t pattern, void *to) {
    const uint64_t tiles = (bytes + 32767) / 32768, cores = piton_host_platform(PITON_PLATFORM_CORES_AIV);
    PITON_LAUNCH(piton_project::InitialValue)(tiles < cores ? tiles : cores, nullptr, nullptr)(bytes, pattern, piton_project::Addresses<1>{{to}});
}"""
"""Launches the kernel of fill.h, whose tiles have 32 KiB."""
_PER_TYPE = re.compile(r"\b(?:ORIG_)?DTYPE_\w+|\bFORMAT_\w+")
"""What makes a kernel depend on the row that it is compiled for."""


_KEY_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if\b[^\n]*\bTILING_KEY_VAR\b", re.MULTILINE)
_KEYS_NAMED = re.compile(r"\bTILING_KEY_(?:IS|LIST)[ \t]*\(([^()]*)\)|\bTILING_KEY_VAR[ \t]*==[ \t]*(\w+)")
_NUMBER_NAMED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\(?([0-9]\w*)\)?", re.MULTILINE)


def find_kernel(texts: Sequence[str], described: Described) -> str | None:
    """Name of the kernel function in these sources: the operator's in snake case, else the only one."""
    found: list[str] = []
    for text in texts:
        for item in parse(text).declarations:
            if item.kind is Kind.FUNCTION and item.has_body and any(token.text == "__global__" for token in item.tokens):
                found += [name for name in item.names if name not in found]
    named = [name for name in found if folded(name) == folded(described.type)]
    return named[0] if named else found[0] if len(found) == 1 else None


def depends_on_row(texts: Sequence[str]) -> bool:
    """Does the kernel, or a header it may include, mention the macros of element types?"""
    return any(_PER_TYPE.search(text) for text in texts)


def keys_apart(texts: Sequence[str]) -> tuple[int, ...]:
    """Tiling keys that these sources name, where they ask the preprocessor for the key; none where they do not."""
    if not any(_KEY_CONDITION.search(text) for text in texts):
        return ()
    numbers = {name: value for text in texts for name, value in _NUMBER_NAMED.findall(text)}
    named = [word.strip() for text in texts for match in _KEYS_NAMED.finditer(text) for word in (match[1] or match[2] or "").split(",")]
    plain = [re.fullmatch(r"([0-9]+|0[xX][0-9a-fA-F]+)[uUlL]*", numbers.get(word, word)) for word in named]
    return tuple(sorted({int(found[1], 0 if found[1][:2].lower() == "0x" else 10) for found in plain if found}))


class Sources:
    """Generates the sources of one operator."""

    def __init__(self, described: Described, project: Project, kernel: str, *, per_row: bool, keys: Sequence[int] = ()) -> None:
        """`per_row`: a compile for each row of element types; `keys`: one for each of these tiling keys, too."""
        self._described = described
        self._project = project
        self._kernel = kernel
        self._rows = described.rows if per_row else described.rows[:1]
        self._keys: Sequence[int | None] = keys or (None,)

    def entries(self, kernel_sources: Sequence[str]) -> dict[str, str]:
        """One device source per row and key, by its name."""
        return {f"piton_entry_{index}{_suffix(key)}.cpp": self._entry(index, key, kernel_sources) for index, key in self._compiles()}

    def binding(self, operator: Operator, package: str, matched: Matched) -> str:
        """The torch binding under the suite's signature."""
        declared = [f"namespace {self._scope(*one)} {{ void {self._kernel}(uint64_t, uint64_t, {self._addresses()}); }}" for one in self._compiles()]
        launched = [self._launcher(index) for index in range(len(self._rows))]
        entries = ", ".join(f"&piton_launch_{index}" for index in range(len(self._rows)))
        arguments = ", ".join(f'{{"{item.name}", {"true" if item.kind == "dtype" else "false"}}}' for item in matched.arguments)
        filler = "&piton_fill" if self._fills else "nullptr"
        places = ", ".join(f"{{{', '.join(map(str, item))}}}" for item in (matched.inputs, matched.attributes, matched.results))
        lines = [
            "#include <stdexcept>",
            "#include <string>",
            "#include <torch/library.h>",
            '#include "piton_project/addresses.h"',
            '#include "piton_project/binding.h"',
            '#include "vnpu/launch.h"',
            *declared,
            *([f"namespace {_FILL} {{ void InitialValue(uint64_t, uint64_t, {_FILL}::Addresses<1>); }}"] if self._fills else []),
            "namespace {",
            *launched,
            *([_FILLER] if self._fills else []),
            f'const piton_project::Generated piton_generated = {{"{operator.name}", {{{arguments}}}, {places}, {filler}, {{{entries}}}}};',
            "void PitonRun(const c10::OperatorHandle &, torch::jit::Stack *stack) { piton_project::RunBoxed(piton_generated, stack); }",
            "}",
            f"TORCH_LIBRARY_FRAGMENT({package}, m) {{",
            f'    m.def("{signature(operator, matched)}");',
            f'    m.impl("{operator.name}", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,',
            "           torch::CppFunction::makeFromBoxedFunction<&PitonRun>()));",
            "}",
        ]
        return "\n".join(lines) + "\n"

    @property
    def _fills(self) -> bool:
        return any(item.has_initial for item in self._described.outputs)

    def _addresses(self) -> str:
        return f"piton_project::Addresses<{len(self._described.inputs) + len(self._described.outputs) + 2}>"

    def _compiles(self) -> list[tuple[int, int | None]]:
        """Rows with the keys that are compiled apart."""
        return list(product(range(len(self._rows)), self._keys))

    def _scope(self, index: int, key: int | None) -> str:
        """Namespace of an entry, which is what a report shows before the kernel's name."""
        types = dict.fromkeys(name.removeprefix("DT_").lower() for name in self._rows[index].types)
        return ("row" if len(self._rows) == 1 else "_".join(types)) + f"_{index}{_suffix(key)}"

    def _launcher(self, index: int) -> str:
        return (
            f"void piton_launch_{index}(uint32_t blocks, uint64_t key, uint64_t bytes, void *const *arguments) {{\n"
            f"    {self._addresses()} addresses;\n"
            "    std::copy_n(arguments, std::size(addresses.at), addresses.at);\n"
            f"{self._launch(index)}"
            "}"
        )

    def _launch(self, index: int) -> str:
        launches = {key: f"PITON_LAUNCH({self._scope(index, key)}::{self._kernel})(blocks, nullptr, nullptr)(key, bytes, addresses);" for key in self._keys}
        if None in launches:
            return f"    {launches[None]}\n"
        cases = "".join(f"        case {key}: {launch} break;\n" for key, launch in launches.items())
        refused = f'"{self._kernel}: the tiling function set tiling key " + std::to_string(key) + "; the kernel has {", ".join(map(str, launches))}"'
        return f"    switch (key) {{\n{cases}        default: throw std::runtime_error({refused});\n    }}\n"

    def _entry(self, index: int, key: int | None, kernel_sources: Sequence[str]) -> str:
        lines = [
            f'#line 1 "(entry of {self._kernel} for {", ".join(self._rows[index].types)})"',
            "#include <cstdint>",
            '#include "piton_project/kernel_numbers.h"',
            *self._tiling_name(),
            '#include "kernel_tiling/kernel_tiling.h"',
            *self._macros(self._rows[index]),
            *self._structures(),
            '#include "kernel_operator.h"',
            '#include "piton_project/entry.h"',
            *([] if key is None else ["#undef TILING_KEY_VAR", f"#define TILING_KEY_VAR {key}"]),
            *(f'#include "{path}"' for path in kernel_sources),
            f"namespace {self._scope(index, key)} {{",
            f"__global__ __aicore__ void {self._kernel}(uint64_t key, uint64_t bytes, {self._addresses()} addresses) {{",
            "    piton::BeginTiling(key, true, bytes);",
            *self._calls(),
            "    piton::EndTiling();",
            "}",
            "}",
            f"PITON_REGISTER_KERNEL(0, {self._scope(index, key)}::{self._kernel})",
            *(_FILL_ENTRY if self._fills and (index, key) == self._compiles()[0] else ()),
        ]
        return "\n".join(lines) + "\n"

    def _macros(self, row: Row) -> list[str]:
        lines: list[str] = []
        for item, kind, layout in zip((*self._described.inputs, *self._described.outputs), row.types, row.formats, strict=True):
            upper = item.name.upper()
            lines += [f"#define ORIG_DTYPE_{upper} {kind}", f"#define FORMAT_{upper} {layout}"]
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


def _suffix(key: int | None) -> str:
    return "" if key is None else f"_key_{key}"


def _type_call(template: Template, key: int) -> str:
    """What says on which cores a combination runs, whatever its kernel says."""
    kind = template.kernel_types[key] if key < len(template.kernel_types) else -1
    return f"piton::SubmitTaskType(KernelMetaType({kind}), VNPU_TYPE_SELECTED); " if kind >= 0 else ""


def signature(operator: Operator, matched: Matched) -> str:
    """The suite's signature as torch reads it."""
    optional = {item.name for item in operator.inputs if item.is_optional}
    shown: list[str] = []
    for item in matched.arguments:
        tensor = f"Tensor{'[]' if item.kind == 'list' else ''}{'?' if item.name in optional else ''}"
        shown.append(f"{tensor if item.is_tensor else _TORCH_ATTRIBUTES[item.kind]} {item.name}")
    results = ", ".join("Tensor[]" if item.is_list else "Tensor" for item in operator.outputs)
    return f"{operator.name}({', '.join(shown)}) -> {results if len(operator.outputs) == 1 else f'({results})'}"


def _aligned(member_type: str) -> str:
    """Inner structures start at multiples of eight bytes on the host."""
    return f"alignas(8) {member_type}" if member_type in _OF_THE_API else member_type
