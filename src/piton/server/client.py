"""The Python client of `piton serve`: needs nothing beyond Piton itself.

client = PitonClient("http://127.0.0.1:8765")
job = client.submit("my_kernels", operators=["exp"])
print(client.wait(job.id).state, client.reward(job.id).reward)
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.parse
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from piton.core.errors import PitonError, UsageError
from piton.core.report import Report
from piton.server.answers_form import HealthAnswer, JobAnswer, JobsAnswer
from piton.server.archive import pack_submission
from piton.server.reward import DEFAULT_RULE, Reward
from piton.server.settings import JobOptions

_LONGEST_POLL_S = 30.0
"""What the server allows for one wait."""
_Answer = TypeVar("_Answer", bound=BaseModel)


class ServerError(PitonError):
    """The server refused, with the status of HTTP; 0 when there was no answer."""

    def __init__(self, status: int, message: str, *, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s


class PitonClient:
    """One server; safe to use from several threads, since every request has a connection of its own."""

    def __init__(self, url: str = "http://127.0.0.1:8765", token: str = "", timeout_s: float = 60.0) -> None:
        """`token` is what the server's token file has for this client. Raises UsageError for what is no address of HTTP."""
        self._parts = _address(url)
        self._token = token
        self._timeout_s = timeout_s

    def submit(self, path: str | Path, patience_s: float = 0.0, **options: Any) -> JobAnswer:
        """Send the submission in a folder or single source file; `options` are those of JobOptions. The same again is the same job.

        A full queue is waited for up to `patience_s` seconds. Raises UsageError for what is no submission, ServerError when the server refuses.
        """
        query = {"options": _checked(options).model_dump_json(exclude_defaults=True)}
        packed = pack_submission(path)
        return self._patiently("/jobs", patience_s, query, packed, "application/gzip")

    def submit_path(self, path: str, patience_s: float = 0.0, **options: Any) -> JobAnswer:
        """The same for a submission that lies on the server, below a folder that it allows."""
        body = json.dumps({"path": path, "options": _checked(options).model_dump(mode="json", exclude_defaults=True)}).encode()
        return self._patiently("/jobs/from-path", patience_s, {}, body, "application/json")

    def status(self, job_id: str, wait_s: float = 0.0) -> JobAnswer:
        """State of a job; with `wait_s` (up to 30) the answer comes when it has ended, or after so many seconds."""
        wait_s = min(wait_s, _LONGEST_POLL_S, self._timeout_s / 2)  # the answer has to come before the connection is given up
        return self._get(f"/jobs/{_quoted(job_id)}", JobAnswer, {"wait": str(wait_s)})

    def wait(self, job_id: str, timeout_s: float = 3600.0) -> JobAnswer:
        """The job once it has ended. Raises ServerError (408) when that takes longer than `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        while not (job := self.status(job_id, max(0.0, deadline - time.monotonic()))).is_ended:
            if time.monotonic() >= deadline:
                raise ServerError(408, f"job {job_id} is {job.state.value} after {timeout_s:.0f} s")
            time.sleep(0.05)  # a server that is stopping answers at once
        return job

    def jobs(self) -> list[JobAnswer]:
        """This client's jobs, oldest first."""
        return self._get("/jobs", JobsAnswer).jobs

    def cancel(self, job_id: str) -> JobAnswer:
        """Cancel a job; one that runs ends soon after."""
        return self._parse(JobAnswer, self._request("POST", f"/jobs/{_quoted(job_id)}/cancel"))

    def report(self, job_id: str) -> Report:
        """The report of a job that is done."""
        return self._get(f"/jobs/{_quoted(job_id)}/report", Report)

    def reward(self, job_id: str, rule: str = DEFAULT_RULE) -> Reward:
        """The reward of a job that is done, by a rule: score, hap, correct or compiled."""
        return self._get(f"/jobs/{_quoted(job_id)}/reward", Reward, {"rule": rule})

    def health(self) -> HealthAnswer:
        """Is it there, and does it take jobs?"""
        return self._get("/health", HealthAnswer)

    def metrics(self) -> str:
        """Figures in the text form of Prometheus."""
        return self._request("GET", "/metrics").decode()

    def _get(self, path: str, form: type[_Answer], query: dict[str, str] | None = None) -> _Answer:
        return self._parse(form, self._request("GET", path, query=query))

    def _patiently(self, path: str, patience_s: float, query: dict[str, str], body: bytes, kind: str) -> JobAnswer:
        deadline = time.monotonic() + patience_s
        while (job := self._unless_full(path, deadline, query, body, kind)) is None:
            pass
        return job

    def _unless_full(self, path: str, deadline: float, query: dict[str, str], body: bytes, kind: str) -> JobAnswer | None:
        """The job, or None after as long a rest as the server asked for. Raises ServerError when that would last beyond the deadline."""
        try:
            return self._parse(JobAnswer, self._request("POST", path, query=query, body=body, kind=kind))
        except ServerError as error:
            if error.status != 429 or time.monotonic() + error.retry_after_s > deadline:
                raise
            time.sleep(error.retry_after_s)
            return None

    def _request(self, method: str, path: str, query: dict[str, str] | None = None, body: bytes = b"", kind: str = "") -> bytes:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        headers |= {"Content-Type": kind} if kind else {}
        target = f"{self._parts.path.rstrip('/')}/v1{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        connection = self._connect()
        try:
            connection.request(method, target, body or None, headers)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise ServerError(0, f"no answer from {self._parts.geturl()}: {error}") from None
        finally:
            connection.close()
        if answer.status >= 400:
            raise ServerError(answer.status, _message(content, answer.status), retry_after_s=_seconds(answer.getheader("Retry-After")))
        return content

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        return kind(str(self._parts.hostname), self._parts.port, timeout=self._timeout_s)

    def _parse(self, form: type[_Answer], content: bytes) -> _Answer:
        try:
            return form.model_validate_json(content)
        except ValidationError as error:
            raise ServerError(0, f"{self._parts.geturl()} answers nonsense: {str(error).splitlines()[0]}") from None


def _address(url: str) -> urllib.parse.SplitResult:
    try:
        parts = urllib.parse.urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets without an end, a port that is none
        is_good = False
    if not is_good:
        raise UsageError("not the address of a server", expected="http://HOST:PORT", found=url)
    return parts


def _checked(options: dict[str, Any]) -> JobOptions:
    try:
        return JobOptions.model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        where, known = ".".join(str(part) for part in first["loc"]), ", ".join(JobOptions.model_fields)
        raise UsageError("a wrong option of a job", expected=f"options among {known}", found=first["msg"], where=where) from None


def _quoted(job_id: str) -> str:
    return urllib.parse.quote(job_id, safe="")


def _message(content: bytes, status: int) -> str:
    try:
        return str(json.loads(content)["error"]["message"])
    except (ValueError, TypeError, KeyError):
        return f"status {status}: {content[:200].decode(errors='replace')}"


def _seconds(text: str | None) -> float:
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        return 0.0
