"""The device's part of a single-source file: what kernels need, and nothing of the host.

Problem: one file holds kernels, tiling, torch bindings and perhaps `main()`. The device library has no torch, must not run the host's constructors, and should
not wait for torch's headers.
Approach: of the declarations (declarations.py) those stay that are marked as device code, and what those mention by name, until nothing is added; all others
are blanked, line by line, so that every line keeps its number. Includes of torch go. Kernels are found by the launches that the host pass compiled
(launches.py): each is registered at the end of the file, which also instantiates a template.
Limits: an unmarked function that only host code calls is host code, one that device code calls by name is kept, as in a file without host code. Names are not
looked up: whatever has a name that device code mentions stays, unless it needs torch.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from piton.targets.vnpu.declarations import Declaration, Directive, Source, parse
from piton.targets.vnpu.heads import Kind
from piton.targets.vnpu.tokens import Token

HOST_HEADERS = re.compile(r"(?:torch|ATen|c10|torch_npu|pybind11)/|Python\.h$|piton_torch\.h$")
"""Headers that only host code can use."""
_HOST_SCOPES = frozenset({"torch", "at", "c10", "c10_npu", "at_npu", "torch_npu", "pybind11", "py"})
_HOST_NAMES = re.compile(r"(?:TORCH|AT|C10|PYBIND11)_[A-Z0-9_]+|Py[A-Z]\w+|PyInit_\w+")
MARKS = frozenset({"__aicore__", "__global__", "__host_aicore__", "__simd_vf__", "__simt_vf__", "__simd_callee__", "__simt_callee__"})
"""What marks a declaration as device code."""
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif", "else", "endif"})
_SPECIAL = frozenset({"operator", "constexpr"})


@dataclass(frozen=True)
class DeviceTexts:
    """The files of one unit as the device pass sees them."""

    texts: dict[str, str]
    """By path inside the submission; without `#line` directives."""
    host_names: frozenset[str]
    """Names of functions that were left out because they need torch."""


def cut(texts: Mapping[str, str], wanted: Iterable[str]) -> DeviceTexts:
    """The device's part of `texts` (rewritten sources by path); names in `wanted` are needed besides, such as those in the kernels that were launched."""
    sources = {path: parse(text) for path, text in texts.items()}
    macros = _macros(sources.values())
    marks = MARKS | _marking(macros)
    every = [item for source in sources.values() for item in _leaves(source.declarations)]
    mentioned = _reach(every, marks, macros, set(wanted))
    kept = {path: _blanked(texts[path], source, marks, mentioned) for path, source in sources.items()}
    left = frozenset(name for item in every if item.kind is Kind.FUNCTION and _needs_host(item) for name in item.names)
    return DeviceTexts(kept, left)


def is_host_include(directive: Directive) -> bool:
    """Is this the include of a header that the device pass does not have?"""
    return directive.word == "include" and HOST_HEADERS.match(include_name(directive)) is not None


def include_name(directive: Directive) -> str:
    """The header that an include names; empty for a computed one."""
    text = "".join(token.text for token in directive.tokens)
    return text[1:-1] if len(text) > 2 and text[0] in '<"' else ""


def _macros(sources: Iterable[Source]) -> dict[str, frozenset[str]]:
    """Names in the body of each macro."""
    found: dict[str, frozenset[str]] = {}
    for source in sources:
        for directive in source.directives:
            if directive.word == "define" and directive.tokens:
                name = directive.tokens[0].text
                found[name] = found.get(name, frozenset()) | frozenset(token.text for token in directive.tokens[1:] if token.kind == "name")
    return found


def _marking(macros: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Macros that expand to a mark, directly or through others."""
    marking: frozenset[str] = frozenset()
    while True:
        more = frozenset(name for name, body in macros.items() if body & (MARKS | marking))
        if more == marking:
            return marking
        marking = more


def _leaves(declarations: Iterable[Declaration]) -> Iterator[Declaration]:
    """Every declaration and member, a class before its members."""
    for item in declarations:
        yield item
        yield from _leaves(item.members)


def _reach(every: Sequence[Declaration], marks: frozenset[str], macros: Mapping[str, frozenset[str]], mentioned: set[str]) -> frozenset[str]:
    """Every name that kept declarations mention."""
    _expand(mentioned, macros)
    rest = list(every)
    while True:
        now = [item for item in rest if _is_kept(item, marks, mentioned)]
        if not now:
            return frozenset(mentioned)
        done = set(map(id, now))
        rest = [item for item in rest if id(item) not in done]
        for item in now:
            mentioned.update(token.text for token in item.tokens if token.kind == "name")
        _expand(mentioned, macros)


def _expand(mentioned: set[str], macros: Mapping[str, frozenset[str]]) -> None:
    """Add what mentioned macros mention."""
    waiting = [name for name in mentioned if name in macros]
    while waiting:
        added = macros[waiting.pop()] - mentioned
        mentioned.update(added)
        waiting += [name for name in added if name in macros]


def _is_kept(item: Declaration, marks: frozenset[str], mentioned: set[str] | frozenset[str]) -> bool:
    if any(token.text in marks for token in item.tokens):
        return True
    if _needs_host(item) or item.kind is Kind.CHECK:
        return item.is_member and item.kind is Kind.CHECK and not _needs_host(item)
    if item.kind is Kind.SCOPE:
        return True
    if item.is_member:
        return _is_member_kept(item, mentioned)
    if item.kind is Kind.TYPE and any(token.text in marks for member in _leaves(item.members) for token in member.tokens):
        return True
    return not item.names.isdisjoint(mentioned)


def _is_member_kept(item: Declaration, mentioned: set[str] | frozenset[str]) -> bool:
    """Data, types and constructors stay, since the layout of a class is one thing for host and device; a function stays when somebody may call it."""
    if item.kind is not Kind.FUNCTION or not item.has_body:
        return True
    is_special = any(token.text in _SPECIAL for token in item.tokens[:8])
    return is_special or not item.names.isdisjoint(mentioned)


def _needs_host(item: Declaration) -> bool:
    """Does it mention torch? For a class only its head counts: its members are judged one by one."""
    tokens = item.tokens
    for index, token in enumerate(tokens):
        if token.kind != "name":
            continue
        is_scope = token.text in _HOST_SCOPES and (_is_scope(tokens, index + 1) or _is_using(tokens, index))
        if is_scope or _HOST_NAMES.fullmatch(token.text):
            return True
    return False


def _is_scope(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].text == "::"


def _is_using(tokens: Sequence[Token], index: int) -> bool:
    return index > 0 and tokens[index - 1].text == "namespace"


def _blanked(text: str, source: Source, marks: frozenset[str], mentioned: frozenset[str]) -> str:
    """`text` without what is not kept; directives stay, but includes of torch."""
    kept_lines = [(item.start, item.end) for item in source.directives if not is_host_include(item)]
    dropped = [*_dropped(source.declarations, marks, mentioned), *((item.start, item.end) for item in source.directives if is_host_include(item))]
    pieces: list[str] = []
    at = 0
    for start, end in sorted(dropped):
        if start < at:
            continue
        pieces += [text[at:start], _blank(text, start, end, kept_lines)]
        at = end
    return "".join([*pieces, text[at:]])


def _dropped(declarations: Sequence[Declaration], marks: frozenset[str], mentioned: frozenset[str]) -> Iterator[tuple[int, int]]:
    for item in declarations:
        if not _is_kept(item, marks, mentioned):
            yield item.start, item.end
        else:
            yield from _dropped(item.members, marks, mentioned)


def _blank(text: str, start: int, end: int, directives: Sequence[tuple[int, int]]) -> str:
    """Newlines of [start, end), and the directives in it."""
    pieces: list[str] = []
    at = start
    for low, high in _within(directives, start, end):
        pieces += ["\n" * text.count("\n", at, low), text[low:high]]
        at = high
    return "".join([*pieces, "\n" * text.count("\n", at, end)])


def _within(directives: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    first = bisect_left(directives, (start, start))
    last = bisect_left(directives, (end, end))
    return list(directives[first:last])
