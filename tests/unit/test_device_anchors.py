"""The anchors of a device: no plain kernel is built or run for a time that its scores never take."""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog import load_suite
from piton.core.measurement import Provenance
from piton.core.submission import Manifest, Submission
from piton.evaluate.anchoring import open_anchors
from piton.evaluate.assemble import Subject
from piton.evaluate.build import Workplace
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.progress import ignore
from piton.evaluate.selection import select
from piton.targets.null import NullTarget


@pytest.mark.parametrize(("provenance", "expected"), [(Provenance.SIMULATED, 1), (Provenance.DEVICE, 0)])
def test_plain_kernels_are_there_for_simulated_scores_alone(tmp_path: Path, provenance: Provenance, expected: int) -> None:
    suite, target = load_suite("piton"), NullTarget()
    target.provenance = provenance
    request = EvaluationRequest(submission="", run_dir=str(tmp_path), cache_dir=str(tmp_path / "cache"), target="null", operators=("exp",))
    submission = Submission(root=str(tmp_path), manifest=Manifest(), files=())
    place = Workplace(target=target, runner=None, run_dir=tmp_path, events=ignore)  # type: ignore[arg-type] - nothing is started
    book, versions = open_anchors(place, Subject(request, suite, select(suite, request), submission, target))
    book.close()
    assert len([version for version in versions if "plain" in version]) == expected, versions
    assert (tmp_path / "baseline").is_dir() is bool(expected)
