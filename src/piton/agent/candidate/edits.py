"""Edits as models write them: whole files, or blocks that say what to search and what to put there, applied with tolerance.

Problem: models copy a text almost right: other indentation, trailing blanks, a word of the surrounding comment. Refusing that wastes a call; guessing wrong
makes a candidate that nobody wrote.
Approach: a search text is looked for exactly, then without trailing blanks, then without indentation (the replacement is moved by the same amount), then as a
part of lines, then by likeness of at least `LIKE`; each way only counts when it finds exactly one place. What cannot be placed is reported, with the nearest
text of the file.

Form of a block, and of a whole file (the path in the line before, or behind the language):

    csrc/ops/exp/op_kernel/exp_kernel.cpp
    <<<<<<< SEARCH
    old lines
    =======
    new lines
    >>>>>>> REPLACE

    ```cpp csrc/ops/exp/op_kernel/exp_kernel.cpp
    the whole text
    ```
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from rapidfuzz import fuzz

from piton.agent.candidate.tree import Tree, TreeError, check_path

LIKE = 92.0
"""Per cent of likeness that a search text needs (rapidfuzz ratio): two changed words in ten lines are let through, another statement is not."""
_SEARCH, _MIDDLE, _REPLACE = re.compile(r"^<{5,9} ?SEARCH\s*$"), re.compile(r"^={5,9}\s*$"), re.compile(r"^>{5,9} ?REPLACE\s*$")
_FENCE = re.compile(r"^(?P<ticks>`{3,})[ \t]*(?P<language>[\w+#-]*)[ \t]*(?P<path>\S*)[ \t]*$")
_PATH = re.compile(r"^[#*`/ \t]*(?:[Ff]ile:?[ \t]*)?[`*]*(?P<path>[A-Za-z0-9_][\w.+-]*(?:/[\w.+-]+)*\.[A-Za-z]\w*)[`*:]*\s*$")
_LONGEST_MARK, _DEEPEST = 2000, 4
"""Characters of a line that may be a fence or a path, and fences inside one another: what a model repeats without end is no edit."""


@dataclass(frozen=True)
class Edit:
    """One change of one file."""

    path: str
    """Empty when none was named: the file in which the search text is, if that is one."""
    replace: str
    search: str | None = None
    """None for a whole file."""


class Applied(str, Enum):
    """How an edit came to its place."""

    WHOLE = "whole file"
    EXACT = "exact"
    PART = "part of a line"
    BLANKS = "without trailing blanks"
    INDENT = "without indentation"
    LIKE = "by likeness"
    NEW = "new file"
    AMBIGUOUS = "more than one place"
    NOT_FOUND = "not found"
    NO_FILE = "no such file"
    BAD_PATH = "bad path"

    @property
    def is_done(self) -> bool:
        """True when the file was changed."""
        return self not in (Applied.AMBIGUOUS, Applied.NOT_FOUND, Applied.NO_FILE, Applied.BAD_PATH)


@dataclass(frozen=True)
class EditResult:
    """What became of one edit."""

    edit: Edit
    applied: Applied
    detail: str = ""
    """Of one that failed: what to say to its author."""


def parse_edits(answer: str) -> tuple[Edit, ...]:
    """The edits of an answer, in order; blocks that never end, and fences without a path, are none."""
    return tuple(_parsed(answer.splitlines(), 0))


def _parsed(lines: Sequence[str], depth: int) -> list[Edit]:
    """The edits of lines that lie in `depth` fences."""
    middles, ends = ([index for index, line in enumerate(lines) if form.match(line)] for form in (_MIDDLE, _REPLACE))
    found: list[Edit] = []
    index, path = 0, ""
    while index < len(lines):
        if _SEARCH.match(lines[index]):
            middle = _first_after(middles, index)
            end = None if middle is None else _first_after(ends, middle)
            if middle is not None and end is not None:
                search, replace = ("".join(f"{line}\n" for line in part) for part in (lines[index + 1 : middle], lines[middle + 1 : end]))
                found.append(Edit(path, replace, search))
            index = index + 1 if end is None else end + 1
            continue
        fence = _FENCE.match(lines[index]) if len(lines[index]) <= _LONGEST_MARK and depth < _DEEPEST else None
        if fence:
            named = fence["path"] if _PATH.match(fence["path"]) else path
            inner, index = _fenced(lines, index, fence["ticks"])
            if any(_SEARCH.match(line) for line in inner):
                found += [item if item.path else Edit(named, item.replace, item.search) for item in _parsed(inner, depth + 1)]
            elif named:
                found.append(Edit(named, "\n".join(inner) + "\n"))
            path = ""
            continue
        named_here = _PATH.match(lines[index]) if len(lines[index]) <= _LONGEST_MARK else None
        if named_here:
            path = named_here["path"]
        elif lines[index].strip():
            path = ""
        index += 1
    return found


def _first_after(places: Sequence[int], index: int) -> int | None:
    """The first of these places behind `index`; found by bisection, so that an answer of nothing but marks takes no hours."""
    at = bisect_right(places, index)
    return places[at] if at < len(places) else None


def _fenced(lines: Sequence[str], start: int, ticks: str) -> tuple[list[str], int]:
    """The lines inside a fence, and the line after it; one that never ends goes to the end."""
    end = next((index for index in range(start + 1, len(lines)) if lines[index].strip() == ticks), len(lines))
    return list(lines[start + 1 : end]), end + 1


def apply_edits(tree: Tree, edits: Sequence[Edit]) -> tuple[Tree, tuple[EditResult, ...]]:
    """The tree with all edits that could be placed, one after the other, and what became of each."""
    results = []
    for edit in edits:
        tree, result = _apply(tree, edit)
        results.append(result)
    return tree, tuple(results)


def _apply(tree: Tree, edit: Edit) -> tuple[Tree, EditResult]:
    path = edit.path or _home(tree, edit)
    try:
        check_path(path)
    except TreeError as error:
        return tree, EditResult(edit, Applied.BAD_PATH, f"{error.problem}: {error.found}")
    old = tree.files.get(path)
    if edit.search is None or not edit.search.strip():
        if edit.search is not None and old is not None:
            return tree, EditResult(edit, Applied.NOT_FOUND, f"the search text for {path} is empty, and the file exists: say which lines to replace")
        return tree.with_files({path: edit.replace}), EditResult(edit, Applied.NEW if old is None else Applied.WHOLE)
    if old is None:
        return tree, EditResult(edit, Applied.NO_FILE, f"there is no file {path}; there are {', '.join(sorted(tree.files)[:20])}")
    new, how, detail = place(old, edit.search, edit.replace)
    return (tree if new is None else tree.with_files({path: new})), EditResult(edit, how, detail)


def _home(tree: Tree, edit: Edit) -> str:
    """The only file that holds the search text; empty when there is none or several."""
    found = [path for path, text in tree.files.items() if edit.search and edit.search.strip() and edit.search in text]
    return found[0] if len(found) == 1 else ""


def place(text: str, search: str, replace: str) -> tuple[str | None, Applied, str]:
    """The text with the one place of `search` replaced; None with the reason when there is none, or more than one."""
    lines, wanted, put = text.splitlines(keepends=True), search.splitlines(keepends=True), replace.splitlines(keepends=True)
    ways = ((Applied.EXACT, _bare), (Applied.BLANKS, str.rstrip), (Applied.INDENT, str.strip))
    for how, form in ways:
        target = [form(line) for line in wanted]
        formed = [form(line) for line in lines]
        starts = [index for index in range(len(lines) - len(wanted) + 1) if formed[index : index + len(wanted)] == target]
        if len(starts) == 1:
            moved = _moved(put, wanted, lines[starts[0] : starts[0] + len(wanted)]) if how is Applied.INDENT else put
            return _spliced(lines, starts[0], len(wanted), moved), how, ""
        if starts:
            where = ", ".join(str(index + 1) for index in starts[:5])
            return None, Applied.AMBIGUOUS, f"the search text is in {len(starts)} places (lines {where}): add lines that tell them apart"
    part, new = search.strip("\n"), replace.strip("\n")
    if part.strip() and text.count(part) == 1:
        return text.replace(part, new), Applied.PART, ""
    return _by_likeness(lines, wanted, put)


def _bare(line: str) -> str:
    """A line without its end, so that the last one of a file needs none."""
    return line.rstrip("\r\n")


def _by_likeness(lines: list[str], wanted: list[str], put: list[str]) -> tuple[str | None, Applied, str]:
    text = "".join(line.strip() + "\n" for line in wanted)
    scores = [
        (fuzz.ratio(text, "".join(line.strip() + "\n" for line in lines[index : index + len(wanted)])), index) for index in range(len(lines) - len(wanted) + 1)
    ]
    scores.sort(reverse=True)
    if not scores:
        return None, Applied.NOT_FOUND, "the search text is longer than the file"
    score, start = scores[0]
    nearest = "".join(lines[start : start + len(wanted)])
    rivals = [other for other, index in scores[1:] if abs(index - start) >= len(wanted) and other >= LIKE]
    if score < LIKE or rivals:
        reason = "more than one place is as like" if rivals else f"the nearest text, from line {start + 1}, is {score:.0f} % like it"
        return None, Applied.AMBIGUOUS if rivals else Applied.NOT_FOUND, f"the search text is not in the file; {reason}:\n{nearest[:2000]}"
    return _spliced(lines, start, len(wanted), _moved(put, wanted, lines[start : start + len(wanted)])), Applied.LIKE, ""


def _moved(put: list[str], wanted: list[str], found: list[str]) -> list[str]:
    """The replacement moved sideways as the search text was: by the difference of the first lines that are not blank."""
    pairs = [(_indent(left), _indent(right)) for left, right in zip(wanted, found, strict=True) if left.strip()]
    if not pairs or pairs[0][0] == pairs[0][1]:
        return put
    old, new = pairs[0]
    return [line if not line.strip() else new + line[len(old) :] if line.startswith(old) else new + line.lstrip(" \t") for line in put]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _spliced(lines: list[str], start: int, count: int, put: list[str]) -> str:
    """The lines with those replaced; the last line of a file that had no end keeps having none."""
    after = lines[start + count :]
    text = "".join([*lines[:start], *put, *after])
    has_open_end = not after and lines and not lines[-1].endswith("\n")
    return text.removesuffix("\n") if has_open_end else text
