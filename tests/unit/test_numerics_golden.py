"""Does the golden run as it should: in float64, rounded once, without harm from what golden.py does?"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.operator import AttrSpec, AttrValue, Operator, TensorSpec
from piton.numerics.golden import build_inputs, run_golden
from piton.numerics.inputs import Inputs, make_inputs
from piton.numerics.tensors import GoldenOutput

F16, BF16, F32, I32 = DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.INT32
FLOATS = (F32, F16, BF16)


class Folder:
    """An operator folder under test."""

    def __init__(self, root: Path, code: str, inputs: tuple[TensorSpec, ...], outputs: tuple[TensorSpec, ...], attributes: tuple[AttrSpec, ...] = ()) -> None:
        self.path = str(root / "golden.py")
        Path(self.path).write_text("import torch\n" + code)
        self.operator = Operator(
            name="op", title="Op", level=1, category="", schema_text="", inputs=inputs, outputs=outputs, attributes=attributes, golden_path=self.path
        )

    def run(self, case: Case, precision: str = "float64", inputs: Inputs | None = None) -> tuple[GoldenOutput, ...]:
        return run_golden(self.path, self.operator, case, inputs or make_inputs("1", case, 0), precision, 1)  # type: ignore[arg-type]


def unary(root: Path, code: str, *outputs: TensorSpec) -> Folder:
    return Folder(root, code, (TensorSpec(name="x", dtypes=(*FLOATS, I32)),), outputs or (TensorSpec(name="y", dtypes=(*FLOATS, I32)),))


def case_of(dtype: DType, shape: tuple[int, ...] = (7,), attributes: dict[str, AttrValue] | None = None, **more: object) -> Case:
    item = CaseInput(argument="x", shape=shape, dtype=dtype, low=more.pop("low", -1.0), high=more.pop("high", 1.0))  # type: ignore[arg-type]
    return Case(operator="op", id="1", inputs=(item,), attributes=attributes or {}, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", FLOATS)
def test_floating_inputs_are_widened_and_the_output_is_rounded_to_the_first_inputs_dtype(tmp_path: Path, dtype: DType) -> None:
    folder = unary(tmp_path, "def op(x):\n    assert x.dtype == torch.float64\n    return x / 3\n")
    (output,) = folder.run(case_of(dtype))
    assert (output.name, output.dtype, output.shape) == ("y", dtype, (7,))
    x = np.asarray(make_inputs("1", case_of(dtype), 0)["x"]).astype(np.float64)
    np.testing.assert_allclose(output.values(), x / 3, rtol=2.0**-8)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_native_run_sees_the_inputs_own_dtype(tmp_path: Path, dtype: DType) -> None:
    folder = unary(tmp_path, f"def op(x):\n    assert x.dtype == torch.{dtype.value}\n    return x + 1\n")
    assert folder.run(case_of(dtype), "native")[0].dtype is dtype


def test_float64_and_native_runs_differ_where_rounding_matters(tmp_path: Path) -> None:
    folder = unary(tmp_path, "def op(x):\n    return (x + 1000) - 1000\n")
    exact, native = (folder.run(case_of(F16), precision)[0].values() for precision in ("float64", "native"))
    assert np.abs(exact - native).max() > 0.01


def test_the_output_is_rounded_once_from_float64(tmp_path: Path) -> None:
    """1 + 2^-8 + 2^-40 lies just above a tie of bfloat16; through float32 it would become the tie and be rounded down."""
    folder = unary(tmp_path, "def op(x):\n    return x * 0 + (1 + 2.0**-8 + 2.0**-40)\n")
    assert folder.run(case_of(BF16))[0].values()[0] == 1 + 2.0**-7


def test_integers_and_bools_keep_their_dtype(tmp_path: Path) -> None:
    code = "def op(x, mask):\n    assert x.dtype == torch.int32 and mask.dtype == torch.bool\n    return torch.where(mask, x, -x)\n"
    folder = Folder(
        tmp_path, code, (TensorSpec(name="x", dtypes=(I32,)), TensorSpec(name="mask", dtypes=(DType.BOOL,))), (TensorSpec(name="y", dtypes=(I32,)),)
    )
    items = (CaseInput(argument="x", shape=(9,), dtype=I32, low=-9, high=9), CaseInput(argument="mask", shape=(9,), dtype=DType.BOOL))
    assert folder.run(Case(operator="op", id="1", inputs=items))[0].dtype is I32


def test_a_wider_integer_result_is_narrowed_when_it_fits_and_refused_when_not(tmp_path: Path) -> None:
    spec = TensorSpec(name="y", dtypes=(DType.INT8,))
    assert unary(tmp_path, "def op(x):\n    return (x > 0).long()\n", spec).run(case_of(F32))[0].dtype is DType.INT8
    with pytest.raises(EvaluatorError, match="leaves the range"):
        unary(tmp_path, "def op(x):\n    return (x * 0).long() + 128\n", spec).run(case_of(F32))


def test_a_floating_result_for_an_integer_output_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError, match="round and cast"):
        unary(tmp_path, "def op(x):\n    return x\n", TensorSpec(name="y", dtypes=(DType.INT8,))).run(case_of(F32))


def test_a_dtype_attribute_names_the_output_dtype(tmp_path: Path) -> None:
    code = "def op(x, dtype):\n    return x * 2\n"
    folder = Folder(
        tmp_path,
        code,
        (TensorSpec(name="x", dtypes=FLOATS),),
        (TensorSpec(name="y", dtypes=FLOATS),),
        (AttrSpec(name="dtype", type="dtype", is_required=True),),
    )
    assert folder.run(case_of(F32, attributes={"dtype": "bfloat16"}))[0].dtype is BF16


def test_the_goldens_own_dtype_decides_when_the_first_input_cannot(tmp_path: Path) -> None:
    spec = TensorSpec(name="y", dtypes=(F16, BF16))
    assert unary(tmp_path, "def op(x):\n    return x.to(torch.bfloat16)\n", spec).run(case_of(I32))[0].dtype is BF16
    with pytest.raises(EvaluatorError, match="no rule gives output y"):
        unary(tmp_path, "def op(x):\n    return x\n", spec).run(case_of(I32))


def test_outputs_come_in_the_order_of_the_schema_and_lists_are_spread(tmp_path: Path) -> None:
    outputs = (TensorSpec(name="a", dtypes=(F32,)), TensorSpec(name="b", dtypes=(F32,), is_list=True))
    made = unary(tmp_path, "def op(x):\n    return x, [x + 1, x[:2]]\n", *outputs).run(case_of(F32))
    assert [(output.name, output.shape) for output in made] == [("a", (7,)), ("b[0]", (7,)), ("b[1]", (2,))]


def test_list_arguments_omitted_arguments_and_attributes_reach_the_golden(tmp_path: Path) -> None:
    code = "def op(x, bias, sizes, unused_default=3):\n    assert bias is None and sizes == [1, 2] and type(x) is list\n    return torch.stack(x).sum(0)\n"
    folder = Folder(
        tmp_path,
        code,
        (TensorSpec(name="x", dtypes=(F32,), is_list=True), TensorSpec(name="bias", dtypes=(F32,), is_optional=True)),
        (TensorSpec(name="y", dtypes=(F32,)),),
    )
    items = tuple(CaseInput(argument="x", shape=(4,), dtype=F32, list_index=index) for index in range(3))
    case = Case(operator="op", id="1", inputs=items, attributes={"sizes": (1, 2), "surplus": 1}, omitted=("bias",))
    x = make_inputs("1", case, 0)["x"]
    np.testing.assert_allclose(folder.run(case)[0].values(), np.sum([part.astype(np.float64) for part in x], axis=0), rtol=1e-6)


def test_an_infinite_attribute_reaches_the_golden_as_a_number_after_a_way_through_json(tmp_path: Path) -> None:
    folder = Folder(
        tmp_path,
        "def op(x, p, ends):\n    assert (p, ends) == (float('inf'), [float('-inf'), 0.5])\n    return x\n",
        (TensorSpec(name="x", dtypes=(F32,)),),
        (TensorSpec(name="y", dtypes=(F32,)),),
        (AttrSpec(name="p", type="float", is_required=True), AttrSpec(name="ends", type="float_list", is_required=True)),
    )
    case = case_of(F32, attributes={"p": math.inf, "ends": (-math.inf, 0.5)})
    assert folder.run(Case.model_validate_json(case.model_dump_json()))


@pytest.mark.parametrize("precision", ["float64", "native"])
def test_a_golden_that_writes_to_its_inputs_does_no_harm(tmp_path: Path, precision: str) -> None:
    folder = unary(tmp_path, "def op(x):\n    return x.zero_()\n")
    for dtype in (F32, I32):
        inputs = make_inputs("1", case_of(dtype, high=9.0, low=1.0), 0)
        before = np.asarray(inputs["x"]).copy()
        folder.run(case_of(dtype), precision, inputs)
        np.testing.assert_array_equal(np.asarray(inputs["x"]), before)


def test_a_view_or_a_strided_result_is_stored_densely(tmp_path: Path) -> None:
    folder = unary(tmp_path, "def op(x):\n    return x.t()[::2]\n")
    x = np.asarray(make_inputs("1", case_of(F32, (4, 6)), 0)["x"]).astype(np.float64)
    np.testing.assert_array_equal(folder.run(case_of(F32, (4, 6)))[0].values(), x.T[::2])


@pytest.mark.parametrize("dtype", [*FLOATS, DType.FLOAT64, DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.INT8, DType.UINT16, DType.UINT64, DType.BOOL])
@pytest.mark.parametrize("shape", [(), (0,), (3, 5)])
def test_every_supported_dtype_and_shape_passes_through_unchanged(tmp_path: Path, dtype: DType, shape: tuple[int, ...]) -> None:
    folder = Folder(tmp_path, "def op(x):\n    return x\n", (TensorSpec(name="x", dtypes=(dtype,)),), (TensorSpec(name="y", dtypes=(dtype,)),))
    inputs = make_inputs("1", case_of(dtype, shape), 0)
    for precision in ("float64", "native"):
        (output,) = folder.run(case_of(dtype, shape), precision, inputs)
        assert (output.shape, bytes(output.data)) == (shape, np.asarray(inputs["x"]).tobytes())


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def op(x):\n    raise ValueError('no such mode')\n", "op raised ValueError: no such mode"),
        ("def op(x):\n    raise SystemExit(3)\n", "raised SystemExit"),
        ("def op(x):\n    return x, x\n", "returned 2 outputs"),
        ("def op(x):\n    return 1.0\n", "is float"),
        ("def op(x):\n    return None\n", "is NoneType"),
        ("def op(x, missing):\n    return x\n", "raised TypeError"),
        ("def other(x):\n    return x\n", "no function op"),
        ("def op(x:\n", "can't be loaded: SyntaxError"),
        ("import no_such_module_anywhere\n", "can't be loaded: ModuleNotFoundError"),
        ("def op(x):\n    return torch.complex(x, x)\n", "complex128"),
    ],
)
def test_what_goes_wrong_in_a_golden_is_an_evaluator_error(tmp_path: Path, code: str, words: str) -> None:
    with pytest.raises(EvaluatorError, match=words):
        unary(tmp_path, code).run(case_of(F32))


def test_an_error_names_the_line_of_golden_py(tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError) as caught:
        unary(tmp_path, "def op(x):\n    return helper(x)\n\n\ndef helper(x):\n    raise KeyError('k')\n").run(case_of(F32))
    assert caught.value.where == f"{tmp_path}/golden.py:7"


def test_a_missing_golden_is_an_evaluator_error(tmp_path: Path) -> None:
    folder = unary(tmp_path, "")
    Path(folder.path).unlink()
    with pytest.raises(EvaluatorError, match="can't be read"):
        folder.run(case_of(F32))


def test_loading_leaves_no_trace_but_the_module_itself(tmp_path: Path) -> None:
    path_before = list(sys.path)
    unary(tmp_path, "from dataclasses import dataclass\n\n@dataclass\nclass A:\n    a: int\n\ndef op(x):\n    return x\n").run(case_of(F32))
    assert sys.path == path_before
    assert "golden" not in sys.modules
    assert [entry.name for entry in tmp_path.iterdir()] == ["golden.py"]


SCATTER = """
def op(x, index, dim=0):
    return x

def get_input(x, index, dim=0, seed=None, **kwargs):
    g = torch.Generator().manual_seed(seed)
    return [x, torch.randperm(index.numel(), generator=g).to(index.dtype)]
"""


def scatter(root: Path, code: str = SCATTER) -> tuple[Folder, Case]:
    folder = Folder(root, code, (TensorSpec(name="index", dtypes=(I32,)), TensorSpec(name="x", dtypes=FLOATS)), (TensorSpec(name="y", dtypes=FLOATS),))
    items = (CaseInput(argument="index", shape=(50,), dtype=I32, low=0, high=49), CaseInput(argument="x", shape=(50,), dtype=BF16))
    return folder, Case(operator="op", id="1", inputs=items, attributes={"dim": 0})


def built(folder: Folder, case: Case, seed: int) -> dict[str, np.ndarray]:
    made = build_inputs(folder.path, folder.operator, case, make_inputs("1", case, seed), seed)
    return {name: np.asarray(value) for name, value in made.items()}


def test_a_builder_replaces_structured_inputs_in_the_order_of_the_goldens_signature(tmp_path: Path) -> None:
    folder, case = scatter(tmp_path)
    made = built(folder, case, 3)
    assert sorted(made["index"].tolist()) == list(range(50))
    np.testing.assert_array_equal(made["x"], np.asarray(make_inputs("1", case, 3)["x"]))


def test_the_seed_reaches_the_builder(tmp_path: Path) -> None:
    folder, case = scatter(tmp_path)
    first, again, other = (built(folder, case, seed)["index"].tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_builder_without_a_seed_argument_gets_it_through_torch(tmp_path: Path) -> None:
    folder, case = scatter(tmp_path, "def op(x, index):\n    return x\n\ndef get_input(x, index):\n    return x, torch.randperm(50).int()\n")
    state = torch.random.get_rng_state()
    assert built(folder, case, 1)["index"].tolist() != built(folder, case, 2)["index"].tolist()
    assert torch.equal(torch.random.get_rng_state(), state)


def test_an_operator_without_a_builder_keeps_its_inputs(tmp_path: Path) -> None:
    folder, case = scatter(tmp_path, "def op(x, index):\n    return x\n")
    inputs = make_inputs("1", case, 0)
    assert build_inputs(folder.path, folder.operator, case, inputs, 0) is inputs


@pytest.mark.parametrize("result", ["[x]", "[x, index.long()]", "[x[:3], index]", "[x, None]", "[index, x]"])
def test_a_builder_that_changes_the_form_of_an_input_is_our_error(tmp_path: Path, result: str) -> None:
    folder, case = scatter(tmp_path, f"def op(x, index):\n    return x\n\ndef get_input(x, index, **rest):\n    return {result}\n")
    with pytest.raises(EvaluatorError, match="get_input"):
        built(folder, case, 0)


def in_a_fresh_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    return done.stdout.strip()


def test_comparison_and_inputs_do_without_torch() -> None:
    code = "import sys, piton.numerics.impostors, piton.numerics.index, piton.numerics.inputs; print('torch' in sys.modules)"
    assert in_a_fresh_process(code) == "False"


def test_a_prepared_process_does_not_use_the_hosts_instruction_set() -> None:
    code = "from piton.numerics.golden import prepare_process; print(prepare_process(1)); import torch; print(torch.get_num_threads())"
    assert in_a_fresh_process(code).split() == ["DEFAULT", "1"]
