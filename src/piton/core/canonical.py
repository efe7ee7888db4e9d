"""One canonical serialisation, and the digests made from it."""

from __future__ import annotations

import hashlib
import json
import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import wraps
from pathlib import PurePath
from typing import TypeVar

from pydantic import BaseModel

Record = TypeVar("Record", bound=BaseModel)


def plain(value: object) -> object:
    """Reduce `value` to JSON types; infinities and NaN become strings so that equal data has equal bytes.

    Raises TypeError for anything whose serialisation would not be canonical.
    """
    if isinstance(value, BaseModel):
        return plain(value.model_dump(mode="python"))
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else ("nan" if math.isnan(value) else ("inf" if value > 0 else "-inf"))
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (Sequence, frozenset, set)) and not isinstance(value, (bytes, bytearray)):
        items = [plain(item) for item in value]
        return sorted(items, key=repr) if isinstance(value, (set, frozenset)) else items
    if isinstance(value, PurePath):
        return value.as_posix()
    raise TypeError(f"no canonical form for {type(value).__name__}")


def canonical_json(value: object) -> str:
    """JSON with sorted keys, no white space and no non-finite numbers: equal values give equal text."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """Hex SHA-256 of the canonical form of `value`."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def digest_bytes(data: bytes) -> str:
    """Hex SHA-256 of raw bytes."""
    return hashlib.sha256(data).hexdigest()


def once(make: Callable[[Record], str]) -> Callable[[Record], str]:
    """A digest of a frozen record, made once per object and kept as long as that lives: a run asks for those of a case and its operator a dozen times.

    By the object, not in it: what a copy with other values (`model_copy`) takes over would be the digest of the original.
    """
    kept: dict[int, tuple[weakref.ref[Record], str]] = {}

    @wraps(make)
    def look_up(record: Record) -> str:
        name = id(record)
        known = kept.get(name)
        if known is not None and known[0]() is record:
            return known[1]
        made = make(record)
        kept[name] = (weakref.ref(record, lambda gone: _forget(kept, name, gone)), made)
        return made

    return look_up


def _forget(kept: dict[int, tuple[weakref.ref[Record], str]], name: int, gone: weakref.ref[Record]) -> None:
    """Drop the entry of an object that is gone, unless another one has taken its place already."""
    known = kept.get(name)
    if known is not None and known[0] is gone:
        del kept[name]
