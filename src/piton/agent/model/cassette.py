"""Cassettes: what a model answered, recorded once and replayed without it.

One JSON line per call, with the digest of the request and the whole request, so that a person can read what was asked. A request that was made several times
has several answers, replayed in their order. Errors are recorded too: what a run met is what its replay meets. No key is ever in a request.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from dataclasses import asdict
from pathlib import Path
from typing import Any

from piton.agent.model import errors
from piton.agent.model.errors import ModelError, NotRecordedError, PassingError
from piton.agent.model.protocol import Answer, Finish, Model, Request, usage_of
from piton.core.errors import FormatError, TargetUnavailableError

FORM = 1
_KINDS = {item.kind: item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, ModelError)}


class RecordingModel:
    """Asks another model and writes down what it said; goes on with a cassette that exists."""

    def __init__(self, inner: Model, path: Path) -> None:
        """Raises TargetUnavailableError when the file cannot be written."""
        self._inner = inner
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _end_cleanly(path)
        except OSError as error:
            raise _unwritten(path, error) from error

    @property
    def name(self) -> str:
        """The inner model's."""
        return self._inner.name

    def ask(self, request: Request) -> Answer:
        """The inner model's answer, or its error, both recorded."""
        try:
            answer = self._inner.ask(request)
        except ModelError as error:
            self._write(request, {"error": _error_record(error)})
            raise
        self._write(request, {"answer": asdict(answer)})
        return answer

    def _write(self, request: Request, outcome: dict[str, Any]) -> None:
        messages = [[item.speaker.value, item.text] for item in request.messages]
        record = {"piton_cassette": FORM, "model": self.name, "request": request.digest(), "purpose": request.purpose, "messages": messages, **outcome}
        try:
            with self._lock, self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        except OSError as error:
            raise _unwritten(self._path, error) from error


class ReplayedModel:
    """Answers from a cassette only."""

    def __init__(self, path: Path) -> None:
        """Raises FormatError for a file that is no cassette; a last line that a kill cut off is left out."""
        self._path = path
        self._lock = threading.Lock()
        self._kept: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        self._name = f"cassette:{path.name}"
        for record in _records(path):
            self._kept[record["request"]].append(record)
            self._name = record["model"]

    @property
    def name(self) -> str:
        """The recorded model's, so that records of a replay are those of the run."""
        return self._name

    def ask(self, request: Request) -> Answer:
        """The next recorded outcome of this request. Raises the recorded error, NotRecordedError when there is none."""
        with self._lock:
            waiting = self._kept.get(request.digest())
            record = waiting.popleft() if waiting else None
        if record is None:
            end = request.messages[-1].text[-200:] if request.messages else ""
            action = "record it again: prompts or options have changed since"
            raise NotRecordedError("the cassette has no answer to this request", where=str(self._path), found=end, action=action)
        outcome = _outcome(record)
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome


def _outcome(record: Any) -> Answer | ModelError:
    """What a line says. Raises ValueError, KeyError, TypeError or AttributeError for one that `--record` did not write."""
    if "error" in record:
        return _recorded_error(record["error"])
    values = record["answer"]
    counts = values["usage"]
    usage = usage_of(counts["input_tokens"], counts["output_tokens"], counts["cached_tokens"]) if counts else None
    return Answer(values["text"], Finish(values["finish"]), usage, str(values["model"]), tuple(map(str, values["dropped"])))


def _end_cleanly(path: Path) -> None:
    """Make the file if there is none, and take away a last line that a kill cut off: what is written next would be joined to it."""
    with path.open("a+b") as file:
        file.seek(0)
        data = file.read()
        file.truncate(data.rfind(b"\n") + 1)


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError("the cassette cannot be read", where=str(path), found=str(error)) from error
    found = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            record = json.loads(line)
            _outcome(record)
            is_one = (
                record["piton_cassette"] == FORM
                and isinstance(record["request"], str)
                and isinstance(record["model"], str)
                and ("answer" in record) != ("error" in record)
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            is_one = False
        if not is_one:
            raise FormatError("this is not a line of a cassette", where=f"{path}:{number}", expected="JSON that `--record` wrote", found=line[:100])
        found.append(record)
    return found


def _error_record(error: ModelError) -> dict[str, Any]:
    waits = error.retry_after_s if isinstance(error, PassingError) else None
    return {"kind": error.kind, "problem": error.problem, "found": error.found, "retry_after_s": waits}


def _recorded_error(record: dict[str, Any]) -> ModelError:
    kind = _KINDS.get(record["kind"], ModelError)
    if issubclass(kind, PassingError):
        return kind(record["problem"], found=record["found"], retry_after_s=record["retry_after_s"])
    if kind is errors.RefusedParameterError:
        return errors.BadRequestError(record["problem"], found=record["found"])
    return kind(record["problem"], found=record["found"])


def _unwritten(path: Path, error: OSError) -> TargetUnavailableError:
    return TargetUnavailableError(
        "the cassette cannot be written", where=str(path), found=error.strerror or str(error), action="make room, or choose another file"
    )
