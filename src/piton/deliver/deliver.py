"""Writing a delivery: plan, files, checks, record.

The folder appears when all of it is there, under its name by one rename; a delivery whose checks fail is written as well, and says so.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import piton
from piton.catalog import read_submission
from piton.core.canonical import digest_bytes
from piton.core.errors import PitonError, TargetUnavailableError, UsageError
from piton.core.submission import Submission
from piton.deliver.check_files import check_files
from piton.deliver.checks import Check, Status
from piton.deliver.dry_run import dry_run
from piton.deliver.plan import Plan, plan_delivery
from piton.deliver.render import EXECUTABLE, render_files
from piton.deliver.virtual import Trial, check_on_virtual_npu

RECORD = "delivery.json"
FORMAT = 1


@dataclass(frozen=True)
class DeliveryRequest:
    """What is delivered, and how far it is checked."""

    submission: str
    out: str
    cache_dir: str
    operators: tuple[str, ...] = ()
    """All of the submission by default."""
    suite: str = "piton"
    """Whose smallest case each operator is tried on."""
    is_trusted: bool = False
    """The caller trusts the golden code of a foreign suite."""
    evaluates: bool = True
    """Build and try it on the virtual NPU."""
    builds: bool = True
    """Run build.sh against a toolkit that is none."""


@dataclass(frozen=True)
class Delivery:
    """What was written."""

    folder: Path
    plan: Plan
    checks: tuple[Check, ...]

    @property
    def is_good(self) -> bool:
        """No check failed; one that could not be made is no failure."""
        return all(check.status is not Status.FAILED for check in self.checks)


def deliver(request: DeliveryRequest, progress: Callable[[str], None] = lambda text: None) -> Delivery:
    """Write the delivery of `request` to its folder, which must not exist.

    Raises UsageError for what the caller has to put right, TargetUnavailableError when the disk refuses.
    """
    target = Path(request.out).expanduser().absolute()
    _check_place(target, request.submission)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".piton-deliver-", dir=target.parent))
    except OSError as error:
        raise _unwritten(target, error) from error
    try:
        submission = read_submission(request.submission, staging / "submission")
        plan = plan_delivery(submission, request.operators)
        folder = staging / "delivery"
        progress("writing files")
        written = _write(plan, submission, folder)
        checks = _checks(request, plan, folder, staging, progress)
        (folder / RECORD).write_text(_record(plan, submission, written, checks), "utf-8")
        folder.rename(target)
        return Delivery(target, plan, checks)
    except OSError as error:
        raise _unwritten(target, error) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _check_place(target: Path, submission: str) -> None:
    """Raise UsageError for a folder that exists, and for one inside the submission: that would be a part of what it is made of."""
    if os.path.lexists(target):
        raise UsageError("the folder of the delivery exists", expected="a folder that is not there yet", found=str(target), action="give another --out")
    source = Path(submission).expanduser().resolve()
    if source.is_dir() and target.resolve().is_relative_to(source):
        found = f"{target} in {source}"
        raise UsageError("the delivery would lie inside the submission", expected="a folder outside of it", found=found, action="give another --out")


def _unwritten(target: Path, error: OSError) -> PitonError:
    return TargetUnavailableError(
        "the delivery cannot be written", where=str(target), found=error.strerror or str(error), action="make room, or give another --out"
    )


def _write(plan: Plan, submission: Submission, folder: Path) -> dict[str, str]:
    """Write all files but the record; where each came from."""
    origins = {}
    for path, source in plan.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(submission.root) / source, place)
        origins[path] = "submission"
    for path, text in render_files(plan, submission).items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        origins[path] = "generated"
    os.chmod(folder / EXECUTABLE, 0o755)
    return dict(sorted(origins.items()))


def _checks(request: DeliveryRequest, plan: Plan, folder: Path, scratch: Path, progress: Callable[[str], None]) -> tuple[Check, ...]:
    found = [check_files(plan, folder)]
    if request.evaluates:
        found += check_on_virtual_npu(plan, folder, Trial(request.suite, request.is_trusted, request.cache_dir, scratch / "run"), progress)
    if request.builds:
        progress("running build.sh against a toolkit that is none")
        found.append(dry_run(plan, folder, scratch))
    return tuple(found)


def _record(plan: Plan, submission: Submission, origins: dict[str, str], checks: tuple[Check, ...]) -> str:
    root = Path(submission.root)
    rendered = render_files(plan, submission)
    data = {path: rendered[path].encode() if origin == "generated" else (root / plan.files[path]).read_bytes() for path, origin in origins.items()}
    record = {
        "piton_delivery": FORMAT,
        "piton": piton.__version__,
        "submission": {"name": submission.manifest.name, "digest": submission.digest()},
        "package": plan.package,
        "auto_sync": plan.auto_sync,
        "verified_on_hardware": False,
        "operators": [{"name": part.name, "kernels": part.kernels, "plugins": part.plugins} for part in plan.operators],
        "files": [{"path": path, "sha256": digest_bytes(data[path]), "origin": origin} for path, origin in origins.items()],
        "left_out": plan.left_out,
        "checks": [{"name": check.name, "status": check.status.value, "detail": check.detail} for check in checks],
    }
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"
