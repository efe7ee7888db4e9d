"""C++ text as tokens: comments and white space left out, nothing preprocessed."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
    |(?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z))
    |(?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"?)
    |(?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[0-9A-Za-z_.])*)
    |(?P<character>(?:u8|[uUL])?'(?:\\.|[^'\\\n])*'?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
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
