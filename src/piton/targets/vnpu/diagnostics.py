"""What a compiler or linker said, mapped to the user's file and line, and what became of the build.

Problem: an error may lie in our headers (an unsupported element type) or name an API that the virtual NPU does not have; the reader wants their own line.
Approach: g++'s plain output has one line per message, led by its place, and leads up to an error in a template, or to a warning in an inlined function, with
the places that asked for it. Rewritten
sources carry `#line` directives, so that places are paths inside the submission. Whether an API is missing is decided by the token at the error's place.
Limits: messages are kept for people and never interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from piton.core.execution import Diagnostic
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.vnpu.api_names import API_NAMES, VENDOR_HEADERS

_MESSAGE = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)?\s+(?P<severity>fatal error|error|warning|note):\s*(?P<text>.*)$")
_CONTEXT = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)?\s+(?:recursively )?required (?:from|by)\b")
_INLINED = re.compile(r"^\s*inlined from .* at (?P<file>[^\s:][^:\n]*):(?P<line>\d+):")
_ATTRIBUTE = re.compile(r"^call to .* declared with attribute warning: ")
_UNDEFINED = re.compile(r"undefined reference to [`'](?P<symbol>[^'`]+)'")
_ACL = re.compile(r"acl(?:[a-z]{2,4})?[A-Z]\w*|ACL_\w+")
"""Names of the vendor's runtime and library interfaces."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"](?P<header>[^>\"]+)[>\"]")


@dataclass(frozen=True)
class Message:
    """One message of g++ with the column it points at, and its place in the user's sources."""

    diagnostic: Diagnostic
    column: int
    is_own: bool
    """True when the compiler found it in the submission itself, not in a header of ours or the system's."""


def parse_compiler(text: str, is_user_file: Callable[[str], bool]) -> list[Message]:
    """The messages of one g++ run with plain output.

    A message in a foreign header gets the innermost place in a user's file that asked for it.
    """
    messages: list[Message] = []
    asked: tuple[str, int] | None = None
    for line in text.splitlines():
        context = _CONTEXT.match(line) or _INLINED.match(line)
        if context and asked is None and is_user_file(context["file"]):
            asked = (context["file"], int(context["line"]))
        match = _MESSAGE.match(line)
        if match is None:
            continue
        messages.append(_message(match, asked, is_user_file(match["file"])))
        asked = None
    return messages


def _message(match: re.Match[str], asked: tuple[str, int] | None, is_own: bool) -> Message:
    file, line = (match["file"], int(match["line"])) if is_own or asked is None else asked
    diagnostic = Diagnostic(file=file, line=line, severity=_severity(match["severity"]), message=_ATTRIBUTE.sub("", match["text"]))
    return Message(diagnostic, int(match["column"] or 0), is_own)


def _severity(word: str) -> Literal["error", "warning", "note"]:
    if word == "warning":
        return "warning"
    return "note" if word == "note" else "error"


def judge_compile(messages: list[Message], line_of: Callable[[str, int], str], known: frozenset[str], raw: str) -> Outcome:
    """The outcome of a compile that failed.

    `line_of` gives a line of the rewritten text of a user's file; `known` holds every name that our headers use; `raw` is the compiler's output.
    """
    errors = [message for message in messages if message.diagnostic.severity == "error"]
    if not errors:
        return outcome(Cause.COMPILE_ERROR, f"the compiler failed without a message: {raw.strip()[-400:] or 'no output'}")
    error = errors[0]
    place = Place(file=error.diagnostic.file, line=error.diagnostic.line)
    missing = _missing_api(line_of(place.file, place.line), error.column, known) if error.is_own else None
    if missing:
        text = f"{missing} is not part of the virtual NPU's {'runtime' if _ACL.fullmatch(missing) else 'Ascend C'} (not supported yet, or misspelt)"
        return outcome(Cause.UNSUPPORTED_API, text, place=place.model_copy(update={"instruction": missing}), api=missing)
    return outcome(Cause.COMPILE_ERROR, error.diagnostic.message, place=place, errors=len(errors))


def _missing_api(line: str, column: int, known: frozenset[str]) -> str | None:
    """The API name or vendor's header that `line` has at `column` (from 1) and our headers lack."""
    include = _INCLUDE.match(line)
    if include:
        return include["header"] if include["header"].startswith(VENDOR_HEADERS) else None
    word = next((match for match in _WORD.finditer(line) if match.start() < column <= match.end()), None)
    if word is None or word.group() in known:
        return None
    is_qualified = re.search(r"\bAscendC\s*::\s*\Z", line[: word.start()]) is not None
    is_known = word.group() in API_NAMES or _ACL.fullmatch(word.group()) is not None
    return word.group() if is_qualified or is_known else None


def undefined_symbols(text: str) -> list[str]:
    """Symbols that a linker run reported as undefined, each once, in order."""
    return list(dict.fromkeys(match["symbol"] for match in _UNDEFINED.finditer(text)))


def judge_link(symbols: Iterable[str], raw: str) -> Outcome:
    """The outcome of a link that failed or left `symbols` undefined."""
    names = list(symbols)
    if not names:
        return outcome(Cause.LINK_ERROR, f"the linker failed: {raw.strip()[-400:] or 'no output'}")
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return outcome(Cause.LINK_ERROR, f"declared and used, but defined in no source of this operator: {shown}", symbol=names[0], symbols=len(names))
