"""C++ text as tokens: comments and white space left out, nothing preprocessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

OPENING, CLOSING = "([{", ")]}"
_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
    |(?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z))
    |(?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"?)
    |(?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[0-9A-Za-z_.])*)
    |(?P<character>(?:u8|[uUL])?'(?:\\.|[^'\\\n])*'?)
    |(?P<name>[^\W\d]\w*)
    |(?P<scope>::|\#\#)
    |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """One token; offsets into the text."""

    kind: str
    text: str
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """Every token of `text`, in order; what never ends goes to the end of its line or of the text."""
    found = (Token(match.lastgroup or "other", match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text))
    return [token for token in found if token.kind != "skip"]


def is_bracket(tokens: Sequence[Token], index: int) -> bool:
    """Can the `<` or `>` at `index` be a bracket? Not as a part of `<<`, `<=`, `>=` or `->`; two `>` close two lists."""
    text, before, after = tokens[index].text, _touching(tokens, index - 1), _touching(tokens, index)
    if text == "<":
        return before != "<<" and after not in ("<<", "<=")
    return text == ">" and before != "->" and after != ">="


def _touching(tokens: Sequence[Token], index: int) -> str:
    """The tokens at `index` and after it as one text when nothing lies between them."""
    pair = tokens[index : index + 2] if index >= 0 else ()
    return "".join(token.text for token in pair) if len(pair) == 2 and pair[0].end == pair[1].start else ""
