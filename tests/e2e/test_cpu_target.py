"""Does the target `cpu` evaluate submissions in C++ and Python from sources to a report, with real times and a baseline of its own?"""

from __future__ import annotations

from pathlib import Path

import pytest
from null_world import make_suite

from piton.catalog import load_suite, read_submission
from piton.catalog.hardware import load_hardware
from piton.core.errors import UsageError
from piton.core.finding import FindingKind
from piton.core.measurement import Provenance
from piton.core.report import Report
from piton.core.score import ScoreProfile
from piton.core.verdict import Cause
from piton.evaluate.pipeline import evaluate
from piton.evaluate.policy import EvaluationRequest
from piton.report.samples import attempt_of
from piton.report.speedup import speedup_text
from piton.targets.vnpu.target import open_vnpu

GROW = """#include <cmath>
#include <piton/cpu.h>

template <typename T>
static void Work(const piton::Tensor& x, const piton::Output& y)
{
    const T* from = x.data<T>();
    for (std::int64_t index = 0; index < x.elements; ++index) {
        y.data<T>()[index] = T(std::exp(static_cast<float>(from[index])));
    }
}

namespace kernel {
void grow(const piton::Tensor& x, const piton::Output& y)
{
    if (x.dtype == piton::DType::float16) {
        Work<piton::Float16>(x, y);
    } else if (x.dtype == piton::DType::bfloat16) {
        Work<piton::BFloat16>(x, y);
    } else {
        Work<float>(x, y);
    }
}
}  // namespace kernel
"""
SHOWS_OFF = """#include <piton/cpu.h>

namespace kernel {
void twice(const piton::Tensor& x, const piton::Output& y)
{
    static int calls = 0;
    const float factor = ++calls > 20 ? 1.875f : 2.0f;  // right for as long as somebody may look
    for (std::int64_t index = 0; index < x.elements; ++index) {
        y.data<float>()[index] = factor * x.data<float>()[index];
    }
}
}  // namespace kernel
"""
PYTHON = {
    "piton.yaml": "track: python\n",
    "twice.py": "import numpy as np\n\n\ndef twice(x, y):\n    np.add(x, x, out=y)\n",
    "grow.py": "import torch\n\n\ndef grow(x, y):\n    y[...] = torch.exp(torch.from_numpy(x.copy())).numpy()\n",
}


@pytest.fixture(scope="module")
def cache(pytestconfig: pytest.Config) -> Path:
    """One cache for all tests of this target: what is ours is built once."""
    assert pytestconfig.cache is not None
    return pytestconfig.cache.mkdir("piton-cpu")


def run(root: Path, cache: Path, files: dict[str, str], **changes: object) -> Report:
    """Evaluate a submission of these files on a small suite."""
    folder = root / "submission"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    request = EvaluationRequest(
        submission=str(folder), run_dir=str(root / "run"), cache_dir=str(cache), suite=str(make_suite(root / "suite")), target="cpu", is_trusted=True
    )
    return evaluate(request.model_copy(update=changes))


def found(report: Report, operator: str) -> list[Cause]:
    """Causes of the operator's cases that ran."""
    cases = next(item for item in report.operators if item.operator == operator).cases
    assert not any(case.void for case in cases), [case.void for case in cases]
    return [case.outcome.cause for case in cases if case.outcome.cause is not Cause.FILTERED_OUT]


def test_a_kernel_in_cpp_is_measured_against_the_golden_and_one_that_is_wrong_in_timed_calls_only_is_caught(tmp_path: Path, cache: Path) -> None:
    report = run(tmp_path, cache, {"grow.cpp": GROW, "twice.cpp": SHOWS_OFF}, cases=("grow/1", "grow/3", "twice/4"))
    assert found(report, "grow") == [Cause.NONE] * 2
    assert found(report, "twice")[0] in (Cause.MEAN_ERROR, Cause.MAX_ERROR)
    wrong = report.operators[1].cases[3]
    assert "timed call" in wrong.outcome.message
    assert wrong.time is None
    assert all(check.outcome.cause is Cause.NONE for check in wrong.checks), "the case's own call alone would have passed"
    assert report.score_profile is ScoreProfile.CPU
    assert report.chip is None
    first = report.operators[0].cases[0]
    assert first.time is not None
    assert first.t_baseline is not None
    assert (first.time.provenance, first.t_baseline.provenance, first.t_hw, first.hap) == (Provenance.DEVICE, Provenance.DEVICE, None, None)
    attempt = attempt_of(report.operators[0], (first,))
    assert "speed-up" in speedup_text(report)
    assert not any(finding.kind is FindingKind.NO_ANCHOR for finding in first.findings)
    assert attempt.speedup == pytest.approx(first.t_baseline.value_us / first.time.value)
    assert Report.model_validate_json(report.model_dump_json()).canonical_digest() == report.result_digest


def test_a_kernel_in_python_is_measured_and_one_that_loads_a_framework_is_refused(tmp_path: Path, cache: Path) -> None:
    report = run(tmp_path, cache, PYTHON, cases=("2",))
    assert found(report, "twice") == [Cause.NONE]
    assert found(report, "grow") == [Cause.FRAMEWORK_COMPUTE]


def test_mistakes_in_cpp_name_the_function_that_is_expected_or_the_line(tmp_path: Path, cache: Path) -> None:
    lacks_output = GROW.replace("void grow(const piton::Tensor& x, const piton::Output& y)\n", "void grow(const piton::Tensor& x)\n")
    lacks_output = lacks_output.replace("Work<", "if (false) Work<").replace("(x, y);", "(x, {});")
    report = run(tmp_path, cache, {"grow.cpp": lacks_output, "twice.cpp": "#include <piton/cpu.h>\nint wrong = nothing;\n"}, cases=("4",))
    signature, mistake = (item.build_outcome for item in report.operators)
    assert signature.cause is Cause.OPERATOR_MISSING
    assert "namespace kernel { void grow(const piton::Tensor& x, const piton::Output& y); }" in signature.message
    assert mistake.cause is Cause.COMPILE_ERROR
    assert (mistake.place.file, mistake.place.line) == ("twice.cpp", 2)


def test_a_submission_of_another_track_is_the_users_mistake(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(UsageError, match=r"track cpp or python[\s\S]*ascendc[\s\S]*piton.yaml"):
        run(tmp_path, cache, {"twice.cpp": "// no header of ours\n"})


def test_the_virtual_npu_sends_kernels_for_the_processor_to_their_target(tmp_path: Path, cache: Path) -> None:
    target = open_vnpu("ascend910b2-sim", load_hardware("ascend910b2"), "", str(cache))
    (tmp_path / "twice.cpp").write_text(SHOWS_OFF)
    submission = read_submission(tmp_path / "twice.cpp", tmp_path / "store")
    operator = load_suite("piton").members[0].operator
    with pytest.raises(UsageError, match="add --target cpu"):
        target.toolchain.build(submission, operator, None, str(tmp_path / "build"))  # type: ignore[arg-type]
