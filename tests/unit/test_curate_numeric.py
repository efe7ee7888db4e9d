"""Does each numeric check of the lint find exactly its fault? Operators are small goldens written here; every fault turns one check red."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from piton.catalog import load_suite
from piton.catalog.proto import Degenerate
from piton.catalog.rules import CaseRules, read_rules
from piton.core.canonical import plain
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.operator import Operator, TensorSpec
from piton.curate import checks, numeric
from piton.curate.invariants import broken_promises
from piton.curate.numeric import CaseNumbers, CaseRuns, failed_case, judge_case
from piton.curate.numeric_run import conclude
from piton.curate.violation import Subject
from piton.evaluate.cache import StoredTensor
from piton.evaluate.golden_service import CaseData, TensorData
from piton.numerics.dtypes import raw_bytes
from piton.numerics.golden import Precision, build_inputs, run_golden
from piton.numerics.inputs import Inputs, make_inputs
from piton.numerics.tensors import GoldenOutput

F32, F16, I64, BOOL = DType.FLOAT32, DType.FLOAT16, DType.INT64, DType.BOOL


@dataclass(frozen=True)
class World:
    """One operator with one case."""

    folder: Path
    body: str = "return x.float().exp().to(x.dtype) if x.dtype == torch.float16 else x.exp()"
    arguments: str = "x"
    inputs: tuple[CaseInput, ...] = (CaseInput(argument="x", shape=(40, 61), dtype=F32, low=-2.0, high=2.0),)
    outputs: tuple[TensorSpec, ...] = (TensorSpec(name="y", dtypes=(F32, F16)),)
    builder: str = ""
    degenerate: tuple[Degenerate, ...] = ()
    note: str = ""
    rules: CaseRules | None = None
    extra: dict[str, object] = field(default_factory=dict)

    @property
    def operator(self) -> Operator:
        names = tuple(dict.fromkeys(item.argument for item in self.inputs))
        specs = tuple(TensorSpec(name=name, dtypes=tuple({item.dtype for item in self.inputs if item.argument == name})) for name in names)
        path = self.folder / "golden.py"
        path.write_text(f"import torch\n\n\ndef op({self.arguments}):\n    {self.body}\n{self.builder}")
        return Operator(name="op", title="Op", level=1, category="", schema_text="", inputs=specs, outputs=self.outputs, golden_path=str(path))

    @property
    def case(self) -> Case:
        return Case(operator="op", id="1", inputs=self.inputs, note=self.note)

    def subject(self) -> Subject:
        return Subject(self.folder, self.operator, (self.case,), degenerate=self.degenerate, rules=self.rules)

    def run(self, seed: int, precision: Precision) -> tuple[CaseData, tuple[GoldenOutput, ...]]:
        operator, case = self.operator, self.case
        inputs = build_inputs(operator.golden_path, operator, case, make_inputs("0", case, seed), seed)
        outputs = run_golden(operator.golden_path, operator, case, inputs, precision, 1)
        return CaseData(tuple(tensor(item, inputs) for item in case.inputs), outputs), outputs

    def numbers(self) -> CaseNumbers:
        data, stale, native = self.run(0, "float64")[0], self.run(1, "float64")[0], self.run(0, "native")[1]
        return judge_case(CaseRuns(self.operator, self.case, self.rules, data, native, stale))

    def violations(self) -> set[str]:
        return {item.check for item in conclude(self.subject(), [self.numbers()])}


def tensor(form: CaseInput, inputs: Inputs) -> TensorData:
    array = inputs[form.argument]
    assert not isinstance(array, list)
    data = raw_bytes(array)
    return TensorData(StoredTensor(name=form.argument, dtype=form.dtype, shape=form.shape, offset=0, nbytes=data.nbytes), data)


def x_input(**fields: object) -> tuple[CaseInput, ...]:
    return (World(Path()).inputs[0].model_copy(update=fields),)


def test_a_sound_operator_has_no_violation(tmp_path: Path) -> None:
    world = World(tmp_path)
    assert world.violations() == set()
    assert world.numbers().accepted == ()
    assert set(world.numbers().refused["y"]) == {"zeros", "constant", "mean", "input_copy", "first_row_only", "lower_precision", "stale"}


def test_special_positions_that_depend_on_the_precision_are_found(tmp_path: Path) -> None:
    overflow = World(tmp_path, body="return x * x", inputs=x_input(dtype=F32, low=1e10, high=1e19 * 3))
    assert checks.SPECIAL_POSITIONS.name not in overflow.violations()
    hollow = World(tmp_path, body="return (x * 1e30) * 1e-30", inputs=x_input(low=1e8, high=1e9))
    assert checks.SPECIAL_POSITIONS.name in hollow.violations()


def test_a_same_dtype_run_that_would_fail_is_found(tmp_path: Path) -> None:
    lossy = World(tmp_path, body="return (x + 3000) - 3000 if x.dtype == torch.float32 else x * 1")
    assert checks.SAME_DTYPE_PASS.name in lossy.violations()


def test_an_impostor_that_passes_is_found_unless_it_is_listed(tmp_path: Path) -> None:
    copy = World(tmp_path, body="return x * 1")
    assert copy.violations() == {checks.IMPOSTORS.name}
    listed = Degenerate(case="1", impostors=("input_copy",), sibling="1", reason="it is a copy")
    found = [item.check for item in conclude(replace(copy.subject(), degenerate=(listed,)), [copy.numbers()])]
    assert found == [checks.SIBLING_REJECTS.name]  # the only case is its own sibling here


def test_a_case_that_is_listed_and_refuses_is_found(tmp_path: Path) -> None:
    listed = Degenerate(case="1", impostors=("mean",), sibling="1", reason="none")
    assert World(tmp_path, degenerate=(listed,)).violations() == {checks.DEGENERATE_TRUE.name}


def test_an_output_that_nothing_validates_is_found(tmp_path: Path) -> None:
    two = (TensorSpec(name="y", dtypes=(F32,)), TensorSpec(name="z", dtypes=(F32,)))
    assert World(tmp_path, body="return x.exp(), torch.zeros_like(x)", outputs=two).violations() == {checks.OUTPUT_VALIDATED.name}
    assert World(tmp_path, body="return x.exp(), x.sin()", outputs=two).violations() == set()


@pytest.mark.parametrize("values", ["torch.linspace(-2, 2, x.numel()).reshape(x.shape)"])
def test_inputs_that_do_not_follow_the_seed_are_found(tmp_path: Path, values: str) -> None:
    frozen = World(tmp_path, builder=f"\n\ndef get_input(x, seed):\n    return {values}\n")
    assert checks.SEED_FOLLOWED.name in frozen.violations()
    assert {item.check for item in conclude(frozen.subject(), [frozen.numbers()])} == {checks.SEED_FOLLOWED.name, checks.IMPOSTORS.name}  # the stale one passes


def test_a_bool_input_that_is_all_false_is_found(tmp_path: Path) -> None:
    mask = CaseInput(argument="mask", shape=(40, 61), dtype=BOOL, low=0.0, high=1.0)
    inputs = (World(tmp_path).inputs[0], mask)
    sound = World(tmp_path, body="return torch.where(mask, x.exp(), x)", arguments="x, mask", inputs=inputs)
    assert sound.violations() == set()
    builder = "\n\ndef get_input(x, mask, seed):\n    mask[:] = False\n    return x, mask\n"
    assert checks.BOOL_TRUE.name in replace(sound, body="return torch.where(mask, x, x.exp())", builder=builder).violations()


def test_values_that_miss_or_leave_their_range_are_found(tmp_path: Path) -> None:
    for change in ("x / 4", "x * 1.1"):
        builder = f"\n\ndef get_input(x, seed):\n    return {change}\n"
        assert World(tmp_path, builder=builder).violations() == {checks.INPUT_RANGE.name}


def test_a_golden_that_fails_is_one_violation(tmp_path: Path) -> None:
    world = World(tmp_path)
    record = failed_case(world.operator, world.case, EvaluatorError("the golden could not be run", found="ValueError"))
    assert [item.check for item in conclude(world.subject(), [record])] == [checks.GOLDEN_RUNS.name]


def test_drawn_cases_may_accept_what_the_rules_say_of_their_family(tmp_path: Path) -> None:
    gelu = load_suite().member("gelu")
    assert gelu is not None
    rules = read_rules(Path(gelu.operator.golden_path).parent, gelu.operator)
    zeros = World(tmp_path, body="return x * 1", inputs=x_input(low=0.0, high=0.0), note="small | float32 | non-aligned | special-zero", rules=rules)
    drawn = replace(zeros.subject(), origin="hidden")
    assert {item.check for item in conclude(drawn, [zeros.numbers()])} == {checks.OUTPUT_VALIDATED.name}
    renamed = replace(drawn, cases=(zeros.case.model_copy(update={"note": "small | float32 | non-aligned | symmetric-small"}),))
    assert {item.check for item in conclude(renamed, [zeros.numbers()])} == {checks.OUTPUT_VALIDATED.name, checks.IMPOSTORS.name}


def test_what_is_kept_on_disk_reads_back_equal(tmp_path: Path) -> None:
    numbers = World(tmp_path, body="return x * 1").numbers()
    assert CaseNumbers.model_validate(plain(numbers)) == numbers


# Structured inputs


@cache
def rules_with(text: str, folder: Path) -> CaseRules:
    operator = World(folder, arguments="x, i", inputs=(*x_input(), CaseInput(argument="i", shape=(4,), dtype=I64, low=0, high=9))).operator
    (folder / "rules.yaml").write_text(f"rules:\n  layouts:\n  - shapes: {{x: [..., N], i: [M]}}\n  invariants:\n  - {text}\n")
    rules = read_rules(folder, operator)
    assert rules is not None
    return rules


PROMISES = [
    ("{kind: distinct, inputs: [i]}", [0, 3, 2, 1], [0, 3, 3, 1]),
    ("{kind: sums_to, inputs: [i], to: 2 * N}", [1, 2, 3, 4], [1, 2, 3, 5]),
    ("{kind: monotone, inputs: [i], to: N}", [0, 2, 2, 5], [0, 2, 1, 5]),
    ("{kind: monotone, inputs: [i], to: N}", [0, 2, 2, 5], [0, 2, 2, 4]),
    ("{kind: within, inputs: [i], low: '0', high: N - 1}", [0, 4, 1, 1], [0, 5, 1, 1]),
    ("{kind: within, inputs: [i], low: '0', high: N - 1}", [0, 4, 1, 1], [0, -1, 1, 1]),
    ("{kind: positive, inputs: [i]}", [1, 2, 3, 1], [1, 0, 3, 1]),
    ("{kind: ordered_boxes, inputs: [i]}", [1, 1, 2, 1], [3, 1, 2, 1]),
    ("{kind: ordered_boxes, inputs: [i]}", [1, 1, 2, 1], [1, 3, 2, 1]),
]


@pytest.mark.parametrize(("promise", "kept", "broken"), PROMISES)
def test_a_promise_of_a_structured_input_is_kept_or_found_broken(tmp_path: Path, promise: str, kept: list[int], broken: list[int]) -> None:
    rules = rules_with(promise, tmp_path)
    case = Case(operator="op", id="1", inputs=())
    assert broken_promises(case, {"i": np.array(kept)}, rules.invariants, {"N": 5}) == []
    ((what, found),) = broken_promises(case, {"i": np.array(broken)}, rules.invariants, {"N": 5})
    assert what.startswith("i: ")
    assert found


def test_distinct_counts_along_its_axis_and_cos_and_sin_share_an_angle(tmp_path: Path) -> None:
    case = Case(operator="op", id="1", inputs=())
    along = rules_with("{kind: distinct, inputs: [i], axis: '0'}", tmp_path).invariants
    assert broken_promises(case, {"i": np.array([[1, 1], [2, 2]])}, along, {}) == []
    assert broken_promises(case, {"i": np.array([[1, 2], [1, 3]])}, along, {}) != []
    circle = rules_with("{kind: unit_circle, inputs: [x, i]}", tmp_path).invariants
    angle = np.linspace(0, 7, 50)
    assert broken_promises(case, {"x": np.cos(angle), "i": np.sin(angle)}, circle, {}) == []
    assert broken_promises(case, {"x": np.cos(angle), "i": np.sin(angle + 0.1)}, circle, {}) != []


def test_a_broken_promise_is_a_violation_of_the_case(tmp_path: Path) -> None:
    builder = "\n\ndef get_input(x, i, seed):\n    return x, i * 0\n"
    inputs = (*x_input(), CaseInput(argument="i", shape=(4,), dtype=I64, low=0, high=10**6))
    rules = rules_with("{kind: distinct, inputs: [i]}", tmp_path)
    world = World(tmp_path, body="return x.exp() * (i.sum() >= 0)", arguments="x, i", inputs=inputs, rules=rules)
    assert world.violations() == set()
    assert replace(world, builder=builder).violations() == {checks.STRUCTURE.name, checks.SEED_FOLLOWED.name}


@pytest.mark.parametrize("low", [0.0, float("nan")])
def test_a_result_that_a_narrower_format_holds_without_loss_need_not_reject_it(tmp_path: Path, low: float) -> None:
    """Whole numbers up to 8 fit into bfloat16; what a factor of 1.001 makes of them does not."""
    few = World(tmp_path, body="return x.round() + 1", inputs=x_input(low=low, high=7.0))
    assert few.numbers().exact == ("lower_precision",)
    assert few.violations() == set()
    many = World(tmp_path, body="return (x.round() + 1) * 1.001", inputs=x_input(low=low, high=7.0))
    assert many.numbers().exact == ()


BODIES = {
    "an ordinary one": "return x.float().exp().to(x.dtype)",
    "an output that is a copy of the input": "return x.clone()",
    "an output that is constant": "return torch.ones_like(x)",
    "an output whose first part is zero": "return torch.cat([x[:20] * 0, x[20:].exp()])",
    "whole numbers": "return (x * 10).round().to(torch.int64)",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_large_output_is_judged_by_its_start_as_it_is_by_all_of_it(tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = (TensorSpec(name="y", dtypes=(I64,) if "int64" in body else (F32,)),)
    world = World(tmp_path, body=body, outputs=outputs)
    whole = world.numbers()
    monkeypatch.setattr("piton.curate.numeric._START", 500)
    tried: list[set[str]] = []
    kept = numeric._refused_at_the_start
    monkeypatch.setattr(numeric, "_refused_at_the_start", lambda *given: tried.append(kept(*given)) or tried[-1])
    assert world.numbers() == whole
    assert tried
