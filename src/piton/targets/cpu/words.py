"""What the parent sends to the process of a kernel: messages of 64-bit words, the same for C++ (native/serve.cpp) and Python (python_kernel.py).

A message is the number of its words, then the words. `[CASE, input stride, output stride, slots, arguments ...]` binds the arguments of a case;
`[BATCH, slot, slot ...]` asks for one call per slot, in that order. A reply is `[status, bytes of text]` and the text. Arguments come in the order of the
schema, outputs last:

| argument | words |
|---|---|
| tensor, output | offset in the slot, element type, number of axes, extents; -1 alone for an optional tensor that the case leaves out |
| list of them | how many, then each |
| int, bool | the value |
| float | its bits |
| text | number of bytes, then the bytes in whole words |
| list of int, bool or float | how many (-1: left out), then each |
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from piton.core.dtype import DType

if TYPE_CHECKING:  # the process of a Python kernel starts without these
    from piton.core.operator import AttrType, AttrValue

CASE, BATCH = 0, 1
DONE, THROWN, NOT_LOADED, RETURNED = 0, 1, 2, 3
"""Status of a reply: done; the kernel threw; a Python kernel could not be imported; it returned something instead of filling its outputs."""
ABSENT = -1
HEAD = struct.Struct("<qq")
"""Of a reply."""
MOST_TEXT = 2000
"""Bytes of text in a reply."""
DTYPES = (
    DType.FLOAT64, DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.INT64, DType.INT32, DType.INT16, DType.INT8,
    DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64, DType.BOOL,
)  # fmt: skip
"""Element types in the order of `piton::DType` (include/piton/cpu.h)."""
_WORD = struct.calcsize("<q")


def pack(words: Sequence[int]) -> bytes:
    """The message of these words."""
    return struct.pack(f"<{len(words) + 1}q", len(words), *words)


def tensor_words(offset: int, dtype: DType, shape: Sequence[int]) -> list[int]:
    """One tensor at `offset` bytes in its slot."""
    return [offset, DTYPES.index(dtype), len(shape), *shape]


def attribute_words(kind: AttrType, value: AttrValue) -> list[int]:
    """One attribute. Raises ValueError for lists of text and lists of lists, which no function of this track takes."""
    if kind == "float":
        return [_bits(value)] if value is not None else [_bits(0.0)]
    if kind in ("int", "bool"):
        return [int(value) if value is not None else 0]  # type: ignore[arg-type]
    if kind in ("str", "dtype"):
        return text_words("" if value is None else str(value))
    if kind == "str_list" or (isinstance(value, tuple) and any(isinstance(item, tuple) for item in value)):
        raise ValueError(f"an attribute of kind {kind} that holds {value!r}")
    return _list_words(kind, value)


def _list_words(kind: AttrType, value: AttrValue) -> list[int]:
    if value is None:
        return [ABSENT]
    items: Iterable[AttrValue] = value if isinstance(value, tuple) else (value,)
    made = [_bits(item) if kind == "float_list" else int(item) for item in items]  # type: ignore[arg-type]
    return [len(made), *made]


def text_words(text: str) -> list[int]:
    """A text, padded to whole words."""
    data = text.encode()
    padded = data + b"\0" * (-len(data) % _WORD)
    return [len(data), *struct.unpack(f"<{len(padded) // _WORD}q", padded)]


def _bits(value: AttrValue) -> int:
    """The words of infinities and NaN have come through JSON as text."""
    return int(struct.unpack("<q", struct.pack("<d", float(value)))[0])  # type: ignore[arg-type]
