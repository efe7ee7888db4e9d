"""The anchors of a case, explained: the work, the time of each unit, which one binds, the baselines that are known, and HAP for a given time.

What `piton hap` and `piton suite show` print. Nothing is built: a simulated baseline is shown when an evaluation has left it in the cache. A golden is traced
for a modelled one only where that is asked for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from piton.anchors import Block, Candidate, bottleneck, candidates, choose_baseline, fastest, t_hw
from piton.anchors.limit import family, reasoning
from piton.catalog import load_metadata, read_submission
from piton.core.case import Case
from piton.core.errors import UsageError
from piton.core.hardware import Hardware
from piton.core.measurement import Anchor
from piton.core.operator import Frozen, Operator
from piton.core.protocols import Target
from piton.core.score import BASELINE_FLOOR_RATIO, WEIGHT_COMPILED, WEIGHT_CORRECT, WEIGHT_FAST, ScoreProfile, hap
from piton.core.suite import Suite
from piton.evaluate.anchor_difference import BlockDifference, compare_blocks
from piton.evaluate.arguments import filled_case
from piton.evaluate.assemble import score_profile
from piton.evaluate.baseline_sources import ChosenBaseline, FiledBaselines, quoted_version
from piton.evaluate.baselines import FOLDER, KnownBaselines
from piton.evaluate.cache import ValueStore
from piton.evaluate.eager import EagerBaselines, EagerView, Traces, eager_baselines
from piton.evaluate.timing import Quoted, peaks_block

UNITS = ("mte2", "mte3", "vector", "cube", "mte1", "fixp")
"""Units of an AI core that the anchors' definition names, in the order they are shown."""
BLOCKS: tuple[Block, ...] = ("silicon", "convention")


class ChoiceView(Frozen):
    """One implementation choice of a work formula on one block of peaks."""

    choice: str
    is_chosen: bool
    """True for the fastest, which makes T_HW."""
    read_bytes: int
    write_bytes: int
    cube_flops: dict[str, float]
    """By operand dtype."""
    vector_lane_instructions: dict[str, float]
    """By dtype."""
    unit_times_us: dict[str, float | None]
    """Each of UNITS and `floor`; None for one that the formula does not model."""
    limiting_unit: str
    label: str
    """The limiting unit rolled up as published shares have it: Vector, Cube, MTE, or floor."""
    time_us: float


class BlockView(Frozen):
    """T_HW on one block of peaks."""

    block: Literal["silicon", "convention"]
    is_scored: bool
    """True for the block that the score profile of the target uses."""
    choices: tuple[ChoiceView, ...]
    reasoning: str
    """What the work formula says about its counts."""


class HapView(Frozen):
    """HAP of a given time, with the anchors it was computed from."""

    time_us: float
    t_hw_us: float
    t_baseline_us: float
    """After raising it to 1.05 T_HW where it was below."""
    raw: float
    ranked: float
    is_below_t_hw: bool
    is_baseline_raised: bool
    points: float
    """Score of an operator all of whose cases are right and like this one, of 100."""


class AnchorView(Frozen):
    """Everything known about the anchors of one case."""

    operator: str
    case: str
    elements: int
    has_formula: bool
    """False when no work formula of Piton's fits the operator: T_HW can only be quoted then."""
    family: str
    """What the formulas of operators like this one have in common, above all which bytes they count; empty without a formula."""
    blocks: tuple[BlockView, ...]
    difference: BlockDifference | None
    """Why silicon differs from convention; None where one of them has no formula."""
    t_hw: Anchor | None
    """The one that scores."""
    quoted_t_hw: Anchor | None
    t_baseline: Anchor | None
    """The one that scores."""
    t_baselines: tuple[Anchor, ...]
    """All that are known."""
    modelled: EagerView | None
    """The modelled T_baseline, explained, where the model knows the operator and the trace of its golden is kept or may be made."""
    unmodelled: str
    """Why its golden has no trace, where there is no modelled T_baseline for that reason; else empty."""
    hap: HapView | None
    """For the time that was given, when both anchors are known."""
    remarks: tuple[str, ...] = ()
    """Why a time of the baseline file is not used."""


@dataclass(frozen=True)
class AnchorSources:
    """Where anchors of a suite on a hardware come from."""

    hardware: Hardware
    profile: ScoreProfile
    quoted: Quoted
    baselines: KnownBaselines | None
    quoted_version: str = ""
    """How scores name the published set."""
    filed: FiledBaselines | None = None
    """The baseline file that was named: it goes before all other T_baseline."""
    modelled: EagerBaselines | None = None


@contextmanager
def anchor_sources(suite: Suite, target: Target, cache_dir: str, *, may_trace: bool = False) -> Iterator[AnchorSources]:
    """Sources for a target: quoted anchors of the suite, simulated baselines out of the cache for a suite of ours, and modelled ones.

    With `may_trace` goldens whose trace no run has kept are traced, each in a golden worker.
    """
    quoted = load_metadata(Path(suite.root), target.hardware.name)
    folder = Path(suite.root) / FOLDER
    with tempfile.TemporaryDirectory(prefix="piton-") as scratch:
        baselines = None
        if not suite.is_foreign and folder.is_dir():
            submission = read_submission(folder, Path(scratch) / "submission")
            baselines = KnownBaselines(target, submission, ValueStore(Path(cache_dir) / "baselines"), Path(scratch))
        with _model(suite, target.hardware, cache_dir, may_trace) as modelled:
            yield AnchorSources(target.hardware, score_profile(target), quoted, baselines, quoted_version(suite), modelled=modelled)


@contextmanager
def _model(suite: Suite, hardware: Hardware, cache_dir: str, may_trace: bool) -> Iterator[EagerBaselines | None]:
    modelled = eager_baselines(suite, hardware, cache_dir, Traces(may_run=may_trace))
    try:
        yield modelled
    finally:
        if modelled is not None:
            modelled.close()


@contextmanager
def hardware_sources(suite: Suite, hardware: Hardware, cache_dir: str, *, may_trace: bool = False) -> Iterator[AnchorSources]:
    """Sources for a chip alone, without a target: anchors as the `sim` profile would take them, baselines as far as they are quoted or modelled."""
    with _model(suite, hardware, cache_dir, may_trace) as modelled:
        yield AnchorSources(hardware, ScoreProfile.SIM, load_metadata(Path(suite.root), hardware.name), None, quoted_version(suite), modelled=modelled)


def absent_types(case: Case, hardware: Hardware) -> tuple[str, ...]:
    """Element types of the case's inputs that no instruction of the chip takes: there is no limit to speak of then."""
    return tuple(dict.fromkeys(item.dtype.value for item in case.inputs if item.dtype in hardware.absent_types))


def explain(operator: Operator, case: Case, sources: AnchorSources, time_us: float | None = None) -> AnchorView:
    """All about the anchors of one case.

    Raises UsageError for element types that the chip does not have, FormatError for a case that the operator's formula can't read.
    """
    if absent := absent_types(case, sources.hardware):
        problem = f"case {case.id} of {operator.name} has an element type that {sources.hardware.name} does not have"
        raise UsageError(problem, found=", ".join(absent), action="choose a chip that has it, such as --hardware ascend950pr")
    filled = filled_case(operator, case)
    scored = peaks_block(sources.profile)
    found = {block: candidates(operator, filled, sources.hardware, block) for block in BLOCKS}
    best = {block: fastest(choices) for block, choices in found.items()}
    quoted = sources.quoted.get((operator.name, case.id))
    roof = t_hw(operator, filled, sources.hardware, scored) or (quoted.t_hw if quoted else None)
    simulated = sources.baselines.anchor(operator, case) if sources.baselines else None
    quoted_baseline = quoted.t_baseline.model_copy(update={"version": sources.quoted_version}) if quoted and quoted.t_baseline else None
    model = sources.modelled.view(operator, case) if sources.modelled else None
    modelled = model.anchor if model else None
    filed = sources.filed.anchor(operator, case) if sources.filed else ChosenBaseline(None)
    baseline = filed.anchor or choose_baseline(simulated=simulated, modelled=modelled, quoted=quoted_baseline, profile=sources.profile)
    return AnchorView(
        operator=operator.name,
        case=case.id,
        elements=case.elements,
        has_formula=any(found.values()),
        family=family(operator),
        blocks=tuple(_block(operator, block, block == scored, choices) for block, choices in found.items() if choices),
        difference=compare_blocks(best["convention"], best["silicon"], sources.hardware),
        t_hw=roof,
        quoted_t_hw=quoted.t_hw if quoted else None,
        t_baseline=baseline,
        t_baselines=tuple(anchor for anchor in (filed.anchor, simulated, modelled, quoted_baseline) if anchor is not None),
        modelled=model,
        unmodelled=sources.modelled.refusal(operator, case) if sources.modelled and model is None else "",
        hap=_hap(time_us, roof, baseline),
        remarks=tuple(finding.message for finding in filed.findings),
    )


def _block(operator: Operator, block: Block, is_scored: bool, found: tuple[Candidate, ...]) -> BlockView:
    best = fastest(found)
    choices = tuple(_choice(item, item is best) for item in found)
    return BlockView(block=block, is_scored=is_scored, choices=choices, reasoning=reasoning(operator, block))


def _choice(item: Candidate, is_chosen: bool) -> ChoiceView:
    work = item.work
    times: dict[str, float | None] = {unit: item.unit_times_us[unit] for unit in (*UNITS, "floor")}
    if work.path is None and any(work.cube_flops.values()):
        times |= {"mte1": None, "fixp": None}  # the published convention does not say what the cube's own data movers do
    return ChoiceView(
        choice=work.choice,
        is_chosen=is_chosen,
        read_bytes=work.read_bytes,
        write_bytes=work.write_bytes,
        cube_flops={dtype.value: amount for dtype, amount in work.cube_flops.items()},
        vector_lane_instructions={dtype.value: amount for dtype, amount in work.vector_lanes.items()},
        unit_times_us=times,
        limiting_unit=item.limiting_unit,
        label=bottleneck(item.limiting_unit),
        time_us=item.time_us,
    )


def _hap(time_us: float | None, roof: Anchor | None, baseline: Anchor | None) -> HapView | None:
    if time_us is None or roof is None or baseline is None:
        return None
    value = hap(time_us, roof.value_us, baseline.value_us)
    return HapView(
        time_us=time_us,
        t_hw_us=roof.value_us,
        t_baseline_us=max(baseline.value_us, BASELINE_FLOOR_RATIO * roof.value_us),
        raw=value.raw,
        ranked=value.ranked,
        is_below_t_hw=value.is_below_t_hw,
        is_baseline_raised=value.is_baseline_raised,
        points=100.0 * (WEIGHT_COMPILED + WEIGHT_CORRECT + WEIGHT_FAST * value.ranked),
    )
