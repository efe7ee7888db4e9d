"""A C++ source as a tree of declarations, without a compiler.

Problem: host and device code stand in one file, and the device pass must see the latter only.
Approach: one pass over the tokens finds where each declaration at namespace scope ends, opens classes into their members, and notes what a declaration names
and mentions. Directives are no part of it; of alternatives (`#if ... #else`) each begins at the depth of the first, so that a brace in each counts once.
Limits: nothing is preprocessed or looked up, so that names stand for all things of that name; macros that open or close braces are not understood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from piton.targets.vnpu.tokens import Token, tokens_of

_OPEN, _CLOSE = "([{", ")]}"
_TYPE_WORDS = frozenset({"class", "struct", "union", "enum"})
_BEFORE_TYPE = frozenset({"typedef", "static", "const", "constexpr", "inline", "extern", "volatile"})
_NOT_A_FUNCTION = frozenset({"alignas", "__attribute__", "__declspec", "decltype", "noexcept"})
_DEEPEST = 8
"""Classes inside one another that are opened; beyond, a class is kept or left as a whole."""
_LONGEST_HEAD = 1000
"""Tokens that decide what a declaration is: the time a hostile file takes has to grow with its size only."""
_ACCESS = frozenset({"public", "private", "protected"})


class Kind(str, Enum):
    """What a declaration is, as far as it matters here."""

    FUNCTION = "function"
    TYPE = "type"
    VARIABLE = "variable"
    ALIAS = "alias"
    SCOPE = "scope"
    """`using namespace`, a namespace alias."""
    CHECK = "check"
    """static_assert, explicit instantiation: no code needs it."""


@dataclass
class Declaration:
    """One declaration; offsets into the text."""

    kind: Kind
    start: int
    end: int
    names: frozenset[str]
    tokens: list[Token]
    """Those of the declaration, for a type that was opened those outside its body."""
    members: list[Declaration] = field(default_factory=list)
    is_member: bool = False

    @property
    def has_body(self) -> bool:
        """For a function: is it defined here?"""
        return bool(self.tokens) and self.tokens[-1].text == "}"


@dataclass(frozen=True)
class Directive:
    """One preprocessor line with its continuations."""

    word: str
    """Such as `include`; empty for `#` alone."""
    tokens: tuple[Token, ...]
    """After the word."""
    start: int
    end: int


@dataclass(frozen=True)
class Source:
    """A parsed text."""

    declarations: list[Declaration]
    directives: list[Directive]


def parse(text: str) -> Source:
    """The declarations at namespace scope, in order, whatever namespace they are in, and the directives."""
    directives, code = _split_directives(text)
    return Source(_Parser(code).run(), directives)


def _split_directives(text: str) -> tuple[list[Directive], list[Token | Directive]]:
    """Directives, and everything in order with the tokens of directives put together."""
    tokens = tokens_of(text)
    directives: list[Directive] = []
    code: list[Token | Directive] = []
    index = 0
    while index < len(tokens):
        if not _begins_line(text, tokens, index):
            code.append(tokens[index])
            index += 1
            continue
        end = _end_of_line(text, tokens[index].start)
        last = index
        while last < len(tokens) and tokens[last].start < end:
            last += 1
        directives.append(_directive(tokens[index:last], max(end, tokens[last - 1].end)))
        code.append(directives[-1])
        index = last
    return directives, code


def _begins_line(text: str, tokens: list[Token], index: int) -> bool:
    if tokens[index].text != "#":
        return False
    line = text.rfind("\n", 0, tokens[index].start) + 1
    return index == 0 or tokens[index - 1].end <= line


def _end_of_line(text: str, start: int) -> int:
    """Offset of the newline that ends the logical line."""
    end = text.find("\n", start)
    while end > 0 and (text[end - 1] == "\\" or text[end - 2 : end] == "\\\r"):
        end = text.find("\n", end + 1)
    return len(text) if end < 0 else end


def _directive(tokens: list[Token], end: int) -> Directive:
    word = tokens[1].text if len(tokens) > 1 else ""
    return Directive(word, tuple(tokens[2:]), tokens[0].start, end)


class _Parser:
    """Cuts a sequence of tokens into declarations; `is_member` inside a class."""

    def __init__(self, code: list[Token | Directive], depth: int = 0) -> None:
        """`depth` is the number of classes around the code."""
        self._code = code
        self._depth = depth
        self._found: list[Declaration] = []
        self._current: list[Token] = []
        self._inner: list[Token | Directive] = []
        self._nested: list[str] = []
        self._saved: list[list[str]] = []

    def run(self) -> list[Declaration]:
        """Every declaration; an unfinished one at the end counts too."""
        for item, following in zip(self._code, self._following(), strict=True):
            if isinstance(item, Directive):
                self._branch(item)
            else:
                self._take(item, following)
        self._finish()
        return self._found

    def _following(self) -> list[str]:
        """For each place the text of the next token after it."""
        texts: list[str] = []
        text = ""
        for item in reversed(self._code):
            texts.append(text)
            text = item.text if isinstance(item, Token) else text
        return texts[::-1]

    def _branch(self, directive: Directive) -> None:
        if self._current:
            self._inner.append(directive)
        if directive.word in ("if", "ifdef", "ifndef"):
            self._saved.append(list(self._nested))
        elif directive.word in ("else", "elif") and self._saved:
            self._nested = list(self._saved[-1])
        elif directive.word == "endif" and self._saved:
            self._saved.pop()

    def _take(self, token: Token, following: str) -> None:
        if not self._current and self._is_between(token):
            return
        self._current.append(token)
        self._inner.append(token)
        if token.text in _OPEN and token.kind == "other":
            self._nested.append(token.text)
            if len(self._nested) == 1 and token.text == "{" and _opens_scope(self._current):
                self._drop_current()
        elif token.text in _CLOSE and token.kind == "other":
            self._close(token, following)
        elif not self._nested and (token.text == ";" or (token.text == ":" and self._is_access())):
            self._finish()

    def _is_between(self, token: Token) -> bool:
        """Between two declarations: the end of a namespace, a stray semicolon."""
        return token.text in ("}", ";")

    def _is_access(self) -> bool:
        if len(self._current) == 2 and self._current[0].text in _ACCESS:
            self._drop_current()
        return False

    def _drop_current(self) -> None:
        self._current, self._inner, self._nested = [], [], []

    def _close(self, token: Token, following: str) -> None:
        if self._nested:
            self._nested.pop()
        if token.text == "}" and not self._nested and _ends_with_body(self._current, following):
            self._finish()

    def _finish(self) -> None:
        if self._current:
            self._found.append(_declaration(self._current, self._inner, self._depth))
        self._drop_current()


def _opens_scope(head: list[Token]) -> bool:
    """`namespace x {`, `inline namespace x {`, `extern "C" {`."""
    words = [token.text for token in head[:-1]]
    if words and words[0] == "inline":
        words = words[1:]
    return words[:1] == ["namespace"] or (words[:1] == ["extern"] and len(words) == 2 and head[-2].kind == "string")


def _ends_with_body(tokens: list[Token], following: str) -> bool:
    """Is the declaration complete after this `}`: a function's body, and not a type, an initialiser or part of a constructor's list?"""
    if following in (",", "{") or (following == ";" and not _is_function(tokens)):
        return False
    head = _head(tokens)
    if _is_type(head) or any(word.text in ("using", "typedef") for word in head[:1]):
        return False
    return _is_function(tokens)


def _head(everything: list[Token]) -> list[Token]:
    """The first tokens, without leading template parameters and attributes."""
    tokens = everything[:_LONGEST_HEAD]
    index = 0
    while index < len(tokens):
        if tokens[index].text == "template":
            index = _after_angles(tokens, index + 1)
        elif tokens[index].text == "[":
            index = _after_brackets(tokens, index)
        else:
            break
    return tokens[index:]


def _after_angles(tokens: list[Token], index: int) -> int:
    """Index after the `<...>` that begins at `index`; `index` when there is none."""
    if index >= len(tokens) or tokens[index].text != "<":
        return index
    depth, nested = 0, 0
    for at in range(index, len(tokens)):
        text = tokens[at].text
        if text in _OPEN:
            nested += 1
        elif text in _CLOSE:
            nested -= 1
        elif nested == 0 and text in "<>":
            depth += 1 if text == "<" else -1
        if depth == 0:
            return at + 1
    return len(tokens)


def _after_brackets(tokens: list[Token], index: int) -> int:
    depth = 0
    for at in range(index, len(tokens)):
        depth += tokens[at].text in _OPEN
        depth -= tokens[at].text in _CLOSE
        if depth == 0:
            return at + 1
    return len(tokens)


def _is_type(head: list[Token]) -> bool:
    words = [token for token in head if token.text not in _BEFORE_TYPE]
    return bool(words) and words[0].text in _TYPE_WORDS and _call_at(head) is None


def _call_at(head: list[Token]) -> int | None:
    """Index of the `(` after a function's name, before any body or initialiser; None when there is none."""
    depth = 0
    for index, token in enumerate(head):
        if depth == 0 and token.text in ("{", "=", ";"):
            return None
        if depth == 0 and token.text == "(" and index and _is_callable(head[index - 1]):
            return index
        depth += token.text in _OPEN
        depth -= token.text in _CLOSE
    return None


def _is_callable(token: Token) -> bool:
    """May a function's parameters follow this token (a name, or the end of `operator()` and its kin)?"""
    return (token.kind == "name" and token.text not in _NOT_A_FUNCTION) or token.text in (*_CLOSE, *"<>=+-*/%!&|^~[")


def _is_function(tokens: list[Token]) -> bool:
    head = _head(tokens)
    return _call_at(head) is not None or any(token.text == "operator" for token in head[:8])


def _declaration(tokens: list[Token], inner: list[Token | Directive], depth: int) -> Declaration:
    head = _head(tokens)
    kind = _kind(tokens, head)
    made = Declaration(kind, tokens[0].start, tokens[-1].end, _names(kind, head), tokens, is_member=depth > 0)
    if kind is Kind.TYPE and depth < _DEEPEST and not any(token.text == "enum" for token in head[:3]):
        _open_type(made, inner, depth + 1)
    return made


def _kind(tokens: list[Token], head: list[Token]) -> Kind:
    first = head[0].text if head else ""
    if first == "static_assert" or (tokens[0].text == "template" and len(tokens) > 1 and tokens[1].text != "<"):
        return Kind.CHECK
    if first == "namespace" or (first == "using" and len(head) > 1 and head[1].text == "namespace"):
        return Kind.SCOPE
    if first in ("using", "typedef") and not _is_type(head):
        return Kind.ALIAS
    if _is_type(head):
        return Kind.TYPE
    return Kind.FUNCTION if _is_function(tokens) else Kind.VARIABLE


def _names(kind: Kind, head: list[Token]) -> frozenset[str]:
    if kind is Kind.FUNCTION:
        call = _call_at(head)
        return frozenset({head[call - 1].text}) if call else frozenset({"operator"})
    if kind in (Kind.SCOPE, Kind.CHECK):
        return frozenset()
    if kind is Kind.TYPE and any(token.text == "enum" for token in head[:3]):
        return frozenset(token.text for token in head if token.kind == "name")
    return frozenset(token.text for token in _outside(head) if token.kind == "name" and token.text not in _TYPE_WORDS | _BEFORE_TYPE)


def _outside(tokens: list[Token]) -> Iterator[Token]:
    """Those outside any bracket, up to an initialiser."""
    depth = 0
    for token in tokens:
        if depth == 0 and token.text == "=":
            return
        depth += token.text in _OPEN
        if depth == 0:
            yield token
        depth -= token.text in _CLOSE


def _open_type(made: Declaration, inner: list[Token | Directive], depth: int) -> None:
    """Replace the body of a class by its members."""
    opened = next((index for index, item in enumerate(inner) if isinstance(item, Token) and item.text == "{"), None)
    closed = next((index for index in range(len(inner) - 1, -1, -1) if isinstance(inner[index], Token) and _text(inner[index]) == "}"), None)
    if opened is None or closed is None or closed <= opened:
        return
    made.members = _Parser(inner[opened + 1 : closed], depth).run()
    made.tokens = [item for item in (*inner[: opened + 1], *inner[closed:]) if isinstance(item, Token)]


def _text(item: Token | Directive) -> str:
    return item.text if isinstance(item, Token) else ""
