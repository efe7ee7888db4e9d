"""From offsets in a submission's libraries to lines of its sources, for people to read.

Problem: a crash or an endless loop is known by addresses, and both they and the library come from untrusted code.
Approach: addr2line reads the library's line table in the sandbox of a build; of its answer only lines of files that the submission has are kept.
Limits: a submission can forge any of it; a place never decides a verdict. Without addr2line (part of binutils, which g++ needs) there is no place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from piton.core.errors import EvaluatorError
from piton.core.protocols import Limits, ProcessJob, Role, Runner
from piton.core.verdict import Place
from piton.targets.vnpu.wire import FRAMES

Locate = Callable[[Sequence[int]], tuple[Place, ...]]
"""Offsets of frames, innermost first, to the places inside the submission, innermost first; functions stand where other places name an instruction."""


def nowhere(_offsets: Sequence[int]) -> tuple[Place, ...]:
    """The places of code that nothing is known about."""
    return ()


_LIMITS = Limits(wall_s=20.0, cpu_s=20, memory_bytes=2 << 30, processes=16)
_LINE = re.compile(r"(?P<file>[^\0]{1,500}):(?P<line>[1-9]\d{0,6})(?: \(discriminator \d+\))?")
_WORKING_FOLDER = re.compile(r"(?:\./work/[0-9a-f]{64}/)+")
"""Where a compile runs, as its debug information names it, once or (of a program) twice: sources are relative to it, our headers and the system's are not."""
_COPIES = "src/"
"""Folder below the working folder that the sources of a build are copied to."""
_SHOWN_CALLS = 4


@dataclass(frozen=True)
class SourceFinder:
    """Finds places in the sources of one submission."""

    runner: Runner
    root: str
    """Folder of the submission."""

    def within(self, library: str) -> Locate:
        """The same for offsets in one library; an empty path has no places."""
        return lambda offsets: self.find(library, offsets)

    def find(self, library: str, offsets: Sequence[int]) -> tuple[Place, ...]:
        """Places of frames, inlined calls opened; empty when nothing can be found."""
        valid = [f"{offset:#x}" for offset in offsets[:FRAMES] if 0 <= offset < 1 << 63]
        if not library or not valid:
            return ()
        job = ProcessJob(Role.BUILD, ("addr2line", "-e", library, "-a", "-i", "-f", "-C", *valid), cwd="/", readable=(library,), limits=_LIMITS)
        try:
            answer = self.runner.run(job)
        except EvaluatorError:  # no such program here: the verdict stands without a place
            return ()
        return tuple(self._places(answer.stdout))

    def _places(self, answer: str) -> Iterator[Place]:
        """Pairs of lines (function, file:line) after the address of each frame."""
        lines = [line for line in answer.splitlines() if not re.fullmatch(r"0x[0-9a-f]+", line)]
        for function, spot in zip(lines[::2], lines[1::2], strict=False):
            match = _LINE.fullmatch(spot)
            file = self._own(_WORKING_FOLDER.sub("", match["file"], count=1)) if match else ""
            if match and file:
                yield Place(file=file, line=int(match["line"]), instruction=short_name(function))

    def _own(self, name: str) -> str:
        """The file of the submission that is compiled under this name, from the folder of copies or as it stands; empty for others."""
        file = name.removeprefix("./")
        return next((path for path in (file, file.removeprefix(_COPIES)) if self._has(path)), "")

    def _has(self, file: str) -> bool:
        path = PurePosixPath(file)
        return not path.is_absolute() and ".." not in path.parts and (Path(self.root) / path).is_file()


def short_name(function: str) -> str:
    """A demangled name without its parameters: `cann_bench::exp_npu`."""
    name = function.replace("(anonymous namespace)::", "").partition("(")[0]
    return "".join(character for character in name if character.isprintable())[:100]


def calls_text(places: Sequence[Place]) -> str:
    """`; calls, innermost first: a.cpp:12, b.cpp:7` when there is more than the innermost, which the outcome's place names."""
    spots = list(dict.fromkeys(f"{place.file}:{place.line}" for place in places))[:_SHOWN_CALLS]
    return f"; calls, innermost first: {', '.join(spots)}" if len(spots) > 1 else ""
