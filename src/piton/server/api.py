# mypy: disable-error-code="import-not-found"
"""The JSON API over HTTP (docs/serve.md). This module and listen.py alone know the web framework; it is imported when a server is started, never before."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections import Counter
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

import piton
from piton.core.errors import PitonError, UsageError
from piton.core.visible import visible
from piton.server.answers import health_of, job_answer
from piton.server.answers_form import ErrorAnswer, HealthAnswer, JobAnswer, JobsAnswer
from piton.server.callers import Callers
from piton.server.refusal import RefusedError, as_json, status_of
from piton.server.reward import DEFAULT_RULE, Reward, rule_named
from piton.server.service import EvaluationService
from piton.server.settings import JobOptions, parse_options
from piton.server.telemetry import metrics_text

PREFIX = "/v1"
GZIP = "application/gzip"
_IN_MEMORY_BYTES = 1 << 20
"""Uploads up to this size are not written to disk before they are unpacked."""
_MOST_JSON_BYTES = 1 << 20
_LONGEST_WAIT_S = 30.0
_POLL_S = 0.05
_LOG = logging.getLogger("piton.server")
_ERRORS: dict[int | str, dict[str, Any]] = {"default": {"model": ErrorAnswer, "description": "One clear error"}}


class PathSubmission(BaseModel):
    """Body of a submission that lies on the server."""

    model_config = ConfigDict(extra="forbid")

    path: str
    options: JobOptions = JobOptions()


class Api:
    """The endpoints, on one service."""

    def __init__(self, service: EvaluationService, callers: Callers) -> None:
        self._service = service
        self._callers = callers

    async def submit(self, request: Request, response: Response, options: Annotated[str, Query(description="JobOptions as JSON")] = "") -> JobAnswer:
        """Submit a folder as tar.gz: the body, with Content-Type application/gzip. 201 for a new job, 200 for one that is known."""
        client = self._client(request)
        _check_type(request, GZIP)  # a web page can't send this type to another origin without asking
        chosen = parse_options(options)
        self._service.board.check_room(client)
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES) as packed:
            await self._receive(request, packed, self._service.settings.upload.packed_bytes)
            record, is_new = await run_in_threadpool(self._service.submit, packed, chosen, client)
        response.status_code = 201 if is_new else 200
        return job_answer(record, self._service.board.position(record))

    async def submit_path(self, request: Request, response: Response) -> JobAnswer:
        """Submit a folder that lies on the server, below one that it allows: {"path": ..., "options": {...}} with Content-Type application/json."""
        client = self._client(request)
        _check_type(request, "application/json")
        self._service.board.check_room(client)
        with tempfile.SpooledTemporaryFile(max_size=_MOST_JSON_BYTES) as text:
            await self._receive(request, text, _MOST_JSON_BYTES)
            body = _parse_path(text.read())
        record, is_new = await run_in_threadpool(self._service.submit_path, body.path, body.options, client)
        response.status_code = 201 if is_new else 200
        return job_answer(record, self._service.board.position(record))

    async def jobs(self, request: Request) -> JobsAnswer:
        """The client's own jobs, oldest first."""
        board = self._service.board
        return JobsAnswer(jobs=[job_answer(record, board.position(record)) for record in board.of_client(self._client(request))])

    async def job(self, request: Request, job_id: str, wait: Annotated[float, Query(ge=0, le=_LONGEST_WAIT_S)] = 0.0) -> JobAnswer:
        """State of a job; with `wait` the answer comes when it has ended, or after so many seconds."""
        client, board = self._client(request), self._service.board
        record = board.find(job_id, client)
        deadline = asyncio.get_running_loop().time() + wait
        while not record.has_ended and board.is_open and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(_POLL_S)
            record = board.find(job_id, client)
        return job_answer(record, board.position(record))

    async def cancel(self, request: Request, job_id: str) -> JobAnswer:
        """Cancel a job: one that waits ends at once, one that runs soon after."""
        record = await run_in_threadpool(self._service.cancel, job_id, self._client(request))
        return job_answer(record, 0)

    async def report(self, request: Request, job_id: str) -> Response:
        """The report of a job that is done (docs/report.schema.json)."""
        content = await run_in_threadpool(self._service.report_bytes, job_id, self._client(request))
        return Response(content, media_type="application/json")

    async def reward(self, request: Request, job_id: str, rule: str = DEFAULT_RULE) -> Reward:
        """The reward of a job that is done: score, hap, correct or compiled."""
        found: Reward = await run_in_threadpool(self._service.reward, job_id, self._client(request), rule_named(rule))
        return found

    async def health(self) -> HealthAnswer:
        """Is the server there, and does it take jobs? Asks for no token."""
        return health_of(self._service)

    async def metrics(self, request: Request) -> PlainTextResponse:
        """Figures for Prometheus."""
        self._client(request)
        return PlainTextResponse(metrics_text(self._service), media_type="text/plain; version=0.0.4")

    def _client(self, request: Request) -> str:
        headers = request.headers
        address = request.client.host if request.client else ""
        return self._callers.identify(headers.get("authorization", ""), address, headers.get("host", ""))

    async def _receive(self, request: Request, packed: Any, most_bytes: int) -> None:
        seconds = self._service.settings.upload.seconds
        try:
            await asyncio.wait_for(_read_body(request, packed, most_bytes), seconds)
        except (TimeoutError, asyncio.TimeoutError):
            raise RefusedError(408, "the upload did not end in time", expected=f"at most {seconds:.0f} s") from None
        packed.seek(0)


async def _read_body(request: Request, packed: Any, most_bytes: int) -> None:
    size = int(request.headers.get("content-length") or 0) if request.headers.get("content-length", "0").isdecimal() else 0
    async for chunk in request.stream():
        size = max(size, packed.tell() + len(chunk))
        if size > most_bytes:
            raise RefusedError(413, "the upload is too large", expected=f"at most {most_bytes} bytes", found=f"{size} or more")
        packed.write(chunk)


def _check_type(request: Request, wanted: str) -> None:
    found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found != wanted:
        raise RefusedError(415, "the body is of another type", expected=f"Content-Type: {wanted}", found=found or "none")


def _parse_path(text: bytes) -> PathSubmission:
    try:
        return PathSubmission.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError("the body can't be read", expected='{"path": FOLDER, "options": {...}}', found=first["msg"], where=where) from None


class _Counting:
    """Counts answers by status, around everything else."""

    def __init__(self, app: Any, requests: Counter[str]) -> None:
        self._app = app
        self._requests = requests

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def counted(message: Any) -> None:
            if message["type"] == "http.response.start":
                self._requests[str(message["status"])] += 1
            await send(message)

        await self._app(scope, receive, counted)


def make_app(service: EvaluationService, callers: Callers) -> FastAPI:
    """The application, with its OpenAPI document under /openapi.json and readable under /docs."""
    app = FastAPI(title="piton serve", version=piton.__version__, summary="Evaluates kernels and answers with reports and rewards")
    api = Api(service, callers)
    rows: tuple[tuple[str, str, Any], ...] = (
        ("POST", "/jobs", api.submit),
        ("POST", "/jobs/from-path", api.submit_path),
        ("GET", "/jobs", api.jobs),
        ("GET", "/jobs/{job_id}", api.job),
        ("POST", "/jobs/{job_id}/cancel", api.cancel),
        ("GET", "/jobs/{job_id}/report", api.report),
        ("GET", "/jobs/{job_id}/reward", api.reward),
        ("GET", "/health", api.health),
        ("GET", "/metrics", api.metrics),
    )
    for method, path, endpoint in rows:
        app.add_api_route(PREFIX + path, endpoint, methods=[method], responses=_ERRORS, response_model_exclude_none=False)
    app.add_exception_handler(PitonError, _answer_error)
    app.add_exception_handler(OSError, _answer_no_room)
    app.add_exception_handler(RequestValidationError, _answer_wrong_query)
    app.add_exception_handler(HTTPException, _answer_no_request)
    app.add_exception_handler(ClientDisconnect, _answer_nobody)
    app.add_middleware(_Counting, requests=service.requests)
    return app


async def _answer_error(request: Request, error: Exception) -> JSONResponse:
    del request
    assert isinstance(error, PitonError)
    retry_after_s = error.retry_after_s if isinstance(error, RefusedError) else 0
    headers = {"Retry-After": str(retry_after_s)} if retry_after_s else {}
    if status_of(error) == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": as_json(error)}, status_of(error), headers)


async def _answer_no_room(request: Request, error: Exception) -> JSONResponse:
    """The disk is full, or the state folder is gone: no fault of the client."""
    del request
    _LOG.error("a request could not be served: %s", error)
    found = RefusedError(507, "the server can't write its files", action="tell the person who runs it; try again later", retry_after_s=60)
    return JSONResponse({"error": as_json(found)}, 507, {"Retry-After": "60"})


async def _answer_wrong_query(request: Request, error: Exception) -> JSONResponse:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {"loc": (), "msg": ""}
    where = ".".join(str(part) for part in first["loc"])
    return await _answer_error(request, UsageError("a parameter can't be read", found=str(first["msg"]), where=where, action="see /docs"))


async def _answer_no_request(request: Request, error: Exception) -> JSONResponse:
    """A path or a method that the API does not have."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    found = f"{request.method} {visible(request.url.path)}"
    refused = RefusedError(status, "there is no such request", expected=f"one of docs/serve.md, all below {PREFIX}", found=found, action="see /docs")
    return JSONResponse({"error": as_json(refused)}, status, getattr(error, "headers", None))


async def _answer_nobody(request: Request, error: Exception) -> Response:
    """The client went away in the middle of its upload; what was received is gone with the request."""
    del request, error
    return Response(status_code=400)
