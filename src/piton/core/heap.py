"""Keep the memory of freed arrays in the process, for the next ones.

Problem: glibc gives every large array back to the kernel as it is freed, and the kernel clears every page of the next one: a good part of a golden run's time
and of a comparison's, whose arrays are all of the same few sizes.
Approach: glibc's own switches (mallopt), by ctypes: up to which size arrays come from the heap, and how much of it may lie idle.
Limits: glibc only; with another C library nothing here does anything.
"""

from __future__ import annotations

import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX = -1, -3, -4
_MOST_INT = (1 << 31) - 1
_LARGEST = 32 << 20
"""Bytes; glibc takes no higher threshold (HEAP_MAX_SIZE / 2, malloc.c)."""


def keep(idle_bytes: int) -> None:
    """Arrays of up to 32 MiB come from the heap, which keeps what they leave: up to `idle_bytes` in a piece."""
    _set(_M_MMAP_THRESHOLD, _LARGEST)
    _set(_M_TRIM_THRESHOLD, min(idle_bytes, _MOST_INT))


def keep_all() -> None:
    """Arrays of any size come from the heap, which keeps what they leave until `give_back`."""
    _set(_M_MMAP_MAX, 0)
    _set(_M_TRIM_THRESHOLD, _MOST_INT)


def give_back() -> None:
    """Return what lies idle to the kernel."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))


def _set(parameter: int, value: int) -> None:
    switch = getattr(ctypes.CDLL(None), "mallopt", None)
    if switch is not None:
        switch(ctypes.c_int(parameter), ctypes.c_int(value))
