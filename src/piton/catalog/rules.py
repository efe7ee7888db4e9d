"""rules.yaml: what cases of an operator may look like, for generated and hidden ones (docs/formats.md, adr/0014).

It is optional, and the only place that says which shapes, attributes and value ranges make a case of the operator. Names in formulas are axes and attributes
(texts can only be compared); in `values` and `require` also `low`, `high` (range of the leading input) and `reach` (largest magnitude of its ordinary
values); in `require` `largest`, `bits` (largest finite value and width of its dtype), `rank` (of the first input), `elements` (of all inputs together),
`layout` (its number, from 0), `low_of_x` and `high_of_x` for the range of input `x`, and `size_of_dim` for an attribute `dim` that is an axis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from piton.catalog.expression import Expression, ExpressionError, parse_expression
from piton.catalog.rule_forms import (
    BATCH,
    FAMILIES,
    HIGH_OF,
    LOW_OF,
    SIZE_OF,
    SLICE_LISTS,
    SLICE_MASKS,
    AttributeRule,
    AxisRule,
    DegenerateRule,
    InvariantForm,
    LayoutForm,
    RulesForm,
)
from piton.catalog.source import Loc, Located, check_form, read_yaml
from piton.catalog.values import to_attr_value, to_dtype
from piton.core.canonical import digest
from piton.core.dtype import DType
from piton.core.operator import AttrSpec, AttrValue, Frozen, Operator, TensorSpec

FILE = "rules.yaml"
_AXIS = re.compile(r"[A-Za-z]\w*")
_RANGE = frozenset({"low", "high", "reach"})
_GIVEN = _RANGE | {"largest", "bits", "rank", "elements", "layout"}


class Layout(Frozen):
    """One way to shape the inputs, axis by axis; `BATCH` may stand at the front."""

    model_config = {**Frozen.model_config, "arbitrary_types_allowed": True}

    shapes: tuple[tuple[str, tuple[str, ...]], ...]
    """Input name and its axes, as formulas; `name[0]`, `name[1]`, ... for a list input whose elements have shapes of their own."""
    ranks: tuple[int, int]
    attributes: dict[str, AttributeRule]
    """Those of this layout, before those of the operator."""
    require: tuple[Expression, ...]
    dtypes: tuple[tuple[DType, ...], ...]
    """Combinations that go with the shapes; empty for all."""
    families: tuple[str, ...]
    """Families of value ranges that go with the shapes."""
    values: dict[str, tuple[tuple[Expression, Expression], ...]]
    """Those of this layout, before those of the operator."""

    def takes(self, dtypes: tuple[DType, ...], family: str) -> bool:
        """True when these dtypes and this family of value ranges go with the shapes."""
        return (not self.dtypes or dtypes in self.dtypes) and family in self.families

    def elements_of(self, name: str) -> tuple[str, ...]:
        """Entries of `shapes` that belong to input `name`; empty where it is left out."""
        return tuple(item for item, _ in self.shapes if item.partition("[")[0] == name)

    @property
    def has_batch(self) -> bool:
        """True when the first input begins with `...`."""
        return self.shapes[0][1][:1] == (BATCH,)


class CaseRules(Frozen):
    """What rules.yaml says, checked against the operator."""

    model_config = {**Frozen.model_config, "arbitrary_types_allowed": True}

    lead: str
    lead_position: int
    """Of the leading input among all inputs: its place in a combination of dtypes."""
    dtypes: tuple[tuple[DType, ...], ...]
    """Combinations, one dtype per input."""
    axes: dict[str, AxisRule]
    layouts: tuple[Layout, ...]
    attributes: dict[str, AttributeRule]
    limits: dict[DType, float]
    families: tuple[str, ...]
    values: dict[str, tuple[tuple[Expression, Expression], ...]]
    require: tuple[Expression, ...]
    list_length: tuple[int, int]
    largest_elements: int
    degenerate: tuple[DegenerateRule, ...]
    invariants: tuple[InvariantForm, ...]
    digest: str
    """Of everything above: the rules are part of what a generated set is named by."""


_ROOT: Loc = ("rules",)


def read_rules(folder: Path, operator: Operator) -> CaseRules | None:
    """The rules in `folder`, or None when there are none. Raises FormatError with file and line."""
    path = folder / FILE
    if not path.is_file():
        return None
    located = read_yaml(path)
    if not isinstance(located.data, dict) or list(located.data) != ["rules"]:
        located.refuse("no rules here", expected="a mapping with the key `rules` and no other", found=located.data)
    form = check_form(RulesForm, located, _ROOT, is_strict=True)
    return _Reader(located, operator, form).read()


class _Reader:
    """One file on its way to CaseRules."""

    def __init__(self, located: Located, operator: Operator, form: RulesForm) -> None:
        self._located, self._operator, self._form = located, operator, form
        self._inputs = {spec.name: spec for spec in operator.inputs}

    def read(self) -> CaseRules:
        form = self._form
        self._check_names()
        lead = form.lead or self._operator.inputs[0].name
        layouts = tuple(self._layout(index, item) for index, item in enumerate(form.layouts))
        sizes = {f"{SIZE_OF}{name}" for name, rule in form.attributes.items() if rule.axis_of}
        sizes |= {f"{end}{name}" for name in self._inputs for end in (LOW_OF, HIGH_OF)}
        known = self._axes(layouts) | {spec.name for spec in self._operator.attributes}
        self._check_attributes(known)
        for index, layout in enumerate(layouts):
            for rule in layout.require:
                self._expression(rule.text, ("layouts", index, "require"), known | _GIVEN | sizes)
            for name, ends in layout.values.items():
                for end in (item for pair in ends for item in pair):
                    self._expression(end.text, ("layouts", index, "values", name), known | _RANGE)
        return CaseRules(
            lead=lead,
            lead_position=list(self._inputs).index(lead),
            dtypes=self._all_dtypes(layouts),
            axes=form.axes,
            layouts=layouts,
            attributes=form.attributes,
            limits={self._dtype(name, ("limits", name)): value for name, value in form.limits.items()},
            families=form.families,
            values={name: self._values(pairs, ("values", name), known | _RANGE) for name, pairs in form.values.items()},
            require=tuple(self._expression(text, ("require", index), known | _GIVEN | sizes) for index, text in enumerate(form.require)),
            list_length=form.list_length,
            largest_elements=form.largest_elements,
            degenerate=form.degenerate,
            invariants=form.invariants,
            digest=digest(form.model_dump(exclude_unset=True)),  # what the file says: it stays when the form learns new keys
        )

    def _refuse_unknown(self, name: str, known: object, loc: Loc, what: str) -> None:
        if name not in known:  # type: ignore[operator]  # any container of names
            self._located.refuse(f"unknown {what} {name!r}", (*_ROOT, *loc), expected=", ".join(map(str, known)), found=name)  # type: ignore[call-overload]

    def _check_names(self) -> None:
        for name in filter(None, (self._form.lead, *self._form.values, *(item for rule in self._form.invariants for item in rule.inputs))):
            self._refuse_unknown(name, list(self._inputs), ("values",), "input")
        for index, family in enumerate(self._form.families):
            self._refuse_unknown(family, FAMILIES, ("families", index), "family")
        for index, rule in enumerate(self._form.degenerate):
            for name in rule.dtypes:
                self._dtype(name, ("degenerate", index))

    def _layout(self, index: int, form: LayoutForm) -> Layout:
        loc: Loc = ("layouts", index)
        for name in form.shapes:
            self._refuse_unknown(name, list(self._inputs), (*loc, "shapes"), "input")
        for spec in self._operator.inputs:
            if spec.name not in form.shapes and not spec.is_optional:
                self._located.refuse(f"no shape for input {spec.name!r}", (*_ROOT, *loc), expected="a shape for every input that is not optional")
        shapes = tuple(item for spec in self._operator.inputs if spec.name in form.shapes for item in self._shapes(spec, form, loc))
        require = tuple(self._expression(text, (*loc, "require", number)) for number, text in enumerate(form.require))
        dtypes = self._dtypes(form.dtypes, loc)
        for name in form.values:
            self._refuse_unknown(name, list(form.shapes), (*loc, "values"), "input")
        for family in form.families:
            self._refuse_unknown(family, FAMILIES, (*loc, "families"), "family")
        values = {name: self._values(pairs, (*loc, "values", name)) for name, pairs in form.values.items()}
        ranks = self._ranks(shapes[0][1], form, loc)
        return Layout(shapes=shapes, ranks=ranks, attributes=form.attributes, require=require, dtypes=dtypes, values=values, families=form.families)

    def _shapes(self, spec: TensorSpec, form: LayoutForm, loc: Loc) -> Iterator[tuple[str, tuple[str, ...]]]:
        """One entry for the input, or one per element of a list whose elements have shapes of their own."""
        given = form.shapes[spec.name]
        elements = [item for item in given if isinstance(item, tuple)]
        if elements and not spec.is_list:
            self._located.refuse(f"several shapes for {spec.name}", (*_ROOT, *loc, "shapes", spec.name), expected="one shape: it is no list", found=given)
        if elements:
            yield from ((f"{spec.name}[{index}]", self._shape(spec, item, loc)) for index, item in enumerate(elements))
        else:
            yield spec.name, self._shape(spec, given, loc)

    def _shape(self, spec: TensorSpec, shape: tuple[object, ...], loc: Loc) -> tuple[str, ...]:
        axes = tuple(str(axis) for axis in shape)
        if BATCH in axes[1:]:
            self._located.refuse(f"`...` of {spec.name} is not at the front", (*_ROOT, *loc), expected="[..., N]", found=axes)
        for axis in axes:
            if axis != BATCH:
                self._expression(axis, (*loc, "shapes", spec.name))
        return axes

    def _ranks(self, first: tuple[str, ...], form: LayoutForm, loc: Loc) -> tuple[int, int]:
        fixed = len(first) - (BATCH in first)
        if BATCH not in first:
            return fixed, fixed
        low, high = form.ranks or (max(1, fixed), 5)
        if not max(1, fixed) <= low <= high <= 8:
            self._located.refuse("ranks out of range", (*_ROOT, *loc, "ranks"), expected=f"{max(1, fixed)} to at most 8", found=[low, high])
        return low, high

    def _axes(self, layouts: tuple[Layout, ...]) -> frozenset[str]:
        """All sizes with a name: those in shapes, and those of `axes` that only formulas of attributes, ranges or conditions use."""
        used = {name for layout in layouts for _, axes in layout.shapes for axis in axes if axis != BATCH for name in parse_expression(axis).names}
        mentioned = used | {name for text in self._other_formulas() for name in self._expression(text, ("axes",)).names}
        for name in self._form.axes:
            self._refuse_unknown(name, sorted(mentioned), ("axes", name), "axis")
        return frozenset(used | set(self._form.axes))

    def _other_formulas(self) -> Iterator[str | float]:
        form = self._form
        rules = [rule for group in (form.attributes, *(item.attributes for item in form.layouts)) for rule in group.values()]
        yield from (text for rule in rules for text in rule.all_formulas)
        yield from (rule.when for rule in rules if rule.when)
        yield from (end for group in (form.values, *(item.values for item in form.layouts)) for pairs in group.values() for pair in pairs for end in pair)
        yield from form.require
        yield from (text for item in form.layouts for text in item.require)

    def _check_attributes(self, known: frozenset[str]) -> None:
        specs = {spec.name: spec for spec in self._operator.attributes}
        for place, rules in (
            (("attributes",), self._form.attributes),
            *((("layouts", index, "attributes"), item.attributes) for index, item in enumerate(self._form.layouts)),
        ):
            for name, rule in rules.items():
                self._check_attribute(name, rule, (*place, name), known)
        everywhere = set(self._form.attributes).union(set.intersection(*(set(layout.attributes) for layout in self._form.layouts)))
        for name, spec in specs.items():
            if name not in everywhere and spec.is_required and spec.default is None:
                self._located.refuse(f"no values for attribute {name!r}", (*_ROOT, "attributes"), expected="a rule for every attribute without a default")

    def _check_attribute(self, name: str, rule: AttributeRule, loc: Loc, known: frozenset[str]) -> None:
        specs = {spec.name: spec for spec in self._operator.attributes}
        self._refuse_unknown(name, list(specs), loc, "attribute")
        if rule.source:
            self._refuse_unknown(rule.source, list(self._inputs), loc, "input")
        for formula in rule.all_formulas:
            self._expression(formula, loc, known)
        if rule.when:
            self._expression(rule.when, loc, known | {"layout"})
        for value in rule.choices:
            self._attribute(specs[name], value, loc)
        part = rule.part or name
        if rule.slice_of:
            self._refuse_unknown(part, (*SLICE_LISTS, *SLICE_MASKS), loc, "part of a slice")
        wanted = "int_list" if rule.permutation_of or part in SLICE_LISTS else "int"
        if rule.partition is not None and specs[name].type != "int_list":
            self._located.refuse(f"a partition for attribute {name!r}", (*_ROOT, *loc), expected="an attribute of type int_list", found=specs[name].type)
        if (rule.permutation_of or rule.slice_of) and specs[name].type != wanted:
            self._located.refuse(f"attribute {name!r} has another type", (*_ROOT, *loc), expected=wanted, found=specs[name].type)

    def _attribute(self, spec: AttrSpec, value: object, loc: Loc) -> AttrValue:
        try:
            return to_attr_value(spec.type, value)
        except ValueError as error:
            self._located.refuse(f"attribute {spec.name!r}: {error}", (*_ROOT, *loc), expected=spec.type, found=value)

    def _all_dtypes(self, layouts: tuple[Layout, ...]) -> tuple[tuple[DType, ...], ...]:
        """The listed combinations; without a list those of the layouts, or else one for each dtype of the first input."""
        own = tuple(dict.fromkeys(item for layout in layouts for item in layout.dtypes))
        first = tuple(item.value for item in self._operator.inputs[0].dtypes)
        made = own if own and not self._form.dtypes else self._dtypes(self._form.dtypes or first, ())
        for index, layout in enumerate(layouts):
            if not any(layout.takes(item, layout.families[0]) for item in made):
                self._located.refuse("no dtypes for a layout", (*_ROOT, "layouts", index, "dtypes"), expected="a combination that `dtypes` lists", found="none")
        return made

    def _dtypes(self, lines: tuple[tuple[str, ...] | str, ...], place: Loc) -> tuple[tuple[DType, ...], ...]:
        """Combinations of `lines`: a dtype per input, or one for all."""
        places: list[Loc] = [(*place, "dtypes", index) for index in range(len(lines))]
        return tuple(self._combination(self._for_all(line, loc) if isinstance(line, str) else line, loc) for line, loc in zip(lines, places, strict=True))

    def _for_all(self, name: str, loc: Loc) -> tuple[str, ...]:
        """One dtype for all inputs; an input that does not have it (indices beside floats) takes its first."""
        dtype = self._dtype(name, loc)
        rest = (dtype.value if dtype in spec.dtypes else spec.dtypes[0].value for spec in self._operator.inputs[1:])
        return (dtype.value, *rest)

    def _combination(self, names: tuple[str, ...], loc: Loc) -> tuple[DType, ...]:
        if len(names) != len(self._operator.inputs):
            self._located.refuse("number of dtypes", (*_ROOT, *loc), expected=f"one, or {len(self._operator.inputs)}", found=names)
        made = tuple(self._dtype(name, loc) for name in names)
        for spec, dtype in zip(self._operator.inputs, made, strict=True):
            self._refuse_unknown(dtype.value, [item.value for item in spec.dtypes], loc, f"dtype of {spec.name}")
        return made

    def _dtype(self, name: str, loc: Loc) -> DType:
        try:
            return to_dtype(name)
        except ValueError:
            self._located.refuse("unknown element type", (*_ROOT, *loc), expected=", ".join(item.value for item in DType), found=name)

    def _values(
        self, pairs: tuple[tuple[str | float, str | float], ...], loc: Loc, known: frozenset[str] | None = None
    ) -> tuple[tuple[Expression, Expression], ...]:
        return tuple((self._expression(low, loc, known), self._expression(high, loc, known)) for low, high in pairs)

    def _expression(self, text: str | float, loc: Loc, known: frozenset[str] | None = None) -> Expression:
        try:
            made = parse_expression(text)
        except ExpressionError as error:
            self._located.refuse(str(error), (*_ROOT, *loc), expected="a formula such as 2 * H", found=text)
        unknown = sorted(made.names - known) if known is not None else [name for name in made.names if not _AXIS.fullmatch(name)]
        if unknown:
            self._located.refuse(f"unknown name {unknown[0]!r} in a formula", (*_ROOT, *loc), expected=", ".join(sorted(known or ())), found=text)
        return made
