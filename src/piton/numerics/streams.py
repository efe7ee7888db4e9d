"""Random words that depend on a key and a position only, never on threads or on what was drawn before.

A tensor's words come from Philox4x64 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) with a key hashed from everything that names
the tensor. Each chunk of fixed size has its own counter block, so chunks can be drawn in any order. Only the raw words are taken from numpy: its
distributions may change between versions, the bit generator's words may not (NEP 19).
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from piton.core.canonical import canonical_json

STREAM_CHUNK = 1 << 18
"""Elements that share one counter block; part of the data's identity."""

Words = NDArray[np.uint64]
HalfWords = NDArray[np.uint32]
Float32 = NDArray[np.float32]

_FLOAT32_STEP = np.float32(2.0**-24)
_FLOAT64_STEP = 2.0**-53


def stream_key(*parts: object) -> int:
    """128-bit key of the stream named by `parts` (anything with a canonical form)."""
    return int.from_bytes(hashlib.sha256(canonical_json(list(parts)).encode()).digest()[:16], "little")


def words(key: int, chunk: int, count: int) -> Words:
    """The first `count` 64-bit words of one chunk. 2^128 counts lie between two chunks."""
    drawn: Words = np.random.Philox(key=key, counter=chunk << 128).random_raw(count)
    return drawn


def half_words(key: int, chunk: int, count: int) -> HalfWords:
    """The first `count` 32-bit words of one chunk, low half of each 64-bit word first on every host."""
    return words(key, chunk, (count + 1) // 2).astype("<u8", copy=False).view("<u4")[:count]


def unit_float32(key: int, chunk: int, count: int) -> Float32:
    """Uniform float32 in [0, 1) with 24 random bits."""
    drawn: Float32 = (half_words(key, chunk, count) >> np.uint32(8)).astype(np.float32)
    drawn *= _FLOAT32_STEP
    return drawn


def unit_float64(key: int, chunk: int, count: int) -> NDArray[np.float64]:
    """Uniform float64 in [0, 1) with 53 random bits."""
    drawn: NDArray[np.float64] = (words(key, chunk, count) >> np.uint64(11)).astype(np.float64)
    drawn *= _FLOAT64_STEP
    return drawn


def below(key: int, chunk: int, count: int, bound: int) -> Words:
    """Uniform integers in [0, bound), 1 <= bound <= 2^64. The bias is below 2^-16 for bounds up to 2^16 and below bound / 2^64 beyond."""
    if bound <= 1 << 16:
        scaled: Words = half_words(key, chunk, count).astype(np.uint64)
        scaled *= np.uint64(bound)
        scaled >>= np.uint64(32)
        return scaled
    drawn = words(key, chunk, count)
    if bound == 1 << 64:
        return drawn
    # x - (x // b) * b: numpy divides by a scalar with multiplications, five times faster than its remainder.
    multiple: Words = drawn // np.uint64(bound)
    multiple *= np.uint64(bound)
    drawn -= multiple
    return drawn
