"""A local server with the interfaces of OpenAI's and Anthropic's APIs, which answers what a test lays out."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One HTTP answer."""

    status: int = 200
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


class StubServer:
    """Replies in turn; keeps what it was asked."""

    def __init__(self) -> None:
        self.replies: deque[Reply] = deque()
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                stub.paths.append(self.path)
                stub.keys.append(self.headers.get("x-api-key") or self.headers.get("authorization") or "")
                stub.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                reply = stub.replies.popleft()
                time.sleep(reply.delay_s)
                data = reply.body.encode() if isinstance(reply.body, str) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in {"content-type": "application/json", "content-length": str(len(data)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                del code, size

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[StubServer]:
        """The server in a thread."""
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


def completion(text: str | None = "answer", finish: str = "stop", usage: tuple[int, int, int] | None = (10, 5, 4)) -> Reply:
    """An answer of OpenAI's interface."""
    body: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 1, "model": "m-2026"}
    body["choices"] = [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}]
    if usage:
        asked, answered, cached = usage
        details = {"cached_tokens": cached}
        body["usage"] = {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered, "prompt_tokens_details": details}
    return Reply(body=body)


def message(text: str = "answer", stop: str = "end_turn") -> Reply:
    """An answer of Anthropic's interface."""
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 1}
    content = [{"type": "text", "text": text[:2]}, {"type": "text", "text": text[2:]}] if text else []
    return Reply(body={"id": "1", "type": "message", "role": "assistant", "model": "c-2026", "content": content, "stop_reason": stop, "usage": usage})


def failure(status: int, text: str = "no", **fields: object) -> Reply:
    """An error of either interface."""
    return Reply(status, {"type": "error", "error": {"message": text, **fields}})
