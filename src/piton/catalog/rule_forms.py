"""The form of rules.yaml: its keys, and what each may hold by itself. `catalog.rules` reads it and checks it against the operator."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from piton.catalog.source import Form

BATCH = "..."
"""Stands for any number of leading axes, the same ones in every input that has it."""
FAMILIES = (
    "symmetric-small",
    "symmetric-medium",
    "symmetric-large",
    "asymmetric-small",
    "asymmetric-medium",
    "asymmetric-large",
    "dtype-boundary",
    "special-inf",
    "special-nan",
    "special-zero",
)
"""Families of value ranges (paper, table 3)."""
INVARIANTS = ("distinct", "unit_circle", "sums_to", "monotone", "ordered_boxes", "within", "positive", "prefix")
"""What structured inputs promise (facts of the dataset rules); `curate.invariants` checks them."""
MOST_ELEMENTS = 300_000_000
"""Of a case (paper, section 2.3)."""
SIZE_OF = "size_of_"
"""Before the name of an attribute that is an axis: the size of that axis."""
SLICE_LISTS = ("begin", "end", "strides")
SLICE_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "shrink_axis_mask", "new_axis_mask")
"""Parts of a strided slice: lists with one number per entry, and masks with one bit per entry."""
LOW_OF, HIGH_OF = "low_of_", "high_of_"
"""Before the name of an input: the ends of its range."""


class AxisRule(Form):
    """Sizes of a named axis: one of `choices`, or free between `low` and `high`."""

    choices: tuple[int, ...] = ()
    low: int = Field(default=1, ge=1)
    high: int = Field(default=1 << 28, ge=1)

    @model_validator(mode="after")
    def _is_possible(self) -> AxisRule:
        if self.low > self.high or any(size < 1 for size in self.choices):
            raise ValueError("sizes of at least 1, the smaller end first")
        return self


class PartitionRule(Form):
    """A list of whole numbers that splits an axis into consecutive groups, some of them empty now and then."""

    of: str
    """Formula of what is split, such as the rows of an input."""
    into: str
    """Formula of the number of groups."""
    form: Literal["ends", "counts"] = "ends"
    """What the list holds: where each group ends (never decreasing, the last is the whole), or how long each is (the sum is the whole)."""


class AttributeRule(Form):
    """Values of an attribute: one of `choices`, a number in [low, high], an axis of an input or order of its axes, part of a slice, a partition or formula."""

    choices: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    scale: Literal["linear", "log"] = "linear"
    axis_of: str = ""
    permutation_of: str = ""
    """An input: an order of its axes, never the one that they have."""
    slice_of: str = ""
    """An input: one part of a strided slice of it; all attributes with such a rule are drawn together."""
    part: str = ""
    """`slice_of`: which part; by default the one of the attribute's name."""
    value: str | tuple[str | int | float, ...] = ""
    """A formula; one per element for an attribute that is a list."""
    when: str = ""
    """Formula over axes and `layout`; where it is not true the attribute keeps its default (two ways to say one thing, of which a case uses one)."""
    partition: PartitionRule | None = None

    @property
    def formulas(self) -> tuple[str, ...]:
        """The formulas of `value`, one or several."""
        return (self.value,) if isinstance(self.value, str) else tuple(map(str, self.value))

    @property
    def source(self) -> str:
        """The input whose axes the value is about; empty for other kinds."""
        return self.axis_of or self.permutation_of or self.slice_of

    @property
    def all_formulas(self) -> tuple[str, ...]:
        """Every formula of the value, whatever its kind."""
        return (self.partition.of, self.partition.into) if self.partition else self.formulas if self.value else ()

    @model_validator(mode="after")
    def _is_one_kind(self) -> AttributeRule:
        named = (self.choices, self.axis_of, self.permutation_of, self.slice_of, self.value, self.partition)
        if sum((self.low is not None and self.high is not None, *map(bool, named))) != 1:
            raise ValueError("exactly one of choices, low with high, axis_of, permutation_of, slice_of, value, partition")
        if self.part and not self.slice_of:
            raise ValueError("part belongs to slice_of")
        if self.low is not None and self.high is not None and not (self.low <= self.high and (self.low > 0 or self.scale == "linear")):
            raise ValueError("the smaller end first, and above 0 on a log scale")
        return self


class LayoutForm(Form):
    """Shapes of all inputs that belong together; an input that is left out is not given (optional ones only)."""

    shapes: dict[str, tuple[str | int, ...] | tuple[tuple[str | int, ...], ...]]
    """By input; for a list input one shape that all elements have in turn, or one shape per element."""
    ranks: tuple[int, int] | None = None
    """Least and most axes of the first input, where `...` lets them vary."""
    attributes: dict[str, AttributeRule] = Field(default_factory=dict)
    """Values that go with these shapes, before those of `attributes`."""
    require: tuple[str, ...] = ()
    """Conditions on a case of this layout, beside those for all."""
    dtypes: tuple[tuple[str, ...] | str, ...] = ()
    """Combinations that go with these shapes; empty for all."""
    families: tuple[str, ...] = FAMILIES
    """Families of value ranges that go with these shapes."""
    values: dict[str, tuple[tuple[str | float, str | float], ...]] = Field(default_factory=dict)
    """Ranges of inputs that go with these shapes, before those of `values`."""


class DegenerateRule(Form):
    """Impostors that cases of a range family cannot reject."""

    family: Literal[FAMILIES]  # type: ignore[valid-type]  # the names are data
    impostors: tuple[str, ...]
    dtypes: tuple[str, ...] = ()
    """Only for these dtypes of the leading input; empty for all."""
    reason: str


class InvariantForm(Form):
    """One promise of a structured input."""

    kind: Literal[INVARIANTS]  # type: ignore[valid-type]  # the names are data
    inputs: tuple[str, ...]
    axis: str = ""
    """`distinct`: attribute or number of the axis; empty for the flattened input."""
    to: str = ""
    """`sums_to`, `monotone`: formula of the sum, of the last value."""
    low: str = ""
    high: str = ""
    """`within`: formulas of both ends."""
    when: str = ""
    """Formula; the promise holds only where it is true."""


class RulesForm(Form):
    """The `rules` mapping."""

    lead: str = ""
    """Input whose value range the taxonomy draws; by default the first."""
    dtypes: tuple[tuple[str, ...] | str, ...] = ()
    axes: dict[str, AxisRule] = Field(default_factory=dict)
    layouts: tuple[LayoutForm, ...] = Field(min_length=1)
    attributes: dict[str, AttributeRule] = Field(default_factory=dict)
    limits: dict[str, float] = Field(default_factory=dict)
    """Where the operator's supported range ends before the dtype does: end of the family dtype-boundary by dtype of the leading input."""
    families: tuple[str, ...] = FAMILIES
    values: dict[str, tuple[tuple[str | float, str | float], ...]] = Field(default_factory=dict)
    """Ranges of the other inputs, each end a number or a formula."""
    require: tuple[str, ...] = ()
    list_length: tuple[int, int] = (2, 5)
    """Least and most tensors of a list input."""
    largest_elements: int = Field(default=100_000_000, ge=1_000_000, le=MOST_ELEMENTS)
    degenerate: tuple[DegenerateRule, ...] = ()
    invariants: tuple[InvariantForm, ...] = ()
