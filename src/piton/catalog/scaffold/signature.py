"""An operator's signature in torch's schema language, in Python and in C++."""

from __future__ import annotations

from dataclasses import dataclass

from piton.catalog.schema import Argument, parse_schema
from piton.core.dtype import DType
from piton.core.errors import UsageError
from piton.core.operator import AttrType, AttrValue, Operator, TensorSpec

_TORCH = {
    "int": "int", "float": "float", "bool": "bool", "str": "str", "dtype": "ScalarType",
    "int_list": "int[]", "float_list": "float[]", "bool_list": "bool[]", "str_list": "str[]",
}  # fmt: skip
_CPP = {
    "int": "int64_t", "float": "double", "bool": "bool", "str": "c10::string_view", "dtype": "at::ScalarType",
    "int_list": "at::IntArrayRef", "float_list": "at::ArrayRef<double>", "bool_list": "c10::List<bool>", "str_list": "c10::List<std::string>",
}  # fmt: skip
_PYTHON = {
    "int": "int", "float": "float", "bool": "bool", "str": "str", "dtype": "torch.dtype",
    "int_list": "list[int]", "float_list": "list[float]", "bool_list": "list[bool]", "str_list": "list[str]",
}  # fmt: skip
_NUMBERS = {"int": "int64_t", "float": "float", "bool": "bool"}
"""Attributes that a kernel can take as they are."""

SCALAR_TYPES = {
    DType.FLOAT16: "at::kHalf", DType.BFLOAT16: "at::kBFloat16", DType.FLOAT32: "at::kFloat", DType.FLOAT64: "at::kDouble",
    DType.FLOAT8_E4M3: "at::kFloat8_e4m3fn", DType.FLOAT8_E5M2: "at::kFloat8_e5m2", DType.FLOAT8_E8M0: "at::kFloat8_e8m0fnu",
    DType.INT8: "at::kChar", DType.UINT8: "at::kByte", DType.INT16: "at::kShort", DType.INT32: "at::kInt", DType.INT64: "at::kLong",
    DType.UINT16: "at::kUInt16", DType.UINT32: "at::kUInt32", DType.UINT64: "at::kUInt64", DType.BOOL: "at::kBool",
}  # fmt: skip


_CPP_WORDS = """
alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default delete do double else enum explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not nullptr operator or private protected public register return short signed
sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while xor
"""
_OWN_WORDS = "at c10 call count kernel leader std stream tiling torch type"
_RESERVED = frozenset((_CPP_WORDS + _OWN_WORDS).split())
"""Keywords of C++, and names that the templates use themselves."""


def cpp_name(name: str) -> str:
    """`name`, or another one where C++ or a template could not take it."""
    return f"{name}Argument" if name in _RESERVED else name


@dataclass(frozen=True)
class Parameter:
    """One argument in the languages of the scaffold."""

    schema_name: str
    """The operator's name for it; torch and Python use it too."""
    name: str
    """In C++: the same, but for names that C++ keeps to itself."""
    is_tensor: bool
    is_list: bool
    is_optional: bool
    torch: str
    """As in a torch schema, with its default."""
    cpp: str
    """C++ type by which the dispatcher passes it."""
    python: str
    """As in a Python signature, with its default."""
    kernel: str = ""
    """C++ type of a number that a kernel takes as it is; empty for everything else."""
    is_keyword_only: bool = False


@dataclass(frozen=True)
class Result:
    """One output."""

    name: str
    is_list: bool
    dtype: str
    """C++ name of its element type; empty when it has that of the first tensor that is always there."""


def parameters_of(operator: Operator) -> tuple[Parameter, ...]:
    """Arguments in schema order."""
    attributes = {item.name: item for item in operator.attributes}
    made = []
    for argument in parse_schema(operator.schema_text).arguments:
        spec = attributes.get(argument.name)
        made.append(_attribute(argument, spec.type, spec.default, spec.is_required) if spec else _tensor(argument))
    return tuple(made)


def results_of(operator: Operator) -> tuple[Result, ...]:
    """Outputs in schema order. Raises UsageError for an element type that torch has no tensors of."""
    leader = next((item.dtypes for item in operator.inputs if not item.is_optional), ())
    return tuple(Result(cpp_name(item.name), item.is_list, _own_dtype(operator, item, leader)) for item in operator.outputs)


def torch_schema(operator: Operator) -> str:
    """The operator as torch's schema parser takes it: without names of results, with Python's spelling of defaults."""
    items: list[str] = []
    for parameter in parameters_of(operator):
        if parameter.is_keyword_only and "*" not in items:
            items.append("*")
        items.append(parameter.torch)
    returned = ["Tensor[]" if item.is_list else "Tensor" for item in operator.outputs]
    return f"{operator.name}({', '.join(items)}) -> {returned[0] if len(returned) == 1 else '(' + ', '.join(returned) + ')'}"


def return_type(operator: Operator) -> str:
    """C++ type of all results."""
    types = ["std::vector<at::Tensor>" if item.is_list else "at::Tensor" for item in operator.outputs]
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def _own_dtype(operator: Operator, output: TensorSpec, leader: tuple[DType, ...]) -> str:
    unknown = [item.value for item in output.dtypes if item not in SCALAR_TYPES]
    if unknown:
        raise UsageError(f"no submission can be started for {operator.name}", expected="element types that torch has", found=", ".join(unknown))
    is_shared = len(output.dtypes) > 1 and set(output.dtypes) & set(leader)
    return "" if is_shared else SCALAR_TYPES[output.dtypes[0]]


def _tensor(argument: Argument) -> Parameter:
    is_list = argument.kind == "tensor_list"
    has_default = not argument.is_required
    base, cpp, python = ("Tensor[]", "at::TensorList", "list[torch.Tensor]") if is_list else ("Tensor", "const at::Tensor &", "torch.Tensor")
    is_optional = argument.is_optional or has_default
    if is_optional:
        cpp = "std::optional<at::TensorList>" if is_list else "const std::optional<at::Tensor> &"
    return Parameter(
        schema_name=argument.name,
        name=cpp_name(argument.name),
        is_tensor=True,
        is_list=is_list,
        is_optional=is_optional,
        torch=f"{base}{'?' if is_optional else ''} {argument.name}{'=None' if has_default else ''}",
        cpp=cpp,
        python=f"{argument.name}: {python}{' | None' if is_optional else ''}{' = None' if has_default else ''}",
        is_keyword_only=argument.is_keyword_only,
    )


def _attribute(argument: Argument, kind: AttrType, default: AttrValue, is_required: bool) -> Parameter:
    is_optional = argument.is_optional or (not is_required and default is None)
    given = "" if is_required else _literal(default)
    cpp = f"std::optional<{_CPP[kind]}>" if is_optional else _CPP[kind]
    return Parameter(
        schema_name=argument.name,
        name=cpp_name(argument.name),
        is_tensor=False,
        is_list=kind.endswith("_list"),
        is_optional=is_optional,
        torch=f"{_TORCH[kind]}{'?' if is_optional else ''} {argument.name}{'=' + given if given else ''}",
        cpp=cpp,
        python=f"{argument.name}: {_PYTHON[kind]}{' | None' if is_optional else ''}{' = ' + given if given else ''}",
        kernel="" if is_optional else _NUMBERS.get(kind, ""),
        is_keyword_only=argument.is_keyword_only,
    )


def _literal(value: AttrValue) -> str:
    """As both Python and torch's schema parser write it."""
    if isinstance(value, tuple):
        return f"[{', '.join(_literal(item) for item in value)}]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
