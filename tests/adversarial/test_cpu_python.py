"""Is every mistake in a Python kernel told in one sentence, with the verdict that it has, and an honest one measured?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cpu_rig import OPERATOR, case, submission_of, wrong_calls

from piton.core.execution import Build, Execution
from piton.core.protocols import Runner
from piton.core.submission import Submission
from piton.core.verdict import Cause, Outcome
from piton.evaluate.sandbox import make_runner
from piton.targets.cpu.target import CpuTarget, open_cpu

HEAD = "def double_plus(x, mode, y):\n"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    made = make_runner()
    yield made
    made.close()


@pytest.fixture(scope="module")
def target(runner: Runner, pytestconfig: pytest.Config) -> CpuTarget:
    assert pytestconfig.cache is not None
    made = open_cpu(str(pytestconfig.cache.mkdir("piton-cpu")))
    made.toolchain.prepare(runner)
    return made


def built(target: CpuTarget, runner: Runner, root: Path, source: str) -> tuple[Submission, Build]:
    """A kernel from its source."""
    submission = submission_of(root / "sources", root / "store", "double_plus.py", source, "track: python\n")
    return submission, target.toolchain.build(submission, OPERATOR, runner, str(root / "build"))


def run(target: CpuTarget, runner: Runner, root: Path, source: str) -> Execution:
    """One case of such a kernel."""
    submission, build = built(target, runner, root, source)
    assert build.outcome is None, build.outcome
    session = target.device.open(submission, OPERATOR, build, runner)
    try:
        return session.call(case(0))
    finally:
        session.close()


@pytest.mark.parametrize(
    ("source", "cause", "says"),
    [
        ("def double_plus(x):\n    return 2 * x\n", Cause.OPERATOR_MISSING, "takes 1 parameters, expected `def double_plus(x, mode, y)`"),
        ("def double_plus(x, mode, y)\n    pass\n", Cause.COMPILE_ERROR, "expected ':'"),
        ("def double_plus(x, mode, y, *, fast):\n    pass\n", Cause.OPERATOR_MISSING, "expected `def double_plus(x, mode, y)`"),
    ],
)
def test_what_the_source_shows_is_told_before_anything_runs(target: CpuTarget, runner: Runner, tmp_path: Path, source: str, cause: Cause, says: str) -> None:
    outcome: Outcome | None = built(target, runner, tmp_path, source)[1].outcome
    assert outcome is not None
    assert outcome.cause is cause
    assert says in outcome.message
    assert outcome.place.file == "double_plus.py"


@pytest.mark.parametrize(
    ("source", "cause", "says"),
    [
        (HEAD + "    return 2 * x + 1\n", Cause.OUTPUT_COUNT, "returned a ndarray"),
        ("import nothing_of_the_kind\n\n\n" + HEAD + "    pass\n", Cause.LOAD_FAILED, "No module named 'nothing_of_the_kind' (double_plus.py:1)"),
        ("other = 1\n", Cause.LOAD_FAILED, "double_plus"),
        (HEAD + "    y[...] = x[99999]\n", Cause.HOST_EXCEPTION, "(double_plus.py:2)"),
        (HEAD + "    x[...] = 0\n", Cause.HOST_EXCEPTION, "read-only"),
        (HEAD + "    raise SystemExit(0)\n", Cause.HOST_EXIT, "ended by itself"),
        (HEAD + "    pass\n", Cause.UNWRITTEN_OUTPUT, "byte 0 of"),
    ],
)
def test_what_goes_wrong_while_it_runs_is_told_in_one_sentence(target: CpuTarget, runner: Runner, tmp_path: Path, source: str, cause: Cause, says: str) -> None:
    execution = run(target, runner, tmp_path, source)
    assert [found.cause for found in execution.outcomes] == [cause]
    assert says in execution.outcomes[0].message


def test_an_honest_kernel_that_imports_what_lies_beside_it_is_measured(target: CpuTarget, runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "constants.py").write_text("FACTOR = 2.0\n")
    execution = run(target, runner, tmp_path, "import numpy as np\nfrom constants import FACTOR\n\n\n" + HEAD + "    np.add(FACTOR * x, 1.0, out=y)\n")
    assert not execution.outcomes
    assert wrong_calls(execution) == 0
    assert execution.time is not None


def test_a_library_that_was_copied_under_another_name_is_found(target: CpuTarget, runner: Runner, tmp_path: Path) -> None:
    source = (
        "import ctypes, pathlib, tempfile\n"
        "def original():\n"
        "    return next(line.split()[-1] for line in open('/proc/self/maps') if 'libm.so' in line)\n"
        "COPY = tempfile.mkdtemp() + '/numbers.so'\n"
        "pathlib.Path(COPY).write_bytes(pathlib.Path(original()).read_bytes())\n"
        "LIBRARY = ctypes.CDLL(COPY)\n" + HEAD + "    y[...] = 2 * x + 1\n"
    )
    outcomes = run(target, runner, tmp_path, source).outcomes
    assert [item.cause for item in outcomes] == [Cause.FRAMEWORK_COMPUTE], outcomes
