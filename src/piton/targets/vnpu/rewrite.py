"""Turn what is no C++ into C++ that an ordinary compiler reads: launches `kernel<<<blocks, l2, stream>>>(arguments)` and `[[block_local]]`.

Problem: the launch syntax is an extension of the vendor's compiler.
Approach: a tokenizer that knows comments, strings, raw strings and numbers finds each `<<<`, takes the kernel's name before it (qualified, with template
arguments, pasted in a macro) and the `>>>` that ends the configuration, and replaces three pieces of text: `PITON_LAUNCH(kernel)(configuration)(arguments)`.
The attribute of a variable that every core has for itself becomes the macro `__BLOCK_LOCAL__`. Nothing else moves, so that every line keeps its number.
Limits: no preprocessing, so that a launch whose `<<<` comes out of a macro is not seen. What does not have the form of a launch stays as it is: the compiler
then reports it in its place.
"""

from __future__ import annotations

from dataclasses import dataclass

from piton.targets.vnpu.tokens import CLOSING, OPENING, Token, is_bracket, tokens_of

_LONGEST_NAME = 500
"""Tokens of a kernel's name with its template arguments that are looked at: the time a hostile file takes has to grow with its size only."""


@dataclass(frozen=True)
class Launch:
    """One launch found in a source; offsets into its text."""

    kernel_start: int
    open_start: int
    close_start: int
    close_end: int


def rewrite(text: str, path: str) -> str:
    """`text` with its launches rewritten, after a `#line` directive that names `path` (as diagnostics shall show it); a byte-order mark goes."""
    text = text.removeprefix("\ufeff")  # only at the start of a file does a compiler know it
    return f'#line 1 "{_escaped(path)}"\n{_replaced(text)}'


def find_launches(text: str) -> list[Launch]:
    """Every launch of `text`, in order."""
    return _launches(tokens_of(text))


def _launches(tokens: list[Token]) -> list[Launch]:
    ends = _configuration_ends(tokens)
    launches: list[Launch] = []
    index = 0
    while index + 2 < len(tokens):
        launch = _launch_at(tokens, index, ends) if _is_triple(tokens, index, "<") else None
        if launch is None:
            index += 1
            continue
        launches.append(launch)
        index += 3
    return launches


def _launch_at(tokens: list[Token], index: int, ends: dict[int, int]) -> Launch | None:
    close = ends.get(index)
    first = _kernel_start(tokens, index - 1) if close is not None else None
    if first is None or close is None:
        return None
    return Launch(tokens[first].start, tokens[index].start, tokens[close].start, tokens[close + 2].end)


def _is_triple(tokens: list[Token], index: int, sign: str) -> bool:
    """Three `sign`s without anything between them."""
    if tokens[index].text != sign:
        return False
    three = tokens[index : index + 3]
    return len(three) == 3 and all(token.text == sign for token in three) and three[2].end - three[0].start == 3


def _kernel_start(tokens: list[Token], last: int) -> int | None:
    """Index of the first token of the kernel's name that ends at `last`; None if there is no name."""
    index = last
    first: int | None = None
    while index >= max(0, last - _LONGEST_NAME):
        name = _before_arguments(tokens, index) if tokens[index].text == ">" else index
        if name is None or tokens[name].kind != "name":
            break
        first = name
        if name >= 1 and tokens[name - 1].text == "template":
            name -= 1
        if name == 0 or tokens[name - 1].kind != "scope":
            break
        first = name - 1 if tokens[name - 1].text == "::" else first
        index = name - 2
    return first


def _before_arguments(tokens: list[Token], close: int) -> int | None:
    """Index of the token before the `<` that matches the `>` at `close`."""
    depth, nested = 0, 0
    for index in range(close, max(-1, close - _LONGEST_NAME), -1):
        text = tokens[index].text
        if text in CLOSING:
            nested += 1
        elif text in OPENING:
            nested -= 1
        elif nested == 0 and text in "<>" and is_bracket(tokens, index):
            depth += 1 if text == ">" else -1
        if nested < 0 or text in ";{}":
            return None
        if depth == 0:
            return index - 1 if index > 0 else None
    return None


def _configuration_ends(tokens: list[Token]) -> dict[int, int]:
    """For each `<<<`, by the index of its first token: the index of the first of the three `>` that end the configuration and are followed by the arguments.

    One pass over the tokens: what is open waits on a stack by depth of brackets; a semicolon or the end of the surrounding bracket ends its chances.
    """
    ends: dict[int, int] = {}
    open_by_depth: list[list[int]] = [[]]
    semicolon = -1
    for index in range(len(tokens) - 3):
        text = tokens[index].text
        if index >= 3 and _is_triple(tokens, index - 3, "<"):
            open_by_depth[-1].append(index - 3)
        if text in OPENING:
            open_by_depth.append([])
        elif text in CLOSING:
            open_by_depth.pop()
            open_by_depth = open_by_depth or [[]]
        elif text == ";":
            semicolon = index
        elif _is_triple(tokens, index, ">") and tokens[index + 3].text == "(":
            ends.update({start: index for start in open_by_depth[-1] if start > semicolon})
            open_by_depth[-1] = []
    return ends


def _block_locals(tokens: list[Token]) -> list[tuple[int, int]]:
    """Where `[[block_local]]` stands."""
    fives = zip(*(tokens[index:] for index in range(5)), strict=False)
    return [(five[0].start, five[4].end) for five in fives if [token.text for token in five] == ["[", "[", "block_local", "]", "]"]]


def _replaced(text: str) -> str:
    if "<<<" not in text and "block_local" not in text:  # most files: not worth a look at each token
        return text
    tokens = tokens_of(text)
    changes = [(start, end, "__BLOCK_LOCAL__") for start, end in _block_locals(tokens)]
    for launch in _launches(tokens):
        configuration = text[launch.open_start + 3 : launch.close_start]
        changes.append((launch.kernel_start, launch.close_end, f"PITON_LAUNCH({text[launch.kernel_start : launch.open_start]})({configuration})"))
    pieces: list[str] = []
    done = 0
    for start, end, new in sorted(changes):
        if start >= done:
            pieces += [text[done:start], new]
            done = end
    return "".join([*pieces, text[done:]])


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')
