"""Does build.sh do what it should? It runs for real, against a toolkit, compilers and a torch_npu that are none.

Problem: bisheng, CANN and torch_npu exist only beside an NPU, yet a build script is wrong more often than a kernel.
Approach: stand-ins that write down how they were called. bisheng and the host's compiler make an empty object of every source of the project (CMake's own
probes go to the real compiler); torch is the one that is here. Then: was each kernel compiled once by bisheng for the right chip, each binding once by the
host's compiler, is a wheel there, and does it hold the library and the package?
Nothing of the submission is run or compiled, so that it needs no sandbox: what is run is ours, and plan.py lets no path through that a shell or CMake would
read otherwise than as a path.
Limits: nothing is known about whether bisheng takes the sources; the virtual NPU's own build says more about that.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from piton.deliver.checks import Check, Status
from piton.deliver.plan import Plan

NAME = "build.sh, dry run"
SOC, ARCH = "ascend910b", "--npu-arch=dav-2201"
_LIMIT_S = 600.0
_LIBRARIES = ("ascendcl", "platform", "register", "tiling_api", "runtime")
_ODD = re.compile(r"[^A-Za-z0-9_./+-]")
_TELLING = re.compile(r"CMake Error|error: (?!subprocess)|\*\*\*|^build\.sh:|^\w*Error: ")
"""What says why a build ended, among the many lines that say that it did."""
_STAND_IN = """#!{python} -I
# Writes down how it was called; of a source of the project it makes an empty object, everything else is the real compiler's work.
import json, os, sys
arguments = sys.argv[1:]
sources = [item for item in arguments if os.path.abspath(item).startswith({sources!r}) and item.endswith((".cpp", ".asc", ".cc"))]
if sources and "-c" in arguments:
    with open({log!r}, "a") as log:
        log.write(json.dumps([{name!r}, *arguments]) + "\\n")
    arguments = ["-fPIC", "-x", "c++", "-c", "/dev/null", "-o", arguments[arguments.index("-o") + 1]]
os.execv({compiler!r}, [{compiler!r}, *arguments])
"""


@dataclass(frozen=True)
class _Stage:
    """The folders of one dry run."""

    project: Path
    toolkit: Path
    modules: Path
    log: Path


def dry_run(plan: Plan, folder: Path, scratch: Path) -> Check:
    """Run build.sh of the delivery at `folder` in a copy below `scratch`."""
    lacks = _lacks()
    if lacks:
        return Check(NAME, Status.NOT_MADE, f"this machine has no {' and no '.join(lacks)}")
    with plain_place(scratch) as place:
        return _tried(plan, folder, place / "dry-run")


@contextmanager
def plain_place(scratch: Path) -> Iterator[Path]:
    """`scratch`, or a folder of the system's where its path holds what make, CMake or $PATH would misread: that would be no fault of the delivery."""
    if not _ODD.search(str(scratch)):
        yield scratch
        return
    with tempfile.TemporaryDirectory(prefix="piton-deliver-") as name:
        yield Path(name)


def _tried(plan: Plan, folder: Path, place: Path) -> Check:
    try:
        stage = _prepare(folder, place)
        result = _run(stage)
    except subprocess.TimeoutExpired:
        return Check(NAME, Status.FAILED, f"build.sh did not end within {_LIMIT_S:g} s")
    except subprocess.CalledProcessError as error:
        return Check(NAME, Status.NOT_MADE, f"this machine's g++ made no empty library: {error.stderr.decode(errors='replace').strip()[:300]}")
    problems = _ended(result) or [*_calls(plan, stage), *_wheel(plan, stage)]
    if problems:
        return Check(NAME, Status.FAILED, "; ".join(problems[:5]))
    kernels, plugins = (sum(len(items) for items in kinds) for kinds in zip(*((part.kernels, part.plugins) for part in plan.operators), strict=True))
    detail = (
        f"with stand-ins for bisheng, CANN and torch_npu: {kernels} kernels to bisheng, {plugins} bindings to the host's compiler, one wheel with the library"
    )
    return Check(NAME, Status.PASSED, detail)


def _lacks() -> list[str]:
    from importlib.util import find_spec

    programs = [name for name in ("cmake", "make", "g++", "bash") if shutil.which(name) is None]
    return programs + [name for name in ("torch", "setuptools", "pip") if find_spec(name) is None]


def _prepare(folder: Path, place: Path) -> _Stage:
    stage = _Stage(place / "project", place / "toolkit", place / "modules", place / "calls.jsonl")
    shutil.copytree(folder, stage.project)
    compiler = shutil.which("g++") or "g++"
    for name in ("bisheng", "c++"):
        path = stage.toolkit / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        names = {"python": sys.executable, "sources": str(stage.project / "csrc"), "log": str(stage.log), "name": name, "compiler": compiler}
        path.write_text(_STAND_IN.format(**names), "utf-8")
        path.chmod(0o755)
    _libraries(stage.toolkit / "lib64", _LIBRARIES, compiler)
    (stage.toolkit / "include").mkdir()
    _libraries(stage.modules / "torch_npu" / "lib", ("torch_npu",), compiler)
    (stage.modules / "torch_npu" / "include").mkdir()
    (stage.modules / "torch_npu" / "__init__.py").write_text("", "utf-8")
    stage.log.touch()
    return stage


def _libraries(folder: Path, names: Sequence[str], compiler: str) -> None:
    """Libraries without a symbol: enough to be linked with."""
    folder.mkdir(parents=True)
    for name in names:
        subprocess.run([compiler, "-shared", "-x", "c++", "/dev/null", "-o", str(folder / f"lib{name}.so")], check=True, capture_output=True)


def _run(stage: _Stage) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{stage.toolkit / 'bin'}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "ASCEND_HOME_PATH": str(stage.toolkit),
        "PYTHONPATH": str(stage.modules),
        "PYTHON": sys.executable,
        "CXX": str(stage.toolkit / "bin" / "c++"),
        "HOME": str(stage.toolkit),
        "LANG": "C.UTF-8",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
    }
    argv = [shutil.which("bash") or "bash", str(stage.project / "build.sh"), f"--soc={SOC}"]
    with subprocess.Popen(
        argv, env=environment, text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            said, _ = process.communicate(timeout=_LIMIT_S)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # a stop by the user as well: nothing of it is left behind
            raise
    return subprocess.CompletedProcess(argv, process.returncode, said)


def _ended(result: subprocess.CompletedProcess[str]) -> list[str]:
    if result.returncode == 0:
        return []
    lines = [line.strip() for line in result.stdout.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)][:4] or lines[-6:]
    return [f"build.sh ended with {result.returncode}: {' | '.join(telling)[:800]}"]


def _calls(plan: Plan, stage: _Stage) -> list[str]:
    calls = [json.loads(line) for line in stage.log.read_text("utf-8").splitlines()]
    problems = []
    expected = {("bisheng", path) for part in plan.operators for path in part.kernels} | {("c++", path) for part in plan.operators for path in part.plugins}
    for compiler, path in sorted(expected):
        own = [call for call in calls if call[0] == compiler and str(stage.project / path) in call]
        if len(own) != 1:
            problems.append(f"{path} went {len(own)} times to {compiler}, not once")
        elif compiler == "bisheng" and not {ARCH, "-xasc"} <= set(own[0]):
            problems.append(f"bisheng was not asked for {ARCH} of {path}")
    return problems


def _wheel(plan: Plan, stage: _Stage) -> list[str]:
    wheels = sorted((stage.project / "dist").glob("*.whl"))
    if len(wheels) != 1:
        return [f"{len(wheels)} wheels were made, not one"]
    with zipfile.ZipFile(wheels[0]) as wheel:
        held = set(wheel.namelist())
    wanted = {f"{plan.package}/{plan.module}.abi3.so", f"{plan.package}/__init__.py"}
    missing = sorted(wanted - held)
    problems = [f"{os.path.basename(wheels[0])} lacks {', '.join(missing)}"] if missing else []
    return problems + ([] if "-cp310-abi3-" in wheels[0].name else [f"the wheel's tags are wrong: {wheels[0].name}"])
