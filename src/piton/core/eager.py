"""Eager trace: what a golden's torch operators would start on a device, one kernel after the other. Sizes only; no data is in it."""

from __future__ import annotations

import math

from pydantic import Field

from piton.core.interval import BAND_CONFIDENCE, Interval, IntervalKind
from piton.core.operator import Frozen


class TensorForm(Frozen):
    """One tensor that an operator reads or writes."""

    shape: tuple[int, ...]
    element_bits: int
    dtype: str
    """torch's name, such as `float32`: a golden's temporaries may have types that no operator declares."""
    distinct: int
    """Elements that lie at different addresses: less than the shape says for an expanded tensor."""
    is_dense: bool = True
    """False for a view with gaps or with its axes in another order."""

    @property
    def nbytes(self) -> int:
        """Bytes that have to move to read or write it once."""
        return (self.distinct * self.element_bits + 7) // 8

    @property
    def elements(self) -> int:
        """Elements that the operator sees."""
        return math.prod(self.shape)


class Launch(Frozen):
    """One operator that eager mode starts as a kernel of its own."""

    operation: str
    """torch's name with its overload, such as `aten.mul.Tensor`."""
    reads: tuple[TensorForm, ...]
    writes: tuple[TensorForm, ...]
    axes: tuple[int, ...] = ()
    """Axes it works along, counted from 0, where the operator has such an argument."""
    flops: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Operations of a product, a multiply-add being two, where the shapes alone do not tell them; None everywhere else."""
    count: int = Field(default=1, ge=1)
    """How often it is started with these sizes."""

    @property
    def read_bytes(self) -> int:
        """Bytes that one such launch reads."""
        return sum(item.nbytes for item in self.reads)

    @property
    def write_bytes(self) -> int:
        """Bytes that one such launch writes."""
        return sum(item.nbytes for item in self.writes)


class EagerTrace(Frozen):
    """What the golden started for one case, or why that is not known."""

    launches: tuple[Launch, ...] = ()
    """Equal ones are counted together, in the order of their first appearance."""
    outputs: tuple[TensorForm, ...] = ()
    """What the golden returned, in the declared dtypes and dense."""
    is_on_data: bool = False
    """True when the golden asked for values and ran on the data of the case; False for a run on sizes alone."""
    views: int = 0
    """Operators that only made another view of a tensor, which costs nothing on the device."""
    refusal: str = ""
    """Why there is no trace, in one sentence; the launches are empty then."""

    @property
    def count(self) -> int:
        """Number of kernels that are started."""
        return sum(item.count for item in self.launches)

    @property
    def traffic_bytes(self) -> int:
        """Bytes read and written by all of them."""
        return sum(item.count * (item.read_bytes + item.write_bytes) for item in self.launches)


class EagerConstants(Frozen):
    """The constants of the modelled baseline on one chip, and how far it was from measured baselines (docs/baselines.md).

    Fitted to published baselines; the errors are those of operators that took no part in the fit that predicted them.
    """

    version: str
    """Of the set; baselines name it."""
    platform: str
    """Whose measured baselines were fitted, such as `910b2`."""
    chips: tuple[str, ...]
    """Hardware files that they are used for."""
    source: str
    """What was fitted to what, by which command."""
    launch_us: float = Field(ge=0, allow_inf_nan=False)
    """Whatever the sizes."""
    tensor_us: float = Field(ge=0, allow_inf_nan=False)
    """For each input and each output."""
    resident: float = Field(ge=0, allow_inf_nan=False)
    """Slowness, against the HBM rate of the convention block, of the traffic that fits into L2: 1 is as fast, 2 takes twice as long."""
    streamed: float = Field(ge=0, allow_inf_nan=False)
    """The same of the traffic beyond that."""
    cube: float = Field(ge=0, allow_inf_nan=False)
    """Slowness of products against the cube's rate."""
    vector: float = Field(ge=0, allow_inf_nan=False)
    """Slowness of elementwise steps against one lane instruction for each element of each step."""
    instruction: float = Field(ge=0, allow_inf_nan=False)
    """Slowness of lane instructions that a work formula counts, for a golden without a trace."""
    copied: float = Field(ge=0, allow_inf_nan=False)
    """Slowness, against the HBM rate, of the traffic of operators that only move data."""
    cases: int = Field(ge=1)
    """Measured baselines of this chip in the fit."""
    operators: int = Field(ge=1)
    """How many operators they are of."""
    median_error: float = Field(ge=0, allow_inf_nan=False)
    """Median of |modelled / measured - 1|."""
    low: float = Field(gt=0, allow_inf_nan=False)
    """Nineteen in twenty measured baselines were above this multiple of the modelled one, each operator with the same weight ..."""
    high: float = Field(gt=0, allow_inf_nan=False)
    """... and nineteen in twenty below this one."""

    @property
    def title(self) -> str:
        """How scores name baselines of this model."""
        return f"eager model {self.version} of the {self.platform}"

    def around(self, modelled_us: float) -> Interval:
        """Where the measured time is expected for a modelled one."""
        return Interval(low=modelled_us * self.low, high=modelled_us * self.high, kind=IntervalKind.MODEL_ERROR, confidence=BAND_CONFIDENCE)
