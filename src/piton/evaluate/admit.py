"""Admission: what a submission may not contain, as a table with reasons. Isolation is the defence; this only refuses early and says why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from piton.catalog import list_binaries
from piton.core.errors import UsageError
from piton.core.submission import Submission
from piton.core.suite import Suite
from piton.core.verdict import Cause, Outcome, Place, outcome


@dataclass(frozen=True)
class RefusedText:
    """One pattern that sources may not contain (comments and strings are looked at too where `in_strings`)."""

    pattern: re.Pattern[str]
    reason: str
    in_strings: bool = False


REFUSED_TEXTS: tuple[RefusedText, ...] = (
    RefusedText(re.compile(r"\baclnn[A-Z]\w*"), "calls an operator of the vendor's library instead of a kernel of its own"),
    RefusedText(re.compile(r"\baclop(?:Execute|Compile)\w*"), "calls an operator of the vendor's library instead of a kernel of its own"),
    RefusedText(re.compile(r"\b(?:vnpu_\w+|piton_host_\w+|PITON_\w+|__sanitizer_\w+)\b"), "talks to the simulator behind the Ascend C API"),
    RefusedText(re.compile(r"#\s*include\s*[<\"]vnpu/"), "includes an internal header of the simulator", in_strings=True),
    RefusedText(re.compile(r"\.incbin\b"), "brings data into the program that is not source", in_strings=True),
    RefusedText(re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__)\b\s*)?\("), "inline assembly is not part of the Ascend C track"),
)
"""Refused in C++ sources and headers."""

CPP_SUFFIXES = frozenset({".cpp", ".cc", ".cxx", ".c", ".asc", ".cce", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".ipp", ".tpp"})
"""Every name that a target copies for its compiler."""
_STRINGS_AND_COMMENTS = re.compile(r'(?P<string>"(?:\\.|[^"\\\n])*(?P<end>"?))|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
"""What never ends is matched too, up to its line's or the file's end: looking for the end again from every place would take quadratic time."""
SHARED = ""
"""Key of refusals that concern every operator."""


def check_trust(suite: Suite, *, is_trusted: bool) -> None:
    """Raise UsageError for a foreign suite that the caller did not say to trust: its golden.py is code that will run (D1)."""
    if suite.is_foreign and not is_trusted:
        raise UsageError(
            f"suite {suite.name} comes from outside Piton and its golden.py files are code",
            where=suite.root,
            action="read them, then add --trust to run them (they run in a sandbox of their own)",
        )


def find_refusals(submission: Submission) -> Mapping[str, Outcome]:
    """Refusals by operator (rejected, forbidden_source); those under the key `SHARED` hold for all. Empty when the submission is admitted."""
    found: dict[str, Outcome] = {}
    binaries = list_binaries(submission)
    for item in submission.files:
        if any(sources.leaves_out(item.path) for sources in submission.operators):
            continue  # never compiled
        refusal = _refuse_binary(item.path) if item.path in binaries else next(_refused_texts(Path(submission.root), item.path), None)
        if refusal is not None:
            found.setdefault(_owner(submission, item.path), refusal)
    return found


def _owner(submission: Submission, path: str) -> str:
    for sources in submission.operators:
        if path in (*sources.kernels, *sources.plugins, *sources.hosts) or path.startswith((f"csrc/ops/{sources.operator}/", f"csrc/{sources.operator}/")):
            return sources.operator
    return SHARED


def _refuse_binary(path: str) -> Outcome:
    return _refusal(f"{path} is refused: a submission is judged by its sources, and this file hides what it does", Place(file=path))


def _refused_texts(root: Path, path: str) -> Iterator[Outcome]:
    if Path(path).suffix.lower() not in CPP_SUFFIXES:
        return
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    code = _STRINGS_AND_COMMENTS.sub(lambda match: match[0] if match["string"] and not match["end"] else _blank(match), text)
    code_and_strings = _STRINGS_AND_COMMENTS.sub(lambda match: match["string"] or _blank(match), text)
    for rule in REFUSED_TEXTS:
        match = rule.pattern.search(code_and_strings if rule.in_strings else code)
        if match is not None:
            line = text.count("\n", 0, match.start()) + 1
            yield _refusal(f"`{match[0].strip()}` is refused: {rule.reason}", Place(file=path, line=line, instruction=match[0].strip()))


def _blank(match: re.Match[str]) -> str:
    """Spaces of the same length, so that offsets and lines stay."""
    return re.sub(r"[^\n]", " ", match[0])


def _refusal(message: str, place: Place) -> Outcome:
    return outcome(Cause.FORBIDDEN_SOURCE, message, place=place)
