"""Tiling structures that host code defines by macros, read without compiling it.

Problem: the kernel of an operator project reads a structure that BEGIN_TILING_DATA_DEF made, in host files that include most of the vendor's framework.
Approach: the macros have a fixed form; their blocks are found by text over the whole checkout, since operators share them, and ordered so that a member's type
comes before its use. Limits: array sizes are numbers or constants that are defined in the same checkout under one name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from piton.targets.vnpu.project_described import FieldOf, Structure

_BLOCK = re.compile(r"BEGIN_TILING_DATA_DEF\s*\(\s*(\w+)\s*\)(.*?)END_TILING_DATA_DEF", re.DOTALL)
_FIELD = re.compile(r"TILING_DATA_FIELD_DEF(_ARR|_STRUCT)?\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_REGISTER = re.compile(r"REGISTER_TILING_DATA_CLASS\s*\(\s*(\w+)\s*,\s*(?:\w+::)*(\w+)\s*\)")
_CONSTANT = re.compile(r"(?:#define\s+(\w+)\s+\(?(\d+)[uUlL]*\)?\s*$)|(?:const(?:expr)?\s+\w+\s+(\w+)\s*=\s*(\d+)[uUlL]*\s*;)", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One definition."""

    file: Path
    structure: Structure
    nested: tuple[str, ...]


@dataclass
class Index:
    """Every structure of a checkout by name, and what is registered for which operator."""

    blocks: dict[str, list[Block]] = field(default_factory=dict)
    registered: dict[str, list[tuple[Path, str]]] = field(default_factory=dict)

    def of(self, operator: str, folder: Path) -> tuple[list[Structure], str]:
        """Structures that the kernel may see, types before their users, and the name of the one that GET_TILING_DATA reads."""
        known = self.registered.get(operator, [])
        own = [name for path, name in known if folder in path.parents and "arch35" not in str(path)]
        named = own or [name for path, name in known if "arch35" not in str(path)]
        keyed = [name for title, items in self.registered.items() if title.startswith(f"{operator}_") for _, name in items]
        local = [name for name, blocks in self.blocks.items() if any(folder in item.file.parents and "arch35" not in str(item.file) for item in blocks)]
        found: dict[str, Structure] = {}
        for name in [*named, *keyed, *local]:
            self._add(name, folder, found)
        chosen = named[0] if named else keyed[0] if keyed else ""
        return list(found.values()), chosen if chosen in found else ""

    def _add(self, name: str, folder: Path, found: dict[str, Structure]) -> None:
        if name in found or name not in self.blocks:
            return
        block = min(self.blocks[name], key=lambda item: (folder not in item.file.parents, "arch35" in str(item.file)))
        for nested in block.nested:
            self._add(nested, folder, found)
        found[name] = block.structure


def index(root: Path) -> Index:
    """Read every host file of a checkout."""
    made = Index()
    texts = {path: _COMMENT.sub(" ", path.read_text("utf-8", errors="replace")) for path in _host_files(root)}
    constants = {a or c: int(b or d) for text in texts.values() for a, b, c, d in _CONSTANT.findall(text)}
    for path, text in texts.items():
        for title, body in _BLOCK.findall(text):
            block = _block(path, title, body, constants)
            if block:
                made.blocks.setdefault(title, []).append(block)
        for operator, name in _REGISTER.findall(text):
            made.registered.setdefault(operator, []).append((path, name))
    return made


def _host_files(root: Path) -> list[Path]:
    found = [path for pattern in ("*.h", "*.cpp") for path in root.rglob(pattern)]
    return [path for path in sorted(found) if not {"op_host", "op_kernel"}.isdisjoint(path.parts) and "tests" not in path.relative_to(root).parts]


def _block(path: Path, title: str, body: str, constants: dict[str, int]) -> Block | None:
    fields: list[FieldOf] = []
    nested: list[str] = []
    for form, text in _FIELD.findall(body):
        parts = [" ".join(part.split()) for part in text.split(",")]
        try:
            count = _count(parts[1], constants) if form == "_ARR" else 0
            fields.append(FieldOf(type=parts[0].removeprefix("optiling::"), name=parts[-1], count=count))
        except (ValueError, KeyError):
            return None
        nested += [parts[0].rpartition("::")[2]] if form == "_STRUCT" else []
    return Block(path, Structure(title=title, fields=tuple(fields)), tuple(nested))


def _count(text: str, constants: dict[str, int]) -> int:
    """A number, a constant, or their product."""
    product = 1
    for factor in text.replace("(", "").replace(")", "").split("*"):
        word = factor.strip().rpartition("::")[2]
        product *= int(re.sub(r"[uUlL]+$", "", word)) if word[:1].isdigit() else constants[word]
    return product
