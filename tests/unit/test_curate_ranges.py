"""Are value ranges of integers what their family says, and may the ranges of other inputs and conditions follow the case?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog.rules import CaseRules, read_rules
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.operator import Operator, TensorSpec
from piton.core.suite import SuiteOperator
from piton.curate.aspects import families
from piton.curate.generate import generate_cases
from piton.curate.lint import load_subjects
from piton.curate.plan import plan_slots
from piton.curate.ranges import draw_range
from piton.curate.stream import Stream

SUITE = load_subjects("piton")[0]
F32, I8 = DType.FLOAT32, DType.INT8
RULES = """rules:
  layouts: [{shapes: {x: [..., N], w: [N]}}]
  dtypes: [int8, float32]
  values: {w: [["min(low, -1)", "2 * high"], ["-3", "high"]]}
  require: [elements < 3000000 or elements > 9000000]
"""


def operator(folder: Path) -> Operator:
    (folder / "golden.py").write_text("")
    (folder / "rules.yaml").write_text(RULES)
    inputs = tuple(TensorSpec(name=name, dtypes=(I8, F32)) for name in ("x", "w"))
    outputs = (TensorSpec(name="y", dtypes=(I8, F32)),)
    return Operator(
        name="op", title="Op", level=1, category="", schema_text="", inputs=inputs, outputs=outputs, attributes=(), golden_path=str(folder / "golden.py")
    )


def rules(folder: Path) -> CaseRules:
    found = read_rules(folder, operator(folder))
    assert found is not None
    return found


def cases(folder: Path) -> tuple[Case, ...]:
    return generate_cases(SUITE, SuiteOperator(operator=operator(folder), cases=()), 5, 20)[0]


@pytest.mark.parametrize("dtype", [DType.INT8, DType.INT16, DType.INT32, DType.INT64])
@pytest.mark.parametrize("family", ["symmetric-small", "symmetric-medium", "symmetric-large", "asymmetric-small", "asymmetric-large", "dtype-boundary"])
def test_a_range_of_integers_belongs_to_the_family_that_was_asked_for(tmp_path: Path, dtype: DType, family: str) -> None:
    for number in range(40):
        low, high = draw_range(family, dtype, rules(tmp_path), Stream(b"ranges", dtype.value, family, number))
        assert family in families(CaseInput(argument="x", shape=(9,), dtype=dtype, low=low, high=high)), (low, high)
        assert low < high
        assert (low, high) == (int(low), int(high))


def test_special_values_go_to_floating_slots_and_integers_get_their_boundary(tmp_path: Path) -> None:
    edges = {(slot.dtypes[0], slot.family) for slot in plan_slots(rules(tmp_path), 20, Stream(b"plan", "x")) if slot.is_edge}
    assert (I8, "dtype-boundary") in edges
    assert not {(I8, "special-inf"), (I8, "special-nan")} & edges
    assert {(F32, "special-inf"), (F32, "special-nan")} & edges


def test_ranges_of_other_inputs_may_follow_the_leading_one(tmp_path: Path) -> None:
    for case in cases(tmp_path):
        x, w = case.inputs
        if "special" not in case.note:
            assert (w.low, w.high) in {(min(x.low, -1), 2 * x.high), (-3, x.high)}


def test_conditions_may_ask_for_the_elements_of_all_inputs(tmp_path: Path) -> None:
    assert all(not 3_000_000 <= case.elements <= 9_000_000 for case in cases(tmp_path))
