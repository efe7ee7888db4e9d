"""Arguments of a call, from operator, case and data."""

from __future__ import annotations

from piton.catalog.golden_source import declared_default
from piton.catalog.schema import parse_schema
from piton.core.case import Case
from piton.core.execution import TensorArgument
from piton.core.operator import AttrSpec, AttrValue, Operator
from piton.evaluate.golden_service import CaseData


def tensor_arguments(operator: Operator, data: CaseData) -> tuple[TensorArgument, ...]:
    """Inputs as the device gets them."""
    mutable = {spec.name for spec in operator.inputs if spec.is_mutable}
    return tuple(
        TensorArgument(item.tensor.name, item.tensor.shape, item.tensor.dtype, item.data, item.tensor.name in mutable, item.tensor.list_index)
        for item in data.inputs
    )


def argument_order(operator: Operator) -> tuple[str, ...]:
    """Names of tensors and attributes as the schema orders them."""
    return tuple(argument.name for argument in parse_schema(operator.schema_text).arguments)


def all_attributes(operator: Operator, case: Case) -> dict[str, AttrValue]:
    """Value of every attribute: the case's own, else the operator's default, else, in suites from outside, the one that its golden declares."""
    return {spec.name: case.attributes[spec.name] if spec.name in case.attributes else _default(operator, spec) for spec in operator.attributes}


def filled_case(operator: Operator, case: Case) -> Case:
    """The case with a value for every attribute, as work formulas read it."""
    return case.model_copy(update={"attributes": all_attributes(operator, case)})


def _default(operator: Operator, spec: AttrSpec) -> AttrValue:
    if spec.default is not None or not operator.golden_path:
        return spec.default
    return declared_default(operator.golden_path, operator.name, spec.name)
