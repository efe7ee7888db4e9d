"""One canonical serialisation, and the digests made from it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import PurePath

from pydantic import BaseModel


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
