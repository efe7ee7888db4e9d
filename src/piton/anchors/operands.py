"""How work formulas read a case: operands by their names in the schema, bytes, attributes."""

from __future__ import annotations

from piton.core.case import Case, CaseInput


def operands(case: Case, name: str) -> tuple[CaseInput, ...]:
    """All tensors of argument `name`: one for a plain tensor, several for a list, none for one that the case leaves out."""
    return tuple(item for item in case.inputs if item.argument == name)


def operand(case: Case, name: str) -> CaseInput:
    """The tensor of argument `name`. Raises KeyError where the case has none: for arguments that the schema requires."""
    found = operands(case, name)
    if not found:
        raise KeyError(f"{case.operator} {case.id} has no tensor {name}")
    return found[0]


def has_operand(case: Case, name: str) -> bool:
    """True when the case gives the optional argument `name`."""
    return bool(operands(case, name))


def input_bytes(case: Case, *names: str) -> int:
    """Bytes of the named arguments, or of all inputs when none is named."""
    return sum(item.nbytes for item in case.inputs if not names or item.argument in names)


def number(case: Case, name: str) -> float:
    """Attribute `name` as a float; suites give a value for every attribute (`evaluate.arguments.all_attributes`)."""
    value = case.attributes[name]
    assert isinstance(value, (int, float)), f"{name} of {case.operator} {case.id} is a number by its schema"
    return float(value)


def flag(case: Case, name: str) -> bool:
    """Attribute `name` as a truth value."""
    value = case.attributes[name]
    assert isinstance(value, (bool, int)), f"{name} of {case.operator} {case.id} is a flag by its schema"
    return bool(value)


def text(case: Case, name: str) -> str:
    """Attribute `name` as text."""
    value = case.attributes[name]
    assert isinstance(value, str), f"{name} of {case.operator} {case.id} is text by its schema"
    return value


def whole_numbers(case: Case, name: str) -> tuple[int, ...]:
    """Attribute `name`, a list of integers; empty for one that is not given."""
    value = case.attributes[name]
    if value is None:
        return ()
    assert isinstance(value, tuple), f"{name} of {case.operator} {case.id} is a list by its schema"
    return tuple(item for item in value if isinstance(item, int))
