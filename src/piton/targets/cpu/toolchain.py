"""The toolchain of the target `cpu`: one program per operator in C++, nothing but a look at the source in Python.

A kernel in C++ is compiled and linked in one step with the generated code that calls it (signature.py), and with the loop around it, which is built once per
machine. Everything runs in the cage of builds and is kept by content, as for the virtual NPU.
"""

from __future__ import annotations

import ast
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from piton.core.canonical import digest
from piton.core.errors import TargetUnavailableError, UsageError
from piton.core.execution import Build, Diagnostic
from piton.core.operator import Operator
from piton.core.protocols import Runner
from piton.core.submission import OperatorSources, Submission
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.cpu.host import processor
from piton.targets.cpu.signature import NAMESPACE, declaration, glue, parameters, python_declaration
from piton.targets.vnpu.compiler import APT_LINE, OLDEST, PLAIN_OUTPUT, Compiler, Step, StepResult, Workshop, find_compiler, tree_digest
from piton.targets.vnpu.diagnostics import parse_compiler
from piton.targets.vnpu.store import Store

CPP, PYTHON = "cpp", "python"
PROGRAM, SOURCE = "program", "source"
"""Artifacts of a build."""
FOLDER = Path(__file__).parent
INCLUDE, NATIVE = FOLDER / "include", FOLDER / "native"
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-g1", "-pthread", *PLAIN_OUTPUT)
"""What an author may expect: C++17, this machine's own instructions, no change of floating-point results; docs/cpu.md lists them."""
_UNDEFINED = re.compile(r"undefined reference to [`'](?P<symbol>.+?)'")
_SHOWN = 1500


class CpuToolchain:
    """Implements core.protocols.Toolchain."""

    def __init__(self, cache_dir: str | Path, progress: Callable[[str], None] | None = None) -> None:
        """`cache_dir` keeps everything built; `progress` is told what takes long."""
        self._store = Store(Path(cache_dir).resolve() / "cpu")
        self._progress = progress or (lambda _text: None)
        self._loop = ""
        self.canary = ""
        """Path of the canary's program; after `prepare`."""

    @property
    def identity(self) -> str:
        """Compiler and loop; what a time depends on beside the processor."""
        compiler = find_compiler()
        return f"g++ {compiler.version if compiler else 'none'}, loop {self._own_digest()[:12]}"

    def missing(self) -> tuple[str, ...]:
        """A compiler, or nothing: the loop and the canary are in C++, so Python kernels need it too."""
        compiler = find_compiler()
        if compiler is None:
            return (f"g++ is not on the path ({APT_LINE})",)
        return () if compiler.is_recent else (f"g++ {compiler.version} is too old, {'.'.join(map(str, OLDEST))} or later is needed ({APT_LINE})",)

    def prepare(self, runner: Runner) -> None:
        """Build the loop and the canary, once per machine and version. Raises TargetUnavailableError when that fails."""
        workshop = self._workshop(runner, self._store.root / "work")
        self._loop = self._needed(workshop.make(self._step("serve.o", ("-c", str(NATIVE / "serve.cpp")), (self._own_digest(),))))
        folder = self._store.root / "canary" / self._own_digest()
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / "glue.cpp"
        if not source.is_file() or source.read_text() != glue(CANARY):  # another process may be compiling it
            fresh = source.with_name(f"glue-{os.getpid()}.new")
            fresh.write_text(glue(CANARY))
            fresh.replace(source)
        made = workshop.make(self._step("canary", (str(NATIVE / "canary.cpp"), str(source), self._loop), (self._own_digest(), "canary"), is_product=True))
        self.canary = self._needed(made)
        self._store.tidy()

    def build(self, submission: Submission, operator: Operator, runner: Runner, build_dir: str) -> Build:
        """Build one operator; a failure of the submission is in `Build.outcome`. Raises UsageError for one that this target can't run."""
        started = time.monotonic()
        sources = _sources(submission, operator)
        parameters(operator)
        if sources is None or not sources.kernels:
            text = f"no source of operator {operator.name} in the submission (looked for {operator.name}.{_suffix(submission)})"
            return Build(operator=operator.name, outcome=outcome(Cause.OPERATOR_MISSING, text))
        if submission.manifest.track == PYTHON:
            return self._python(submission, operator, sources)
        folder = Path(build_dir).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / "glue.cpp"
        source.write_text(glue(operator))
        key = self.key(submission, operator, build_dir)
        inputs = (*(str(Path(submission.root) / name) for name in sources.kernels), str(source), self._loop)
        arguments = (f"-ffile-prefix-map={submission.root}/=", f"-I{submission.root}", *inputs)
        readable = (submission.root, str(source))
        made = self._workshop(runner, folder / "work").make(self._step(operator.name, arguments, (key,), readable, is_product=True))
        diagnostics = _diagnostics(made.output, submission)
        failure = None if made.path else _failure(made, diagnostics, declaration(operator))
        artifacts = {PROGRAM: made.path} if made.path else {}
        return Build(operator.name, artifacts, failure, diagnostics, key, time.monotonic() - started, made.is_cached)

    def key(self, submission: Submission, operator: Operator, scratch_dir: str) -> str:
        """Names the sources, the signature, compiler, processor and our loop."""
        del scratch_dir
        sources = _sources(submission, operator)
        if sources is None or not sources.kernels:
            return ""
        files = [(item.path, item.sha256) for item in submission.files]
        return digest([files, sources.kernels, submission.manifest.track, glue(operator), self._own_digest()])

    def _python(self, submission: Submission, operator: Operator, sources: OperatorSources) -> Build:
        path = sources.kernels[0]
        failure = _look_at(Path(submission.root) / path, path, operator)
        return Build(operator.name, {} if failure else {SOURCE: str(Path(submission.root) / path)}, failure, key=self.key(submission, operator, ""))

    def _own_digest(self) -> str:
        compiler = find_compiler()
        return digest([tree_digest(INCLUDE, NATIVE), FLAGS, compiler.identity if compiler else "", processor().model])

    def _workshop(self, runner: Runner, folder: Path) -> Workshop:
        return Workshop(_compiler(), self._store, runner, folder)

    def _step(self, name: str, arguments: tuple[str, ...], key: tuple[str, ...], readable: tuple[str, ...] = (), *, is_product: bool = False) -> Step:
        own = (f"-I{INCLUDE}", f"-I{NATIVE}")
        return Step(name, (*FLAGS, *own, *arguments), digest([name, *key]), readable, is_product=is_product)

    def _needed(self, made: StepResult) -> str:
        if not made.path:
            found = "out of time" if made.is_timed_out else made.output.strip()[-_SHOWN:]
            raise TargetUnavailableError("target cpu could not be built", found=found, action="`piton doctor` says what is missing")
        return made.path


def _compiler() -> Compiler:
    compiler = find_compiler()
    if compiler is None:
        raise TargetUnavailableError("target cpu can't build", found="g++ is not on the path", action=APT_LINE)
    return compiler


def _sources(submission: Submission, operator: Operator) -> OperatorSources | None:
    """Those of the operator. Raises UsageError for a submission of another track."""
    if submission.manifest.track not in (CPP, PYTHON):
        raise UsageError(
            "target cpu takes no submission of this track",
            expected="track cpp or python",
            found=submission.manifest.track,
            action="add `track: cpp` or `track: python` to piton.yaml (docs/cpu.md), or choose another --target",
        )
    return next((item for item in submission.operators if item.operator == operator.name), None)


def _suffix(submission: Submission) -> str:
    return "py" if submission.manifest.track == PYTHON else "cpp"


def _diagnostics(text: str, submission: Submission) -> tuple[Diagnostic, ...]:
    """Messages of the compiler, in places of the submission where they have one."""
    names = {item.path for item in submission.files}
    found = parse_compiler(text.replace(submission.root + "/", ""), names.__contains__)
    return tuple(message.diagnostic for message in found)


def _failure(made: StepResult, diagnostics: tuple[Diagnostic, ...], wanted: str) -> Outcome:
    """What became of a build that left no program."""
    if made.is_timed_out:
        return outcome(Cause.BUILD_TIMEOUT, "the compiler did not end in time")
    error = next((item for item in diagnostics if item.severity == "error"), None)
    missing = next((match["symbol"] for match in _UNDEFINED.finditer(made.output)), "")
    if missing.startswith(f"{NAMESPACE}::"):
        text = f"no function of the expected signature: `namespace {NAMESPACE} {{ {wanted}; }}` (the linker looked for {missing})"
        return outcome(Cause.OPERATOR_MISSING, text)
    if missing:
        return outcome(Cause.LINK_ERROR, f"undefined reference to {missing}")
    if error is not None:
        return outcome(Cause.COMPILE_ERROR, error.message, place=Place(file=error.file, line=error.line))
    return outcome(Cause.COMPILE_ERROR, made.output.strip()[-_SHOWN:] or "the compiler ended without a word")


def _look_at(file: Path, path: str, operator: Operator) -> Outcome | None:
    """What is wrong with a Python kernel as far as its source tells; nothing of it is run."""
    wanted = python_declaration(operator)
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return outcome(Cause.COMPILE_ERROR, f"{type(error).__name__}: {error}", place=Place(file=path, line=getattr(error, "lineno", 0) or 0))
    found = next((item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == operator.name), None)
    if found is None:
        return None  # it may be made in another way: the import will tell
    arguments, count = found.args, len(parameters(operator))
    taken = len(arguments.posonlyargs) + len(arguments.args)
    fits = taken - len(arguments.defaults) <= count and (count <= taken or arguments.vararg is not None)
    if fits and all(default is not None for default in arguments.kw_defaults):
        return None
    return outcome(Cause.OPERATOR_MISSING, f"`{operator.name}` takes {taken} parameters, expected `{wanted}`", place=Place(file=path, line=found.lineno))


CANARY = Operator.model_validate(
    {
        "name": "canary",
        "title": "Canary",
        "level": 0,
        "category": "none",
        "schema_text": "canary(Tensor x, int rounds) -> Tensor y",
        "inputs": [{"name": "x", "dtypes": ["float32"]}],
        "outputs": [{"name": "y", "dtypes": ["float32"]}],
        "attributes": [{"name": "rounds", "type": "int"}],
    }
)
