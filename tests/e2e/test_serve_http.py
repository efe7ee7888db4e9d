"""`piton serve` as its users meet it: a process, its API over HTTP, the Python client, and the stop."""

from __future__ import annotations

import gzip
import http.client
import io
import json
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from null_world import command, environment, make_submission, make_suite
from serve_world import WAITS, until

from piton.core.errors import UsageError
from piton.server.client import PitonClient, ServerError
from piton.server.records import JobState

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

TOKENS = {"ana": "ana-has-a-long-token", "bob": "bob-has-a-long-token"}


def _bomb() -> bytes:
    plain, member = io.BytesIO(), tarfile.TarInfo("zeros")
    member.size = 9 << 20
    with tarfile.open(fileobj=plain, mode="w") as archive:
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    return gzip.compress(plain.getvalue())


BOMB = _bomb()


@dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    url: str

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Stop it; its exit status and what it said."""
        self.process.send_signal(number)
        said = self.process.communicate(timeout=120)[1]
        return self.process.returncode, said


def start(root: Path, *options: str) -> Server:
    """A server on a free port, its files below `root`."""
    base = command("serve", "--port", "0", "--state", root / "state", "--target", "null", "--suite", root / "suite", "--trust", *options)
    process = subprocess.Popen(base, env=environment(root), stderr=subprocess.PIPE, text=True, cwd=root)
    assert process.stderr is not None
    for line in process.stderr:
        if "listening on" in line:
            return Server(process, line.split("listening on ")[1].split(",")[0])
    raise AssertionError(f"no server: exit status {process.wait()}")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("http")
    make_suite(place / "suite")
    return place


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    tokens = root / "tokens"
    tokens.write_text("".join(f"{name} {token}\n" for name, token in TOKENS.items()))
    tokens.chmod(0o600)
    running = start(root, "--tokens", str(tokens), "--upload-mib", "0.05", "--client-queue", "1", "--client-running", "1", "--grace", "0")
    yield running
    running.stop()


def client(server: Server, name: str = "ana") -> PitonClient:
    return PitonClient(server.url, TOKENS[name])


def raw(server: Server, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, object]]:
    """Status and JSON of a request that the client would not make."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=60)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, named)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, json.loads(content)


def test_a_submission_comes_back_as_report_and_reward(server: Server, tmp_path: Path) -> None:
    ana = client(server)
    job = ana.submit(make_submission(tmp_path / "s"), operators=["grow"])
    assert ana.wait(job.id).state is JobState.DONE
    assert [item.operator for item in ana.report(job.id).operators] == ["grow"]
    found = ana.reward(job.id, "correct")
    assert (found.reward, found.cases, found.passed) == (1.0, 4, 4)
    assert job.id in [item.id for item in ana.jobs()]
    assert ana.submit(make_submission(tmp_path / "again"), operators=["grow"]).state is JobState.DONE


def test_clients_are_kept_apart(server: Server, tmp_path: Path) -> None:
    job = client(server).submit(make_submission(tmp_path / "s"), operators=["grow"], cases=["1"])
    for ask in (client(server, "bob").status, client(server, "bob").cancel, client(server, "bob").report):
        with pytest.raises(ServerError, match="no such job"):
            ask(job.id)
    with pytest.raises(ServerError) as caught:
        PitonClient(server.url).jobs()
    assert caught.value.status == 401
    client(server).wait(job.id)


def test_a_full_queue_is_429_with_a_time_and_cancelling_makes_room(server: Server, tmp_path: Path) -> None:
    ana = client(server)
    running = ana.submit(make_submission(tmp_path / "a", WAITS), operators=["grow"])
    until(lambda: ana.status(running.id).state is JobState.RUNNING)
    waiting = ana.submit(make_submission(tmp_path / "b", WAITS), operators=["grow"], cases=["2"])
    with pytest.raises(ServerError, match="too many jobs") as caught:
        ana.submit(make_submission(tmp_path / "c"), cases=["3"])
    assert (caught.value.status, caught.value.retry_after_s >= 1) == (429, True)
    assert ana.cancel(waiting.id).state is JobState.CANCELLED
    ana.cancel(running.id)
    assert ana.wait(running.id, 60).state is JobState.CANCELLED


@pytest.mark.parametrize(
    ("path", "body", "kind", "status", "problem"),
    [
        ("/v1/jobs", b"x", "", 415, "another type"),
        ("/v1/jobs", b"x", "text/plain", 415, "another type"),
        ("/v1/jobs", b"x", "application/gzip", 400, "can't be read"),
        ("/v1/jobs", bytes(60_000), "application/gzip", 413, "too large"),
        ("/v1/jobs", BOMB, "application/gzip", 400, "too much"),
        ("/v1/jobs?options=%5B", b"x", "application/gzip", 400, "options of the job"),
        ("/v1/jobs/from-path", b"{}", "application/json", 400, "body can't be read"),
        ("/v1/jobs/from-path", b'{"path": "/etc"}', "application/json", 403, "not allowed"),
    ],
    ids=["no-type", "form", "no-archive", "large", "bomb", "options", "body", "path"],
)
def test_what_is_refused_has_its_status_and_one_clear_error(server: Server, path: str, body: bytes, kind: str, status: int, problem: str) -> None:
    found, content = raw(server, "POST", path, body, Authorization=f"Bearer {TOKENS['ana']}", Content_Type=kind)
    error = content["error"]
    assert isinstance(error, dict)
    assert (found, problem in error["problem"]) == (status, True), content


def test_wrong_parameters_are_one_clear_error(server: Server) -> None:
    found, content = raw(server, "GET", "/v1/jobs/x?wait=1000", Authorization=f"Bearer {TOKENS['ana']}")
    assert (found, "parameter" in str(content["error"])) == (400, True)
    with pytest.raises(ServerError, match="no rule"):
        client(server).reward("x", "best")
    with pytest.raises(UsageError, match="wrong option"):
        client(server).submit(".", operator="exp")


def test_health_asks_for_no_token_and_metrics_do(server: Server) -> None:
    assert PitonClient(server.url).health().status == "ok"
    with pytest.raises(ServerError):
        PitonClient(server.url).metrics()
    assert "piton_process_descriptors " in client(server).metrics()


def test_the_api_describes_itself(server: Server) -> None:
    status, content = raw(server, "GET", "/openapi.json")
    paths = content["paths"]
    assert isinstance(paths, dict)
    assert (status, {"/v1/jobs", "/v1/jobs/{job_id}/reward"} <= set(paths)) == (200, True)


def test_a_stop_and_a_kill_lose_no_job(root: Path, tmp_path: Path) -> None:
    (tmp_path / "suite").symlink_to(root / "suite")
    (tmp_path / "cache").symlink_to(root / "cache")
    script = {"grow": {"default": {"compute": "exp", "wait_s": 3.0}}}
    first = start(tmp_path, "--grace", "0")
    job = PitonClient(first.url).submit(make_submission(tmp_path / "s", script), operators=["grow"], cases=["1", "2"])
    until(lambda: PitonClient(first.url).status(job.id).cases > 0)
    status, said = first.stop()
    assert (status, "stopping" in said) == (0, True)
    second = start(tmp_path)
    until(lambda: PitonClient(second.url).status(job.id).finished_cases > 0)
    second.stop(signal.SIGKILL)
    third = start(tmp_path)
    ended = PitonClient(third.url).wait(job.id, 120)
    assert (ended.state, ended.finished_cases) == (JobState.DONE, 2)
    assert PitonClient(third.url).reward(job.id, "correct").reward == 1.0
    third.stop()


def test_without_the_web_packages_one_error_says_what_to_install(tmp_path: Path) -> None:
    hide = "import sys; sys.modules['uvicorn'] = None; from piton.cli.main import run; sys.argv = ['piton', 'serve']; run()"
    done = subprocess.run([sys.executable, "-c", hide], env=environment(tmp_path), capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert (done.returncode, "piton[server]" in done.stderr, "Traceback" in done.stderr) == (3, True, False)


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "http://127.0.0.1:http", "http://[::1", "127.0.0.1:8765", "ftp://127.0.0.1"])
def test_what_is_no_address_of_a_server_is_one_clear_error(url: str) -> None:
    with pytest.raises(UsageError, match="not the address"):
        PitonClient(url)


def test_a_client_without_a_server_gets_one_clear_error() -> None:
    with pytest.raises(ServerError, match="no answer"):
        PitonClient("http://127.0.0.1:9").health()
