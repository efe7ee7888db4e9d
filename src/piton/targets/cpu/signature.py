"""The function that a submission has to offer for an operator, and the code that calls it.

Problem: an author should write one plain function, and hear in so many words when it is not the one that is expected.
Approach: the parameters follow from the operator's schema. For C++ a small source is generated that declares exactly that function, reads the arguments of a
case into variables and calls it; a function of another signature does not link, since C++ has it in its symbol. For Python the parameters are counted.
Limits: names of parameters are the author's own. Operators that update an input in place, and attributes that are lists of text, have no form here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from piton.core.errors import UsageError
from piton.core.operator import Operator

NAMESPACE = "kernel"
_ATTRIBUTES = {
    "int": ("std::int64_t", "Integer"), "float": ("double", "Real"), "bool": ("bool", "Integer"), "str": ("const std::string&", "Text"),
    "dtype": ("const std::string&", "Text"), "int_list": ("const piton::Ints&", "Integers"), "bool_list": ("const piton::Ints&", "Integers"),
    "float_list": ("const piton::Reals&", "RealList"),
}  # fmt: skip
"""Type of the parameter, and what reads it from the words of a case."""
_GLUE = """#include "serve.h"

namespace {namespace} {{
{declaration};
}}

namespace piton::serve {{
namespace {{
{variables}
}}

void Bind(Words& words)
{{
{reads}
}}

void Call(const Place& place)
{{
    (void)place;
    {namespace}::{name}({values});
}}
}}
"""


@dataclass(frozen=True)
class Parameter:
    """One parameter of the function."""

    name: str
    cpp: str
    """Its type in C++."""
    reader: str
    """Member function of `piton::serve::Words` that reads it."""
    is_placed: bool
    """It is found in the slot of the call."""

    @property
    def variable(self) -> str:
        """Type of the variable that keeps it."""
        return self.cpp.removeprefix("const ").removesuffix("&")


def schema_order(operator: Operator) -> tuple[str, ...]:
    """Names of the arguments as the schema orders them."""
    arguments = operator.schema_text.partition("->")[0]
    names = [*(item.name for item in operator.inputs), *(item.name for item in operator.attributes)]
    places = {name: re.search(rf"(?<![\w.]){re.escape(name)}(?=\s*[=,)])", arguments) for name in names}
    return tuple(sorted(names, key=lambda name: place.start() if (place := places[name]) else len(arguments)))


def parameters(operator: Operator) -> tuple[Parameter, ...]:
    """Those of the function. Raises UsageError for an operator that has no form here."""
    changed = [item.name for item in operator.inputs if item.is_mutable]
    if changed:
        raise UsageError(f"{operator.name} updates {changed[0]} in place: target cpu has no such operators", action="leave it out with --op")
    inputs = {item.name: _tensor(item.name, "Inputs" if item.is_list else "Input") for item in operator.inputs}
    return (
        *(inputs.get(name) or _attribute(operator, name) for name in schema_order(operator)),
        *(_output(item.name, item.is_list) for item in operator.outputs),
    )


def declaration(operator: Operator) -> str:
    """The function as C++ declares it, in one line."""
    return f"void {operator.name}({', '.join(f'{item.cpp} {item.name}' for item in parameters(operator))})"


def python_declaration(operator: Operator) -> str:
    """The same for Python."""
    return f"def {operator.name}({', '.join(item.name for item in parameters(operator))})"


def glue(operator: Operator) -> str:
    """The generated source that binds a case and calls the function."""
    found = parameters(operator)
    values = [f"place.At(a{index})" if item.is_placed else f"a{index}" for index, item in enumerate(found)]
    return _GLUE.format(
        namespace=NAMESPACE,
        name=operator.name,
        declaration=declaration(operator),
        variables="\n".join(f"{item.variable} a{index};" for index, item in enumerate(found)),
        reads="\n".join(f"    a{index} = words.{item.reader}();" for index, item in enumerate(found)),
        values=", ".join(values),
    )


def _tensor(name: str, reader: str) -> Parameter:
    return Parameter(name, "const piton::Tensors&" if reader == "Inputs" else "const piton::Tensor&", reader, is_placed=True)


def _output(name: str, is_list: bool) -> Parameter:
    return Parameter(name, "const piton::Outputs&" if is_list else "const piton::Output&", "Results" if is_list else "Result", is_placed=True)


def _attribute(operator: Operator, name: str) -> Parameter:
    spec = next(item for item in operator.attributes if item.name == name)
    if spec.type not in _ATTRIBUTES:
        raise UsageError(f"{operator.name} has the attribute {name} of type {spec.type}: target cpu has no such parameter", action="leave it out with --op")
    cpp, reader = _ATTRIBUTES[spec.type]
    return Parameter(name, cpp, reader, is_placed=False)
