"""`piton suite list` and `piton suite show`: what suites hold. A suite from outside needs no trust here, since nothing of it is run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from piton.catalog import load_suite, suite_names
from piton.catalog.adapters import find_suite
from piton.catalog.adapters.recognise import SHAPES
from piton.catalog.adapters.user_suite import write_example
from piton.catalog.suite import DEFAULT_SUITE, operator_names
from piton.cli.evaluation import cache_dir, size_budget
from piton.cli.printing import amount, anchored, attributes_text, open_console, print_json, safe, shape_text
from piton.core.errors import UsageError
from piton.core.foreign import SuiteFormat
from piton.core.operator import AttrSpec, TensorSpec
from piton.core.visible import visible
from piton.evaluate.anchor_view import anchor_sources
from piton.evaluate.foreign import SuiteRequest, open_suite
from piton.evaluate.pipeline import named_target
from piton.evaluate.suite_view import (
    CaseView,
    OperatorLine,
    OperatorView,
    SuiteView,
    TensorView,
    find_cases,
    find_member,
    view_found,
    view_operator,
    view_suite,
)
from piton.report.fit import Column, Listing

_LISTED_TENSORS = 3


@dataclass(frozen=True)
class SuiteOptions:
    """How a suite is read, as it was typed."""

    format: str
    memory_gib: float
    work_gflop: float
    is_trusted: bool

    def request(self, suite: str, operators: tuple[str, ...] = (), levels: tuple[int, ...] = ()) -> SuiteRequest:
        """The same for `open_suite`."""
        budget = size_budget(self.memory_gib, self.work_gflop)
        cache = str(cache_dir().absolute())
        return SuiteRequest(suite=suite, cache_dir=cache, format=self.format, budget=budget, is_trusted=self.is_trusted, operators=operators, levels=levels)


@dataclass(frozen=True)
class ShowOptions:
    """The options of `piton suite show` as they were typed."""

    suite: str
    operator: str
    cases: tuple[str, ...]
    target: str
    prints_json: bool
    how: SuiteOptions


def list_suites(paths: Sequence[str], suite_format: str, *, as_json: bool) -> int:
    """Print Piton's suites, or those given by name or folder."""
    views = [listed(path, suite_format) for path in (paths or suite_names())]
    if as_json:
        print_json({"suites": views})
        return 0
    console = open_console()
    console.print(_suites_table(views))
    if not paths:
        console.print(_formats_table())
    return 0


def listed(path: str, suite_format: str) -> SuiteView:
    """What files alone say of a suite."""
    found = find_suite(path, suite_format)
    if found is None:
        return view_suite(load_suite(path))
    if found.format is SuiteFormat.USER:
        return view_suite(open_suite(SuiteRequest(path, str(cache_dir().absolute()), suite_format)), found.format)
    return view_found(found)


def init_suite(folder: str) -> int:
    """Write the example of a user-defined suite and say what to do next."""
    console = Console(highlight=False)
    for path in write_example(Path(folder).expanduser()):
        console.print(f"wrote {path}", soft_wrap=True, markup=False)
    console.print(f"next: piton suite show {folder}, piton suite check {folder} --trust", soft_wrap=True, markup=False)
    return 0


def show_suite(options: ShowOptions) -> int:
    """Print the operators of a suite, or one operator with its cases."""
    name, operator = split_words(options.suite, options.operator)
    if not operator:
        if options.cases:
            raise UsageError("--case needs an operator", action="name it: piton suite show SUITE OPERATOR --case ID")
        view = _whole(name, options)
        _print(view, options.prints_json, lambda console: console.print(_suite_table(view)))
        return 0
    suite = open_suite(options.how.request(name, (operator,)), _tell)
    if suite.left_out.get(operator):
        raise UsageError(f"operator {operator} of {suite.name} can't be evaluated", found=suite.left_out[operator], action="choose another one")
    member = find_member(suite, operator)
    cases = find_cases(member, options.cases)
    target = named_target(options.target, str(cache_dir().absolute()), lambda _text: None)
    with anchor_sources(suite, target, str(cache_dir().absolute())) as sources:
        shown = view_operator(member, cases, options.target, sources)
    _print(shown, options.prints_json, lambda console: _print_operator(console, shown, is_short=bool(options.cases)))
    return 0


def _whole(name: str, options: ShowOptions) -> SuiteView:
    found = find_suite(name, options.how.format)
    if found is None or found.format is SuiteFormat.USER or not options.how.is_trusted:
        return listed(name, options.how.format)
    return view_suite(open_suite(options.how.request(name), _tell), found.format)


def _tell(text: str) -> None:
    """Progress of a step that takes long; apart from the results."""
    Console(stderr=True, highlight=False).print(safe(text, "dim"), soft_wrap=True)


def split_words(first: str, second: str) -> tuple[str, str]:
    """Suite and operator: a single word that names no suite and no folder, but an operator of the default suite, is that operator."""
    if second or not first:
        return first or DEFAULT_SUITE, second
    is_suite = first in suite_names() or Path(first).expanduser().exists()
    return (DEFAULT_SUITE, first) if not is_suite and first in operator_names(DEFAULT_SUITE) else (first, "")


def _print(view: object, as_json: bool, draw: Callable[[Console], None]) -> None:
    if as_json:
        print_json(view)
    else:
        draw(open_console())


def _suites_table(views: Sequence[SuiteView]) -> Listing:
    rows = []
    for view in views:
        for number, (level, names) in enumerate(view.levels.items()):
            head = (safe(view.name), safe(view.version), view.format) if number == 0 else ("", "", "")
            counts = {line.name: line.cases for line in view.operators}
            cases = str(sum(counts[name] for name in names)) if view.is_described else "?"
            rows.append((*head, level, safe(f"{len(names)}: {', '.join(names)}"), cases))
    columns = (Column("suite"), Column("version"), Column("format", wraps=False), Column("level"), Column("operators"), Column("cases", is_right=True))
    return Listing(columns, rows)


def _formats_table() -> Listing:
    rows = [(form.value, safe(SHAPES[form])) for form in SuiteFormat]
    return Listing((Column("format", wraps=False), Column("what it looks like")), rows, "formats that --suite reads (docs/adapters.md)")


def _suite_table(view: SuiteView) -> Listing:
    origin = "from outside Piton: evaluating needs --trust" if view.is_foreign else "Piton's own"
    cases = f"{view.cases} cases" if view.is_described else "signatures and cases are known once they have run: add --trust"
    title = visible(f"{view.name} {view.version} ({view.format}, {origin}), {len(view.operators)} operators, {cases}")
    rows = [_operator_row(view, line) for line in view.operators]
    rows += [("", safe(name), "", "-", "", safe(f"can't be evaluated: {reason}", "yellow")) for name, reason in view.left_out.items()]
    columns = (
        Column("level"),
        Column("operator"),
        Column("category", leaves=2),
        Column("cases", is_right=True),
        Column("elements", wraps=False, leaves=1),
        Column("signature"),
    )
    return Listing(columns, rows, title)


def _operator_row(view: SuiteView, line: OperatorLine) -> tuple[str | Text, ...]:
    is_known = view.is_described
    sizes = f"{amount(line.smallest_elements)} to {amount(line.largest_elements)}" if is_known else "?"
    return (str(line.level), safe(line.name), safe(line.category), str(line.cases) if is_known else "?", sizes, safe(line.schema_text or "?"))


def _print_operator(console: Console, view: OperatorView, *, is_short: bool) -> None:
    console.print(safe(f"{view.name} (level {view.level}, {view.category or 'no category'})", "bold"))
    console.print(safe(view.schema_text), "\n", sep="")
    for text in view.remarks:
        console.print(safe(text, "yellow"), soft_wrap=True)
    if not is_short:
        console.print(_signature_table(view))
        console.print(safe(view.description.strip() or "no desc.md"), "\n", sep="")
    console.print(_cases_table(view))
    for case in view.cases if is_short else ():
        _print_case(console, case)


def _signature_table(view: OperatorView) -> Listing:
    rows: list[tuple[str | Text, ...]] = [
        (role, safe(spec.name), ", ".join(dtype.value for dtype in spec.dtypes), _flags(spec, view, role), safe(spec.description))
        for role, specs in (("input", view.inputs), ("output", view.outputs))
        for spec in specs
    ]
    rows += [("attribute", safe(attr.name), attr.type, safe(_default(attr)), safe(attr.description)) for attr in view.attributes]
    return Listing([Column(""), Column("name"), Column("type"), Column(""), Column("about", leaves=1)], rows)


def _flags(spec: TensorSpec, view: OperatorView, role: str) -> str:
    flags = [name for name, is_set in (("optional", spec.is_optional), ("list", spec.is_list), ("updated in place", spec.is_mutable)) if is_set]
    if role == "output":
        flags += [_tau(item.dtype.value, item.tau, item.is_default) for item in view.thresholds if item.output == spec.name]
    return ", ".join(flags)


def _tau(dtype: str, tau: float | None, is_default: bool) -> str:
    return f"{dtype} tau {'none' if tau is None else f'{tau:.3g}'}{'' if is_default else ' (own)'}"


def _default(attr: AttrSpec) -> str:
    return "required" if attr.is_required and attr.default is None else f"default {attributes_text({attr.name: attr.default}).partition('=')[2]}"


_CASES = (
    Column("case", is_right=True),
    Column("size", leaves=2),
    Column("inputs"),
    Column("elements", is_right=True, wraps=False),
    Column("bytes", is_right=True, wraps=False, leaves=3),
    Column("attributes", leaves=1),
    Column("T_HW", is_right=True),
    Column("T_baseline", is_right=True),
)


def _cases_table(view: OperatorView) -> Listing:
    rows = []
    for case in view.cases:
        sizes = (amount(case.elements), amount(case.nbytes, "B"))
        inputs, attributes = safe(_inputs(case)), safe(attributes_text(case.attributes))
        rows.append((safe(case.id), case.size.value, inputs, *sizes, attributes, anchored(case.t_hw), anchored(case.t_baseline)))
    return Listing(_CASES, rows, f"cases, anchors on {view.target} in us")


def _inputs(case: CaseView) -> str:
    shown = [f"{_tensor_name(item)} {item.dtype.value} {shape_text(item.shape)}" for item in case.inputs[:_LISTED_TENSORS]]
    more = len(case.inputs) - _LISTED_TENSORS
    return "\n".join([*shown, *([f"and {more} more"] if more > 0 else [])])


def _tensor_name(item: TensorView) -> str:
    return item.argument if item.list_index is None else f"{item.argument}[{item.list_index}]"


def _print_case(console: Console, case: CaseView) -> None:
    lines = [f"case {case.id}: {case.note}" if case.note else f"case {case.id}"]
    for item in case.inputs:
        size = f"{item.dtype.value} {shape_text(item.shape)}, {item.elements} elements, {item.nbytes} bytes"
        values = "values as the task's own code draws them" if math.isnan(item.low) and math.isnan(item.high) else f"values {item.low:g} to {item.high:g}"
        lines.append(f"  {_tensor_name(item)}: {size}, {values}")
    lines += [f"  {name}: left out" for name in case.omitted]
    lines += [f"  {name} = {text}" for name, text in ((name, attributes_text({name: value}).partition("=")[2]) for name, value in case.attributes.items())]
    for name, anchor in (("T_HW", case.t_hw), ("T_baseline", case.t_baseline)):
        lines.append(f"  {name}: {anchor.value_us:.3f} us, {anchor.provenance.value}: {anchor.method}" if anchor else f"  {name}: not known")
    console.print(safe("\n".join(lines)))
