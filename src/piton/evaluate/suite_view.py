"""Suites as `piton suite list` and `piton suite show` present them: plain records, made from what the catalog reads. Nothing of a suite is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from piton.catalog.adapters import Found
from piton.catalog.source import read_text
from piton.core.case import Case, SizeClass, size_class
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError, UsageError
from piton.core.foreign import ForeignTask, SuiteFormat
from piton.core.measurement import Anchor
from piton.core.operator import AttrSpec, AttrValue, Frozen, Operator, TensorSpec
from piton.core.suite import Suite, SuiteOperator
from piton.evaluate.anchor_view import AnchorSources, explain
from piton.evaluate.arguments import all_attributes
from piton.numerics.thresholds import tolerance_for

_TEXT = "desc.md"


class TensorView(Frozen):
    """One tensor of a case."""

    argument: str
    list_index: int | None
    shape: tuple[int, ...]
    dtype: DType
    elements: int
    nbytes: int
    low: float
    high: float


class CaseView(Frozen):
    """One case with its anchors on a target."""

    id: str
    size: SizeClass
    elements: int
    """Of all inputs together: what `--max-elements` counts."""
    nbytes: int
    inputs: tuple[TensorView, ...]
    omitted: tuple[str, ...]
    attributes: dict[str, AttrValue]
    """Every attribute, defaults filled in."""
    seed: int
    note: str
    t_hw: Anchor | None
    t_baseline: Anchor | None
    """Quoted, or simulated where an evaluation has left it in the cache."""


class ThresholdView(Frozen):
    """Tolerance of one output in one dtype."""

    output: str
    dtype: DType
    tau: float | None
    """Mean gate, or absolute tolerance of an integer; None where the standard has no row."""
    is_default: bool


class OperatorView(Frozen):
    """One operator of a suite."""

    name: str
    title: str
    level: int
    category: str
    schema_text: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attributes: tuple[AttrSpec, ...]
    thresholds: tuple[ThresholdView, ...]
    description: str
    """desc.md as it stands."""
    remarks: tuple[str, ...]
    """What the reader of a result has to know: scaled sizes and the like."""
    target: str
    """Whose anchors the cases have."""
    cases: tuple[CaseView, ...]


class OperatorLine(Frozen):
    """One operator in the list of a suite."""

    name: str
    level: int
    category: str
    schema_text: str
    dtypes: tuple[DType, ...]
    """Of the first input."""
    cases: int
    smallest_elements: int
    largest_elements: int


class SuiteView(Frozen):
    """One suite."""

    name: str
    version: str
    format: str
    """One of core.foreign.SuiteFormat."""
    is_described: bool
    """False for tasks of another benchmark whose code has not run: signatures and cases are not known."""
    is_foreign: bool
    root: str
    digest: str
    levels: dict[str, tuple[str, ...]]
    """Names of operators by level."""
    cases: int
    operators: tuple[OperatorLine, ...]
    left_out: dict[str, str]
    """Tasks that can't become operators, with the reason."""


def view_found(found: Found) -> SuiteView:
    """What the files of another benchmark's suite show; nothing of it has run."""
    levels: dict[str, tuple[str, ...]] = {}
    for task in found.tasks:
        levels[str(task.level)] = (*levels.get(str(task.level), ()), task.name)
    return SuiteView(
        name=found.name,
        version=found.version,
        format=found.format.value,
        is_described=False,
        is_foreign=True,
        root=found.root,
        digest="",
        levels=dict(sorted(levels.items())),
        cases=0,
        operators=tuple(_undescribed(task) for task in found.tasks),
        left_out={},
    )


def _undescribed(task: ForeignTask) -> OperatorLine:
    return OperatorLine(name=task.name, level=task.level, category=task.category, schema_text="", dtypes=(), cases=0, smallest_elements=0, largest_elements=0)


def view_suite(suite: Suite, form: SuiteFormat = SuiteFormat.CANN_BENCH) -> SuiteView:
    """What a suite holds."""
    levels: dict[str, tuple[str, ...]] = {}
    for member in suite.members:
        level = str(member.operator.level)
        levels[level] = (*levels.get(level, ()), member.operator.name)
    return SuiteView(
        name=suite.name,
        version=suite.version,
        format=form.value,
        is_described=True,
        is_foreign=suite.is_foreign,
        root=suite.root,
        digest=suite.digest(),
        levels=dict(sorted(levels.items())),
        cases=sum(len(member.cases) for member in suite.members),
        operators=tuple(_line(member) for member in suite.members),
        left_out={name: reason for name, reason in suite.left_out.items() if reason},
    )


def find_member(suite: Suite, operator: str) -> SuiteOperator:
    """The member of that name. Raises UsageError."""
    member = suite.member(operator)
    if member is None:
        names = ", ".join(item.operator.name for item in suite.members)
        raise UsageError(f"suite {suite.name} has no operator {operator!r}", expected=f"one of: {names}", action="see `piton suite show`")
    return member


def find_cases(member: SuiteOperator, wanted: Sequence[str]) -> tuple[Case, ...]:
    """The cases asked for, `3` or `exp/3`, in the suite's order; all when none is named. Raises UsageError for an unknown one."""
    name = member.operator.name
    ids = [item.removeprefix(f"{name}/") for item in wanted]
    known = [case.id for case in member.cases]
    for case_id in ids:
        if case_id not in known:
            raise UsageError(f"operator {name} has no case {case_id!r}", expected=f"one of: {', '.join(known)}", action="check --case")
    return tuple(case for case in member.cases if not ids or case.id in ids)


def view_operator(member: SuiteOperator, cases: Sequence[Case], target: str, sources: AnchorSources) -> OperatorView:
    """Everything about one operator, with the cases given."""
    operator = member.operator
    return OperatorView(
        name=operator.name,
        title=operator.title,
        level=operator.level,
        category=operator.category,
        schema_text=operator.schema_text,
        inputs=operator.inputs,
        outputs=operator.outputs,
        attributes=operator.attributes,
        thresholds=tuple(_threshold(operator, output, dtype) for output in operator.outputs for dtype in output.dtypes),
        description=_description(operator),
        remarks=member.remarks,
        target=target,
        cases=tuple(_case(operator, case, sources) for case in cases),
    )


def _line(member: SuiteOperator) -> OperatorLine:
    operator, sizes = member.operator, [case.elements for case in member.cases]
    return OperatorLine(
        name=operator.name,
        level=operator.level,
        category=operator.category,
        schema_text=operator.schema_text,
        dtypes=operator.inputs[0].dtypes if operator.inputs else (),
        cases=len(sizes),
        smallest_elements=min(sizes),
        largest_elements=max(sizes),
    )


def _description(operator: Operator) -> str:
    path = Path(operator.golden_path).parent / _TEXT
    return read_text(path) if path.is_file() else ""


def _threshold(operator: Operator, output: TensorSpec, dtype: DType) -> ThresholdView:
    try:
        tau: float | None = tolerance_for(operator, output.name, dtype).tau
    except EvaluatorError:  # a format without a row in the standard
        tau = None
    return ThresholdView(output=output.name, dtype=dtype, tau=tau, is_default=dtype not in operator.thresholds)


def _case(operator: Operator, case: Case, sources: AnchorSources) -> CaseView:
    anchors = explain(operator, case, sources)
    return CaseView(
        id=case.id,
        size=size_class(case),
        elements=case.elements,
        nbytes=sum(item.nbytes for item in case.inputs),
        inputs=tuple(
            TensorView(
                argument=item.argument,
                list_index=item.list_index,
                shape=item.shape,
                dtype=item.dtype,
                elements=item.elements,
                nbytes=item.nbytes,
                low=item.low,
                high=item.high,
            )
            for item in case.inputs
        ),
        omitted=case.omitted,
        attributes=all_attributes(operator, case),
        seed=case.seed,
        note=case.note,
        t_hw=anchors.t_hw,
        t_baseline=anchors.t_baseline,
    )
