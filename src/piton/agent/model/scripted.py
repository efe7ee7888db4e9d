"""A model that says what a script says: for demonstrations and tests, without a network.

The script is TOML: steps, taken in turn. A step with `when` is taken only by a request that holds this text, and waits for one.

```toml
[[step]]
answer = '''...'''

[[step]]
answer_file = "second.md"       # beside the script
tokens = [1200, 800]            # input, output; counted roughly when it is left out

[[step]]
error = "rate_limit"            # a kind of errors.py
retry_after_s = 2

[[step]]
when = "hazard: missing_sync"
repeat = true                   # stays, for every such request
answer = "..."
```
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from piton.agent.model.errors import (
    BadRequestError,
    ContextOverflowError,
    MalformedAnswerError,
    ModelError,
    QuotaError,
    RateLimitError,
    RefusedKeyError,
    ScriptEndedError,
    TimedOutError,
    UnavailableError,
    UnknownModelError,
)
from piton.agent.model.protocol import Answer, Finish, Request, Usage
from piton.catalog.toml_file import TomlForm, read_toml
from piton.core.errors import FormatError

_PASSING = {kind.kind: kind for kind in (RateLimitError, UnavailableError, TimedOutError, MalformedAnswerError)}
_LASTING = {kind.kind: kind for kind in (BadRequestError, ContextOverflowError, QuotaError, RefusedKeyError, UnknownModelError)}
_ROUGH_BYTES = 4
_Tokens = Annotated[int, Field(ge=0, le=1 << 40)]


class StepForm(TomlForm):
    """One step of a script."""

    answer: str | None = None
    answer_file: str | None = None
    error: str | None = None
    when: str = ""
    repeat: bool = False
    finish: Finish = Finish.DONE
    tokens: tuple[_Tokens, _Tokens] | None = None
    retry_after_s: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _says_one_thing(self) -> StepForm:
        if self.answer_file == "":
            raise ValueError("answer_file names a file")
        if sum(item is not None for item in (self.answer, self.answer_file, self.error)) != 1:
            raise ValueError("a step has either answer, answer_file or error")
        if self.error is not None and self.error not in {**_PASSING, **_LASTING}:
            raise ValueError(f"unknown error {self.error!r}: one of {', '.join(sorted({**_PASSING, **_LASTING}))}")
        return self


class ScriptForm(TomlForm):
    """A whole script."""

    step: list[StepForm] = Field(min_length=1)


class ScriptedModel:
    """Answers from a script; for any number of threads."""

    def __init__(self, path: Path) -> None:
        """Raises FormatError for a wrong script, and for a missing answer_file."""
        self._path = path
        self._lock = threading.Lock()
        self._steps = list(read_toml(path, ScriptForm).step)
        self._texts = {step.answer_file: self._read(step.answer_file) for step in self._steps if step.answer_file}

    @property
    def name(self) -> str:
        """The script's name."""
        return f"scripted:{self._path.name}"

    def ask(self, request: Request) -> Answer:
        """What the next step says. Raises its error, and ScriptEndedError when no step is left for this request."""
        text = "\n".join(item.text for item in request.messages)
        step = self._take(text)
        if step.error is not None:
            raise _error(step)
        said = step.answer if step.answer is not None else self._texts[step.answer_file or ""]
        usage = Usage(*step.tokens) if step.tokens else Usage(len(text.encode()) // _ROUGH_BYTES, len(said.encode()) // _ROUGH_BYTES)
        return Answer(said, step.finish, usage, self.name)

    def _take(self, text: str) -> StepForm:
        with self._lock:
            for index, step in enumerate(self._steps):
                if step.when in text:
                    if not step.repeat:
                        del self._steps[index]
                    return step
        raise ScriptEndedError("the script has no step left for this request", where=str(self._path), found=text[-200:], action="add a step to the script")

    def _read(self, name: str) -> str:
        try:
            return (self._path.parent / name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError("the answer_file of a step cannot be read", where=str(self._path.parent / name), found=str(error)) from error


def _error(step: StepForm) -> ModelError:
    said = "the script says so"
    if step.error in _PASSING:
        return _PASSING[step.error]("a scripted error", found=said, retry_after_s=step.retry_after_s)
    return _LASTING[step.error or ""]("a scripted error", found=said)
