"""From the trial runs of a task to its signature and cases."""

from __future__ import annotations

import keyword
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.foreign import ForeignTask, ScaledSize, SizeBudget, StateTensor, TaskFacts, TaskForm, TaskPlan
from piton.core.operator import AttrScalar, AttrSpec, AttrValue, Operator, TensorSpec
from piton.numerics.dtypes import from_torch_name
from piton.numerics.foreign.probe import Form, Probe, probe
from piton.numerics.foreign.said import NOTHING, SCHEMA_TYPES, left_out_remarks, quiet_remarks, scale_note, scale_remarks, schema_line, schema_types
from piton.numerics.foreign.scale import fits, scale
from piton.numerics.foreign.task import ForeignCode
from piton.numerics.golden import output_dtype

MAX_CASES = 1000
"""Cases of one task that are looked at."""
_MAX_INPUTS = 400
"""Tensors of one case: a reply has room for a description of each."""
TENSOR, TENSORS = "tensor", "tensor_list"


def describe(task: ForeignTask, folder: Path, budget: SizeBudget) -> TaskFacts:
    """Signature, cases and plan of the task whose files lie in `folder`. Raises EvaluatorError when it can't become an operator."""
    code = ForeignCode(folder, task.form, Path(task.files[0]).name, {})
    probes, scaled, remarks = _probe_all(code, budget)
    kinds, odd = _kinds(probes)
    outputs = _outputs(probes)
    kept = [item for item in probes if item.case_id not in odd]
    if not kept:
        raise EvaluatorError("no case of the task has a form that Piton can say", found="; ".join(dict.fromkeys(odd.values())))
    plan = TaskPlan(
        form=task.form,
        module=code.module,
        arguments=tuple(kinds),
        attributes={name: kind for name, kind in kinds.items() if kind in SCHEMA_TYPES},
        with_gradient=tuple(dict.fromkeys(name for item in probes for name in item.with_gradient)),
        state=_state(probes, kinds),
        scaled=scaled,
        is_quiet=any(item.is_quiet for item in probes),
    )
    operator = _operator(task, kinds, plan, kept, outputs)
    cases = tuple(case for case, item in ((_case(operator, item, plan), item) for item in kept) if _types_follow(operator, case, item, odd))
    if not cases:
        raise EvaluatorError("the element types of the outputs follow no rule that Piton knows", found="; ".join(dict.fromkeys(odd.values())))
    remarks += left_out_remarks(probes, odd)
    return TaskFacts(operator=operator, cases=cases, plan=plan, remarks=(*scale_remarks(scaled), *quiet_remarks(plan), *remarks))


def _probe_all(code: ForeignCode, budget: SizeBudget) -> tuple[list[Probe], tuple[ScaledSize, ...], tuple[str, ...]]:
    if code.form is TaskForm.MODULE:
        fitting, scaled = _fitting(code, budget)
        return [fitting], scaled, ()
    probes: list[Probe] = []
    failed: list[str] = []
    for case_id in code.case_ids()[:MAX_CASES]:
        found = _try(code, case_id, budget)
        if isinstance(found, Probe):
            probes.append(found)
        else:
            failed.append(f"case {case_id} {found}")
    if not probes:
        raise EvaluatorError("none of its cases can be run", found=f"{len(failed)} cases; {failed[0]}" if failed else "no cases")
    more = (f"{len(failed)} of {len(failed) + len(probes)} cases are left out; the first: {failed[0]}",) if failed else ()
    return probes, (), more


def _try(code: ForeignCode, case_id: str, budget: SizeBudget) -> Probe | str:
    """The probe of a case, or why it is left out."""
    try:
        found = probe(code, case_id)
    except EvaluatorError as error:
        return error.problem
    return found if fits(found, budget) else "needs more memory or work than the budget"


def _fitting(code: ForeignCode, budget: SizeBudget) -> tuple[Probe, tuple[ScaledSize, ...]]:
    source = (code.folder / code.module).read_text(encoding="utf-8-sig")

    def with_sizes(sizes: dict[str, int]) -> Probe:
        return probe(ForeignCode(code.folder, code.form, code.module, sizes), "1")

    try:
        first: Probe | None = with_sizes({})
    except EvaluatorError as error:
        if "alloc" not in str(error):  # torch's words for memory that is not there
            raise
        first = None
    return scale(source, first, budget, with_sizes)


def _kind(value: Any) -> str:
    if isinstance(value, Form):
        return TENSOR
    if isinstance(value, torch.dtype):
        return "dtype"
    if value is None:
        return NOTHING
    if isinstance(value, (list, tuple)):
        return _list_kind(value)
    kinds = {bool: "bool", int: "int", float: "float", str: "str"}
    return kinds.get(type(value), f"a {type(value).__name__}")


def _list_kind(value: Sequence[Any]) -> str:
    inner = {_kind(item) for item in value}
    if inner == {TENSOR}:
        return TENSORS
    if inner <= {"int"}:
        return "int_list"
    if inner <= {"int", "float"}:
        return "float_list"
    return f"{inner.pop()}_list" if len(inner) == 1 and inner <= {"bool", "str"} else "a list of mixed things"


def _kinds(probes: Sequence[Probe]) -> tuple[dict[str, str], dict[str, str]]:
    """What each argument is, and why some cases do not go with the others, by case id."""
    names = list(dict.fromkeys(name for item in probes for name in item.arguments))
    kinds = {name: _common_kind([_kind(item.arguments.get(name)) for item in probes]) for name in names}
    odd: dict[str, str] = {}
    for item in probes:
        for name in names:
            kind = _kind(item.arguments.get(name))
            if (
                kind not in (kinds[name], NOTHING)
                and not (kind == "int" and kinds[name] == "float")
                and not (kind == "int_list" and kinds[name] == "float_list")
            ):
                odd[item.case_id] = f"argument {name} is {kind}"
        if unsaid := _unsaid(item):
            odd[item.case_id] = unsaid
        if sum(1 for _ in _forms(item)) > _MAX_INPUTS:
            odd[item.case_id] = f"more than {_MAX_INPUTS} tensors"
    return kinds, odd


def _common_kind(found: Sequence[str]) -> str:
    counted = Counter(kind for kind in found if kind != NOTHING)
    if not counted:
        return NOTHING
    for narrow, wide in (("int", "float"), ("int_list", "float_list")):
        if set(counted) == {narrow, wide}:
            return wide
    return counted.most_common(1)[0][0]


def _forms(item: Probe) -> Any:
    for value in (*item.arguments.values(), *item.state.values(), *item.outputs):
        yield from value if isinstance(value, list) and value and isinstance(value[0], Form) else [value] if isinstance(value, Form) else []


def _unsaid(item: Probe) -> str:
    strange = sorted({str(form.dtype) for form in _forms(item) if _dtype(form) is None})
    other = [kind for kind in map(_kind, item.arguments.values()) if kind.startswith("a ")]
    return f"element type {strange[0]}" if strange else f"an argument that is {other[0]}" if other else ""


def _dtype(form: Form) -> DType | None:
    return from_torch_name(str(form.dtype))


def _outputs(probes: Sequence[Probe]) -> list[str]:
    """Kinds of the outputs; when cases have different numbers of them, they are one list."""
    counts = {len(item.outputs) for item in probes}
    if len(counts) > 1:
        for item in probes:
            item.outputs[:] = [[form for value in item.outputs for form in (value if isinstance(value, list) else [value])]]
    if not any(item.outputs for item in probes):
        raise EvaluatorError("forward returns no tensor")
    return [TENSORS if any(isinstance(item.outputs[index], list) for item in probes) else TENSOR for index in range(len(probes[0].outputs))]


def _output_forms(item: Probe, index: int) -> list[Form]:
    value = item.outputs[index]
    return value if isinstance(value, list) else [value]


def _types_follow(operator: Operator, case: Case, item: Probe, odd: dict[str, str]) -> bool:
    """True when the rule of goldens (`golden.output_dtype`) gives every output the type it has in this case; otherwise `odd` gets the reason."""
    for index, spec in enumerate(operator.outputs):
        for form in _output_forms(item, index):
            wide = torch.float64 if form.dtype.is_floating_point else form.dtype
            if _ruled_dtype(operator, spec, case, torch.empty(0, dtype=wide)) is not _dtype(form):
                odd[item.case_id] = f"output {spec.name} is {_dtype(form)}, which nothing in the case says"
    return item.case_id not in odd


def _ruled_dtype(operator: Operator, spec: TensorSpec, case: Case, result: torch.Tensor) -> DType | None:
    try:
        return output_dtype(operator, spec, case, result)
    except EvaluatorError:
        return None


def _state(probes: Sequence[Probe], kinds: dict[str, str]) -> tuple[StateTensor, ...]:
    taken = {*kinds, "case_id", "seed"}
    made: list[StateTensor] = []
    for path in dict.fromkeys(path for item in probes for path in item.state):
        name = re.sub(r"\W", "_", path)
        name = f"p{name}" if name[0].isdigit() else name
        while name in taken or keyword.iskeyword(name):
            name += "_"
        taken.add(name)
        made.append(StateTensor(path=path, argument=name))
    return tuple(made)


def _operator(task: ForeignTask, kinds: dict[str, str], plan: TaskPlan, probes: Sequence[Probe], outputs: Sequence[str]) -> Operator:
    inputs = [_argument_spec(name, kind, probes) for name, kind in kinds.items() if kind in (TENSOR, TENSORS)]
    inputs += [_state_spec(item, probes) for item in plan.state]
    named = [_output_spec(index, kind, len(outputs), probes) for index, kind in enumerate(outputs)]
    attributes = [AttrSpec(name=name, type=kind, is_required=True, description="") for name, kind in plan.attributes.items()]
    return Operator(
        name=task.name,
        title=task.title,
        level=task.level,
        category=task.category,
        schema_text=schema_line(task.name, schema_types(kinds, probes), inputs, named),
        inputs=tuple(inputs),
        outputs=tuple(named),
        attributes=tuple(attributes),
        draws_own_inputs=True,
    )


def _argument_spec(name: str, kind: str, probes: Sequence[Probe]) -> TensorSpec:
    values = [item.arguments.get(name) for item in probes]
    forms = [form for value in values if value is not None for form in (value if isinstance(value, list) else [value])]
    is_optional = any(value is None for value in values)
    return TensorSpec(name=name, dtypes=_dtypes(forms), is_optional=is_optional, is_list=kind == TENSORS, description="argument of forward")


def _state_spec(item: StateTensor, probes: Sequence[Probe]) -> TensorSpec:
    forms = [found.state[item.path] for found in probes if item.path in found.state]
    is_optional = len(forms) < len(probes)
    return TensorSpec(name=item.argument, dtypes=_dtypes(forms), is_optional=is_optional, description=f"{item.path} of the model, as its constructor draws it")


def _output_spec(index: int, kind: str, count: int, probes: Sequence[Probe]) -> TensorSpec:
    forms = [form for item in probes for form in _output_forms(item, index)]
    return TensorSpec(name="y" if count == 1 else f"y{index}", dtypes=_dtypes(forms), is_list=kind == TENSORS, description="result of forward")


def _dtypes(forms: Sequence[Form]) -> tuple[DType, ...]:
    found = dict.fromkeys(_dtype(form) for form in forms)
    return tuple(dtype for dtype in found if dtype is not None)


def _case(operator: Operator, item: Probe, plan: TaskPlan) -> Case:
    inputs: list[CaseInput] = []
    for name in plan.arguments:
        value = item.arguments.get(name)
        if isinstance(value, Form):
            inputs.append(_input(name, value, None))
        elif isinstance(value, list) and value and isinstance(value[0], Form):
            inputs += [_input(name, form, index) for index, form in enumerate(value)]
    inputs += [_input(state.argument, item.state[state.path], None) for state in plan.state if state.path in item.state]
    present = {made.argument for made in inputs}
    omitted = [spec.name for spec in operator.inputs if spec.name not in present]
    attributes = {name: _attribute(item.arguments.get(name)) for name in plan.attributes}
    return Case(operator=operator.name, id=item.case_id, inputs=tuple(inputs), attributes=attributes, omitted=tuple(omitted), note=scale_note(plan))


def _input(name: str, form: Form, index: int | None) -> CaseInput:
    dtype = _dtype(form)
    assert dtype is not None  # cases with other types were left out
    return CaseInput(argument=name, shape=form.shape, dtype=dtype, low=math.nan, high=math.nan, list_index=index)


def _attribute(value: Any) -> AttrValue:
    if isinstance(value, (list, tuple)):
        return tuple(_scalar(item) for item in value)
    return _scalar(value)


def _scalar(value: Any) -> AttrScalar:
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    assert value is None or isinstance(value, (bool, int, float, str))
    return value
