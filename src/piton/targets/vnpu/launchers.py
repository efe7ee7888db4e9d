"""Launches by a generated function: `ACLRT_LAUNCH_KERNEL(add_custom)(blocks, stream, x, y)` and the header `aclrtlaunch_add_custom.h`.

Problem: kernel-launch projects compile kernels apart from their callers; the build generates a C function per kernel and a header that declares it.
Approach: the kernels that some source names in this way are looked up among the sources. Each gets its header, and its function is appended to the file that
defines it, as a launch of the ordinary kind.
Limits: kernels at global scope that are no templates, as for the vendor; parameters of a type of one's own need the header that defines it before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from piton.targets.vnpu.declarations import Declaration, parse
from piton.targets.vnpu.heads import Kind
from piton.targets.vnpu.tokens import Token

_NAMED = re.compile(r"\bACLRT_LAUNCH_KERNEL[ \t]*\([ \t]*([^\W\d]\w*)[ \t]*\)|\baclrtlaunch_([^\W\d]\w*)")
_PREFIX = "aclrtlaunch_"
_PLAIN = frozenset(
    (
        *("void", "bool", "char", "signed", "unsigned", "short", "int", "long", "float", "double", "const", "size_t"),
        *("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"),
    )
)
"""Words of types that need no header but the runtime's."""
_POINTERS = frozenset({"GM_ADDR", "__gm__"})


@dataclass(frozen=True)
class Launcher:
    """The generated function of one kernel."""

    kernel: str
    parameters: tuple[str, ...]
    """Types as the caller sees them: every pointer is `void *`."""

    @property
    def header(self) -> str:
        """Name of the header that declares it."""
        return f"{_PREFIX}{self.kernel}.h"

    @property
    def is_plain(self) -> bool:
        """Can it be declared anywhere, since it has no type of the user's own?"""
        return all(word in _PLAIN for text in self.parameters for word in re.findall(r"\w+", text))

    def declaration(self) -> str:
        """The text of the header."""
        return f'#pragma once\n#include "acl/acl.h"\nextern "C" {self._signature()};\n'

    def definition(self) -> str:
        """What is appended to the file that defines the kernel."""
        names = "".join(f", piton_{index}" for index in range(len(self.parameters)))
        call = f"::piton::Relay(&{self.kernel}, PITON_LAUNCH({self.kernel})(piton_blocks, nullptr, piton_stream){names})"
        return f'\n#line 1 "(launcher of {self.kernel})"\nextern "C" {self._signature()} {{ {call}; return 0; }}\n'

    def _signature(self) -> str:
        parameters = "".join(f", {text} piton_{index}" for index, text in enumerate(self.parameters))
        return f"uint32_t {_PREFIX}{self.kernel}(uint32_t piton_blocks, void *piton_stream{parameters})"


def launched_by_name(text: str) -> set[str]:
    """Kernels that `text` launches through a generated function, or whose header it includes."""
    return {(match[1] or match[2]) for match in _NAMED.finditer(text)}


def missing_header(kernel: str) -> str:
    """The text of a header for a kernel that no source defines."""
    return f'#error "no kernel {kernel} among the sources: a __global__ function of that name, at global scope and no template"\n'


def find_launchers(text: str, wanted: set[str]) -> list[Launcher]:
    """Launchers of the wanted kernels that `text` defines."""
    if "__global__" not in text or not any(name in text for name in wanted):
        return []
    kernels = (item for item in parse(text).declarations if _is_kernel(item))
    return [Launcher(name, _parameters(item.tokens, name)) for item in kernels for name in item.names & wanted]


def _is_kernel(item: Declaration) -> bool:
    is_template = item.tokens[0].text == "template"
    return item.kind is Kind.FUNCTION and item.has_body and not is_template and any(token.text == "__global__" for token in item.tokens)


def _parameters(tokens: Sequence[Token], name: str) -> tuple[str, ...]:
    """Types of the parameters as a caller sees them."""
    opened = next(index for index, token in enumerate(tokens) if token.text == name) + 1
    groups: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[opened:]:
        depth += (token.text in "([{<") - (token.text in ")]}>")
        if depth == 0:
            break
        if depth == 1 and token.text == ",":
            groups.append([])
        elif depth > 1 or token.text != "(":
            groups[-1].append(token)
    types = (_type(group) for group in groups)
    return tuple(text for text in types if text not in ("", "void"))


def _type(parameter: Sequence[Token]) -> str:
    """Without the name, which is the last word if there are two or more."""
    words = [token.text for token in parameter]
    if "=" in words:
        words = words[: words.index("=")]
    if "*" in words or _POINTERS & set(words):
        return "void *"
    is_named = len(words) > 1 and re.fullmatch(r"[^\W\d]\w*", words[-1]) is not None and words[-2] != "::" and not _is_builtin_tail(words)
    return " ".join(words[:-1] if is_named else words)


def _is_builtin_tail(words: Sequence[str]) -> bool:
    """`unsigned int` has no name."""
    return all(word in _PLAIN for word in words)
