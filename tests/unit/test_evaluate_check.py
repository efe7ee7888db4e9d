"""Is each output of a call compared by the rule that its operator gives it?"""

from __future__ import annotations

import numpy as np
import pytest

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.execution import OutputBuffer
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.core.verdict import Cause
from piton.evaluate.cache import StoredTensor
from piton.evaluate.check import Expectation, check_outputs
from piton.evaluate.golden_service import TensorData
from piton.numerics.tensors import GoldenOutput

X = np.array([[1.0, 5.0, 5.0], [7.0, 2.0, 7.0]], np.float32)
OPERATOR = Operator(
    name="arg_max",
    title="ArgMax",
    level=2,
    category="Reduction",
    schema_text="arg_max(Tensor x, int dim=-1) -> Tensor idx",
    inputs=(TensorSpec(name="x", dtypes=(DType.FLOAT32,)),),
    outputs=(TensorSpec(name="idx", dtypes=(DType.INT64,), indexes="x", index_axis="dim"),),
    attributes=(AttrSpec(name="dim", type="int", default=-1),),
)
CASE = Case(operator="arg_max", id="1", inputs=(CaseInput(argument="x", shape=(2, 3), dtype=DType.FLOAT32),))


def causes(indices: list[int], operator: Operator = OPERATOR, golden: list[int] | None = None) -> list[Cause]:
    """What is wrong with these indices; the golden takes the first of equal values."""
    source = TensorData(StoredTensor(name="x", dtype=DType.FLOAT32, shape=X.shape, offset=0, nbytes=X.nbytes), memoryview(X).cast("B"))
    wanted = np.array([1, 0] if golden is None else golden, np.int64)
    expected = Expectation(operator, CASE, (source,), (GoldenOutput("idx", DType.INT64, wanted.shape, memoryview(wanted).cast("B")),), lambda: (), "strict", 1)
    found = memoryview(np.array(indices, np.int64)).cast("B")
    return [item.cause for item in check_outputs([OutputBuffer("idx", (len(indices),), "int64", (1,), True, found)], expected)[1]]


@pytest.mark.parametrize(
    ("indices", "found"),
    [([1, 0], []), ([2, 2], []), ([0, 0], [Cause.INDEX_MISMATCH]), ([1, 3], [Cause.INDEX_MISMATCH])],
    ids=["golden", "tie", "wrong", "outside"],
)
def test_an_index_output_may_take_any_of_equal_values_along_its_axis_and_no_other(indices: list[int], found: list[Cause]) -> None:
    assert causes(indices) == found


def test_without_an_axis_indices_count_in_the_flattened_input() -> None:
    flat = OPERATOR.model_copy(update={"outputs": (OPERATOR.outputs[0].model_copy(update={"index_axis": ""}),)})
    assert causes([5], flat, golden=[3]) == []
    assert causes([4], flat, golden=[3]) == [Cause.INDEX_MISMATCH]


def test_integers_that_are_no_indices_are_compared_as_they_are() -> None:
    plain = OPERATOR.model_copy(update={"outputs": (TensorSpec(name="idx", dtypes=(DType.INT64,)),)})
    assert causes([2, 0], plain) == [Cause.INTEGER_MISMATCH]


def test_an_index_output_of_an_input_that_the_case_lacks_is_our_mistake() -> None:
    lost = OPERATOR.model_copy(update={"outputs": (OPERATOR.outputs[0].model_copy(update={"indexes": "values"}),)})
    with pytest.raises(EvaluatorError, match="values"):
        causes([1, 0], lost)


@pytest.mark.parametrize(
    ("promise", "indices", "golden", "found"),
    [
        ({}, [1, 1], [1, 2], []),
        ({"index_is_unique": True}, [1, 1], [1, 2], [Cause.INDEX_MISMATCH]),
        ({"index_is_unique": True}, [2, 1], [1, 2], []),
        ({"index_is_unique": True}, [2, 0], [1, 2], [Cause.INDEX_MISMATCH]),
        ({}, [0, 2], [0, 1], []),
        ({"index_is_prefix": True}, [0, 2], [0, 1], [Cause.INDEX_MISMATCH]),
        ({"index_is_prefix": True}, [0, 1], [0, 1], []),
        ({}, [1, 0], [0, 1], [Cause.INDEX_MISMATCH]),
        ({"index_is_ordered": False}, [1, 0], [0, 1], []),
        ({"index_is_ordered": False}, [1, 1], [0, 1], [Cause.INDEX_MISMATCH]),
    ],
)
def test_an_index_output_keeps_what_its_operator_promises_beyond_the_values(
    promise: dict[str, bool], indices: list[int], golden: list[int], found: list[Cause]
) -> None:
    """The source is the flattened first line [1, 5, 5]: 1 and 2 are a tie."""
    spec = OPERATOR.outputs[0].model_copy(update={"index_axis": "", **promise})
    assert causes(indices, OPERATOR.model_copy(update={"outputs": (spec,)}), golden=golden) == found
