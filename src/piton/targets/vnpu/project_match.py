"""Which argument of the suite's signature each input and attribute of an OpDef takes, and which of its outputs the results are.

Problem: a definition names its parameters in its own way; it may want as a tensor what the suite calls a number, and may have parameters that nobody gives.
Approach: equal names first; what is left over goes by order, required inputs before optional ones.
Limits: nothing is known about meanings, so that parameters of other names have to stand in the suite's order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from piton.core.operator import Operator
from piton.targets.vnpu.project_described import Described, Parameter, folded

NONE = -1
"""No argument: an optional parameter is left out, an attribute keeps its default."""


@dataclass(frozen=True)
class Argument:
    """One argument of the signature, in its order."""

    name: str
    kind: str
    """`tensor`, `list`, or the attribute's type."""

    @property
    def is_tensor(self) -> bool:
        """One or several tensors."""
        return self.kind in {"tensor", "list"}


@dataclass(frozen=True)
class Matched:
    """Places in the signature by input and attribute, and places among the outputs by result."""

    arguments: tuple[Argument, ...]
    inputs: tuple[int, ...]
    attributes: tuple[int, ...]
    results: tuple[int, ...]


class NoMatchError(Exception):
    """The definition does not fit the operator; the text says what was found and expected."""


def arguments_of(operator: Operator) -> tuple[Argument, ...]:
    """All arguments in the order of the schema."""
    listed = re.findall(r"\w+", operator.schema_text.rpartition("->")[0] or operator.schema_text)[1:]
    found = [Argument(item.name, "list" if item.is_list else "tensor") for item in operator.inputs]
    found += [Argument(item.name, item.type) for item in operator.attributes]
    return tuple(sorted(found, key=lambda item: listed.index(item.name) if item.name in listed else len(listed)))


def match(described: Described, operator: Operator) -> Matched:
    """The places of everything. Raises NoMatchError when something is missing or left over."""
    arguments = arguments_of(operator)
    matching = _Matching(described, operator, arguments)
    inputs = matching.inputs()
    attributes = matching.attributes(set(inputs))
    return Matched(arguments, tuple(inputs), tuple(attributes), tuple(_results(described, operator)))


class _Matching:
    def __init__(self, described: Described, operator: Operator, arguments: Sequence[Argument]) -> None:
        self._described = described
        self._operator = operator
        self._arguments = arguments

    def inputs(self) -> list[int]:
        """Argument of every input."""
        parameters = self._described.inputs
        found = [self._named(item.name) for item in parameters]
        self._hand_out(found, [i for i, item in enumerate(self._arguments) if item.is_tensor and i not in found])
        numbers = [i for i, item in enumerate(self._arguments) if not item.is_tensor and i not in found and not self._is_attribute(item.name)]
        wanting = [i for i, item in enumerate(parameters) if item.takes_numbers and item.kind != "optional" and found[i] == NONE]
        for place, number in zip(wanting, numbers, strict=False):
            found[place] = number
        if any(place == NONE and item.kind != "optional" for place, item in zip(found, parameters, strict=True)):
            raise self._refused("inputs", [item.name for item in parameters], [item.name for item in self._operator.inputs])
        for place, item in zip(found, parameters, strict=True):
            if place != NONE and self._arguments[place].kind == "list" and item.kind != "dynamic":
                raise NoMatchError(f"input {item.name} of the OpDef of {self._described.type} is one tensor, argument {self._arguments[place].name} is a list")
        return found

    def attributes(self, taken: set[int]) -> list[int]:
        """Argument of every attribute."""
        names = self._described.attributes
        found = [self._named(name) for name in names]
        found = [NONE if place in taken or (place != NONE and self._arguments[place].is_tensor) else place for place in found]
        left = [i for i, item in enumerate(self._arguments) if not item.is_tensor and i not in taken and i not in found]
        free = [i for i, place in enumerate(found) if place == NONE]
        if len(left) > len(free):
            given = [item.name for item in self._operator.attributes]
            raise self._refused("attributes", list(names), given)
        for place, argument in zip(free, left, strict=False):
            found[place] = argument
        return found

    def _named(self, name: str) -> int:
        return next((i for i, item in enumerate(self._arguments) if folded(item.name) == folded(name)), NONE)

    def _is_attribute(self, name: str) -> bool:
        return any(folded(item) == folded(name) for item in self._described.attributes)

    def _hand_out(self, found: list[int], left: list[int]) -> None:
        """Tensors without an input of their name: by order, to required inputs first unless there is one for each."""
        parameters = self._described.inputs
        free = [i for i, place in enumerate(found) if place == NONE and not parameters[i].takes_numbers]
        if len(free) < len(left):
            free = [i for i, place in enumerate(found) if place == NONE]
        if len(free) < len(left):
            raise self._refused("inputs", [item.name for item in parameters], [item.name for item in self._operator.inputs])
        if len(free) > len(left):
            free = sorted(free, key=lambda i: parameters[i].kind == "optional")
        for place, argument in zip(free, left, strict=False):
            found[place] = argument

    def _refused(self, what: str, defined: Sequence[str], wanted: Sequence[str]) -> NoMatchError:
        return _misfit(self._described, self._operator, what, defined, wanted)


def _misfit(described: Described, operator: Operator, what: str, defined: Sequence[str], wanted: Sequence[str]) -> NoMatchError:
    return NoMatchError(
        f"the OpDef of {described.type} has {len(defined)} {what} ({', '.join(defined) or 'none'}), "
        f"operator {operator.name} has {len(wanted)} ({', '.join(wanted) or 'none'})"
    )


def _results(described: Described, operator: Operator) -> list[int]:
    """Output of every result. Outputs that nobody asks for are computed, too; one that is an input's memory is a result only when it is needed as one."""
    outputs = described.outputs
    names = [folded(item.name) for item in outputs]
    found = [names.index(folded(item.name)) if folded(item.name) in names else NONE for item in operator.outputs]
    shared = {folded(item.name) for item in described.inputs}
    free = [i for i in range(len(outputs)) if i not in found]
    free = sorted(free, key=lambda i: names[i] in shared)
    left = [i for i, place in enumerate(found) if place == NONE]
    if len(left) > len(free):
        raise _misfit(described, operator, "outputs", [item.name for item in outputs], [item.name for item in operator.outputs])
    for result, place in zip(left, free, strict=False):
        found[result] = place
    for place, item in zip(found, operator.outputs, strict=True):
        _check_result(described, outputs[place], is_list=item.is_list)
    return found


def _check_result(described: Described, output: Parameter, *, is_list: bool) -> None:
    if output.is_shaped_by_kernel:
        raise NoMatchError(f"the shape of output {output.name} of {described.type} is known only after its kernel has run, which is not supported")
    if is_list != (output.kind == "dynamic"):
        words = ("a list of tensors", "one tensor")
        wanted, has = words if is_list else words[::-1]
        raise NoMatchError(f"output {output.name} of the OpDef of {described.type} is {has}, the operator returns {wanted}")
