"""What a driver sends to a worker: an order once, then tasks; and what comes back. All of it can be pickled, none of it names a path that has to exist there.

Of hidden cases a worker gets the ones it evaluates, one at a time, and never the key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import piton
from piton.core.baseline import BaselineSet
from piton.core.errors import UsageError
from piton.core.operator import Operator
from piton.core.report import CaseResult
from piton.core.submission import Submission
from piton.core.suite import Suite
from piton.evaluate.assemble import Subject
from piton.evaluate.cluster.parcel import Parcel, list_tree, pack
from piton.evaluate.policy import Bounds, EvaluationRequest
from piton.evaluate.retry import Trouble

_PACKAGE = Path(piton.__file__).resolve().parent


@dataclass(frozen=True)
class WorkOrder:
    """Everything that a worker needs beside the tasks."""

    request: EvaluationRequest
    suite: Suite
    """Without its cases."""
    submission: Submission
    filed: BaselineSet | None
    """The baseline file of the request, read."""
    submission_parcel: str
    """Digest of the parcel with its files."""
    suite_parcel: str
    """Likewise; empty for a suite that comes with Piton, which is on every machine."""
    suite_in_package: str = ""
    """Where such a suite lies below the package."""
    hardware_digest: str = ""
    """Of the target's hardware: where that is the machine itself, only equal machines may work together."""
    hardware: tuple[str, str] | None = None
    """Name and text of the hardware file where the target is one of the user's own."""


@dataclass(frozen=True)
class Started:
    """What a worker says once it is ready, or why it can't be."""

    place: str
    """Machine and process, for people."""
    isolation: tuple[str, ...] = ()
    refusal: str = ""
    """Set: the worker could not be set up, and another one would not fare better."""


@dataclass(frozen=True)
class Reply:
    """What came of a task."""

    result: CaseResult | None = None
    refusal: str = ""
    """Set: this worker would build something else than the driver did, so that its results would not be comparable."""
    trouble: Trouble | None = None
    """Set: the worker is there, and something kept it from evaluating; the case is a void."""
    notices: tuple[str, ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    """What the run leaves beside its report (tensors of a failure, timelines): path below the run folder, and content."""


def make_order(subject: Subject, bounds: Bounds) -> tuple[WorkOrder, tuple[Parcel, ...]]:
    """The order for workers that keep `bounds`, and the parcels that it names."""
    request, suite = subject.request, subject.suite
    sources = pack(Path(subject.submission.root), (item.path for item in subject.submission.files))
    tree = None if _is_ours(suite) else pack(Path(suite.root), _suite_files(suite, Path(request.cache_dir)))
    bare = suite.model_copy(update={"members": tuple(member.model_copy(update={"cases": ()}) for member in suite.members)})
    order = WorkOrder(
        request=request.model_copy(update={"ray": "", "bounds": bounds}),
        suite=bare,
        submission=subject.submission,
        filed=subject.filed,
        submission_parcel=sources.digest,
        suite_parcel=tree.digest if tree else "",
        suite_in_package="" if tree else Path(suite.root).resolve().relative_to(_PACKAGE).as_posix(),
        hardware_digest=subject.target.hardware.digest(),
        hardware=_own_hardware(request.target),
    )
    return order, (sources, *((tree,) if tree else ()))


def moved(operator: Operator, old_root: str, new_root: str) -> Operator:
    """The operator with its golden below `new_root`."""
    if not operator.golden_path:
        return operator
    path = Path(new_root) / Path(operator.golden_path).relative_to(old_root)
    return operator.model_copy(update={"golden_path": str(path)})


def moved_suite(suite: Suite, new_root: str) -> Suite:
    """The suite as it lies on another machine."""
    members = tuple(member.model_copy(update={"operator": moved(member.operator, suite.root, new_root)}) for member in suite.members)
    return suite.model_copy(update={"root": new_root, "members": members})


def package_root(relative: str) -> str:
    """Where a folder of the package lies on this machine."""
    return str(_PACKAGE / relative)


def _is_ours(suite: Suite) -> bool:
    return Path(suite.root).resolve().is_relative_to(_PACKAGE)


def _suite_files(suite: Suite, cache: Path) -> Iterable[str]:
    """The whole folder; of the store of described tasks, which all such suites share, only the folders of this suite's."""
    root = Path(suite.root)
    if root.parent != cache.absolute():
        return list_tree(root)
    folders = [Path(member.operator.golden_path).parent for member in suite.members]
    return [(folder.relative_to(root) / name).as_posix() for folder in folders for name in list_tree(folder)]


def _own_hardware(target: str) -> tuple[str, str] | None:
    if not target.endswith((".yaml", ".yml")):
        return None
    try:
        return Path(target).name, Path(target).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError("the hardware file can't be read", where=target, found=error.strerror or str(error)) from None


def here(order: WorkOrder, folder: Path, cache: Path) -> EvaluationRequest:
    """The request with this machine's folders."""
    update = {"run_dir": str(folder), "cache_dir": str(cache)}
    if order.hardware is not None:
        own = folder / order.hardware[0]
        own.write_text(order.hardware[1], encoding="utf-8")
        update["target"] = str(own)
    return order.request.model_copy(update=update)


def placed(order: WorkOrder, sources: Path, suite_root: str) -> tuple[Submission, Suite]:
    """Submission and suite as they lie on this machine."""
    return order.submission.model_copy(update={"root": str(sources)}), moved_suite(order.suite, suite_root)
