"""Numeric lint of one case: golden in float64, the same-dtype run, a golden under another seed, and every impostor in the place of every output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from piton.catalog.expression import Number
from piton.catalog.rule_forms import BATCH
from piton.catalog.rules import CaseRules
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.operator import Frozen, Operator
from piton.core.report import OutputCheck
from piton.core.verdict import Cause, Verdict
from piton.curate import checks
from piton.curate.invariants import broken_promises
from piton.curate.violation import NumericCheck, Problem
from piton.evaluate.check import Expectation, check_outputs
from piton.evaluate.golden_service import CaseData, TensorData
from piton.numerics.compare import compare_output
from piton.numerics.dtypes import AnyArray, decode, view_raw
from piton.numerics.impostors import LOWER_PRECISION, Maker, as_output, leading, leading_makers, makers
from piton.numerics.inputs import Inputs, inward, scale_exponents, special_count
from piton.numerics.lint import special_disagreements
from piton.numerics.tensors import GoldenOutput
from piton.numerics.thresholds import tolerance_for

_MANY = 1000
"""Elements from which drawn values have to reach near both ends of their range."""
_REACH = 0.9
_START = 1 << 20
"""Elements of a large output that impostors are tried on first."""
_CERTAIN = frozenset({Cause.MAX_ERROR, Cause.NAN_MISMATCH, Cause.INF_MISMATCH, Cause.INTEGER_MISMATCH})
"""Failures for which one element is enough, whatever the others are like."""
_SLACK = 0.01
"""Share of the range's width by which values may leave it: rounding to the dtype."""
VALIDATING = ("zeros", "constant", "stale")
"""Impostors of which some case has to refuse one, for an output to count as validated."""


class NumericProblem(Frozen):
    """A problem under the name of its check."""

    check: str
    problem: Problem


class CaseNumbers(Frozen):
    """What the runs of one case showed; kept on disk, so that a lint goes on where it was stopped."""

    operator: str
    case: str
    accepted: tuple[str, ...] = ()
    """Impostors that no output refuses."""
    exact: tuple[str, ...] = ()
    """Of these, computations in a narrower format that lose nothing: then that format is as good, and nobody is deceived."""
    refused: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Impostors refused, by name of the output (of a list: without its index)."""
    has_run: bool = True
    """False when a golden failed: then nothing can be said about impostors."""
    problems: tuple[NumericProblem, ...] = ()


@dataclass(frozen=True)
class CaseRuns:
    """Data of one case from three runs."""

    operator: Operator
    case: Case
    rules: CaseRules | None
    data: CaseData
    native: tuple[GoldenOutput, ...]
    stale: CaseData
    threads: int = 1

    def arrays(self, data: CaseData) -> Inputs:
        """Inputs by argument name, in their own shapes; lists as lists."""
        made: Inputs = {}
        for item in data.inputs:
            array = _array(item)
            if item.tensor.list_index is None:
                made[item.tensor.name] = array
            else:
                kept = made.setdefault(item.tensor.name, [])
                assert isinstance(kept, list)
                kept.append(array)
        return made


def judge_case(runs: CaseRuns) -> CaseNumbers:
    """Everything that the runs of a case say about it."""
    accepted, exact, refused = _try_impostors(runs)
    problems = [*_golden_problems(runs), *_input_problems(runs)]
    return CaseNumbers(operator=runs.operator.name, case=runs.case.id, accepted=accepted, exact=exact, refused=refused, problems=tuple(problems))


def failed_case(operator: Operator, case: Case, error: EvaluatorError) -> CaseNumbers:
    """A case whose golden could not be run."""
    problem = _named(checks.GOLDEN_RUNS, case, error.problem, expected="a result", found=error.found or str(error))
    return CaseNumbers(operator=operator.name, case=case.id, has_run=False, problems=(problem,))


def _named(check: NumericCheck, case: Case, problem: str, *, expected: str = "", found: str = "", action: str = "") -> NumericProblem:
    return NumericProblem(check=check.name, problem=Problem(problem=problem, expected=expected, found=found, action=action, case=case.id))


def _golden_problems(runs: CaseRuns) -> Iterator[NumericProblem]:
    expected, native = runs.data.outputs, runs.native
    if [(item.name, item.dtype, item.shape) for item in expected] != [(item.name, item.dtype, item.shape) for item in native]:
        yield _named(checks.SPECIAL_POSITIONS, runs.case, "float64 and same-dtype run differ in number or form of their outputs")
        return
    for golden, candidate in zip(expected, native, strict=True):
        differing = special_disagreements(golden, candidate, runs.threads)
        if differing:
            text = f"output {golden.name}: NaN or infinity on one side only at {differing} positions"
            action = "change the value range: a correct kernel would fail here"
            yield _named(checks.SPECIAL_POSITIONS, runs.case, text, expected="the same positions in float64 and same-dtype run", action=action)
    for number, candidate in enumerate(native):
        check = _compare(runs, number, candidate)
        if check.outcome.verdict is not Verdict.PASSED:
            action = "change the case, or the operator's threshold"
            yield _named(
                checks.SAME_DTYPE_PASS, runs.case, check.outcome.message, expected="a pass, profile strict", found=check.outcome.cause.value, action=action
            )


def _compare(runs: CaseRuns, number: int, candidate: GoldenOutput) -> OutputCheck:
    """`candidate` in the place of output `number`, compared as in an evaluation."""
    one = Expectation(runs.operator, runs.case, runs.data.inputs, (runs.data.outputs[number],), lambda: (runs.native[number],), "strict", runs.threads)
    made, outcomes = check_outputs([as_output(candidate)], one)
    assert made, outcomes
    return made[0]


_Tried = tuple[tuple[str, ...], tuple[str, ...], dict[str, tuple[str, ...]]]


def _try_impostors(runs: CaseRuns) -> _Tried:
    """Names that no output refuses, those of them that are a narrower format without any loss, and the names that each output refuses."""
    inputs, stale = runs.arrays(runs.data), runs.stale.outputs
    tried: set[str] = set()
    lossy: set[str] = set()
    refused: dict[str, tuple[str, ...]] = {}
    for number, golden in enumerate(runs.data.outputs):
        if not golden.elements:
            continue
        other = stale[number] if number < len(stale) else None
        found = makers(golden, inputs, other)
        certain = _refused_at_the_start(runs, number, leading_makers(golden, inputs, other, _START)) if _has_start(runs, golden) else set()
        made = {name: make() for name, make in found.items() if name not in certain}
        tried |= set(found)
        lossy |= {name for name in found if name != LOWER_PRECISION or name in certain or not _is_same(made[name], golden)}
        whole = {name for name, item in made.items() if _compare(runs, number, item).outcome.verdict is not Verdict.PASSED}
        against = tuple(name for name in found if name in certain | whole)
        name = golden.name.partition("[")[0]
        refused[name] = tuple(dict.fromkeys((*refused.get(name, ()), *against)))
    caught = {name for names in refused.values() for name in names}
    return tuple(sorted(tried - caught)), tuple(sorted(tried - caught - lossy)), refused


def _has_start(runs: CaseRuns, golden: GoldenOutput) -> bool:
    """True for a large output whose elements are judged one by one: no indices, nothing packed, no shares of wrong ones."""
    spec = next((item for item in runs.operator.outputs if item.name == golden.name.partition("[")[0]), None)
    is_plain = golden.dtype not in (DType.FLOAT4_E2M1, DType.FLOAT8_E8M0) and not (spec and spec.indexes)
    return is_plain and golden.elements >= 2 * _START


def _refused_at_the_start(runs: CaseRuns, number: int, found: dict[str, Maker]) -> set[str]:
    """Impostors that the whole output refuses for certain, since their first elements have an error that no others can make up for."""
    golden, native = (leading(outputs[number], _START) for outputs in (runs.data.outputs, runs.native))
    tolerance = tolerance_for(runs.operator, golden.name, golden.dtype)
    checks_made = {name: compare_output(as_output(make()), golden, tolerance, "strict", lambda: native, runs.threads) for name, make in found.items()}
    return {name for name, check in checks_made.items() if check.outcome.cause in _CERTAIN}


def _is_same(output: GoldenOutput, golden: GoldenOutput) -> bool:
    """True when all values are equal, whatever the bits of their NaN."""
    return output.data == golden.data or np.array_equal(output.values(), golden.values(), equal_nan=golden.dtype.is_floating)


def _input_problems(runs: CaseRuns) -> Iterator[NumericProblem]:
    first, second = runs.data.inputs, runs.stale.inputs
    forms = {(item.argument, item.list_index): item for item in runs.case.inputs}
    for item, other in zip(first, second, strict=True):
        form = forms[item.tensor.name, item.tensor.list_index]
        yield from _values_problems(runs.case, form, item, other)
    if runs.rules is not None:
        omitted = {spec.name: "" for spec in runs.operator.attributes if spec.type == "str"}
        for promised, found in broken_promises(runs.case, runs.arrays(runs.data), runs.rules.invariants, {**omitted, **_axes(runs.case, runs.rules)}):
            yield _named(checks.STRUCTURE, runs.case, "a structured input does not keep its promise", expected=promised, found=found, action="mend get_input")


def _values_problems(case: Case, form: CaseInput, item: TensorData, other: TensorData) -> Iterator[NumericProblem]:
    name = item.tensor.name
    if item.data == other.data and form.low != form.high and form.elements > 1 and _has_ordinary(form):
        text = f"input {name} is the same under another seed"
        yield _named(checks.SEED_FOLLOWED, case, text, expected="other values", action="let get_input follow its seed")
    array = _array(item)
    if form.dtype is DType.BOOL and form.high >= 1 and not array.any():
        yield _named(checks.BOOL_TRUE, case, f"bool input {name} is all false", expected="some true")
    wrong = _range_problem(form, array)
    if wrong:
        yield _named(checks.INPUT_RANGE, case, f"values of input {name}", expected=f"spread over [{form.low:g}, {form.high:g}]", found=wrong)


def _has_ordinary(form: CaseInput) -> bool:
    """True unless every element is special."""
    return form.elements > 2 * special_count(form.elements)


def _range_problem(form: CaseInput, array: AnyArray) -> str:
    """How finite values leave or miss a finite range; "" when they do not, or where the range is special."""
    if not (np.isfinite(form.low) and np.isfinite(form.high)) or array.size < _MANY or not form.dtype.is_floating:
        return ""
    values = decode(array.reshape(-1), form.dtype)
    least, most = _reachable(form)
    low, high, width = float(values.min()), float(values.max()), most - least
    slack = _SLACK * max(width, abs(least), abs(most))
    is_outside = low < least - slack or high > most + slack
    return f"[{low:g}, {high:g}]" if is_outside or high - low < _REACH * width - slack else ""


def _reachable(form: CaseInput) -> tuple[float, float]:
    """The smallest and the largest value that the dtype has in the range."""
    if form.dtype is DType.FLOAT8_E8M0:
        low, high = scale_exponents(form)
        return float(np.ldexp(1.0, low)), float(np.ldexp(1.0, high))
    return inward(form.dtype, form.low, form.high)


def _axes(case: Case, rules: CaseRules) -> dict[str, Number]:
    """Sizes of the named axes, read off the shapes of the first layout that fits, its own attributes included."""
    for layout in rules.layouts:
        if any(rule.choices and case.attributes.get(name) not in rule.choices for name, rule in layout.attributes.items()):
            continue
        entries = dict(layout.shapes)
        shapes: dict[str, tuple[int, ...]] = {}
        for item in case.inputs:
            name = item.argument if item.argument in entries else f"{item.argument}[{item.list_index}]"
            shapes.setdefault(name, item.shape)
        if set(shapes) == set(entries) and all(_fits(axes, shapes[name]) for name, axes in entries.items()):
            return _named_sizes(entries, shapes)
    return {}


def _fits(axes: tuple[str, ...], shape: tuple[int, ...]) -> bool:
    """True when a tensor of this rank can have these axes."""
    return len(shape) >= len(axes) - 1 if BATCH in axes else len(shape) == len(axes)


def _named_sizes(entries: dict[str, tuple[str, ...]], shapes: dict[str, tuple[int, ...]]) -> dict[str, Number]:
    sizes: dict[str, Number] = {}
    for name, axes in entries.items():
        named = [axis for axis in axes if axis != BATCH]
        for axis, size in zip(reversed(named), reversed(shapes[name]), strict=False):
            if axis.isidentifier():
                sizes.setdefault(axis, size)
    return sizes


def _array(item: TensorData) -> AnyArray:
    return view_raw(item.data, item.tensor.dtype).reshape(item.tensor.shape)
