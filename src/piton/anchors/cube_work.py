"""Work of operators that are matrix products at their core: tiles of every product, and what the vector cores add to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from piton.anchors.cube_chip import CubeChip, cube_chip
from piton.anchors.tiles import Product, choices, front
from piton.anchors.work import CubePath, Work, added, unit_times_us
from piton.core.dtype import DType
from piton.core.hardware import Hardware

_SEPARATE_CORES = "dav-2201"
"""On this architecture cube and vector cores have no way to one another but global memory; on later ones results go from L0C to UB, and from UB to L1."""
_MOST_CHOICES = 12
HANDED_BYTES = 2
"""Bytes of a number that cube and vector cores hand to one another: half, as the accumulators are converted on their way out."""


@dataclass(frozen=True)
class Stage:
    """Products that run at the same time; stages run one after the other."""

    name: str
    """What is multiplied, for `Work.choice`; empty where an operator has one stage."""
    products: tuple[Product, ...]
    """Equal apart from m and count."""


@dataclass(frozen=True)
class Rest:
    """Everything of a call but the tiles of its products."""

    read_bytes: int
    """Compulsory, operands of the products included."""
    write_bytes: int
    vector_lanes: Mapping[DType, float] = field(default_factory=dict)
    path: CubePath = field(default_factory=CubePath)
    """What kinds of core hand to one another, and cube work that has no choice of tiles."""
    writes_from_cube: bool = True
    cube_flops: Mapping[DType, float] = field(default_factory=dict)
    """Of the work in `path`."""


def product_work(name: str, stages: Sequence[Stage], rest: Rest, chip: Hardware) -> Work:
    """The work under the tiles that take least time with everything else that is to do; where several do, those whose units have least to do.

    `name` says what else was chosen. Stages without products (an empty tensor) are left out. Raises FormatError when the chip lacks a rate.
    """
    target = cube_chip(chip)
    found: list[tuple[str, CubePath]] = [(name, rest.path)]
    flops: Mapping[DType, float] = rest.cube_flops
    for stage in stages:
        products = tuple(product for product in stage.products if product.count and min(product.m, product.k, product.n))
        if not products:
            continue
        found = _best([(_named(text, stage.name, str(tiled)), path + tiled.path) for text, path in found for tiled in choices(products, target)], target)
        flops = added(flops, {products[0].multiply: sum(product.flops for product in products)})
    works = (Work(text, rest.read_bytes, rest.write_bytes, flops, rest.vector_lanes, path, rest.writes_from_cube) for text, path in found)
    return min(works, key=lambda work: _time(work, chip))


def _time(work: Work, chip: Hardware) -> tuple[float, float]:
    times = unit_times_us(work, chip.silicon, shares_hbm=True).values()
    return max(chip.silicon.floor_us.value, *times), sum(times)


def _named(before: str, stage: str, tiles: str) -> str:
    return ", ".join(part for part in (before, f"{stage} in {tiles}" if stage else tiles) if part)


def _best(found: list[tuple[str, CubePath]], chip: CubeChip) -> list[tuple[str, CubePath]]:
    times = np.array([seconds(path, chip) for _text, path in found])
    return [found[index] for index in front(times, _MOST_CHOICES)]


def seconds(path: CubePath, chip: CubeChip) -> tuple[float, ...]:
    """Seconds of cube, mte1, mte2 (all reads over L2) and fixp. What vector cores hand over is the same whatever the tiles."""
    cube = sum(amount / chip.rate(dtype) for dtype, amount in path.cube_flops.items())
    into_l0 = path.l0a_bytes / chip.l0a_bytes_per_s + path.l0b_bytes / chip.l0b_bytes_per_s
    return cube, into_l0, path.l2_read_bytes / chip.l2_read_bytes_per_s, path.l0c_elements / chip.fixp_elements_per_s


def multiplied_as(dtype: DType, chip: Hardware) -> tuple[tuple[str, DType], ...]:
    """Ways the cube multiplies operands of a type: name and the type whose rate counts.

    float32 operands may be rounded to HF32 on their way into the cube (11 bits of fraction, 10 on dav-3510), at half the rate of float16. Whether that is
    accurate enough depends on the case; a bound has to allow it. (Products of float32 operands cut into 16-bit pieces take three and more products instead.)
    """
    if dtype is not DType.FLOAT32:
        return (("", dtype),)
    known = [DType(name) for name in chip.silicon.cube_flops]
    hf32 = [("HF32 products", DType.HIFLOAT32)] if DType.HIFLOAT32 in known else []
    return (*hf32, ("float32 products", DType.FLOAT32))


def handed_to_vector(elements: float, chip: Hardware) -> CubePath:
    """Results that vector cores work on further: on dav-2201 they are read from global memory, later they come out of L0C directly."""
    return CubePath(l2_read_bytes=HANDED_BYTES * elements if chip.arch == _SEPARATE_CORES else 0.0)


def handed_to_cube(elements: float, chip: Hardware) -> CubePath:
    """What vector cores make for cube cores: on dav-2201 it is written to global memory and read from there (counted once, as the least)."""
    return CubePath(mte3_bytes=HANDED_BYTES * elements if chip.arch == _SEPARATE_CORES else 0.0)


def read_by_cube_bytes(elements: float, chip: Hardware) -> float:
    """Bytes in global memory of an operand that vector cores made."""
    return HANDED_BYTES * elements if chip.arch == _SEPARATE_CORES else 0.0
