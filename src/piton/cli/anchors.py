"""`piton hap`: the anchors of an operator's cases, explained, of a case that is typed, or of a whole suite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from piton.catalog.baseline_file import read_baselines
from piton.catalog.form_fit import sizes_go_together
from piton.catalog.hardware import load_hardware
from piton.catalog.typed_case import typed_case
from piton.cli.anchor_tables import print_overview, print_views
from piton.cli.evaluation import cache_dir
from piton.cli.printing import open_console, print_json, safe
from piton.core.errors import UsageError
from piton.core.suite import Suite, SuiteOperator
from piton.evaluate.anchor_overview import view_limits
from piton.evaluate.anchor_view import AnchorSources, AnchorView, anchor_sources, explain, hardware_sources
from piton.evaluate.baseline_sources import FiledBaselines, check_set
from piton.evaluate.foreign import SuiteRequest, open_suite
from piton.evaluate.pipeline import named_target
from piton.evaluate.suite_view import find_cases, find_member
from piton.evaluate.timing import peaks_block


@dataclass(frozen=True)
class HapOptions:
    """The options of `piton hap` as they were typed."""

    operator: str
    """Empty: an overview of the suite."""
    cases: tuple[str, ...]
    shapes: str
    attributes: tuple[str, ...]
    suite: str
    suite_format: str
    is_trusted: bool
    target: str
    """Empty: the default target, unless there is a chip."""
    hardware: str
    time_us: float | None
    prints_json: bool
    baseline: str = ""
    """A baseline file; empty for none."""

    @property
    def is_typed(self) -> bool:
        """True for a case of one's own."""
        return bool(self.shapes or self.attributes)

    @property
    def is_of_one_case(self) -> bool:
        """True when everything about one case is wanted."""
        return self.is_typed or len(self.cases) == 1


def show_anchors(options: HapOptions) -> int:
    """Print the anchors; returns the exit status."""
    _check(options)
    wanted = SuiteRequest(
        suite=options.suite,
        cache_dir=str(cache_dir().absolute()),
        format=options.suite_format,
        is_trusted=options.is_trusted,
        operators=(options.operator,) if options.operator else (),
    )
    suite = open_suite(wanted)
    with _sources(suite, options) as (name, sources):
        _show(suite, name, _with_file(sources, suite, options), options)
    return 0


def _check(options: HapOptions) -> None:
    if options.target and options.hardware:
        raise UsageError("--target and --hardware exclude one another", action="a target has its chip: leave one of them out")
    if not options.operator and (options.cases or options.is_typed or options.time_us is not None):
        raise UsageError("--case, --shape, --attr and --time-us need an operator", action="name one, such as `piton hap exp`")
    if options.is_typed and len(options.cases) > 1:
        raise UsageError("--shape and --attr change one case", found=f"{len(options.cases)} of --case", action="leave one --case, or none")
    if options.attributes and not options.shapes and not options.cases:
        raise UsageError("--attr belongs to a case", action="add --case ID for one of the suite's, or --shape for one of your own")


def _show(suite: Suite, name: str, sources: AnchorSources, options: HapOptions) -> None:
    place = {"suite": suite.name, "suite_version": suite.version, "on": name, "hardware": sources.hardware.name, "score_profile": sources.profile}
    if not options.operator:
        overview = view_limits(suite, sources.hardware)
        if options.prints_json:
            print_json({**place, "overview": overview})
        else:
            print_overview(open_console(), f"{suite.name} {suite.version} on {name}", overview, peaks_block(sources.profile))
        return
    member = find_member(suite, options.operator)
    if options.is_typed:
        views = [_typed(member, sources, options)]
    else:
        views = [explain(member.operator, case, sources, options.time_us) for case in find_cases(member, options.cases)]
    if options.prints_json:
        print_json({**place, "cases": views})
    else:
        print_views(open_console(), name, views)


def _typed(member: SuiteOperator, sources: AnchorSources, options: HapOptions) -> AnchorView:
    """The case of one's own; what is odd about it is said beside the answer."""
    base = find_cases(member, options.cases)[0] if options.cases else None
    case = typed_case(member.operator, options.shapes, options.attributes, member.cases, base)
    view = explain(member.operator, case, sources, options.time_us)
    if not sizes_go_together(member.operator, case):
        _remark("these sizes fit none of the forms in the operator's rules.yaml: make sure that they go together")
    if view.blocks and not any(choice.write_bytes for block in view.blocks for choice in block.choices):
        _remark("by these sizes and attributes nothing is written: an attribute that decides the size of the output may be missing (--attr)")
    return view


def _remark(text: str) -> None:
    open_console(is_error=True).print(safe(f"piton: {text}", "yellow"), soft_wrap=True)


def _with_file(sources: AnchorSources, suite: Suite, options: HapOptions) -> AnchorSources:
    """The sources, with the baseline file that was named. Raises UsageError for one that is about something else."""
    if not options.baseline:
        return sources
    found = read_baselines(options.baseline)
    check_set(found, suite, sources.hardware, sources.profile)
    return replace(sources, filed=FiledBaselines(found, suite, sources.hardware))


@contextmanager
def _sources(suite: Suite, options: HapOptions) -> Iterator[tuple[str, AnchorSources]]:
    cache, may_trace = str(cache_dir().absolute()), options.is_of_one_case and (options.is_trusted or not suite.is_foreign)
    if options.hardware:
        hardware = load_hardware(options.hardware)
        with hardware_sources(suite, hardware, cache, may_trace=may_trace) as sources:
            yield hardware.name, sources
        return
    from piton.targets.cpu.host import NAME as CPU
    from piton.targets.registry import DEFAULT_TARGET, target_names

    name = options.target or DEFAULT_TARGET
    if name == CPU:
        action = "evaluate a submission on it: its T_baseline is measured beside each case (docs/cpu.md)"
        raise UsageError("target cpu has no anchors to show: there is no T_HW of a processor", expected=" or ".join(target_names()), action=action)
    with anchor_sources(suite, named_target(name, cache, lambda _text: None), cache, may_trace=may_trace) as sources:
        yield name, sources
