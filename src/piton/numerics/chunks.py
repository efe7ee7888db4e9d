"""Work on a large tensor in fixed chunks, on several threads, with the same result for any number of threads.

numpy releases the interpreter lock inside its loops, so plain threads scale. A chunk is small enough that its float64 temporaries stay in a core's L2 cache
and large enough that the calls between the loops do not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

CHUNK = 1 << 15
"""Elements of one chunk: 256 KiB as float64. Chunk borders, and with them every sum, depend on this constant and on nothing else."""

_SPANS_PER_TASK = 16
"""Most chunks that one task of the pool handles; one chunk a task would spend the time on hand-overs."""

Result = TypeVar("Result")


def spans(elements: int, size: int = CHUNK) -> tuple[slice, ...]:
    """Consecutive slices of at most `size` elements that cover `elements`."""
    return tuple(slice(start, min(start + size, elements)) for start in range(0, elements, size))


def map_spans(function: Callable[[slice], Result], pieces: Sequence[slice], threads: int = 1) -> list[Result]:
    """`function` of every slice, in order."""
    if threads <= 1 or len(pieces) <= threads:
        return [function(piece) for piece in pieces]
    size = max(1, min(_SPANS_PER_TASK, len(pieces) // (4 * threads)))
    groups = [pieces[start : start + size] for start in range(0, len(pieces), size)]
    with ThreadPoolExecutor(threads, thread_name_prefix="piton-chunks") as pool:
        done = pool.map(lambda group: [function(piece) for piece in group], groups)
        return [result for group in done for result in group]


def exact_sum(parts: Iterable[float]) -> float:
    """Correctly rounded sum of non-negative parts; infinity when it overflows."""
    try:
        return math.fsum(parts)
    except OverflowError:
        return math.inf
