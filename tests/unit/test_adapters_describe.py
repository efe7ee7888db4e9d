"""Do tasks of other benchmarks become the operators that docs/adapters.md says, and do their goldens compute what the task computes?

The tasks are ours, so they may run in this process; strangers' run in a sandbox only (tests/e2e/test_adapters_null.py).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from foreign_tasks import EXP, LAYER, SCALED, write_kernelbench, write_multikernelbench, write_npukernelbench

from piton.catalog.adapters import find_suite
from piton.catalog.adapters.artifacts import copy_task, read_member, write_facts
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.foreign import SizeBudget, TaskFacts
from piton.core.suite import SuiteOperator
from piton.numerics.foreign.describe import describe
from piton.numerics.foreign.modules import module_sizes, names_used
from piton.numerics.golden import draw_own_inputs, run_golden
from piton.numerics.inputs import Inputs


def described(root: Path, name: str, budget: SizeBudget | None = None) -> tuple[TaskFacts, SuiteOperator]:
    """Facts of the task `name` of the suite in `root`, and the member read back from where they were kept."""
    found = find_suite(root)
    assert found is not None
    task = next(task for task in found.tasks if task.name == name)
    place = root / "kept"
    facts = describe(task, copy_task(task, place), budget or SizeBudget())
    write_facts(task, facts, place)
    member = read_member(task, place)
    assert member is not None
    return facts, member


def drawn(member: SuiteOperator, case: int = 0, seed: int = 7) -> Inputs:
    return draw_own_inputs(member.operator.golden_path, member.operator, member.cases[case], seed)


def outputs(member: SuiteOperator, inputs: Inputs, case: int = 0, precision: str = "float64") -> list[np.ndarray]:  # type: ignore[type-arg]
    return [item.values() for item in run_golden(member.operator.golden_path, member.operator, member.cases[case], inputs, precision)]  # type: ignore[arg-type]


def test_a_module_becomes_one_case_with_its_shapes_and_no_value_range(tmp_path: Path) -> None:
    _, member = described(write_kernelbench(tmp_path), "level1_1_exp")
    case = member.cases[0]
    assert member.operator.schema_text == "level1_1_exp(Tensor x) -> Tensor y"
    assert [(item.argument, item.shape, item.dtype) for item in case.inputs] == [("x", (4, 15), DType.FLOAT32)]
    assert np.isnan(case.inputs[0].low)
    assert member.remarks == ()


def test_the_golden_of_a_module_is_its_forward(tmp_path: Path) -> None:
    _, member = described(write_kernelbench(tmp_path), "level1_1_exp")
    inputs = drawn(member)
    np.testing.assert_allclose(outputs(member, inputs)[0], np.exp(np.asarray(inputs["x"], dtype=np.float64)), rtol=1e-7)


def test_weights_buffers_and_tensor_attributes_become_inputs_after_the_arguments(tmp_path: Path) -> None:
    _, member = described(write_kernelbench(tmp_path, **{"2_Layer": LAYER}), "level1_2_layer")
    expected = "level1_2_layer(Tensor x, float scale, Tensor net_0_weight, Tensor net_0_bias, Tensor shift) -> (Tensor y0, Tensor[] y1)"
    assert member.operator.schema_text == expected
    assert member.cases[0].attributes == {"scale": 0.5}


def test_the_golden_computes_with_the_weights_it_is_given(tmp_path: Path) -> None:
    _, member = described(write_kernelbench(tmp_path, **{"2_Layer": LAYER}), "level1_2_layer")
    inputs = drawn(member)
    inputs["net_0_weight"] = np.asarray(inputs["net_0_weight"]) * 2
    inputs["shift"] = np.full(4, 5, np.float32)
    x, weight, bias = (np.asarray(inputs[name], dtype=np.float64) for name in ("x", "net_0_weight", "net_0_bias"))
    found = outputs(member, inputs)
    np.testing.assert_allclose(found[0], (x @ weight.T + bias) * 0.5 + 5, rtol=1e-6)
    np.testing.assert_array_equal(found[1], inputs["x"])


def test_dropout_is_switched_off_and_said(tmp_path: Path) -> None:
    facts, member = described(write_kernelbench(tmp_path, **{"2_Layer": LAYER}), "level1_2_layer")
    assert facts.plan.is_quiet
    assert member.remarks == ("level1_2_layer: dropout is switched off: with it the golden would be random",)
    inputs = drawn(member)
    np.testing.assert_array_equal(outputs(member, inputs)[0], outputs(member, inputs)[0])


def test_a_task_that_stays_random_is_refused(tmp_path: Path) -> None:
    text = EXP.replace("torch.exp(x)", "x + torch.rand_like(x)")
    with pytest.raises(EvaluatorError, match="forward draws random numbers"):
        described(write_kernelbench(tmp_path, **{"1_Exp": text}), "level1_1_exp")


def test_equal_seeds_draw_equal_inputs_and_others_do_not(tmp_path: Path) -> None:
    _, member = described(write_kernelbench(tmp_path, **{"2_Layer": LAYER}), "level1_2_layer")
    first, again, other = drawn(member), drawn(member), drawn(member, seed=8)
    for name in ("x", "net_0_weight"):
        np.testing.assert_array_equal(first[name], again[name])
        assert not np.array_equal(first[name], other[name])


def test_the_same_dtype_run_stays_in_float32(tmp_path: Path) -> None:
    """x + 1 - x is lost below half a unit of 1 in float32, and is not in float64."""
    text = EXP.replace("torch.exp(x)", "(x + 2.0**26) - 2.0**26")
    _, member = described(write_kernelbench(tmp_path, **{"1_Exp": text}), "level1_1_exp")
    inputs = drawn(member)
    assert np.array_equal(outputs(member, inputs)[0], np.asarray(inputs["x"], dtype=np.float64))
    assert not np.any(outputs(member, inputs, precision="native")[0])


def test_the_largest_size_is_halved_until_the_task_fits_and_that_is_said(tmp_path: Path) -> None:
    """depth goes down to width, both to rows, then all three take turns; `unused` is larger than any and touches nothing."""
    facts, member = described(write_kernelbench(tmp_path, **{"3_Scaled": SCALED}), "level1_3_scaled", SizeBudget(memory_bytes=12 << 20))
    after = {item.names[0]: item.after for item in facts.plan.scaled}
    assert after == {"depth": 64, "width": 64, "rows": 32}
    assert member.cases[0].inputs[0].shape == (32, 64, 64)
    assert "sizes were scaled" in member.remarks[0]
    assert member.cases[0].note == "depth 4096 scaled to 64, width 512 scaled to 64, rows 64 scaled to 32"
    assert outputs(member, drawn(member))[0].shape == (2, 64, 64)


def test_a_size_without_which_the_task_fails_is_not_halved(tmp_path: Path) -> None:
    """With 32 rows the reshape fails, so the others have to give."""
    text = SCALED.replace("rows // 16, 16", "rows // 64, 64")
    facts, _ = described(write_kernelbench(tmp_path, **{"3_Scaled": text}), "level1_3_scaled", SizeBudget(memory_bytes=2 << 20))
    after = {item.names[0]: item.after for item in facts.plan.scaled}
    assert set(after) == {"depth", "width"}
    assert max(after.values()) < 64


def test_sizes_that_have_to_be_equal_are_halved_together(tmp_path: Path) -> None:
    """A product of a matrix and a row of its own width: neither of the two sizes can go alone."""
    text = EXP.replace("torch.exp(x)", "x * x[:, 0]").replace("rows = 4", "rows = 1024").replace("width = columns = 3 * 5", "shape = (1024,)")
    text = text.replace("torch.rand(rows, columns)", "torch.rand(rows, *shape)")
    facts, member = described(write_kernelbench(tmp_path, **{"1_Exp": text}), "level1_1_exp", SizeBudget(memory_bytes=4 << 20))
    assert {item.names[0]: (item.before, item.after) for item in facts.plan.scaled} == {"rows": (1024, 128), "shape[0]": (1024, 128)}
    assert outputs(member, drawn(member))[0].shape == (128, 128)


def test_a_task_without_sizes_to_halve_is_refused(tmp_path: Path) -> None:
    text = EXP.replace("torch.rand(rows, columns)", "torch.rand(4096, 4096)")
    with pytest.raises(EvaluatorError, match="no module-level size left to halve"):
        described(write_kernelbench(tmp_path, **{"1_Exp": text}), "level1_1_exp", SizeBudget(memory_bytes=1 << 20))


def test_each_json_line_is_a_case_and_what_has_no_form_is_left_out(tmp_path: Path) -> None:
    _, member = described(write_multikernelbench(tmp_path), "npukernelbench_level0_3_shift")
    assert member.operator.schema_text == "npukernelbench_level0_3_shift(Tensor x, float offset, Tensor? mask) -> Tensor y"
    assert [(case.id, case.inputs[0].shape, case.inputs[0].dtype, case.omitted) for case in member.cases] == [
        ("1", (3, 4), DType.FLOAT16, ("mask",)),
        ("2", (5,), DType.FLOAT32, ()),
    ]
    assert "1 of 3 cases are left out; the first: case 3, element type torch.complex64" in member.remarks[0]
    inputs = drawn(member, case=1)
    np.testing.assert_allclose(outputs(member, inputs, case=1)[0], np.asarray(inputs["x"], dtype=np.float64) + 0.5, rtol=1e-6)


def test_each_row_of_the_table_is_a_case_and_absent_packages_do_no_harm(tmp_path: Path) -> None:
    _, member = described(write_npukernelbench(tmp_path), "level2_math_scale_add_v2")
    assert [(case.inputs[0].shape, case.attributes) for case in member.cases] == [((2, 3), {"factor": 1.5}), ((7,), {"factor": 2.0})]
    inputs = drawn(member, case=1)
    np.testing.assert_allclose(outputs(member, inputs, case=1)[0], np.asarray(inputs["x"], dtype=np.float64) * 2 + 4, rtol=1e-3)


def test_an_argument_that_no_case_gives_keeps_its_place(tmp_path: Path) -> None:
    """x, nothing, a number: the number may not slip into the place of the nothing."""
    text = EXP.replace("def forward(self, x):", "def forward(self, x, bias, scale):").replace("torch.exp(x)", "x * scale if bias is None else bias")
    text = text.replace("[torch.rand(rows, columns)]", "[torch.rand(rows, columns), None, 3.0]")
    _, member = described(write_kernelbench(tmp_path, **{"1_Exp": text}), "level1_1_exp")
    assert member.operator.schema_text == "level1_1_exp(Tensor x, float scale) -> Tensor y"
    assert member.cases[0].omitted == ()
    inputs = drawn(member)
    np.testing.assert_allclose(outputs(member, inputs)[0], np.asarray(inputs["x"], dtype=np.float64) * 3, rtol=1e-6)


def test_a_forward_that_differentiates_gets_inputs_with_gradients(tmp_path: Path) -> None:
    text = EXP.replace("return torch.exp(x)", "torch.set_grad_enabled(True); return torch.autograd.grad((x * x).sum(), x)[0]")
    text = text.replace("torch.rand(rows, columns)", "torch.rand(rows, columns, requires_grad=True)")
    _, member = described(write_kernelbench(tmp_path, **{"1_Exp": text}), "level1_1_exp")
    inputs = drawn(member)
    np.testing.assert_allclose(outputs(member, inputs)[0], np.asarray(inputs["x"], dtype=np.float64) * 2, rtol=1e-6)


def test_a_task_that_fails_names_its_line(tmp_path: Path) -> None:
    text = EXP.replace("return torch.exp(x)", "raise KeyError('gone')")
    with pytest.raises(EvaluatorError, match=r"forward of the task raised KeyError: 'gone'") as caught:
        described(write_kernelbench(tmp_path, **{"1_Exp": text}), "level1_1_exp")
    assert caught.value.where.endswith("1_Exp.py:7")


def test_sizes_are_constants_of_the_module_only() -> None:
    source = "a = b = 2 * 3\nc = a + 1\nd, e = 4, 2 ** 5\nf = 1.5\ng = 1\ng = 2\nh: int = 7\nt = (8, 9)\n"
    assert module_sizes(source) == {("a", "b"): 6, ("d",): 4, ("e",): 32, ("h",): 7, ("t[0]",): 8, ("t[1]",): 9}


def test_names_behind_names_count_as_used() -> None:
    source = "n = 4\nshape = (n, 2)\nm = 3\ndef get_inputs():\n    return shape\n"
    assert {"n", "shape"} <= names_used(source, "get_inputs")
    assert "m" not in names_used(source, "get_inputs")
