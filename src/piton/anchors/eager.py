"""The modelled eager baseline: what a case would take in eager mode with the vendor's own operators, priced from the trace of its golden.

The published baselines that the constants are fitted to are times of the vendor's operators. Those are mostly one kernel, whatever number of torch operators
the golden has, and so the price of a trace is that of a fused kernel, plus what fusing rarely takes away:

    T = launch + tensor * (inputs + outputs)
        + resident * min(B, L2) / HBM rate + streamed * max(0, B - L2) / HBM rate      B: bytes of all inputs and outputs
        + cube * FLOP / cube rate                                                       FLOP: of matrix products and convolutions
        + vector * elements / lane rate                                                 elements: written by elementwise operators, each counted
        + copied * moved / HBM rate                                                     moved: bytes read and written by operators that only move data

Rates are those of the convention block; the slowness factors are fitted, and so contain what the vendor's operators leave of the peaks. Terms add up: hardly
an operator overlaps all of them.

A golden without a trace (see numerics.eager_trace) is priced from its work formula instead: its bytes and products stand for those of the trace, its lane
instructions, at a slowness of their own, for the elementwise steps, and nothing is moved. An operator that has neither gets no price.
"""

from __future__ import annotations

from dataclasses import dataclass

from piton.anchors.limit import UnreadableCaseError, candidates
from piton.anchors.work import US, Work, unit_times_us
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.eager import EagerConstants, EagerTrace, Launch
from piton.core.hardware import Hardware, Peaks
from piton.core.measurement import Anchor, AnchorKind, Provenance
from piton.core.operator import Operator

_PRODUCTS = frozenset({"mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "addmv", "dot"})
_MOVES = frozenset(
    {
        *("clone", "copy", "cat", "stack", "constant_pad_nd", "repeat", "flip", "roll", "im2col", "contiguous", "reflection_pad1d", "reflection_pad2d"),
        *("replication_pad1d", "replication_pad2d", "replication_pad3d", "tril", "triu", "pixel_shuffle", "channel_shuffle"),
    }
)
"""Operators whose results hold elements of their inputs, in places that the sizes alone decide."""
_FILLS = frozenset({"zeros", "full", "arange", "fill", "zeros_like", "ones", "ones_like", "full_like", "scalar_tensor", "new_zeros", "new_full", "new_ones"})
_REDUCTIONS = frozenset(
    {
        *("sum", "mean", "amax", "amin", "max", "min", "argmax", "argmin", "aminmax", "var_mean", "var", "std", "count_nonzero", "_softmax", "_log_softmax"),
        *("any", "all", "prod", "logsumexp", "norm", "linalg_vector_norm", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "avg_pool2d", "avg_pool3d"),
        *("max_pool2d_with_indices", "native_layer_norm", "native_group_norm", "native_batch_norm", "nll_loss_forward"),
    }
)
_INDEXED = frozenset(
    {
        *("index_select", "index", "gather", "scatter", "scatter_add", "scatter_reduce", "index_add", "index_put", "index_copy", "masked_select", "nonzero"),
        *("grid_sampler_2d", "grid_sampler_3d", "embedding", "repeat_interleave", "_unsafe_index", "take"),
    }
)
_ORDERED = frozenset({"sort", "topk", "cummin", "cummax", "cumsum", "cumprod", "unique", "_unique2", "unique_consecutive", "kthvalue", "bincount"})
_CASTS = frozenset({"_to_copy"})
_KINDS = {
    **dict.fromkeys(_PRODUCTS, "product"),
    "convolution": "product",
    **dict.fromkeys(_MOVES, "move"),
    **dict.fromkeys(_FILLS, "fill"),
    **dict.fromkeys(_REDUCTIONS, "reduction"),
    **dict.fromkeys(_INDEXED, "indexed"),
    **dict.fromkeys(_ORDERED, "ordered"),
    **dict.fromkeys(_CASTS, "cast"),
}


@dataclass(frozen=True)
class Quantities:
    """What a price is made of."""

    origin: str
    """`trace` or `work formula`."""
    tensors: int
    """Inputs and outputs."""
    traffic_bytes: float
    """Of all inputs and outputs, each once."""
    cube_us: float
    """What the products take at the cube's rate."""
    steps_us: float
    """What the elementwise steps of a trace take at one lane instruction per element."""
    instructions_us: float
    """What the lane instructions of a work formula take."""
    moved_bytes: float
    """Read and written by operators that only move data."""


def kind(launch: Launch) -> str:
    """product, move, fill, reduction, indexed, ordered, cast, or elementwise for everything else."""
    if launch.flops is not None:
        return "product"
    return _KINDS.get(launch.operation.split(".")[1].rstrip("_"), "elementwise")


def flops(launch: Launch) -> float:
    """Operations of one launch of a product, a multiply-add being two; 0 for every other operator."""
    if launch.flops is not None:
        return launch.flops
    name = launch.operation.split(".")[1].rstrip("_")
    if name == "convolution":
        weight = launch.reads[1].shape
        return 2.0 * launch.writes[0].elements * launch.reads[1].elements / weight[0]
    if name not in _PRODUCTS:
        return 0.0
    left = launch.reads[0 if name in ("mm", "bmm", "mv", "dot") else 1]
    return 2.0 * launch.writes[0].elements * left.shape[-1]


def quantities(operator: Operator, case: Case, trace: EagerTrace, hardware: Hardware) -> Quantities | None:
    """What the price of a case is made of, or None when there is neither a trace nor a work formula. `case` names every attribute."""
    if not trace.refusal:
        return _of_trace(case, trace, hardware.convention)
    return quantities_of_work(operator, case, hardware)


def _of_trace(case: Case, trace: EagerTrace, peaks: Peaks) -> Quantities:
    operations = sum(item.count * flops(item) for item in trace.launches)
    steps = sum(item.count * sum(form.elements for form in item.writes) for item in trace.launches if kind(item) == "elementwise")
    return Quantities(
        origin="trace",
        tensors=len(case.inputs) + len(trace.outputs),
        traffic_bytes=sum(item.nbytes for item in case.inputs) + sum(item.nbytes for item in trace.outputs),
        cube_us=US * operations / _cube_rate(case, peaks),
        steps_us=US * steps / peaks.vector_lanes_per_s[DType.FLOAT32.value].value,
        instructions_us=0.0,
        moved_bytes=sum(item.count * (item.read_bytes + item.write_bytes) for item in trace.launches if kind(item) == "move"),
    )


def quantities_of_work(operator: Operator, case: Case, hardware: Hardware) -> Quantities | None:
    """The same from the work formula, or None when there is none, or none that can read the case."""
    try:
        found = candidates(operator, case, hardware, "convention")
    except UnreadableCaseError:
        return None
    return _of_work(operator, case, found[0].work, hardware.convention) if found else None


def _of_work(operator: Operator, case: Case, work: Work, peaks: Peaks) -> Quantities:
    times = unit_times_us(work, peaks)
    return Quantities(
        origin="work formula",
        tensors=len(case.inputs) + len(operator.outputs),
        traffic_bytes=work.read_bytes + work.write_bytes,
        cube_us=times["cube"],
        steps_us=0.0,
        instructions_us=times["vector"],
        moved_bytes=0.0,
    )


def _cube_rate(case: Case, peaks: Peaks) -> float:
    """FLOP/s for the type of the first input: goldens multiply in float32 whatever the operator is given, the vendor's operators do not."""
    named = case.inputs[0].dtype.value if case.inputs else ""
    return peaks.cube_flops.get(named, peaks.cube_flops[DType.FLOAT16.value]).value


def modelled_baseline(operator: Operator, case: Case, trace: EagerTrace, constants: EagerConstants, hardware: Hardware) -> Anchor | None:
    """T_baseline of a case by the model, or None when there is neither a trace nor a work formula. `case` names every attribute."""
    found = quantities(operator, case, trace, hardware)
    if found is None:
        return None
    value = sum(price_us(found, constants, hardware).values())
    if not value > 0:  # constants may be 0, and then an empty case may cost nothing
        return None
    return Anchor(
        kind=AnchorKind.T_BASELINE,
        value_us=value,
        provenance=Provenance.MODELLED,
        method=_method(found, trace, constants),
        version=constants.title,
        interval=constants.around(value),
    )


def _method(found: Quantities, trace: EagerTrace, constants: EagerConstants) -> str:
    what = f"golden of {trace.count} launches" if found.origin == "trace" else f"work formula, since {trace.refusal}"
    error = f"median error {constants.median_error:.0%} over {constants.operators} operators, each left out of the fit"
    return f"{constants.title}: {what}, {found.traffic_bytes / 1e6:.3g} MB in and out; {error}"


def price_us(found: Quantities, constants: EagerConstants, hardware: Hardware) -> dict[str, float]:
    """The terms of the price in microseconds; their sum is the modelled baseline."""
    rows = terms(found, hardware)
    return {name: getattr(constants, _FACTORS[name]) * amount for name, amount in rows.items()}


def terms(found: Quantities, hardware: Hardware) -> dict[str, float]:
    """What each constant is multiplied with: 1, a number of tensors, or microseconds at the peak rate."""
    peaks = hardware.convention
    rate = peaks.hbm_read_bytes_per_s.value
    inside = min(found.traffic_bytes, peaks.l2_bytes.value)
    return {
        "launch": 1.0,
        "tensors": float(found.tensors),
        "traffic inside L2": US * inside / rate,
        "traffic beyond L2": US * (found.traffic_bytes - inside) / rate,
        "products": found.cube_us,
        "elementwise": found.steps_us,
        "instructions": found.instructions_us,
        "moves": US * found.moved_bytes / rate,
    }


_FACTORS = {
    "launch": "launch_us",
    "tensors": "tensor_us",
    "traffic inside L2": "resident",
    "traffic beyond L2": "streamed",
    "products": "cube",
    "elementwise": "vector",
    "instructions": "instruction",
    "moves": "copied",
}
"""Constant of every term."""
