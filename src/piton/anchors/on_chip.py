"""What a chip can hold besides global memory, and what has to be read again because of it."""

from __future__ import annotations

from piton.core.hardware import Hardware

_OF_CUBE_CORES = ("l1", "l0a", "l0b", "l0c")
_OF_VECTOR_CORES = ("ub",)


def capacity_bytes(chip: Hardware) -> int:
    """Bytes of all on-chip memories of all cores, and of L2."""
    sizes = {name: figure.value for name, figure in chip.memory_bytes.items()}
    cores = chip.cores_aiv * sum(sizes.get(name, 0) for name in _OF_VECTOR_CORES) + chip.cores_aic * sum(sizes.get(name, 0) for name in _OF_CUBE_CORES)
    return int(cores + chip.silicon.l2_bytes.value)


def read_again_bytes(chip: Hardware, line_bytes: int, lines: int) -> int:
    """Bytes that come from global memory twice when each of `lines` has to be known whole before its first result can be.

    When the last element of a line has been read, the chip holds at most its capacity of that line; the rest is needed once more for the results.
    """
    return lines * max(0, line_bytes - capacity_bytes(chip))
