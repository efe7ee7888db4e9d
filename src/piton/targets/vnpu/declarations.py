"""A C++ source as a tree of declarations, without a compiler.

Problem: host and device code stand in one file, and the device pass must see the latter only.
Approach: one pass over the tokens finds where each declaration at namespace scope ends, opens classes into their members, and notes what a declaration names
and mentions. Directives are no part of it; of alternatives (`#if ... #else`) each begins at the depth of the first, so that a brace in each counts once.
Limits: nothing is preprocessed or looked up, so that names stand for all things of that name; macros that open or close braces are not understood.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from piton.targets.vnpu.heads import Kind, ends_with_body, head_of, is_macro_call, kind_of, names_of, opens_scope
from piton.targets.vnpu.tokens import CLOSING, OPENING, Token, tokens_of

_DEEPEST = 8
"""Classes inside one another that are opened; beyond, a class is kept or left as a whole."""
_ACCESS = frozenset({"public", "private", "protected"})


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
        if token.text in OPENING and token.kind == "other":
            self._nested.append(token.text)
            if len(self._nested) == 1 and token.text == "{" and opens_scope(self._current):
                self._drop_current()
        elif token.text in CLOSING and token.kind == "other":
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
        if self._nested:
            return
        if (token.text == "}" and ends_with_body(self._current, following)) or (token.text == ")" and is_macro_call(self._current, following)):
            self._finish()

    def _finish(self) -> None:
        if self._current:
            self._found.append(_declaration(self._current, self._inner, self._depth))
        self._drop_current()


def _declaration(tokens: list[Token], inner: list[Token | Directive], depth: int) -> Declaration:
    head = head_of(tokens)
    kind = kind_of(tokens, head)
    made = Declaration(kind, tokens[0].start, tokens[-1].end, names_of(kind, head), tokens, is_member=depth > 0)
    if kind is Kind.TYPE and depth < _DEEPEST and not any(token.text == "enum" for token in head[:3]):
        _open_type(made, inner, depth + 1)
    return made


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
