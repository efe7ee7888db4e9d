"""Which kernels a compiled host unit launches.

Problem: a launch inside a template, a macro or a lambda names its kernel by types that only a compiler can resolve.
Approach: the host pass leaves the name of each launched kernel in its object (vnpu/launch.h): the text of a function's signature, which the compiler
writes. It is found there and becomes one line of the device pass.
Limits: the object is made from foreign code and may say anything; what it says goes into the source of that same code's device pass, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_SIGNATURE = re.compile(rb"piton::Launch<[^\0\n]{0,8000}?\bkernel\)\([^\0\n]{0,100}?\) = ([^\0\n]{1,4000})\]\0")
_ANONYMOUS = re.compile(r"(?:\{anonymous\}|\(anonymous namespace\))::")
_PLAUSIBLE = re.compile(r"(?:[^\W\d]|:)[\w:<>,.()&*+\- ]*")
MAX_KERNELS = 1000
"""Instantiations of one unit."""


def launched_kernels(object_file: Path) -> list[str]:
    """The kernels as expressions of C++, template arguments included, each once, in order of their names."""
    found = {match[1].decode(errors="replace") for match in _SIGNATURE.finditer(object_file.read_bytes())}
    spelled = {_ANONYMOUS.sub("", name) for name in found}
    return sorted(name for name in spelled if _PLAUSIBLE.fullmatch(name))[:MAX_KERNELS]


def names_in(kernels: Iterable[str]) -> set[str]:
    """Every identifier in them."""
    return {word for kernel in kernels for word in re.findall(r"[^\W\d]\w*", kernel)}


def registrations(kernels: Iterable[str], path: str) -> str:
    """The end of a device unit: one line per kernel, under a name that tells what the lines are."""
    lines = [f"PITON_REGISTER_KERNEL({index}, {kernel})" for index, kernel in enumerate(kernels)]
    return "\n".join(["", f'#line 1 "{title(path)}"', *lines, ""])


def title(path: str) -> str:
    """How messages call the place of the registrations."""
    return f"(launches of {path})"
