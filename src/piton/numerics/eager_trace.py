"""Which kernels the golden of an operator would start in eager mode: torch's operators recorded on tensors without data.

The golden runs on fake tensors: they have shapes, dtypes and strides and no memory, so that a case of 40 GB costs as little as one of 40 bytes. Every operator
that reaches torch's dispatcher is recorded; those that only make a view, or only reserve memory, are free on a device as well. The arguments are those of the
same-dtype run: inputs in their own types.

A golden whose control flow follows its data (a greedy suppression, a loop over a tensor's values) can't run without data. It runs on the case's own data
instead, as it does in the same-dtype run, when that is at most MOST_ELEMENTS; a larger case has no trace, and neither has one that starts more than
MOST_LAUNCHES operators. The reason is then in the trace. What stands in for it is the choice of whoever prices traces.

The golden is foreign code: this runs in a golden worker only.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry, sdpa_flop_count

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.eager import EagerTrace, Launch, TensorForm
from piton.core.errors import EvaluatorError
from piton.core.operator import Operator
from piton.numerics.dtypes import is_torchs_own, torch_name
from piton.numerics.golden import call_arguments, golden_arguments, returned_forms
from piton.numerics.golden_module import GoldenModule, load_golden
from piton.numerics.inputs import Inputs

MOST_LAUNCHES = 4096
"""Most operators that a trace records; a fake one takes about 0.2 ms."""
MOST_ELEMENTS = 1 << 22
"""Most elements, over all inputs, of a case that is traced on its data."""

_NO_KERNEL = frozenset(
    {
        *("aten.empty", "aten.empty_like", "aten.new_empty", "aten.empty_strided", "aten.new_empty_strided"),
        *("aten.detach", "aten.lift_fresh", "aten._unsafe_view", "aten._local_scalar_dense", "aten.resize_", "prim.device"),
    }
)
"""Operators that start nothing, though their schema does not call them views: they reserve memory, name a tensor anew, or ask for a number."""
_TOLD_BY_SHAPES = frozenset({f"aten.{name}" for name in ("mm", "bmm", "addmm", "baddbmm", "convolution")})
"""Products whose operations follow from the shapes that a launch keeps; a transposed convolution is none of them."""
_UNCOUNTED = frozenset({f"aten.{name}" for name in ("mkldnn_rnn_layer", "_cudnn_rnn", "miopen_rnn")})
"""Whole layers of products in one operator, whose numbers of layers and directions are in its weights."""
_LACKS = re.compile(r"alloc|memory|primitive|thread")
"""torch's words, in a RuntimeError, for memory or threads that are not there; oneDNN speaks of primitives that it could not make."""
_NEEDS_DATA = (DataDependentOutputException, DynamicOutputShapeException)


def trace_golden(module_path: str, operator: Operator, case: Case, draw: Callable[[], Inputs]) -> EagerTrace:
    """The kernels that the golden starts for a case, or the reason why they are not known, which is the same on every machine.

    Raises EvaluatorError when golden.py can't be loaded, and when memory, threads or files were lacking.

    `draw` gives the data of the case; it is called only for a golden that asks for values.
    """
    golden = load_golden(module_path)
    try:
        return _record(golden, operator, case, lambda: golden_arguments(operator, case, _fake_inputs(case)), FakeTensorMode(allow_non_fake_inputs=True))
    except EvaluatorError as error:
        _raise_if_passing(error)
        if not isinstance(error.__cause__, _NEEDS_DATA) or case.elements > MOST_ELEMENTS:
            return EagerTrace(refusal=_refusal(error))
    try:
        return _record(golden, operator, case, lambda: call_arguments(operator, case, draw(), "native"), nullcontext()).model_copy(update={"is_on_data": True})
    except EvaluatorError as error:
        _raise_if_passing(error)
        return EagerTrace(refusal=_refusal(error))


def _raise_if_passing(error: EvaluatorError) -> None:
    """Raise `error` when it comes of what this machine has at this moment: a refusal is kept for good, and another run may do better."""
    cause: BaseException | None = error.__cause__
    while cause is not None:
        if isinstance(cause, (MemoryError, OSError)) or (isinstance(cause, RuntimeError) and _LACKS.search(str(cause))):
            raise error
        cause = cause.__cause__ or cause.__context__


def _record(
    golden: GoldenModule, operator: Operator, case: Case, arguments: Callable[[], Mapping[str, object]], mode: AbstractContextManager[object]
) -> EagerTrace:
    """One run of the golden. Raises EvaluatorError, with what the golden raised as its cause."""
    recorder = _Recorder()
    with mode:
        given = arguments()
        with recorder:
            result = golden.call(operator.name, given)
        outputs = tuple(_dense_form(*item) for item in returned_forms(operator, case, result, golden.path))
    return recorder.trace(outputs)


def _refusal(error: EvaluatorError) -> str:
    """Why a golden was not traced; the line of golden.py is part of it."""
    cause, where = error.__cause__, Path(error.where).name
    if isinstance(cause, _TooManyError):
        return f"the golden starts more than {MOST_LAUNCHES} operators"
    if isinstance(cause, _UncountedError):
        return f"the golden starts {cause}, and nobody counts its operations"
    if isinstance(cause, _NEEDS_DATA):
        return f"the golden asks for values at {where}, and the case has more than {MOST_ELEMENTS} elements"
    return f"the golden did not run: {error.problem} ({where})"


def _fake_inputs(case: Case) -> dict[str, object]:
    made: dict[str, object] = {}
    lists: dict[str, list[torch.Tensor]] = {}
    for item in case.inputs:
        tensor = torch.empty(item.shape, dtype=_native_type(item))
        if item.list_index is None:
            made[item.argument] = tensor
        else:
            lists.setdefault(item.argument, []).append(tensor)
    return made | lists


def _native_type(item: CaseInput) -> torch.dtype:
    """As in the same-dtype run: float32 for an element type that torch lacks."""
    found: torch.dtype = getattr(torch, torch_name(item.dtype)) if is_torchs_own(item.dtype) else torch.float32
    return found


class _UncountedError(Exception):
    """The golden has started a product whose operations nobody counts."""


class _TooManyError(Exception):
    """The golden has started more operators than are recorded."""


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own code
    """Counts every operator that reaches the dispatcher, by name and sizes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._launches: Counter[Launch] = Counter()
        self._total = 0
        self._views = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        result = func(*args, **given)
        self._note(func, args, given, result)
        return result

    def trace(self, outputs: tuple[TensorForm, ...]) -> EagerTrace:
        """What was recorded, for a golden that returned `outputs`."""
        launches = tuple(launch.model_copy(update={"count": count}) for launch, count in self._launches.items())
        return EagerTrace(launches=launches, outputs=outputs, views=self._views)

    def _note(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        if func.is_view or str(func.overloadpacket) in _NO_KERNEL:
            self._views += func.is_view
            return
        self._total += 1
        if self._total > MOST_LAUNCHES:
            raise _TooManyError
        reads = tuple(_form(item) for item in _tensors(_read_arguments(func, args, kwargs)))
        writes = tuple(_form(item) for item in _tensors([result]))
        flops = _flops(func.overloadpacket, args, kwargs, result)
        launch = Launch(operation=str(func), reads=reads, writes=writes, axes=_axes(func, args, kwargs), flops=flops)
        self._launches[launch] += 1


def _flops(packet: Any, args: Any, kwargs: Any, result: Any) -> float | None:
    """Operations of a product whose shapes do not tell them; None for all others. Raises _UncountedError for a product that there is no formula of."""
    name = str(packet)
    if name in _UNCOUNTED:
        raise _UncountedError(name)
    if name in _TOLD_BY_SHAPES and not (name == "aten.convolution" and _is_transposed(args, kwargs)):
        return None
    if name == "aten._scaled_dot_product_flash_attention_for_cpu":  # torch counts those of other devices only
        return float(sdpa_flop_count(*(item.shape for item in args[:3])))  # type: ignore[no-untyped-call]  # torch's own code
    if name == "aten.addbmm":  # the products of all batches, added up
        return float(2 * args[1].numel() * args[2].shape[-1])
    formula = flop_registry.get(packet)
    return None if formula is None else float(formula(*args, **kwargs, out_val=result))


def _is_transposed(args: Any, kwargs: Any) -> bool:
    return bool(args[6] if len(args) > 6 else kwargs.get("transposed", False))


def _read_arguments(func: Any, args: Any, kwargs: Any) -> Any:
    """The arguments without those that are only written: the target of a copy, and what a result is to be put into."""
    kept = args[1:] if str(func.overloadpacket) == "aten.copy_" else args
    return [kept, {name: value for name, value in kwargs.items() if name != "out"}]


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _form(tensor: torch.Tensor) -> TensorForm:
    distinct = math.prod(1 if stride == 0 and size > 0 else size for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return TensorForm(
        shape=tuple(tensor.shape),
        element_bits=8 * tensor.element_size(),
        dtype=str(tensor.dtype).removeprefix("torch."),
        distinct=distinct,
        is_dense=tensor.is_contiguous() or distinct < tensor.numel(),
    )


def _dense_form(dtype: DType, shape: tuple[int, ...]) -> TensorForm:
    return TensorForm(shape=shape, element_bits=dtype.bits, dtype=dtype.value, distinct=math.prod(shape))


def _axes(func: Any, args: Any, kwargs: Any) -> tuple[int, ...]:
    """The argument `dim`, counted from 0; none for an operator without one."""
    given = {spec.name: value for spec, value in zip(func._schema.arguments, args)} | kwargs  # noqa: B905 - arguments with defaults may be missing
    found, first = given.get("dim"), next(_tensors(list(args)), None)
    if first is None or found is None:
        return ()
    axes = found if isinstance(found, (list, tuple)) else [found]
    return tuple(axis % max(first.dim(), 1) for axis in axes if isinstance(axis, int))
