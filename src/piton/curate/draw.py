"""Drawing cases of an operator under the dataset rules: a plan of slots (size, family of values, alignment, dtypes, rank), and one case per slot.

A draw that breaks a rule (a condition of the operator, an element count, value range or set of attributes that another case has) is thrown away and tried
again from a stream of its own, so that the result depends on the key, the operator and the slot, not on what was tried before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from piton.catalog.expression import ExpressionError, Number, Value, parse_expression
from piton.catalog.rule_forms import BATCH, HIGH_OF, LOW_OF, SIZE_OF, AttributeRule
from piton.catalog.rules import CaseRules, Layout
from piton.catalog.values import to_attr_value
from piton.core.case import Case, CaseInput, SizeClass, size_class
from piton.core.dtype import DType
from piton.core.errors import UsageError
from piton.core.operator import AttrSpec, AttrValue, Operator
from piton.curate.aspects import FEWEST_ELEMENTS, attribute_key, has_many_attribute_values, has_prime, has_side_tensor_only, is_non_aligned, range_key
from piton.curate.partition import draw_partition
from piton.curate.plan import Slot
from piton.curate.ranges import Range, draw_other, draw_range, family_for, largest_of, reach_of, rounded
from piton.curate.shapes import ShapeWish, Sizes, axis_names, draw_loose, draw_sizes, numbers, shapes_of
from piton.curate.slices import SliceParts, draw_permutation, draw_slice
from piton.curate.stream import Stream

ATTEMPTS = 3000
_FREE_DTYPE_FROM, _FREE_RANK_FROM, _FREE_ALIGNMENT_FROM, _FREE_FAMILY_FROM, _ALL_FREE_FROM = 15, 45, 90, 180, 300
"""Attempts from which the dtype (not of an edge), the rank, the alignment and the family of a slot give way: some slots are impossible for some operators."""
_ELEMENTS = {SizeClass.SMALL: (1_040_000, 3_900_000), SizeClass.MEDIUM: (10_100_000, 16_000_000), SizeClass.LARGE: (90_500_000, 300_000_000)}
"""Wanted elements by size class: "a few million", "tens of millions", "around 1e8" (paper, section 2.3); medium at its lower end, for the time goldens take."""
_RANGE = frozenset({"low", "high", "reach"})
"""Names that mean nothing for a range of special values."""
_LARGE_SPREAD = 1.09
"""Large cases stay within this factor of their least size: they cost most of the time of a set."""
_SEEDS = 1 << 53
"""Seeds of hidden cases: whole numbers that every JSON reader keeps exactly."""


@dataclass
class Taken:
    """What cases of the set already use, and what is not to be used again."""

    elements: set[int] = field(default_factory=set)
    ranges: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)

    def add(self, case: Case) -> None:
        """Take what `case` uses."""
        self.elements.add(case.elements)
        self.ranges.add(range_key(case))
        self.attributes.add(attribute_key(case))

    def clashes(self, operator: Operator, rules: CaseRules, case: Case) -> bool:
        """True when `case` would repeat something."""
        repeats = has_many_attribute_values(operator, rules) and attribute_key(case) in self.attributes
        return repeats or case.elements in self.elements or range_key(case) in self.ranges


def draw_set(operator: Operator, rules: CaseRules, slots: Sequence[Slot], key: bytes, taken: Taken) -> tuple[Case, ...]:
    """One case per slot. Raises UsageError when the rules leave none for a slot."""
    made: list[Case] = []
    for slot in slots:
        case = _draw_slot(operator, rules, slot, key, taken)
        taken.add(case)
        made.append(case)
    return tuple(made)


def _draw_slot(operator: Operator, rules: CaseRules, slot: Slot, key: bytes, taken: Taken) -> Case:
    for attempt in range(ATTEMPTS):
        case = _Draw(operator, rules, slot, Stream(key, operator.name, slot.case_id, attempt), attempt).case()
        if case is not None and not taken.clashes(operator, rules, case):
            return case
    raise UsageError(
        f"the rules of {operator.name} leave no case for slot {slot.case_id}",
        expected=f"{slot.size.value}, {slot.family}, {'aligned' if slot.is_aligned else 'non-aligned'}, {slot.dtypes[0].value}",
        found=f"{ATTEMPTS} draws that break a rule or repeat another case",
        action="widen axes, attributes or require in rules.yaml, or leave the family out under families",
    )


class _Draw:
    """One attempt at one slot."""

    def __init__(self, operator: Operator, rules: CaseRules, slot: Slot, stream: Stream, attempt: int) -> None:
        self._operator, self._rules, self._slot, self._stream = operator, rules, slot, stream
        self._dtypes = slot.dtypes if attempt < _FREE_DTYPE_FROM or slot.is_edge else stream.choice(rules.dtypes)
        self._has_free_rank = attempt >= _FREE_RANK_FROM
        is_other = attempt % 2 == 0 if attempt >= _ALL_FREE_FROM else attempt >= _FREE_ALIGNMENT_FROM
        self._is_aligned = slot.is_aligned is not is_other
        family = slot.family if attempt < _FREE_FAMILY_FROM or slot.family.startswith("special") else stream.choice(rules.families[:2])
        self._family = family_for(family, self._dtypes[rules.lead_position])

    def case(self) -> Case | None:
        """The case, or None when it breaks a rule."""
        try:
            return self._case()
        except ExpressionError:  # a formula without a value under these sizes: not a case of this operator
            return None

    def _case(self) -> Case | None:
        layout, rank = self._layout()
        if not layout.takes(self._dtypes, self._family):
            return None
        self._attribute_rules = {**self._rules.attributes, **layout.attributes}
        self._require = (*self._rules.require, *layout.require)
        self._number_of_layout = self._rules.layouts.index(layout)
        self._rules = self._rules.model_copy(update={"values": {**self._rules.values, **layout.values}})
        elements = self._wanted()
        wish = ShapeWish(elements, rank, self._is_aligned, self._slot.is_prime, self._dtypes)
        has_lists = any(spec.is_list and spec.name in dict(layout.shapes) for spec in self._operator.inputs)
        length = self._stream.between(*self._rules.list_length) if has_lists else 1
        sizes: list[Sizes] = []
        for _ in range(length):
            drawn = draw_sizes(layout, self._rules, replace(wish, elements=elements // length), self._stream, self._shared(layout, sizes))
            if drawn is None:
                return None
            sizes.append({name: drawn[name] for name in axis_names(layout, rank)})
        sizes[0] |= draw_loose(self._rules, sizes[0], self._stream)
        return self._checked(self._make(layout, sizes))

    def _shared(self, layout: Layout, sizes: list[Sizes]) -> Sizes:
        """Axes that further tensors of a list have in common with the first: those that inputs outside of lists have too."""
        lists = {spec.name for spec in self._operator.inputs if spec.is_list}
        single = [axis for name, axes in layout.shapes if name not in lists for axis in axes]
        kept = {item for axis in single if axis != BATCH for item in parse_expression(axis).names}
        return {name: size for name, size in sizes[0].items() if name in kept or (name.startswith(BATCH) and BATCH in single)} if sizes else {}

    def _layout(self) -> tuple[Layout, int]:
        layout = self._rules.layouts[self._slot.layout]
        low, high = layout.ranks
        if self._has_free_rank:
            layout = self._stream.choice([item for item in self._rules.layouts if item.takes(self._dtypes, self._family)] or self._rules.layouts)
            return layout, self._stream.between(*layout.ranks)
        return layout, min(max(self._slot.rank, low), high)

    def _wanted(self) -> int:
        low, high = _ELEMENTS[self._slot.size]
        if self._slot.size is SizeClass.LARGE:
            high = min(self._rules.largest_elements, int(low * _LARGE_SPREAD))
            return min(high, round(self._stream.uniform(min(low, high * 0.95), high)))
        return round(self._stream.log_uniform(low, high))

    def _make(self, layout: Layout, sizes: list[Sizes]) -> Case:
        """The case of these sizes; also keeps the names that `require` may use."""
        shapes = [shapes_of(layout, item) for item in sizes]
        self._slices: dict[str, SliceParts] = {}
        attributes: dict[str, AttrValue] = {spec.name: self._attribute(spec, sizes[0], shapes[0]) for spec in self._operator.attributes}
        texts = {spec.name: "" for spec in self._operator.attributes if spec.type == "str"}
        given = {name: value for name, value in attributes.items() if isinstance(value, (int, float, str))}
        names: dict[str, Value] = {**numbers(sizes[0]), **texts, **given}
        lead = self._dtypes[self._rules.lead_position]
        span = draw_range(self._family, lead, self._rules, self._stream)
        names |= {"low": span[0], "high": span[1], "reach": reach_of(span)}
        inputs = self._inputs(layout, shapes, span, names)
        self._names: dict[str, Value] = {**names, "largest": largest_of(lead), "bits": lead.bits}
        self._names |= {"layout": self._number_of_layout, "rank": len(inputs[0].shape)}
        self._names |= {"elements": sum(item.elements for item in inputs), **self._axis_sizes(attributes, shapes[0])}
        self._names |= {f"{end}{item.argument}": value for item in inputs for end, value in ((LOW_OF, item.low), (HIGH_OF, item.high))}
        return Case(
            operator=self._operator.name,
            id=self._slot.case_id,
            inputs=inputs,
            attributes=attributes,
            omitted=tuple(spec.name for spec in self._operator.inputs if not layout.elements_of(spec.name)),
            seed=self._stream.below(_SEEDS) if self._slot.has_seed else 0,
        )

    def _axis_sizes(self, attributes: dict[str, AttrValue], shapes: dict[str, tuple[int, ...]]) -> dict[str, Number]:
        """Sizes of the axes that attributes name."""
        axes = {name: (rule.axis_of, attributes[name]) for name, rule in self._attribute_rules.items() if rule.axis_of}
        return {f"{SIZE_OF}{name}": shapes[source][axis] for name, (source, axis) in axes.items() if isinstance(axis, int)}

    def _inputs(self, layout: Layout, shapes: list[dict[str, tuple[int, ...]]], span: Range, names: dict[str, Value]) -> tuple[CaseInput, ...]:
        made: list[CaseInput] = []
        for spec, dtype in zip(self._operator.inputs, self._dtypes, strict=True):
            entries = layout.elements_of(spec.name)
            if not entries:
                continue
            low, high = span if spec.name == self._rules.lead else draw_other(spec.name, dtype, self._rules, names, self._stream)
            for index, shape in enumerate(item[entry] for item in (shapes if spec.is_list else shapes[:1]) for entry in entries):
                position = index if spec.is_list else None
                made.append(CaseInput(argument=spec.name, shape=shape, dtype=dtype, low=low, high=high, list_index=position))
        return tuple(made)

    def _attribute(self, spec: AttrSpec, sizes: Sizes, shapes: dict[str, tuple[int, ...]]) -> AttrValue:
        rule = self._attribute_rules.get(spec.name)
        if rule is None or (rule.when and not parse_expression(rule.when).value({**numbers(sizes), "layout": self._number_of_layout})):
            return spec.default
        if rule.source:
            return self._about_axes(spec, rule, shapes[rule.source])
        if rule.partition is not None:
            return draw_partition(rule.partition, numbers(sizes), self._stream)
        if rule.value:
            return to_attr_value(spec.type, _formula_value(rule, sizes))
        if rule.choices:
            return to_attr_value(spec.type, self._stream.choice(rule.choices))
        return self._number(spec, rule)

    def _about_axes(self, spec: AttrSpec, rule: AttributeRule, shape: tuple[int, ...]) -> AttrValue:
        """An axis of `shape`, an order of its axes, or this attribute's part of a slice of it."""
        if rule.axis_of:
            return -1 if self._stream.below(2) else self._stream.between(-len(shape), len(shape) - 1)
        if rule.permutation_of:
            return draw_permutation(shape, self._stream)
        if rule.slice_of not in self._slices:
            named = {other.part or name for name, other in self._attribute_rules.items() if other.slice_of == rule.slice_of}
            self._slices[rule.slice_of] = draw_slice(shape, frozenset(named), self._stream)
        return self._slices[rule.slice_of][rule.part or spec.name]

    def _number(self, spec: AttrSpec, rule: AttributeRule) -> AttrValue:
        assert rule.low is not None
        assert rule.high is not None
        if spec.type == "int":
            is_log = rule.scale == "log"
            return round(self._stream.log_uniform(rule.low, rule.high)) if is_log else self._stream.between(int(rule.low), int(rule.high))
        drawn = self._stream.log_uniform(rule.low, rule.high) if rule.scale == "log" else self._stream.uniform(rule.low, rule.high)
        return min(max(rounded(drawn), rule.low), rule.high)

    def _checked(self, case: Case) -> Case | None:
        """The case with its note, or None when it is not what the slot asks for."""
        if size_class(case) is not self._slot.size or not FEWEST_ELEMENTS <= case.elements <= self._rules.largest_elements:
            return None
        if is_non_aligned(case) is self._is_aligned or has_side_tensor_only(case):
            return None
        if not all(rule.value(self._names) for rule in self._require if not (self._family.startswith("special") and rule.names & _RANGE)):
            return None
        return case.model_copy(update={"note": note_of(case, self._dtypes[0], self._family)})


def _formula_value(rule: AttributeRule, sizes: Sizes) -> Number | tuple[Number, ...]:
    """The value of a formula, or of one formula per element."""
    values = tuple(parse_expression(text).value(numbers(sizes)) for text in rule.formulas)
    return values[0] if isinstance(rule.value, str) else values


def note_of(case: Case, dtype: DType, family: str) -> str:
    """`size | dtype | alignment | family`, as in Piton's suites."""
    alignment = ("non-aligned prime" if has_prime(case) else "non-aligned") if is_non_aligned(case) else "aligned"
    return f"{size_class(case).value} | {dtype.value} | {alignment} | {family}"
