"""Does every parameter of an OpDef take the argument that is meant, and is each misfit told with what was found and expected?"""

from __future__ import annotations

from typing import Any

import pytest

from piton.core.dtype import DType
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.targets.vnpu.project import signature
from piton.targets.vnpu.project_described import Described
from piton.targets.vnpu.project_match import Matched, NoMatchError, match


def tensor(name: str, *, is_list: bool = False, is_optional: bool = False) -> TensorSpec:
    return TensorSpec(name=name, dtypes=(DType.FLOAT32,), is_list=is_list, is_optional=is_optional)


def operator(schema: str, inputs: list[TensorSpec], outputs: list[TensorSpec], **attributes: Any) -> Operator:
    specs = tuple(AttrSpec(name=name, type=kind) for name, kind in attributes.items())
    return Operator(name="op", title="Op", level=1, category="", schema_text=schema, inputs=tuple(inputs), outputs=tuple(outputs), attributes=specs)


def described(inputs: str, outputs: str = "y", attributes: str = "") -> Described:
    """Parameters as words; `?` is optional, `*` a list, `#` takes numbers, `!` is shaped by the kernel."""
    parts = {"inputs": [parameter(word) for word in inputs.split()], "outputs": [parameter(word) for word in outputs.split()]}
    rest = {"type": "Op", "file": "a.cpp", "line": 1, "attributes": attributes.split(), "rows": [], "structure": "", "template": None}
    return Described.model_validate({**parts, **rest})


def parameter(word: str) -> dict[str, Any]:
    kind = "optional" if "?" in word else "dynamic" if "*" in word else "required"
    return {"name": word.rstrip("?*#!"), "kind": kind, "takes_numbers": "#" in word, "is_shaped_by_kernel": "!" in word}


X, W, Y = tensor("x"), tensor("w", is_optional=True), tensor("y")
SIMPLE = operator("op(Tensor x, float eps=1.0, Tensor? w=None) -> Tensor y", [X, W], [Y], eps="float")


def matched(definition: Described, op: Operator = SIMPLE) -> tuple[tuple[int, ...], ...]:
    found: Matched = match(definition, op)
    return found.inputs, found.attributes, found.results


@pytest.mark.parametrize(
    ("definition", "places"),
    [
        (described("x w?", attributes="eps"), ((0, 2), (1,), (0,))),
        (described("W? X", attributes="mode Eps"), ((2, 0), (-1, 1), (0,))),
        (described("first second", "out", "epsilon"), ((0, 2), (1,), (0,))),
        (described("first gone? second", attributes="eps"), ((0, -1, 2), (1,), (0,))),
        (described("x w? eps"), ((0, 2, 1), (), (0,))),
        (described("x w? scalar#", attributes="mode"), ((0, 2, 1), (-1,), (0,))),
        (described("x w?", "x spare y", "eps"), ((0, 2), (1,), (2,))),
        (described("x w?", "x out", "eps"), ((0, 2), (1,), (1,))),
        (described("x w?", "x", "eps"), ((0, 2), (1,), (0,))),
    ],
)
def test_names_count_first_and_then_the_order(definition: Described, places: tuple[tuple[int, ...], ...]) -> None:
    assert matched(definition) == places


def test_lists_go_to_lists_and_come_from_them() -> None:
    lists = operator("op(Tensor[] x, int[] sizes) -> Tensor[] y", [tensor("x", is_list=True)], [tensor("y", is_list=True)], sizes="int_list")
    assert matched(described("x* sizes#", "y*"), lists) == ((0, 1), (), (0,))
    assert signature(lists, match(described("x* sizes#", "y*"), lists)) == "op(Tensor[] x, int[]? sizes) -> Tensor[]"
    with pytest.raises(NoMatchError, match="input x of the OpDef of Op is one tensor, argument x is a list"):
        match(described("x sizes#", "y*"), lists)
    with pytest.raises(NoMatchError, match="output y of the OpDef of Op is one tensor, the operator returns a list of tensors"):
        match(described("x* sizes#", "y"), lists)


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        (described("x y z", attributes="eps"), r"has 3 inputs \(x, y, z\), operator op has 2 \(x, w\)"),
        (described("x", attributes="eps"), r"has 1 inputs \(x\), operator op has 2"),
        (described("x w?"), r"has 0 attributes \(none\), operator op has 1 \(eps\)"),
        (described("x w?", "", "eps"), r"has 0 outputs \(none\), operator op has 1 \(y\)"),
        (described("x w?", "y*", "eps"), "output y of the OpDef of Op is a list of tensors, the operator returns one tensor"),
        (described("x w?", "y!", "eps"), "the shape of output y of Op is known only after its kernel has run"),
    ],
)
def test_a_misfit_says_what_there_is_and_what_is_wanted(definition: Described, text: str) -> None:
    with pytest.raises(NoMatchError, match=text):
        match(definition, SIMPLE)


def test_the_signature_keeps_the_order_of_the_suite() -> None:
    found = match(described("x w?", attributes="eps"), SIMPLE)
    assert signature(SIMPLE, found) == "op(Tensor x, float? eps, Tensor? w) -> Tensor"
    assert [item.name for item in found.arguments] == ["x", "eps", "w"]
