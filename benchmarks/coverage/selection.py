"""Which files of a checkout are kernels for the vector and cube cores of the Ascend 910B, written against the memory-based API.

Every C++ file of an op_kernel folder and every .asc file is looked at; what is left out is counted by reason. The rules are the operators' own words: a file
without a `__global__` function is part of another one, a path or a definition that names other chips only says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

OTHER_CHIP = re.compile(r"arch35|regbase|_apt\.|950|3510|simt|dav-c310", re.IGNORECASE)
_NO_OPERATOR = re.compile(r"(^|/)(tests?|scripts|docs|template)/")
_OUR_CHIP = re.compile(r"ascend910b\b")
_TORCH = re.compile(r"^\s*#\s*include\s*[<\"](?:torch|ATen|c10)", re.MULTILINE)
MAIN = re.compile(r"^[^\n#/]*\bmain\s*\(", re.MULTILINE)
_ALL_CHIPS = re.compile(r"AddConfig\s*\(\s*(?!\")")
"""A configuration for chips that are named by a variable."""
_UNITS = (".cpp", ".asc", ".cce", ".cc")


@dataclass(frozen=True)
class Kernel:
    """One file with an entry function."""

    root: Path
    path: str
    """Relative to the checkout."""

    @property
    def file(self) -> Path:
        """Absolute."""
        return self.root / self.path

    @property
    def folder(self) -> Path:
        """The operator's: that of op_kernel, else of the file."""
        above = [item for item in self.file.parents if item.name == "op_kernel"]
        return above[0].parent if above else self.file.parent

    @property
    def group(self) -> str:
        """First folder of the path; for `experimental` and examples the second too."""
        parts = self.path.split("/")
        return "/".join(parts[:2]) if parts[0] in ("experimental", "examples", "src") else parts[0]

    @cached_property
    def definitions(self) -> list[Path]:
        """Files that register the operator."""
        return definitions_of(self.folder)


@dataclass
class Selection:
    """Kernels of one checkout, and how many files were left out why."""

    root: Path
    kernels: list[Kernel] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def definitions_of(folder: Path) -> list[Path]:
    """Host sources below `folder` that call OP_ADD."""
    found = [path for path in sorted((folder / "op_host").rglob("*.cpp")) if "OP_ADD" in text_of(path)] if (folder / "op_host").is_dir() else []
    return sorted(found, key=lambda path: ("_def" not in path.name, str(path)))


def select(root: Path) -> Selection:
    """All kernels of a checkout."""
    selection = Selection(root)
    for path in _candidates(root):
        kernel = Kernel(root, str(path.relative_to(root)))
        reason = _why_not(kernel)
        if reason:
            selection.left_out[reason] += 1
        else:
            selection.kernels.append(kernel)
    return selection


def _candidates(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.suffix in _UNITS and path.is_file() and (path.suffix == ".asc" or any(part.startswith("op_kernel") for part in parts)):
            yield path


def _why_not(kernel: Kernel) -> str:
    """Why a file is left out; empty if it is not."""
    if "op_kernel_aicpu" in kernel.path:
        return "for the AI CPU"
    if _NO_OPERATOR.search(kernel.path):
        return "test, script or template of a project"
    if OTHER_CHIP.search(kernel.path):
        return "for the Ascend 950 by its path"
    if "__global__" not in text_of(kernel.file):
        return "without an entry function: part of another file"
    if _TORCH.search(text_of(kernel.file)) or (kernel.file.suffix == ".asc" and MAIN.search(text_of(kernel.file))):
        return "whole program or torch binding: run instead (public-kernels.md)"
    return "for other chips by the operator's definition" if is_for_other_chips(kernel.folder) else ""


def is_for_other_chips(folder: Path) -> bool:
    """Does an operator's definition name chips, and not the Ascend 910B?"""
    texts = [text_of(path) for path in definitions_of(folder)]
    has_config = (folder / "op_host" / "config" / "ascend910b").exists()
    return bool(texts) and not has_config and not any(_OUR_CHIP.search(text) or _ALL_CHIPS.search(text) for text in texts)


def text_of(path: Path) -> str:
    """Whatever bytes it holds."""
    return path.read_text("utf-8", errors="replace")
