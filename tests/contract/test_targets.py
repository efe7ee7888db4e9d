"""Rules that every target obeys. A new target joins by one row in TARGETS; those with a compiler are covered by the end-to-end suites too."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.execution import Build, CaseCall, TensorArgument
from piton.core.measurement import Provenance
from piton.core.operator import Operator, TensorSpec
from piton.core.protocols import Runner, Session, Target
from piton.core.submission import Manifest, OperatorSources, Submission, SubmissionFile
from piton.core.verdict import Cause, Verdict
from piton.targets.null import NullTarget

OPERATOR = Operator(
    name="twice",
    title="Twice",
    level=1,
    category="Elementwise",
    schema_text="twice(Tensor x) -> Tensor y",
    inputs=(TensorSpec(name="x", dtypes=(DType.FLOAT32,)),),
    outputs=(TensorSpec(name="y", dtypes=(DType.FLOAT32,)),),
)
X = np.arange(12, dtype=np.float32)
CALL = CaseCall(
    case_id="1",
    tensors=(TensorArgument("x", (3, 4), DType.FLOAT32, memoryview(X).cast("B")),),
    order=("x",),
    attributes={},
)


class NoProcesses:
    """A Runner for targets that start none."""

    isolation = ()

    def close(self) -> None:
        return


def submission(root: Path, script: str) -> Submission:
    """A submission of the null target."""
    (root / "null.yaml").write_text(script)
    sources = OperatorSources(operator="twice", kernels=("csrc/ops/twice/op_kernel/twice.cpp",), plugins=())
    return Submission(
        root=str(root), manifest=Manifest(), files=(SubmissionFile(path="null.yaml", sha256=script, size_bytes=len(script)),), operators=(sources,)
    )


RIGHT = "operators: {twice: {default: {compute: double, time_us: 7.0}}}"
BROKEN = "operators: {twice: {build: compile_error, build_message: broken}}"
CRASHING = "operators: {twice: {default: {causes: [host_signal]}}}"
Factory = Callable[[], Target]
TARGETS = [pytest.param(NullTarget, id="null")]
pytestmark = pytest.mark.parametrize("make_target", TARGETS)
RUNNER: Runner = NoProcesses()  # type: ignore[assignment]


def build(target: Target, tmp_path: Path, script: str = RIGHT) -> tuple[Submission, Build]:
    made = submission(tmp_path, script)
    return made, target.toolchain.build(made, OPERATOR, RUNNER, str(tmp_path))


def session(target: Target, tmp_path: Path, script: str = RIGHT) -> Session:
    made, built = build(target, tmp_path, script)
    return target.device.open(made, OPERATOR, built, RUNNER)


def test_a_target_says_what_it_is_and_what_it_lacks(make_target: Factory) -> None:
    target = make_target()
    assert target.name
    assert target.hardware.name
    assert isinstance(target.provenance, Provenance)
    assert (target.toolchain.missing(), target.device.missing()) == ((), ())
    target.toolchain.prepare(RUNNER)


def test_equal_sources_have_equal_build_keys_and_other_sources_another(make_target: Factory, tmp_path: Path) -> None:
    target = make_target()
    keys = [build(target, tmp_path, script)[1].key for script in (RIGHT, RIGHT, CRASHING)]
    assert keys[0] == keys[1] != keys[2]
    assert all(keys)


def test_a_failed_build_is_a_value_without_artifacts(make_target: Factory, tmp_path: Path) -> None:
    _, built = build(make_target(), tmp_path, BROKEN)
    assert built.outcome is not None
    assert (built.outcome.verdict, built.outcome.cause, built.artifacts) == (Verdict.BUILD_FAILED, Cause.COMPILE_ERROR, {})


def test_a_call_leaves_outputs_and_a_time_of_the_targets_provenance(make_target: Factory, tmp_path: Path) -> None:
    target = make_target()
    done = session(target, tmp_path).call(CALL)
    (output,) = done.outputs
    assert done.outcomes == ()
    assert done.time is not None
    assert (done.time.provenance, done.time.value > 0) == (target.provenance, True)
    assert output.data is not None
    assert np.array_equal(np.frombuffer(output.data, np.float32), 2 * X)
    assert (output.shape, output.dtype_name, output.strides, output.is_on_device) == ((3, 4), "float32", (4, 1), True)


def test_a_call_does_not_change_its_inputs_and_repeats_its_time(make_target: Factory, tmp_path: Path) -> None:
    opened = session(make_target(), tmp_path)
    before = bytes(X)
    times = [opened.call(CALL).time for _ in range(2)]
    assert bytes(X) == before
    assert times[0] == times[1]


def test_a_failed_call_has_an_outcome_and_no_time(make_target: Factory, tmp_path: Path) -> None:
    done = session(make_target(), tmp_path, CRASHING).call(CALL)
    assert [found.verdict for found in done.outcomes] == [Verdict.CRASHED]
    assert done.time is None


def test_a_timing_run_needs_no_data(make_target: Factory, tmp_path: Path) -> None:
    bare = CaseCall(case_id="1", tensors=(TensorArgument("x", (3, 4), DType.FLOAT32, None),), order=("x",), attributes={}, is_timing_only=True)
    done = session(make_target(), tmp_path).call(bare)
    assert done.time is not None
    assert done.outcomes == ()


def test_a_closed_session_calls_nothing_and_closes_twice(make_target: Factory, tmp_path: Path) -> None:
    opened = session(make_target(), tmp_path)
    opened.close()
    opened.close()
    with pytest.raises(EvaluatorError):
        opened.call(CALL)
