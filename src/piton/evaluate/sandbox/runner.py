"""SandboxRunner: implements core.protocols.Runner on top of the zygote."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import piton
from piton.core.errors import EvaluatorError
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role
from piton.evaluate.sandbox import bounds, remains
from piton.evaluate.sandbox.confine import Job
from piton.evaluate.sandbox.limits import as_rlimits
from piton.evaluate.sandbox.probe import Mechanisms, choose, reasons
from piton.evaluate.sandbox.process import SupervisedProcess, ZygoteClient
from piton.evaluate.sandbox.self_check import CHECK, problems
from piton.evaluate.sandbox.users import UserPool

PRELOAD = ("torch", "numpy", "piton.targets.vnpu.host_worker")
"""What a forked worker finds already imported; importing none of these starts a thread."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/passwd", "/etc/group")
_CAGED_TMP = "/tmp"
_TMP_BYTES = 2 << 30
"""Bound of a private /tmp."""
_PROBE_LIMITS = Limits(wall_s=60.0, cpu_s=30, memory_bytes=2 << 30, processes=16, may_start_processes=False)


class SandboxRunner:
    """Starts, limits and ends the processes that run untrusted code."""

    def __init__(self, mechanisms: Mechanisms | None = None, readable: Sequence[str] = ()) -> None:
        """Probe the machine, or take `mechanisms` as given; `readable` is visible to every job. Raises EvaluatorError when nothing works."""
        self._folder, self._lock = remains.make_folder()
        os.mkdir(os.path.join(self._folder, "root"))
        os.chmod(self._folder, 0o711)
        self._readable = (*_SYSTEM, *_python_paths(), *readable)
        self._users = UserPool()
        self._programs = ZygoteClient(())
        self._workers = ZygoteClient(PRELOAD)  # starts with the first job, as the other one does
        self.mechanisms = Mechanisms()
        """What is in force."""
        self.complaints: dict[str, str] = {}
        """Why each mechanism that is not in force isn't, by its name in a report."""
        self._groups = bounds.GroupMaker()
        self._choose(mechanisms)

    @property
    def isolation(self) -> tuple[str, ...]:
        """Names of the mechanisms in force, for the report."""
        return self.mechanisms.names

    def run(self, job: ProcessJob) -> ProcessResult:
        """Run to the end or to `limits.wall_s`."""
        process = self.start(job)
        result = process.wait(job.limits.wall_s)
        return result if result is not None else replace(process.kill(), is_timed_out=True)

    def start(self, job: ProcessJob) -> SupervisedProcess:
        """Start a program and return at once; whoever started it watches the wall clock. Raises EvaluatorError when it cannot be started."""
        argv = _resolved(job.argv)  # first: a job that has no program gets no control group either
        uid, private = self._user_and_folder()
        plan = replace(
            self._plan(job.role, uid, private, job.limits),
            argv=argv,
            fd_numbers=job.pass_fds,
            cwd=job.cwd,
            environment={**_environment(private), **job.environment},
            readable=(*self._readable, *job.readable),
            writable=job.writable,
        )
        return self._programs.start(plan, job.pass_fds, private)

    def fork_worker(
        self, role: Role, entry: str, arguments: Mapping[str, str], fds: Mapping[str, int], limits: Limits, readable: Sequence[str] = ()
    ) -> SupervisedProcess:
        """Fork the preloaded zygote and call `entry` ("package.module:function") with (`arguments`, `fds`) in the child."""
        uid, private = self._user_and_folder()
        plan = replace(
            self._plan(role, uid, private, limits),
            entry=entry,
            arguments=dict(arguments),
            fd_names=tuple(fds),
            readable=(*self._readable, *readable),
        )
        return self._workers.start(plan, tuple(fds.values()), private)

    def start_early(self) -> None:
        """Let the zygote of forked workers, which imports torch, start while the caller reads and builds."""
        self._workers.start_early()

    def close(self) -> None:
        """End the zygotes and everything they started; safe to call twice."""
        for client in (self._programs, self._workers):
            client.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def _plan(self, role: Role, uid: int | None, private: str, limits: Limits) -> Job:
        """A job that runs nothing yet, confined by the mechanisms in force."""
        bound = bounds.bounds_of(role, limits, _TMP_BYTES)
        return Job(
            cwd=private or _CAGED_TMP,
            environment=_environment(private),
            rlimits=as_rlimits(limits, uid is not None),
            output_bytes=limits.output_bytes,
            flood_bytes=limits.flood_bytes,
            may_start_processes=limits.may_start_processes or not self.mechanisms.no_new_processes,
            uid=uid,
            namespaces=self.mechanisms.namespaces,
            has_user_namespace=self.mechanisms.user_namespace,
            scaffold=os.path.join(self._folder, "root"),
            tmp_bytes=_TMP_BYTES,
            role=role.value,
            has_landlock=self.mechanisms.landlock,
            has_allow_list=self.mechanisms.allow_list,
            disk_bytes=bound.disk_bytes,
            group_folders=self._groups.make(bound) if self.mechanisms.control_group else (),
        )

    def _user_and_folder(self) -> tuple[int | None, str]:
        """The user of one process, and its temporary folder where no private /tmp can be mounted (empty text otherwise)."""
        uid = self._users.next_user() if self.mechanisms.users else None
        if "mount" in self.mechanisms.namespaces:
            return uid, ""
        private = tempfile.mkdtemp(dir=self._folder)
        if uid is not None:
            os.chown(private, uid, -1)
        return uid, private

    def _choose(self, given: Mechanisms | None) -> None:
        if given is not None:
            self.mechanisms = given
            return
        try:
            self.mechanisms, complaints = choose(self.attempt)
        except LookupError as error:
            self.close()
            raise EvaluatorError("no process can be started here, even without isolation", found=str(error)) from None
        self.complaints = reasons(self.mechanisms, complaints, os.geteuid() == 0)

    def attempt(self, mechanisms: Mechanisms) -> str:
        """Run a job that needs what every real one needs (Python, torch's and our own files) and looks whether it is confined. The complaint, or nothing."""
        self.mechanisms = mechanisms
        try:
            result = self.run(ProcessJob(Role.HOST, (sys.executable, "-I", "-c", CHECK, _source_root()), cwd="/", limits=_PROBE_LIMITS))
        except EvaluatorError as error:
            return str(error)
        if result.exit_code != 0:
            return f"exit {result.exit_code}, signal {result.signal}: {result.stderr.strip()[-300:]}"
        return "; ".join(problems(result.stdout, mechanisms))


def _environment(private: str) -> dict[str, str]:
    """Everything a job finds in its environment, unless the job adds to it. One thread: a forked child must not depend on a pool made before the fork."""
    folder = private or _CAGED_TMP
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": folder, "TMPDIR": folder, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


def _source_root() -> str:
    return str(Path(piton.__file__).resolve().parent.parent)


def _python_paths() -> tuple[str, ...]:
    """The interpreter, its packages and Piton's own files: not the project around them, and not the suites, which hold the goldens."""
    packages = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    own = [str(path) for path in Path(piton.__file__).parent.iterdir() if path.name != "suites"]
    return (sys.base_prefix, sys.prefix, *packages, *own)


def _resolved(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The same command with its program as a path. Raises EvaluatorError when there is no such program."""
    program = shutil.which(argv[0])
    if program is None:
        raise EvaluatorError(f"no program {argv[0]!r} to start")
    return (os.path.abspath(program), *argv[1:])
