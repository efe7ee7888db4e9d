"""What the search over tiles needs of a chip: capacities and rates around the cube units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from piton.core.dtype import DType
from piton.core.hardware import CubePathPeaks, Figure, Hardware

_UNLIMITED = 1 << 40


@dataclass(frozen=True)
class CubeChip:
    """Capacities in bytes, rates of all cores together; hashable, so that a search is done once."""

    cores: int
    l1: int
    l0a: int
    l0b: int
    l0c: int
    cube_flops: tuple[tuple[DType, float], ...]
    l2_read_bytes_per_s: float = math.inf
    l0a_bytes_per_s: float = math.inf
    l0b_bytes_per_s: float = math.inf
    fixp_elements_per_s: float = math.inf

    def rate(self, dtype: DType) -> float:
        """Operations per second on operands of this type; without end where there is no figure, since `work.unit_times_us` refuses such a type."""
        return dict(self.cube_flops).get(dtype, math.inf)


def cube_chip(hardware: Hardware) -> CubeChip:
    """The figures of a hardware file's silicon block. A capacity or rate that it lacks is infinite: what isn't known limits nothing."""
    l1, l0a, l0b, l0c = (_capacity(hardware.memory_bytes, name) for name in ("l1", "l0a", "l0b", "l0c"))
    cube = tuple((DType(name), figure.value) for name, figure in sorted(hardware.silicon.cube_flops.items()))
    reads, left, right, results = _rates(hardware.silicon.cube_path)
    return CubeChip(max(1, hardware.cores_aic), l1, l0a, l0b, l0c, cube, reads, left, right, results)


def _capacity(memory_bytes: Mapping[str, Figure], name: str) -> int:
    return int(memory_bytes[name].value) if name in memory_bytes else _UNLIMITED


def _rates(path: CubePathPeaks | None) -> tuple[float, float, float, float]:
    if path is None:
        return math.inf, math.inf, math.inf, math.inf
    return path.l2_read_bytes_per_s.value, path.l0a_bytes_per_s.value, path.l0b_bytes_per_s.value, path.fixp_elements_per_s.value
