"""What every job may rely on and what every job is denied, for each combination of mechanisms that works on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from piton.core.errors import EvaluatorError, UsageError
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role
from piton.evaluate.sandbox import make_runner
from piton.evaluate.sandbox.probe import Mechanisms, candidates, choose
from piton.evaluate.sandbox.runner import SandboxRunner

ALL = candidates(os.geteuid() == 0)


@pytest.fixture(scope="module", params=ALL, ids=lambda item: "+".join(item.names[: -len(Mechanisms().names)]) or "none")
def runner(request: pytest.FixtureRequest) -> Iterator[SandboxRunner]:
    made = make_runner(request.param)
    complaint = made.attempt(request.param)
    if complaint:
        made.close()
        pytest.skip("this combination does not work on this machine")
    yield made
    made.close()


def python(runner: SandboxRunner, code: str, *arguments: str, **options: object) -> ProcessResult:
    """Run a few lines of Python as a host job."""
    limits = options.pop("limits", Limits(wall_s=20.0, cpu_s=20))
    argv = (sys.executable, "-I", "-S", "-c", code, *arguments)
    return runner.run(ProcessJob(role=Role.HOST, argv=argv, cwd="/", limits=limits, **options))  # type: ignore[arg-type]


def sleepers(text: str) -> list[str]:
    """Processes of this machine with `text` in their command line; a job in a namespace does not know its number here."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if text.encode() in (folder / "cmdline").read_bytes():
                found.append(folder.name)
    return found


def test_output_and_exit_code_come_back(runner: SandboxRunner) -> None:
    result = python(runner, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (result.stdout, result.stderr, result.exit_code, result.signal) == ("out\n", "err\n", 3, None)


def test_a_signal_is_told_from_an_exit(runner: SandboxRunner) -> None:
    result = python(runner, "import os; os.kill(os.getpid(), 11)")
    assert (result.exit_code, result.signal) == (None, 11)


def test_the_wall_limit_ends_a_job_and_what_it_started(runner: SandboxRunner) -> None:
    code = "import os, time; os.fork() or (os.setsid(), os.fork()); print(os.getpid(), flush=True); time.sleep(100)"
    result = python(runner, code, limits=Limits(wall_s=0.7))
    assert result.is_timed_out
    assert len(result.stdout.split()) == 3
    assert not sleepers("time.sleep(100)")


def test_a_daemon_ends_with_its_job(runner: SandboxRunner) -> None:
    code = """
import os, time
daemon = os.fork()
if daemon == 0:
    os.setsid()
    os.close(1)
    os.close(2)
    time.sleep(100)
time.sleep(0.1)
print("daemon 4711")
"""
    result = python(runner, code)
    assert result.exit_code == 0
    assert result.stdout == "daemon 4711\n"
    assert not sleepers("daemon 4711")


def test_the_processor_time_of_a_job_and_of_its_children_comes_back(runner: SandboxRunner) -> None:
    code = """
import os
child = os.fork()
while sum(os.times()[:2]) < 0.05:
    pass
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""
    assert python(runner, code).cpu_s >= 0.09  # 0.05 in each, less a tick of the clock that they look at


def test_a_flood_of_output_is_cut(runner: SandboxRunner) -> None:
    result = python(runner, "import sys\nfor _ in range(300): sys.stdout.write('x' * 10000)", limits=Limits(wall_s=20, output_bytes=1000))
    assert result.exit_code == 0
    assert result.stdout.startswith("x" * 1000)
    assert "2999000 more bytes not kept" in result.stdout


def test_a_job_that_prints_without_end_is_ended(runner: SandboxRunner) -> None:
    code = "import sys\nwhile True: sys.stderr.write('x' * 65536)"
    result = python(runner, code, limits=Limits(wall_s=20, output_bytes=1000, flood_bytes=1 << 20))
    assert (result.is_flooded, result.signal, result.is_timed_out) == (True, 9, False)
    assert result.stderr.startswith("x" * 1000 + "\n[")


def test_output_below_the_bound_ends_no_job(runner: SandboxRunner) -> None:
    result = python(runner, "import sys\nfor _ in range(16): sys.stdout.write('x' * 65536)", limits=Limits(wall_s=20, flood_bytes=1 << 20))
    assert (result.is_flooded, result.exit_code) == (False, 0)


@pytest.mark.parametrize("call", ["os.fork()", "os.posix_spawn('/bin/true', ['true'], {})", "os.system('true')"])
def test_a_job_that_may_start_no_process_is_ended_when_it_tries(runner: SandboxRunner, call: str) -> None:
    if not runner.mechanisms.no_new_processes:
        pytest.skip("this kernel has no system-call filter")
    result = python(runner, f"import os; print('before', flush=True); {call}; print('after')", limits=Limits(wall_s=20, may_start_processes=False))
    assert (result.stdout, result.signal) == ("before\n", signal.SIGSYS)


def test_a_job_that_may_start_no_process_has_threads(runner: SandboxRunner) -> None:
    code = "import threading; t = threading.Thread(target=print, args=('from a thread',)); t.start(); t.join()"
    assert python(runner, code, limits=Limits(wall_s=20, may_start_processes=False)).stdout == "from a thread\n"


def test_the_environment_is_made_from_nothing(runner: SandboxRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PITON_SECRET", "42")
    result = python(runner, "import os; print(sorted(os.environ))", environment={"ADDED": "1"})
    assert result.stdout.strip() == "['ADDED', 'HOME', 'LANG', 'OMP_NUM_THREADS', 'PATH', 'PYTHONHASHSEED', 'TMPDIR']"


def test_only_the_passed_descriptors_are_open(runner: SandboxRunner) -> None:
    reader, writer = os.pipe()
    code = "import os, sys; os.write(int(sys.argv[1]), b'hello'); fd = os.open('/proc/self/fd', 0); print(sorted(map(int, os.listdir(fd))), fd)"
    result = python(runner, code, str(writer), pass_fds=(writer,))
    os.close(writer)
    open_fds, _, own = result.stdout.strip().rpartition(" ")
    assert set(eval(open_fds)) - {int(own)} <= {0, 1, 2, writer, int(own) + 1}
    assert os.read(reader, 10) == b"hello"
    os.close(reader)


def test_no_privileges_are_left(runner: SandboxRunner) -> None:
    result = python(runner, "print(open('/proc/self/status').read())")
    status = dict(line.split(":", 1) for line in result.stdout.strip().splitlines())
    assert {status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} <= {"0000000000000000", _bounding_set_of_a_user()}
    assert status["CapEff"].strip() == "0000000000000000"
    assert status["NoNewPrivs"].strip() == "1"
    if runner.mechanisms.users:
        assert (status["Groups"].strip(), "0" in status["Uid"].split() + status["Gid"].split()) == ("", False)


def _bounding_set_of_a_user() -> str:
    """An ordinary user cannot shrink the bounding set; it has nothing to gain from it either."""
    if os.geteuid() == 0:
        return "0000000000000000"
    status = Path("/proc/self/status").read_text()
    return next(line.split()[1] for line in status.splitlines() if line.startswith("CapBnd"))


def test_limits_hold(runner: SandboxRunner) -> None:
    limits = Limits(wall_s=20, file_bytes=1000, memory_bytes=300 << 20)
    big_file = python(runner, "import os\nf = open(os.environ['TMPDIR'] + '/f', 'wb'); f.write(b'x' * 2000); f.close()", limits=limits)
    assert big_file.signal == 25 or "File too large" in big_file.stderr
    big_memory = python(runner, "x = bytearray(400 << 20)", limits=limits)
    assert "MemoryError" in big_memory.stderr


def test_a_writable_folder_is_written_and_its_files_are_taken_over(runner: SandboxRunner) -> None:
    code = "import os, sys; open(sys.argv[1] + '/new', 'w').write('x'); os.chmod(sys.argv[1] + '/new', 0o777)"
    with tempfile.TemporaryDirectory() as name:  # the test framework's own folders lie in one that is closed to the job's user
        folder = Path(name)
        result = python(runner, code, name, writable=(name,))
        assert result.exit_code == 0, result.stderr
        assert (folder / "new").read_text() == "x"
        assert [path.stat().st_uid for path in (folder / "new", folder)] == [os.geteuid()] * 2


def test_a_readable_folder_is_readable_even_when_it_is_closed_to_others(runner: SandboxRunner, tmp_path: Path) -> None:
    if runner.mechanisms.users and not runner.mechanisms.namespaces:
        pytest.skip("needs the view: another user cannot enter a closed folder")
    closed = tmp_path / "closed"
    (closed / "inner").mkdir(parents=True)
    (closed / "inner" / "secret").write_text("words")
    for path in (closed / "inner" / "secret", closed / "inner", closed):
        path.chmod(path.stat().st_mode & 0o700)
    result = python(runner, "import sys; print(open(sys.argv[1]).read())", str(closed / "inner" / "secret"), readable=(str(closed),))
    assert result.stdout == "words\n", result.stderr


def test_the_view_hides_what_is_not_listed(runner: SandboxRunner, tmp_path: Path) -> None:
    if "read_only_view" not in runner.isolation:
        pytest.skip("needs the view")
    secret = tmp_path / "golden.py"
    secret.write_text("x")
    code = "import os, sys; print([os.path.exists(path) for path in sys.argv[1:]])"
    suites = Path(__file__).resolve().parents[2] / "src" / "piton" / "suites"
    result = python(runner, code, str(secret), str(suites), str(Path(__file__)), "/etc/shadow", sys.prefix)
    assert result.stdout.strip() == "[False, False, False, False, True]"


def test_the_view_is_read_only(runner: SandboxRunner, tmp_path: Path) -> None:
    if "read_only_view" not in runner.isolation:
        pytest.skip("needs the view")
    tmp_path.chmod(0o777)
    result = python(runner, "import sys\nfor top in sys.argv[1:]: open(top + '/f', 'w')", str(tmp_path), readable=(str(tmp_path),))
    assert "Read-only file system" in result.stderr
    assert "Read-only file system" in python(runner, "open('/f', 'w')").stderr or "Permission denied" in python(runner, "open('/f', 'w')").stderr


def test_no_network_is_reachable(runner: SandboxRunner) -> None:
    if "net_namespace" not in runner.isolation:
        pytest.skip("needs the network namespace")
    result = python(runner, "import socket; print(open('/proc/net/dev').read().count(':')); socket.create_connection(('127.0.0.1', 9), 2)")
    assert result.stdout.strip() == "1"
    assert any(reason in result.stderr for reason in ("Network is unreachable", "Connection refused", "Operation not permitted"))


def test_every_host_process_has_a_user_of_its_own(runner: SandboxRunner) -> None:
    if "separate_users" not in runner.isolation:
        pytest.skip("needs root")
    users = [int(python(runner, "import os; print(os.getuid())").stdout) for _ in range(2)]
    assert len({0, *users}) == 3


def test_a_worker_is_forked_with_its_arguments_and_descriptors(runner: SandboxRunner) -> None:
    reader, writer = os.pipe()
    process = runner.fork_worker(Role.HOST, "builtins:print", {"key": "value"}, {"channel": writer}, Limits())
    result = process.wait(60.0)
    os.close(reader)
    os.close(writer)
    assert result is not None
    assert result.stdout == "{'key': 'value'} {'channel': 3}\n"
    assert result.exit_code == 0


def test_a_started_process_can_be_asked_and_killed(runner: SandboxRunner) -> None:
    job = ProcessJob(Role.DEVICE, ("sleep", "100"), cwd="/")
    process = runner.start(job)
    assert process.poll() is None
    assert Path(f"/proc/{process.pid}").exists()
    assert process.kill().signal == 9  # by itself it would have ended with 0
    assert process.kill().signal == 9


def test_a_job_that_cannot_be_set_up_is_our_error(runner: SandboxRunner) -> None:
    with pytest.raises(EvaluatorError, match="could not be set up"):
        runner.run(ProcessJob(Role.HOST, ("true",), cwd="/nonexistent"))
    with pytest.raises(EvaluatorError, match="no program"):
        runner.run(ProcessJob(Role.HOST, ("no-such-program",), cwd="/"))


def test_a_level_that_is_not_reached_is_an_error_and_leaves_nothing() -> None:
    with pytest.raises(UsageError, match="isolation level 3 is not reached"):
        make_runner(Mechanisms(), demanded=3)
    with pytest.raises(UsageError, match="engine_own_process"):
        make_runner(Mechanisms(), demanded=4)
    make_runner(Mechanisms(), demanded=0).close()


def test_closing_ends_what_is_still_running() -> None:
    made = make_runner(Mechanisms())
    process = made.start(ProcessJob(Role.HOST, ("sleep", "100"), cwd="/"))
    made.close()
    made.close()
    assert not Path(f"/proc/{process.pid}").exists()


def test_the_strongest_set_that_works_is_taken_and_the_others_are_explained() -> None:
    strongest, weakest = ALL[0], ALL[-1]
    chosen, complaints = choose(lambda tried: "" if tried == weakest else "forbidden")
    assert chosen == weakest
    assert complaints[strongest] == "forbidden"
    with pytest.raises(LookupError, match="forbidden"):
        choose(lambda _tried: "forbidden")
