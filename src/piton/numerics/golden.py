"""Run the golden of an operator on one case: in float64 (the truth) or in the inputs' own dtype (the same-dtype run).

The only module of numerics that imports torch. It runs in a golden worker, never in a process that holds a submission.

An operator's golden.py defines a function of the operator's name with the schema's argument names. A contraction computes its same-dtype run itself, with
float32 accumulation and one rounding, because a half-precision matmul of the CPU is no reference (precision standard, rule 3). An optional `get_input` with
the same arguments, and `seed` if it takes one, rebuilds inputs whose elements depend on each other and returns the tensor arguments in the order of the
golden's signature.

Inputs of an element type that torch lacks (hifloat8, float4_e2m1) come as float32 in the same-dtype run, which holds all their values. An output of such a type
is returned in any floating dtype and rounded here, like every other.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Literal

import numpy as np
import torch

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.operator import AttrValue, Operator, TensorSpec
from piton.numerics.chunks import map_spans, spans
from piton.numerics.dtypes import (
    AnyArray,
    decode,
    dtype_of,
    encode,
    from_name,
    from_torch_name,
    integer_bounds,
    is_torchs_own,
    raw_bytes,
    storage_dtype,
    torch_name,
)
from piton.numerics.golden_module import GoldenModule, load_golden
from piton.numerics.inputs import Inputs
from piton.numerics.tensors import GoldenOutput

Precision = Literal["float64", "native"]

REPRODUCIBLE_ENVIRONMENT = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "OMP_DYNAMIC": "FALSE", "MKL_DYNAMIC": "FALSE"}
"""Variables of a golden worker. Without them torch picks its code by the host's instruction set: same-dtype runs of gelu and softmax differ."""


def prepare_process(threads: int = 1) -> str:
    """Make this process's torch reproducible; call it before the first torch operation of a golden worker.

    Returns torch's name of the instruction set in force: `DEFAULT`, unless torch had chosen before. Results may depend on `threads` where a golden sums across
    threads, so a cache has to use one number of threads throughout.
    """
    os.environ.update(REPRODUCIBLE_ENVIRONMENT)
    torch.set_num_threads(threads)
    return torch.backends.cpu.get_cpu_capability()


def run_golden(
    module_path: str, operator: Operator, case: Case, inputs: Inputs, precision: Precision = "float64", threads: int | None = None
) -> tuple[GoldenOutput, ...]:
    """Outputs of the golden in the order of the schema, each rounded once to its declared dtype; elements of a list output are separate.

    In `float64`, floating inputs are widened and everything else keeps its dtype. The inputs are copied, so a golden that writes to its arguments does no harm.
    Raises EvaluatorError when the golden fails or returns something the operator does not declare.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    golden = load_golden(module_path)
    result = golden.call(operator.name, call_arguments(operator, case, inputs, precision))
    named = _named_outputs(operator, result, module_path)
    del result
    outputs = []
    while named:
        # Popping frees each float64 result as soon as it is rounded: the peak is what counts for large cases.
        name, spec, tensor = named.pop(0)
        outputs.append(_golden_output(name, tensor, output_dtype(operator, spec, case, tensor), module_path))
    return tuple(outputs)


def build_inputs(module_path: str, operator: Operator, case: Case, inputs: Inputs, seed: int) -> Inputs:
    """The inputs after the operator's own `get_input`, or the same inputs if it defines none. Raises EvaluatorError if it changes a shape or dtype."""
    golden = load_golden(module_path)
    if not golden.has("get_input"):
        return inputs
    arguments = {**call_arguments(operator, case, inputs, "native"), "seed": seed}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        rebuilt = golden.call("get_input", arguments)
    names = _tensor_arguments(golden, operator)
    present = [name for name in names if name in inputs]
    values = list(rebuilt) if isinstance(rebuilt, (list, tuple)) else [rebuilt]
    order = names if len(values) == len(names) else present
    if len(values) != len(order):
        raise EvaluatorError(f"get_input returned {len(values)} values", expected=f"{len(names)}: {', '.join(names)}", where=module_path)
    return {name: _same_form(inputs[name], value, name, module_path) for name, value in zip(order, values, strict=True) if name in inputs}


def draw_own_inputs(module_path: str, operator: Operator, case: Case, seed: int) -> Inputs:
    """The inputs of an operator that draws them itself, in the order of the case. Raises EvaluatorError if they do not have the forms of the case."""
    drawn = load_golden(module_path).call("get_input", {"seed": seed, "case_id": case.id})
    inputs: Inputs = {}
    for item in case.inputs:
        value = drawn.get(item.argument)
        if item.list_index is None:
            inputs[item.argument] = _drawn_array(item, value, module_path)
        else:
            element = value[item.list_index] if isinstance(value, (list, tuple)) and item.list_index < len(value) else None
            inputs[item.argument] = [*inputs.get(item.argument, []), _drawn_array(item, element, module_path)]
    return inputs


def _drawn_array(item: CaseInput, value: Any, path: str) -> AnyArray:
    if not isinstance(value, torch.Tensor) or tuple(value.shape) != item.shape or from_torch_name(str(value.dtype)) is not item.dtype:
        found = f"{value.dtype} {list(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
        raise EvaluatorError(
            f"input {item.argument} has another form than the case says", expected=f"{item.dtype.value} {list(item.shape)}", found=found, where=path
        )
    return _to_array(value)


def _tensor_arguments(golden: GoldenModule, operator: Operator) -> list[str]:
    declared = {spec.name for spec in operator.inputs}
    return [name for name in inspect.signature(golden.function(operator.name)).parameters if name in declared]


def _same_form(before: AnyArray | list[AnyArray], after: Any, name: str, path: str) -> AnyArray | list[AnyArray]:
    if isinstance(before, list):
        if not isinstance(after, (list, tuple)) or len(after) != len(before):
            raise EvaluatorError(f"get_input changed the list argument {name}", expected=f"{len(before)} tensors", where=path)
        return [_same_array(old, new, name, path) for old, new in zip(before, after, strict=True)]
    return _same_array(before, after, name, path)


def _same_array(before: AnyArray, after: Any, name: str, path: str) -> AnyArray:
    if not isinstance(after, torch.Tensor):
        raise EvaluatorError(f"get_input returned {type(after).__name__} for {name}", expected="a tensor", where=path)
    found = _to_array(after) if is_torchs_own(dtype_of(before)) else _reencoded(after, dtype_of(before))
    if (found.dtype, found.shape) != (before.dtype, before.shape):
        raise EvaluatorError(
            f"get_input changed the form of {name}", expected=f"{before.dtype} {list(before.shape)}", found=f"{found.dtype} {list(found.shape)}", where=path
        )
    return found


def call_arguments(operator: Operator, case: Case, inputs: Inputs, precision: Precision) -> dict[str, object]:
    """All arguments of the golden in that run."""
    return golden_arguments(operator, case, {name: _to_argument(value, precision) for name, value in inputs.items()})


def golden_arguments(operator: Operator, case: Case, tensors: Mapping[str, object]) -> dict[str, object]:
    """All arguments of the golden on a case: the tensors given, None for those that the case leaves out, and the attributes."""
    omitted = {spec.name: None for spec in operator.inputs if spec.name not in tensors}
    own = {"case_id": case.id} if operator.draws_own_inputs else {}
    return {**tensors, **omitted, **own, **_attributes(operator, case)}


def _to_argument(value: AnyArray | list[AnyArray], precision: Precision) -> torch.Tensor | list[torch.Tensor]:
    if isinstance(value, list):
        return [_to_tensor(item, precision) for item in value]
    return _to_tensor(value, precision)


def _attributes(operator: Operator, case: Case) -> dict[str, object]:
    kinds = {spec.name: spec.type for spec in operator.attributes}
    return {name: _to_attribute(value, kinds.get(name, "")) for name, value in case.attributes.items()}


def _to_attribute(value: AttrValue, kind: str) -> object:
    """As the golden gets it; infinities and NaN have come through JSON as text."""
    if isinstance(value, tuple):
        return [_to_attribute(item, kind) for item in value]
    return float(value) if isinstance(value, str) and kind.startswith("float") else value


def _to_tensor(array: AnyArray, precision: Precision) -> torch.Tensor:
    """A torch copy of the array, widened to float64 if asked and floating."""
    dtype = dtype_of(array)
    if not is_torchs_own(dtype):
        wide = torch.from_numpy(decode(array, dtype))
        return wide if precision == "float64" else wide.float()
    tensor = torch.empty(array.size, dtype=getattr(torch, torch_name(dtype)))
    tensor.view(torch.uint8).numpy()[:] = raw_bytes(array)
    shaped = tensor.reshape(array.shape)
    return shaped.double() if precision == "float64" and shaped.is_floating_point() else shaped


def _reencoded(tensor: torch.Tensor, dtype: DType) -> AnyArray:
    """Values that `get_input` returned for an input of an element type that torch lacks."""
    return encode(tensor.detach().cpu().contiguous().double().numpy(), dtype)


def _to_array(tensor: torch.Tensor) -> AnyArray:
    dtype = from_torch_name(str(tensor.dtype))
    if dtype is None:
        raise EvaluatorError(f"element type {tensor.dtype} is not supported")
    flat = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return flat.view(storage_dtype(dtype)).reshape(tuple(tensor.shape))


Named = tuple[str, TensorSpec, torch.Tensor]


def returned_forms(operator: Operator, case: Case, result: Any, path: str) -> list[tuple[DType, tuple[int, ...]]]:
    """Declared dtype and shape of everything that a golden returned. Raises EvaluatorError as `run_golden` does."""
    return [(output_dtype(operator, spec, case, tensor), tuple(tensor.shape)) for _, spec, tensor in _named_outputs(operator, result, path)]


def _named_outputs(operator: Operator, result: Any, path: str) -> list[Named]:
    """Outputs with their names; an optional output that is None or missing at the end is left out."""
    values = _as_sequence(operator, result)
    least = len(operator.outputs) - sum(spec.is_optional for spec in operator.outputs)
    if not least <= len(values) <= len(operator.outputs):
        raise EvaluatorError(f"{operator.name} returned {len(values)} outputs", expected=f"{len(operator.outputs)}", where=path)
    named: list[Named] = []
    for spec, value in zip_longest(operator.outputs, values):
        named += _named_output(spec, value, path)
    return named


def _as_sequence(operator: Operator, result: Any) -> Sequence[Any]:
    is_single = len(operator.outputs) == 1 and (operator.outputs[0].is_list or not isinstance(result, (list, tuple)))
    return [result] if is_single else list(result) if isinstance(result, (list, tuple)) else [result]


def _named_output(spec: TensorSpec, value: Any, path: str) -> list[Named]:
    if value is None and spec.is_optional:
        return []
    if spec.is_list and isinstance(value, (list, tuple)):
        return [named for index, item in enumerate(value) for named in _one_tensor(f"{spec.name}[{index}]", spec, item, path)]
    return _one_tensor(spec.name, spec, value, path)


def _one_tensor(name: str, spec: TensorSpec, value: Any, path: str) -> list[Named]:
    if not isinstance(value, torch.Tensor):
        raise EvaluatorError(f"output {name} of the golden is {type(value).__name__}", expected="a tensor", where=path)
    if value.is_complex():
        raise EvaluatorError(
            f"output {name} of the golden is {value.dtype}", expected="real numbers", where=path, action="return both parts as separate outputs"
        )
    return [(name, spec, value)]


def output_dtype(operator: Operator, output: TensorSpec, case: Case, result: torch.Tensor) -> DType:
    """The declared dtype of an output on this case.

    The only declared one; else the one an attribute of type dtype names; else the dtype of the case's first input; else the dtype the golden returned; else
    that of the first floating input that has a declared one. Raises EvaluatorError when none of them is declared.
    """
    if len(output.dtypes) == 1:
        return output.dtypes[0]
    named = [str(case.attributes.get(spec.name, "")) for spec in operator.attributes if spec.type == "dtype"]
    floating = [item.dtype for item in case.inputs if item.dtype.is_floating]
    candidates = [*(from_name(name) for name in named), *(item.dtype for item in case.inputs[:1]), from_torch_name(str(result.dtype)), *floating]
    found = next((dtype for dtype in candidates if dtype in output.dtypes), None)
    if found is None:
        raise EvaluatorError(
            f"no rule gives output {output.name} one of its dtypes",
            expected=", ".join(item.value for item in output.dtypes),
            found=str(result.dtype),
            where=operator.name,
        )
    return found


def _golden_output(name: str, tensor: torch.Tensor, dtype: DType, path: str) -> GoldenOutput:
    shape = tuple(tensor.shape)
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    stored = _store_floats(flat, dtype) if dtype.is_floating else _store_integers(flat, name, dtype, path)
    return GoldenOutput(name, dtype, shape, raw_bytes(stored.reshape(shape)))


def _store_floats(flat: torch.Tensor, dtype: DType) -> AnyArray:
    """Round to `dtype` chunk by chunk; torch's own cast from float64 to a half type rounds twice."""
    if str(flat.dtype) == f"torch.{torch_name(dtype)}":
        return _to_array(flat)
    stored = np.empty(flat.numel(), dtype=storage_dtype(dtype))

    def store(span: slice) -> None:
        stored[span] = encode(flat[span].double().numpy(), dtype)

    map_spans(store, spans(flat.numel()))
    return stored


def _store_integers(flat: torch.Tensor, name: str, dtype: DType, path: str) -> AnyArray:
    if flat.is_floating_point():
        raise EvaluatorError(f"output {name} of the golden is {flat.dtype}", expected=dtype.value, where=path, action="round and cast it in golden.py")
    values = _to_array(flat)
    least, most = integer_bounds(dtype)
    if values.size and not (least <= int(values.min()) and int(values.max()) <= most):
        raise EvaluatorError(f"output {name} of the golden leaves the range of {dtype.value}", where=path)
    return values.astype(storage_dtype(dtype))
