"""Whole programs and operators registered with torch, in the checkouts, each with what came of it.

Problem: a program runs or it does not, for reasons that no script finds out; but none may be forgotten.
Approach: the files are listed by a rule, what a rule can decide is decided by it, and every other file has to have an entry in programs.json, written by who
ran it: the verdict, how it was checked, on which day and with which commit of the checkout. A file without an entry is an error, an entry without its file too.
Limits: an entry is only as good as the run behind it; docs/public-kernels.md has the commands.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from selection import MAIN, OTHER_CHIP, is_for_other_chips, text_of

ENTRIES = Path(__file__).with_name("programs.json")
RIGHT = "runs right"
_UNITS = (".cpp", ".cc", ".cce", ".asc")
_REGISTERS = re.compile(r"\b(?:TORCH_LIBRARY\w*|PYBIND11_MODULE)\s*\(")
_OPERATOR = re.compile(r"\bm\s*\.\s*(?:def|impl)\s*\(\s*\"([A-Za-z_]\w*)")
_DEVICE = re.compile(r"<<<|__global__|ICPU_RUN_KF|ACLRT_LAUNCH_KERNEL|aclrtlaunch_")
_LIBRARY = re.compile(r"\bac(?:lnn[A-Z]\w*|l[A-Z]\w*GetWorkspaceSize|lop[A-Z]\w*)|\baclnnop/|\bACLNN_CMD\w*|\bEXEC_NPU_CMD\w*")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_GRAPH = re.compile(r"ge_api|ge::Session|ge_ir_build|es_all_ops|GraphBuilder")
_CPU = re.compile(r"aicpu", re.IGNORECASE)
_UNIT_TEST = re.compile(r"gtest/gtest\.h|RUN_ALL_TESTS|InitGoogleTest")
OF_THE_LIBRARY = "calls operators of the vendor's library (aclnn...), which has to be installed; their kernels are counted above"
OF_THE_HOST = "without device code: functions of the host, or nothing at all"
OF_A_GRAPH = "builds a graph for the vendor's graph engine"


class Entry(BaseModel):
    """What came of one file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    repository: str
    path: str
    verdict: str
    """`runs right`, or the reason why not."""
    how: str = ""
    """How it was checked, or what was seen."""
    day: str = ""
    commit: str = ""

    @property
    def origin(self) -> str:
        """When it was seen, and with which commit of the checkout."""
        return f"{self.day}, `{self.commit}`"


class Program(BaseModel):
    """One file that a rule does not leave out."""

    model_config = ConfigDict(frozen=True)

    repository: str
    path: str
    operators: tuple[str, ...] = ()
    """That it registers with torch; none for a whole program."""


class Listed(BaseModel):
    """The files of all checkouts."""

    repositories: tuple[str, ...]
    programs: tuple[Program, ...]
    decided: tuple[Entry, ...]
    """Operators of torch that a rule decides."""
    left_out: dict[str, int]


class Programs(BaseModel):
    """What the page says of them."""

    judged: tuple[tuple[Program, Entry], ...]
    decided: tuple[Entry, ...]
    left_out: dict[str, int]


class ForgottenError(Exception):
    """Files and entries do not fit together; the text names them."""


def find(roots: Sequence[Path]) -> Listed:
    """Every whole program and every file that registers operators with torch."""
    programs: list[Program] = []
    decided: list[Entry] = []
    left_out: Counter[str] = Counter()
    for root in roots:
        for path, text in _candidates(root):
            name = str(path.relative_to(root))
            operators = tuple(dict.fromkeys(_OPERATOR.findall(text))) if _REGISTERS.search(text) else ()
            reason = _why_not(root, path, text)
            if operators and reason == OF_THE_LIBRARY:
                decided.append(Entry(repository=root.name, path=name, verdict=reason))
            elif reason:
                left_out[f"{root.name}: {reason}"] += 1
            else:
                programs.append(Program(repository=root.name, path=name, operators=operators))
    return Listed(repositories=tuple(root.name for root in roots), programs=tuple(programs), decided=tuple(decided), left_out=dict(left_out))


def entries() -> tuple[Entry, ...]:
    """What was written down."""
    return tuple(Entry.model_validate(item) for item in json.loads(ENTRIES.read_text("utf-8")))


def judge(listed: Listed, known: Sequence[Entry]) -> Programs:
    """Each program with its entry; an entry for what a rule has decided takes its place. Raises ForgottenError."""
    by_name = {(item.repository, item.path): item for item in known}
    lacking = [f"no entry in {ENTRIES.name}: {item.repository} {item.path}" for item in listed.programs if (item.repository, item.path) not in by_name]
    ruled = {(item.repository, item.path): item for item in listed.decided}
    there = {(item.repository, item.path) for item in listed.programs} | set(ruled)
    gone = [f"no such program in the checkout: {a} {b}" for a, b in by_name if a in listed.repositories and (a, b) not in there]
    if lacking or gone:
        raise ForgottenError("\n".join([*lacking, *gone]))
    pairs = [(item, by_name[(item.repository, item.path)]) for item in listed.programs]
    run = [(Program(repository=a, path=b, operators=("of torch",)), by_name[(a, b)]) for a, b in ruled if (a, b) in by_name]
    return Programs(judged=(*pairs, *run), decided=tuple(item for name, item in ruled.items() if name not in by_name), left_out=listed.left_out)


def _candidates(root: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(root.rglob("*")):
        if path.suffix in _UNITS and path.is_file():
            text = text_of(path)
            if MAIN.search(text) or (_REGISTERS.search(text) and _OPERATOR.search(text)):
                yield path, text


def _why_not(root: Path, path: Path, text: str) -> str:
    """Why a rule leaves a file out or decides it; empty when somebody has to run it."""
    name = str(path.relative_to(root))
    if _CPU.search(name):
        return "for the AI CPU"
    if OTHER_CHIP.search(name):
        return "for the Ascend 950 by its path"
    if is_for_other_chips(_operator_folder(root, path)):
        return "for other chips by the operator's definition"
    if _UNIT_TEST.search(text):
        return "unit test of a framework that is no part of it"
    everything = _COMMENT.sub(" ", "\n".join([text, *(text_of(item) for item in _beside(path))]))
    if _DEVICE.search(everything):
        return ""
    if _GRAPH.search(text):
        return OF_A_GRAPH
    if _LIBRARY.search(everything):
        return OF_THE_LIBRARY
    return "" if _REGISTERS.search(text) else OF_THE_HOST


def _operator_folder(root: Path, path: Path) -> Path:
    """The nearest folder above with op_host, else that of the file."""
    above = [item for item in path.parents if item != root and root in item.parents and (item / "op_host").is_dir()]
    return above[0] if above else path.parent


def _beside(path: Path) -> list[Path]:
    """Files that make one program with a main.cpp; headers that a program includes by a path."""
    own = sorted(item for item in path.parent.iterdir() if item.suffix in _UNITS and item != path) if path.stem == "main" else []
    named = [path.parent / name for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text_of(path), re.MULTILINE)]
    return [*own, *(item for item in named if item.is_file())]
