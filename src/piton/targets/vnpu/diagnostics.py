"""What a compiler or linker said, mapped to the user's file and line, and what became of the build.

Problem: an error may lie in our headers (an unsupported element type), in a macro's definition, or name an API that the virtual NPU does not have; the reader
wants their own line.
Approach: g++'s plain output has one line per message, led by its place, and names the places that asked for it: instantiations before the message, expanded
macros after it, includes at the top. Rewritten sources carry `#line` directives, so that places are paths inside the submission. Whether an API is missing
is decided by the token at the error's place.
Limits: messages are kept for people and not interpreted, but for those of our own headers: refused element types get a cause of their own, and the few that
speak of our machinery (launches) are put into the user's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from piton.core.execution import Diagnostic
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.vnpu.api_names import API_NAMES, VENDOR_HEADERS
from piton.targets.vnpu.device_functions import refusal

_PLACE = r"(?P<file>[^\s:][^:\n]*):(?P<line>\d+)"
_MESSAGE = re.compile(rf"^{_PLACE}:(?:(?P<column>\d+):)?\s+(?P<severity>fatal error|error|warning|note):\s*(?P<text>.*)$")
_CONTEXT = re.compile(rf"^{_PLACE}:(?:\d+:)?\s+(?:(?:recursively )?required (?:from|by|for)\b|in 'constexpr' expansion of)")
_INCLUDED = re.compile(rf"^(?P<first>In file included from|\s+from) {_PLACE}")
_INLINED = re.compile(rf"^\s*inlined from .* at {_PLACE}:")
_EXPANSION = re.compile(r"in expansion of macro '(?P<macro>\w+)'")
_LINKED = re.compile(rf"^(?:\S*ld(?:\.\w+)?: )?{_PLACE}: (?:warning: )?(?:undefined reference to|multiple definition of) [`'](?P<symbol>.+?)'(?:;|$)")
_BUILD_FOLDER = re.compile(r"(?:\./)?(?:work/[0-9a-f]{64}/)?(?:\./)?(?:src/)?")
"""What debug information puts before a source's name: the folder of the compile and that of the sources, relative to the build's."""
_UNDEFINED = re.compile(r"undefined reference to [`'](?P<symbol>.+)'\s*$", re.MULTILINE)
_TWICE = re.compile(r"multiple definition of [`'](?P<symbol>.+?)'(?:;|$)", re.MULTILINE)
_ACL = re.compile(r"acl(?:[a-z]{2,4})?[A-Z]\w*|ACL_\w+")
"""Names of the vendor's runtime and library interfaces."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"](?P<header>[^>\"]+)[>\"]")
_LAUNCH = r"piton::Launch<piton::\{anonymous\}::ThisUnit, void \(\*\)\((?P<takes>.*?)\), (?P<kernel>.+?) ?>"
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"no match for call to '\({_LAUNCH}\) \((?P<passes>.*)\)'"), r"the launch of \g<kernel> passes (\g<passes>), the kernel takes (\g<takes>)"),
    (
        re.compile(rf"no matching function for call to '{_LAUNCH}::Launch\((?P<passes>.*)\)'"),
        r"the launch of \g<kernel> is configured with <<<\g<passes>>>>, expected <<<blocks, L2 descriptor or nullptr, stream>>>",
    ),
    (
        re.compile(r"(?P<header>\S+): No such file or directory"),
        r"\g<header> was not found: looked for it beside the file, in the operator's folders, in csrc and in the root",
    ),
    (
        re.compile(r"'\+\*.+' is not a valid template argument for type '(?:const )?void \(\*\)\(.*"),
        "a launch through a pointer that is known only at run time: name the kernel before <<<, or hand it on as a template argument",
    ),
    (re.compile(r"call to '.*' declared with attribute warning: (?P<text>.*)"), r"\g<text>"),
)
"""Messages that a user cannot read or act on, and what they mean."""
_REFUSED_TYPE = re.compile(r"static assertion failed: \w+ does not support .+ on the Ascend ")
"""The words of our headers' own assertions about element types (vector.h, cast.h); in a submission's own assertion they mean nothing."""
_SHOWN_SYMBOLS = 5

Spot = tuple[str, int]
"""File and line."""
IsUserFile = Callable[[str], bool]


@dataclass(frozen=True)
class Message:
    """One message of g++: for the user, and as the compiler placed it."""

    diagnostic: Diagnostic
    """With the place in the user's sources that caused it."""
    spot: Spot
    """Where the compiler found it."""
    column: int
    is_own: bool
    """True when that is in the submission itself, not in a header of ours or the system's."""


def parse_compiler(text: str, is_user_file: IsUserFile) -> list[Message]:
    """The messages of one g++ run with plain output.

    A message in a macro gets the place where the macro is used; one in a foreign header the innermost place in a user's file that asked for it, or that
    includes the header.
    """
    reader = _Reader(is_user_file)
    for line in text.splitlines():
        reader.read(line)
    return reader.messages


class _Reader:
    """Reads line by line; knows what was said before a message about who asked for it."""

    def __init__(self, is_user_file: IsUserFile) -> None:
        self.messages: list[Message] = []
        self._is_user_file = is_user_file
        self._asked: Spot | None = None
        self._included: Spot | None = None

    def read(self, line: str) -> None:
        """Take one line."""
        if match := _INCLUDED.match(line):
            kept = None if match["first"].startswith("In") else self._included
            self._included = kept or self._user_spot(match)
        elif match := _CONTEXT.match(line) or _INLINED.match(line):
            self._asked = self._asked or self._user_spot(match)
        elif match := _MESSAGE.match(line):
            expansion = _EXPANSION.search(match["text"])
            if match["severity"] == "note" and expansion is not None:
                self._move_to_use(expansion["macro"], self._user_spot(match))
            else:
                self._add(match)

    def _user_spot(self, match: re.Match[str]) -> Spot | None:
        return (match["file"], int(match["line"])) if self._is_user_file(match["file"]) else None

    def _add(self, match: re.Match[str]) -> None:
        own = self._user_spot(match)
        spot = (match["file"], int(match["line"]))
        file, line = own or self._asked or self._included or spot
        self._asked = None
        self._included = self._included if own is None else None  # said again before the next message that lies in a header
        diagnostic = Diagnostic(file=file, line=line, severity=_severity(match["severity"]), message=_in_words(match["text"]))
        self.messages.append(Message(diagnostic, spot, int(match["column"] or 0), own is not None))

    def _move_to_use(self, macro: str, use: Spot | None) -> None:
        """The last message lies in `macro`: its place for the user is the outermost use, which is named last."""
        if use is None or not self.messages:
            return
        last = self.messages[-1]
        defined = f", defined at {last.spot[0]}:{last.spot[1]}" if last.is_own else ""
        text = last.diagnostic.message if "(in macro" in last.diagnostic.message else f"{last.diagnostic.message} (in macro {macro}{defined})"
        self.messages[-1] = replace(last, diagnostic=last.diagnostic.model_copy(update={"file": use[0], "line": use[1], "message": text}))


def _severity(word: str) -> Literal["error", "warning", "note"]:
    if word == "warning":
        return "warning"
    return "note" if word == "note" else "error"


def _in_words(text: str) -> str:
    for pattern, words in _WORDS:
        match = pattern.fullmatch(text)
        if match:
            return match.expand(words)
    return text


def judge_compile(messages: list[Message], line_of: Callable[[str, int], str], known: frozenset[str], raw: str) -> Outcome:
    """The outcome of a compile that failed.

    `line_of` gives a line of the rewritten text of a user's file; `known` holds every name that our headers use; `raw` is the compiler's output.
    """
    errors = [message for message in messages if message.diagnostic.severity == "error"]
    if not errors:
        return outcome(Cause.COMPILE_ERROR, f"the compiler failed without a message: {raw.strip()[-400:] or 'no output'}")
    error = errors[0]
    place = Place(file=error.diagnostic.file, line=error.diagnostic.line)
    missing = _missing_api(line_of(*error.spot), error.column, known) if error.is_own else None
    if missing:
        text = f"{missing} is not part of the virtual NPU's {'runtime' if _ACL.fullmatch(missing) else 'Ascend C'} (not supported yet, or misspelt)"
        return outcome(Cause.UNSUPPORTED_API, text, place=place.model_copy(update={"instruction": missing}), api=missing)
    cause = Cause.UNSUPPORTED_DTYPE if not error.is_own and _REFUSED_TYPE.match(error.diagnostic.message) else Cause.COMPILE_ERROR
    return outcome(cause, error.diagnostic.message, place=place, errors=len(errors))


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


def judge_link(symbols: Iterable[str], raw: str, is_user_file: IsUserFile = lambda _file: False, *, is_device: bool = False) -> Outcome:
    """The outcome of a link that failed or left `symbols` undefined; `raw` is the linker's output, with demangled symbols and the lines that use them."""
    names = list(symbols)
    refused = _refused(names, raw, is_user_file) if is_device else None
    if refused is not None:
        return refused
    twice = [match["symbol"] for match in _TWICE.finditer(raw)]
    if not names and not twice:
        return outcome(Cause.LINK_ERROR, f"the linker failed: {raw.strip()[-400:] or 'no output'}")
    chosen = names or list(dict.fromkeys(twice))
    spots = list(dict.fromkeys(_link_spots(raw, chosen[0], is_user_file)))
    place = Place(file=spots[0][0], line=spots[0][1]) if spots else Place()
    text = _undefined_text(names) if names else _twice_text(chosen, spots)
    return outcome(Cause.LINK_ERROR, text, place=place, symbol=chosen[0], symbols=len(chosen))


def _refused(names: list[str], raw: str, is_user_file: IsUserFile) -> Outcome | None:
    """The outcome of device code that calls a function of the machine's libraries."""
    name = next((name for name in names if refusal(name)), None)
    if name is None:
        return None
    file, line = next(_link_spots(raw, name, is_user_file), ("", 0))
    text = refusal(name) or ""
    return outcome(Cause.UNSUPPORTED_API, text, place=Place(file=file, line=line, instruction=name), api=name, symbols=len(names))


def _link_spots(raw: str, symbol: str, is_user_file: IsUserFile) -> Iterator[Spot]:
    """Lines of the user's sources that the linker names for `symbol`."""
    for line in raw.splitlines():
        match = _LINKED.match(line)
        file = _BUILD_FOLDER.sub("", match["file"], count=1) if match else ""
        if match and match["symbol"] == symbol and is_user_file(file):
            yield file, int(match["line"])


def _undefined_text(names: list[str]) -> str:
    advice = "define it under op_kernel/ or op_plugin/ of this operator, or inline in a header; other .cpp files are not part of it"
    if _ACL.match(names[0]):
        advice = "it is not part of the virtual NPU's host runtime"
    elif names[0].partition("(")[0].split(" ")[-1].startswith(("at::", "c10::", "torch::", "c10_npu::", "at_npu::")):
        advice = "the installed torch (and what stands in for torch_npu) does not have it"
    return f"declared and used, but defined in no source of this operator: {_listed(names)}; {advice}"


def _twice_text(names: list[str], spots: list[Spot]) -> str:
    where = f" (one at {spots[0][0]}:{spots[0][1]})" if spots else ""
    return f"defined in more than one source of this operator: {_listed(names)}{where}; make all but one static or inline, or put it into one source"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN_SYMBOLS]) + (f" and {len(names) - _SHOWN_SYMBOLS} more" if len(names) > _SHOWN_SYMBOLS else "")
