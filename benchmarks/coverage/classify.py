"""Why a kernel does not build, from what the compiler and linker said.

Approach: the kind of the first error counts, since later ones may follow from it; names are collected from all errors. A name is missing when our headers do
not have it and the operator's own files do not define it. Limits: a name that a third repository defines counts as missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from builder import Built


class Kind(str, Enum):
    """Classes of failures."""

    HEADER = "missing header"
    NAME = "missing name"
    FORM = "missing form"
    REFUSED = "refused by a header of ours"
    PARSE = "error inside our headers"
    THEIRS = "error in the operator's files"
    DEFINITION = "definition not read"
    LINK = "undefined symbol"
    TIMEOUT = "compile took too long"


@dataclass(frozen=True)
class Failure:
    """Why one build failed."""

    kind: Kind
    message: str
    names: tuple[str, ...] = ()


_ERROR = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_HEADER = re.compile(r"(?P<name>\S+): No such file or directory")
_NAMES = (
    re.compile(r"'(?P<name>[\w:]+)' was not declared in this scope"),
    re.compile(r"'(?P<name>[\w]+)' is not a member of '"),
    re.compile(r"'(?P<name>[\w]+)' in namespace '[\w:]+' does not name a (?:template )?type"),
    re.compile(r"'(?P<name>[\w]+)' does not name a (?:template )?type"),
    re.compile(r"'(?P<name>[\w]+)' in '(?:class|struct) [^']*' does not name a type"),
    re.compile(r"'(?P<name>[\w:]+)' has not been declared"),
    re.compile(r"'.*' has no member named '(?P<name>\w+)'"),
    re.compile(r"there are no arguments to '(?P<name>\w+)' that depend on a template parameter"),
    re.compile(r"'(?P<name>[\w:]+)' is not a (?:class|template|type)"),
    re.compile(r"no (?:type|template|class template) named '(?P<name>\w+)' in '"),
    re.compile(r"no class template named '(?P<name>\w+)'"),
)
_FORMS = (
    re.compile(r"no matching function for call to '(?P<name>[^']*)'"),
    re.compile(r"no match for (?:call to|'operator)"),
    re.compile(r"wrong number of template arguments"),
    re.compile(r"could not convert|cannot convert|invalid conversion|too (?:many|few)"),
)
_NESTED = re.compile(r"<[^<>]*>|\([^()]*\)")


def classify(built: Built, known: frozenset[str], ours: str) -> Failure:
    """`known` are the identifiers of our headers, `ours` their folder."""
    if built.is_timed_out:
        return Failure(Kind.TIMEOUT, "the compiler was not done in time")
    if built.undefined:
        return Failure(Kind.LINK, f"undefined: {built.undefined[0]}", tuple(_plain(item) for item in built.undefined[:5]))
    errors = list(_ERROR.finditer(built.output))
    if not errors:
        return Failure(Kind.THEIRS, built.output.strip()[-300:] or "no message")
    judged = [_judge(match["file"], match["text"], known, ours) for match in errors]
    first = next((item for item in judged if item.kind is not Kind.THEIRS), judged[0])
    names = dict.fromkeys(name for item in judged if item.kind in (Kind.HEADER, Kind.NAME, Kind.FORM) for name in item.names)
    return Failure(first.kind, first.message, tuple(names)[:40])


def _judge(file: str, text: str, known: frozenset[str], ours: str) -> Failure:
    if match := _HEADER.search(text):
        return Failure(Kind.HEADER, text, (match["name"],))
    for pattern in _NAMES:
        if (match := pattern.search(text)) and match["name"].rpartition("::")[2] not in known:
            return Failure(Kind.NAME, text, (match["name"].rpartition("::")[2],))
    for pattern in _FORMS:
        if match := pattern.search(text):
            name = _plain(match["name"]) if "name" in pattern.groupindex else ""
            return Failure(Kind.FORM, text, (f"{name}(...)",) if name else ())
    if text.startswith("static assertion failed"):
        return Failure(Kind.REFUSED, text) if file.startswith(ours) else Failure(Kind.THEIRS, text)
    for pattern in _NAMES:
        if match := pattern.search(text):
            return Failure(Kind.FORM, text, (f"{match['name'].rpartition('::')[2]} in this place",))
    return Failure(Kind.PARSE if file.startswith(ours) else Kind.THEIRS, text)


def _plain(call: str) -> str:
    """The bare name of a function in a message."""
    shown = call.replace("operator()", "operator_call")
    while (shorter := _NESTED.sub("", shown)) != shown:
        shown = shorter
    words = re.findall(r"[A-Za-z_~]\w*", shown.partition("(")[0].rpartition("::")[2] or shown)
    return words[-1] if words else call[:40]
