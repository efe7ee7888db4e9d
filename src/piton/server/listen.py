# mypy: disable-error-code="import-not-found"
"""Runs a service on a socket until it is told to stop.

Problem: a stop has to end jobs in good order while clients can still ask about them.
Approach: the web server runs in a thread of its own; the main thread waits for a signal, closes the service with the web server still answering, then ends it.
The first SIGTERM or SIGINT is an orderly stop, the second cuts the grace of running jobs short.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable

import uvicorn

from piton.core.errors import EvaluatorError, UsageError
from piton.server.api import make_app
from piton.server.callers import Callers
from piton.server.service import EvaluationService

_STOPS = (signal.SIGTERM, signal.SIGINT)
_CONNECTIONS = 256
"""More at the same time get a 503 from the web server."""
_LAST_ANSWERS_S = 5
_POLL_S = 0.2


def open_socket(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises UsageError for an address that can't be had."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise UsageError("can't listen there", where=f"{host}:{port}", found=str(error), action="choose another --host or --port") from None


def serve(service: EvaluationService, callers: Callers, listener: socket.socket, grace_s: float, tell: Callable[[str], None]) -> None:
    """Answer on `listener` until SIGTERM or SIGINT; returns when the service is closed. Raises EvaluatorError when the web server ends by itself."""
    stops: list[int] = []
    before = {number: signal.signal(number, lambda number, frame: stops.append(number)) for number in _STOPS}
    config = uvicorn.Config(
        make_app(service, callers), log_level="warning", access_log=False, limit_concurrency=_CONNECTIONS, timeout_graceful_shutdown=_LAST_ANSWERS_S
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="web", daemon=True)
    try:
        thread.start()
        while not stops and thread.is_alive():
            thread.join(_POLL_S)
        tell(f"stopping: no new jobs; running ones have {grace_s:.0f} s, a second signal stops them at once")
        service.stop(grace_s, lambda: len(stops) > 1)
        server.should_exit = True
        thread.join()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if not stops:
        raise EvaluatorError("the web server ended by itself", action="see what it wrote above")
