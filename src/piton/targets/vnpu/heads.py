"""What a declaration is, by its first tokens.

Approach: a declaration is judged by its head, the tokens before its body or initialiser, with template parameters and attributes left out.
Limits: heuristics for code as people write it; nothing is looked up, so that a variable with arguments in parentheses counts as a function.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from piton.targets.vnpu.tokens import CLOSING, OPENING, Token, is_bracket

_TYPE_WORDS = frozenset({"class", "struct", "union", "enum"})
_BEFORE_TYPE = frozenset({"typedef", "static", "const", "constexpr", "inline", "extern", "volatile"})
_BEFORE_NAME = _TYPE_WORDS | _BEFORE_TYPE | {"alignas", "__attribute__", "__declspec"}
_AFTER_NAME = frozenset({"=", ";", ",", "[", "{", "("})
"""What can follow the name of a variable or alias."""
_NOT_A_FUNCTION = frozenset({"alignas", "__attribute__", "__declspec", "decltype", "noexcept"})
_LONGEST_HEAD = 300
"""Tokens that decide what a declaration is: the time a hostile file takes has to grow with its size only."""


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


def opens_scope(head: list[Token]) -> bool:
    """`namespace x {`, `inline namespace x {`, `extern "C" {`."""
    words = [token.text for token in head[:2]]
    if words[:1] == ["extern"]:
        return len(head) == 3 and head[1].kind == "string"
    return "namespace" in words[: 2 if words[0] == "inline" else 1]


def ends_with_body(tokens: list[Token], following: str) -> bool:
    """Is the declaration complete after this `}`: a function's body, and not a type, an initialiser or part of a constructor's list?"""
    if following in (",", "{") or (following == ";" and not is_function(tokens)):
        return False
    head = head_of(tokens)
    if is_type(head) or any(word.text in ("using", "typedef") for word in head[:1]):
        return False
    return is_function(tokens)


def is_macro_call(tokens: list[Token], following: str) -> bool:
    """`REGISTER(x)` without a semicolon, with the next declaration after it or the end of the namespace."""
    return len(tokens) > 2 and tokens[1].text == "(" and tokens[0].text.isupper() and (following[:1].isalpha() or following[:1] in ("_", "#", "", "}"))


def head_of(everything: list[Token]) -> list[Token]:
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
        if text in OPENING:
            nested += 1
        elif text in CLOSING:
            nested -= 1
        elif nested == 0 and text in "<>" and is_bracket(tokens, at):
            depth += 1 if text == "<" else -1
        if depth == 0:
            return at + 1
    return len(tokens)


def _after_brackets(tokens: list[Token], index: int) -> int:
    depth = 0
    for at in range(index, len(tokens)):
        depth += tokens[at].text in OPENING
        depth -= tokens[at].text in CLOSING
        if depth == 0:
            return at + 1
    return len(tokens)


def is_type(head: list[Token]) -> bool:
    words = [token for token in head if token.text not in _BEFORE_TYPE]
    return bool(words) and words[0].text in _TYPE_WORDS and call_at(head) is None


def call_at(head: list[Token]) -> int | None:
    """Index of the `(` after a function's name, before any body or initialiser; None when there is none."""
    depth = 0
    for index, token in enumerate(head):
        if depth == 0 and token.text in ("{", "=", ";"):
            return None
        if depth == 0 and token.text == "(" and index and _is_callable(head[index - 1]):
            return index
        depth += token.text in OPENING
        depth -= token.text in CLOSING
    return None


def _is_callable(token: Token) -> bool:
    """May a function's parameters follow this token (a name, or the end of `operator()` and its kin)?"""
    return (token.kind == "name" and token.text not in _NOT_A_FUNCTION) or token.text in (*CLOSING, *"<>=+-*/%!&|^~[")


def is_function(tokens: list[Token]) -> bool:
    head = head_of(tokens)
    return call_at(head) is not None or any(token.text == "operator" for token in head[:8])


def kind_of(tokens: list[Token], head: list[Token]) -> Kind:
    first = head[0].text if head else ""
    if first == "static_assert" or (tokens[0].text == "template" and len(tokens) > 1 and tokens[1].text != "<"):
        return Kind.CHECK
    if first == "namespace" or (first == "using" and len(head) > 1 and head[1].text == "namespace"):
        return Kind.SCOPE
    if first in ("using", "typedef") and not is_type(head):
        return Kind.ALIAS
    if is_type(head):
        return Kind.TYPE
    return Kind.FUNCTION if is_function(tokens) else Kind.VARIABLE


def names_of(kind: Kind, head: list[Token]) -> frozenset[str]:
    """What others can mention to mean this declaration."""
    if kind is Kind.FUNCTION:
        call = call_at(head)
        return frozenset({head[call - 1].text}) if call else frozenset({"operator"})
    if kind in (Kind.SCOPE, Kind.CHECK):
        return frozenset()
    if kind is Kind.TYPE:
        return _type_names(head)
    if kind is Kind.ALIAS and head[0].text == "typedef":
        return frozenset(token.text for token in head if token.kind == "name")
    return frozenset(token.text for token, following in _outside(head) if token.kind == "name" and following in _AFTER_NAME)


def _type_names(head: list[Token]) -> frozenset[str]:
    """The type's own name, that of a variable or alias declared with it, and what an enumeration lists."""
    if any(token.text == "enum" for token in head[:3]):
        return frozenset(token.text for token in head if token.kind == "name")
    outside = [token for token, _ in _outside(head)]
    closed = next((index for index, token in enumerate(outside) if token.text == "}"), len(outside))
    own = next((token.text for token in outside if token.kind == "name" and token.text not in _BEFORE_NAME), "")
    return frozenset({own, *(token.text for token in outside[closed:] if token.kind == "name")} - {""})


def _outside(tokens: list[Token]) -> Iterator[tuple[Token, str]]:
    """Those outside any bracket with the text that follows, brackets themselves included, without initialisers (`= 1` of `a = 1, b`)."""
    depth = arguments_end = 0
    is_value = False
    for index, token in enumerate(tokens):
        depth -= token.text in CLOSING
        if depth == 0 and index >= arguments_end:
            is_value = token.text == "=" or (is_value and token.text != ",")
            if not is_value:
                yield token, tokens[index + 1].text if index + 1 < len(tokens) else ""
            elif token.text == "<" and tokens[index - 1].kind == "name":
                arguments_end = _end_of_arguments(tokens, index)
        depth += token.text in OPENING


def _end_of_arguments(tokens: list[Token], index: int) -> int:
    """Index after the template arguments that begin at `index`; that of the next token where the `<` compares two numbers."""
    end = _after_angles(tokens, index)
    return end if end < len(tokens) else index + 1
