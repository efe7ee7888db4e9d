"""What tests of the target `cpu` share: a kernel of many behaviours, built once, and one call of it through the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from piton.catalog import read_submission
from piton.core.dtype import DType
from piton.core.execution import Build, CaseCall, Execution, OutputBuffer, TensorArgument
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.core.protocols import Runner
from piton.core.submission import Submission
from piton.targets.cpu.target import CpuTarget

SUBMISSIONS = Path(__file__).resolve().parents[1] / "submissions"
ELEMENTS = 5000
X = np.random.default_rng(7).uniform(0.1, 3.9, ELEMENTS).astype(np.float32)
OPERATOR = Operator(
    name="double_plus",
    title="DoublePlus",
    level=1,
    category="Elementwise",
    schema_text="double_plus(Tensor x, int mode=0) -> Tensor y",
    inputs=(TensorSpec(name="x", dtypes=(DType.FLOAT32,)),),
    outputs=(TensorSpec(name="y", dtypes=(DType.FLOAT32,)),),
    attributes=(AttrSpec(name="mode", type="int", default=0),),
)


def case(mode: int, deadline_s: float = 60.0) -> CaseCall:
    """A call in that mode."""
    return CaseCall(
        case_id="1",
        tensors=(TensorArgument("x", (ELEMENTS,), DType.FLOAT32, memoryview(X).cast("B")),),
        order=("x", "mode"),
        attributes={"mode": mode},
        results=(TensorArgument("y", (ELEMENTS,), DType.FLOAT32, None),),
        deadline_s=deadline_s,
    )


def submission_of(folder: Path, store: Path, name: str, text: str, manifest: str = "") -> Submission:
    """A submission of one file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    if manifest:
        (folder / "piton.yaml").write_text(manifest)
    return read_submission(folder, store)


def values(output: OutputBuffer) -> NDArray[np.float32]:
    """The elements of an output."""
    assert output.data is not None
    return np.frombuffer(output.data, dtype=np.float32)


def wrong_calls(execution: Execution) -> int:
    """Calls, the case's own and timed ones, whose output is not 2 x + 1 of the very values they got."""
    own = [(X, execution.outputs[0])]
    timed = [(np.frombuffer(call.inputs()[0], dtype=np.float32), call.outputs[0]) for call in execution.timed]
    return sum(not np.allclose(values(output), 2.0 * given + 1.0, rtol=1e-6) for given, output in (*own, *timed))


@contextmanager
def session(target: CpuTarget, submission: Submission, build: Build, runner: Runner) -> Iterator[object]:
    """A session that is closed whatever happens."""
    opened = target.device.open(submission, OPERATOR, build, runner)
    try:
        yield opened
    finally:
        opened.close()
