"""The anchors of a run: where T_HW and T_baseline of its cases come from, and what a reader of its report has to know of that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from piton.catalog import load_metadata, read_submission
from piton.core.baseline import BaselineSet
from piton.core.protocols import Target
from piton.core.score import ScoreProfile
from piton.core.suite import Suite
from piton.evaluate.assemble import Subject, score_profile
from piton.evaluate.baseline_sources import BaselineSources, FiledBaselines, check_set, other_toolchain, quoted_version
from piton.evaluate.baselines import FOLDER, SimulatedBaselines
from piton.evaluate.build import Workplace
from piton.evaluate.cache import ValueStore
from piton.evaluate.eager import EagerBaselines, Traces, eager_baselines
from piton.evaluate.measured import measured_baselines
from piton.evaluate.selection import Selection
from piton.evaluate.timing import AnchorBook


def open_anchors(place: Workplace, subject: Subject) -> tuple[AnchorBook, tuple[str, ...]]:
    """The anchors of a run, and the sets of T_baseline that they may come from. Nothing is built or run before a case is asked for."""
    suite, target, request = subject.suite, subject.target, subject.request
    quoted = load_metadata(Path(suite.root), target.hardware.name)
    is_simulated = score_profile(target) is ScoreProfile.SIM  # the scores of a device never take a simulated time: no plain kernel runs there for nothing
    sources = BaselineSources(
        filed=FiledBaselines(subject.filed, suite, target.hardware) if subject.filed else None,
        modelled=_modelled(place, subject),
        simulated=plain_kernels(place, suite, ValueStore(Path(request.cache_dir) / "baselines")) if is_simulated else None,
        measured=measured_baselines(place, suite),
        quoted_version=quoted_version(suite) if quoted else "",
    )
    return AnchorBook(target.hardware, score_profile(target), quoted, sources, request.bounds), sources.versions


def _modelled(place: Workplace, subject: Subject) -> EagerBaselines | None:
    """The model, for targets whose scores may use it."""
    if score_profile(subject.target) is not ScoreProfile.SIM:
        return None
    traces = Traces(runner=place.runner, are_kept=subject.request.hidden is None)
    return eager_baselines(subject.suite, subject.target.hardware, subject.request.cache_dir, traces)


def with_baselines(selection: Selection, filed: BaselineSet, suite: Suite, target: Target) -> Selection:
    """The selection with what a reader has to know of the baseline file. Raises UsageError for one that is about something else than this run."""
    check_set(filed, suite, target.hardware, score_profile(target))
    remark = other_toolchain(filed, target)
    return replace(selection, remarks=(*selection.remarks, remark)) if remark else selection


def plain_kernels(place: Workplace, suite: Suite, store: ValueStore) -> SimulatedBaselines | None:
    """The plain kernels of a suite of ours; a foreign suite's would be untrusted code with a say in the score."""
    folder = Path(suite.root) / FOLDER
    if suite.is_foreign or not folder.is_dir():
        return None
    return SimulatedBaselines(place, read_submission(folder, place.run_dir / "baseline" / "submission"), store)
