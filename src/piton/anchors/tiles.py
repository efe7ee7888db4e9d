"""The choices a chip has for matrix products: accumulator tiles, blocks of tiles that share operands in L1, parts of the inner axis, active cores.

A cube instruction takes a left operand from L0A, a right one from L0B, and adds to an accumulator tile in L0C (float32 or int32). A tile of base_m x base_n
results is worked on by one core while the inner axis passes; with it passes base_m x k of the left operand through L0A and k x base_n of the right one
through L0B. So larger tiles load less into L0, and L0C says how large they get. A block of several tiles that one core works on reads its operands from
global memory once, if L1 can hold what its tiles share. Fewer, larger blocks read less and occupy fewer cores. `choices` looks for the best compromises.

It stays a lower bound: units overlap perfectly (L0A and L0B are double-buffered for that, which costs nothing but the depth of a step; results leave one
accumulator tile while the next instructions already write to it, as the chip's unit flag allows, so that a second accumulator is not needed), all fractals
are dealt out evenly over the active cores whatever the tiles are, operands in L1 need no second buffer, and reads are elements without their padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product as combinations

import numpy as np
from numpy.typing import NDArray

from piton.anchors.cube_chip import CubeChip
from piton.anchors.work import CubePath
from piton.core.dtype import DType

FRACTAL = 16
"""Rows and columns that a cube instruction works on at a time."""
FRACTAL_ROW_BYTES = 32
"""Bytes of one row of an operand's fractal; its elements are the step of the inner axis."""
_ACCUMULATOR_BYTES = 4
_L0_BUFFERS = 2
_MOST_PARTS = 8
_MANY_TILES = 4
_SMALL_TILE = 2
"""A tile of less than a half of the largest is small."""
_MOST_CHOICES = 12
"""Choices that a front keeps: more differ by less than anyone asks for, and products of fronts would grow."""

_Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Product:
    """`count` products [m, k] x [k, n] with operands of their own. All sizes at least 1."""

    m: int
    k: int
    n: int
    multiply: DType
    """Type of the operands in L1 and L0, and whose rate the cube works at."""
    left_gm_bytes: float
    """Bytes of one left operand in global memory: of a convolution every pixel once, not once for each tap."""
    right_gm_bytes: float
    count: int = 1
    share: float = 1.0
    """Part of the m x n x k multiply-adds that is done at all: a causal mask leaves whole tiles out."""

    @property
    def flops(self) -> float:
        """Operations that count, without padding."""
        return 2.0 * self.count * self.m * self.k * self.n * self.share

    @property
    def step(self) -> int:
        """Elements of the inner axis in one fractal."""
        return FRACTAL_ROW_BYTES * 8 // self.multiply.bits

    @property
    def steps(self) -> int:
        """Fractals along the inner axis."""
        return -(-self.k // self.step)


@dataclass(frozen=True)
class Tiling:
    """One implementation choice for products that differ in m and count only."""

    base_m: int
    base_n: int
    block_m: int
    """Rows of results that one core works on with one reading of its right operand."""
    block_n: int
    """Columns of results that one core works on with one reading of its left operand."""
    parts: int = 1
    """Parts of the inner axis that different cores work on; their sums are added in global memory."""


@dataclass(frozen=True)
class Tiled:
    """A choice with what it costs."""

    tiling: Tiling
    base_k: int
    """Elements of the inner axis that L0A and L0B take at a time, double-buffered."""
    cores: int
    """Cores that have work."""
    path: CubePath

    def __str__(self) -> str:
        shape = self.tiling
        split = f", k in {shape.parts} parts" if shape.parts > 1 else ""
        return f"tiles {shape.base_m} x {shape.base_n} x {self.base_k} in blocks {shape.block_m} x {shape.block_n}{split} on {self.cores} cores"


@lru_cache(maxsize=4096)
def choices(products: tuple[Product, ...], chip: CubeChip) -> tuple[Tiled, ...]:
    """The choices that no other beats in every unit, the fastest first. `products` differ in m and count only, and share the chip at the same time.

    Raises ValueError for no products.
    """
    if not products:
        raise ValueError("no products to tile")
    lattice = tilings(products, chip)
    costs = Costs.of(products, lattice, chip)
    best = front(costs.times(products[0].multiply, chip), _MOST_CHOICES)
    return tuple(_tiled(products[0], Tiling(*(int(column[index]) for column in lattice)), costs, index, chip) for index in best)


def front(times: NDArray[np.float64], most: int) -> list[int]:
    """Indices of rows of `times` that no other row beats or equals in every column, by longest time, then by the sum of times: the first `most`."""
    left, longest, totals = np.arange(len(times)), times.max(1), times.sum(1)
    kept: list[int] = []
    while len(left) and len(kept) < most:
        fastest = left[longest[left] == longest[left].min()]
        best = int(fastest[totals[fastest].argmin()])
        kept.append(best)
        left = left[(times[left] < times[best]).any(1)]
    return kept


def tilings(products: tuple[Product, ...], chip: CubeChip) -> tuple[_Numbers, ...]:
    """Every choice on the lattice that the capacities allow, as the columns of Tiling."""
    rows, columns = max(padded(product.m) for product in products), padded(products[0].n)
    found: list[tuple[int, int, int, int]] = []
    for tile_m, tile_n in _tiles(products, chip):
        found += combinations((tile_m,), (tile_n,), multiples(-(-rows // tile_m)), multiples(-(-columns // tile_n)))
    counts = np.array(_parts(products, chip), dtype=np.int64)
    base_m, base_n, down, across = np.repeat(np.array(found, dtype=np.int64).T, len(counts), axis=1)
    parts = np.tile(counts, len(found))
    fits = shared_rows(down, across, base_m, base_n) <= _l1_rows(products[0], parts, chip)
    return tuple(column[fits] for column in (base_m, base_n, base_m * down, base_n * across, parts))


def _tiles(products: tuple[Product, ...], chip: CubeChip) -> list[tuple[int, int]]:
    """Accumulator tiles that L0A, L0B and L0C can hold; only large ones where every core has many of those to do, since small ones just load more then."""
    rows, columns = max(padded(product.m) for product in products), padded(products[0].n)
    most_m, most_n = (size // (_L0_BUFFERS * FRACTAL_ROW_BYTES) for size in (chip.l0a, chip.l0b))
    most = chip.l0c // _ACCUMULATOR_BYTES
    fitting = [tile for tile in combinations(sizes(rows, most_m), sizes(columns, most_n)) if tile[0] * tile[1] <= most]
    largest = max(base_m * base_n for base_m, base_n in fitting)
    has_many = fractals(products) * FRACTAL * FRACTAL >= _MANY_TILES * chip.cores * largest
    return [tile for tile in fitting if not has_many or _SMALL_TILE * tile[0] * tile[1] >= largest]


def sizes(extent: int, most: int) -> tuple[int, ...]:
    """Tile sizes worth a look, whole fractals: powers of two, three times those, and what cuts `extent` into up to 16 equal parts; none above either."""
    doubled = [FRACTAL * factor << power for factor in (1, 3) for power in range(8)]
    equal = [padded(-(-extent // count)) for count in range(1, 17)]
    return tuple(sorted({size for size in (*doubled, *equal) if size <= min(extent, most)}))


@lru_cache(maxsize=1024)
def multiples(count: int) -> tuple[int, ...]:
    """How many of `count` tiles a block may have along one axis: 1, powers of two, three times those, all."""
    doubled = [factor << power for factor in (1, 3) for power in range(count.bit_length())]
    return tuple(sorted({size for size in (*doubled, count) if size <= count}))


def shared_rows(down: _Numbers, across: _Numbers, base_m: _Numbers, base_n: _Numbers) -> _Numbers:
    """Rows of operands, each as long as the inner axis, that L1 has to hold so that blocks of down x across tiles read nothing twice.

    Going through the tiles column by column, the left operand's rows of the whole block stay (if there is a second column), and the right operand's columns
    of one tile (if there is a second row); row by row it is the other way round. A single tile shares nothing, its operands stream through.
    """
    by_columns = (across > 1) * down * base_m + (down > 1) * base_n
    by_rows = (down > 1) * across * base_n + (across > 1) * base_m
    least: _Numbers = np.minimum(by_columns, by_rows)
    return least


def _l1_rows(product: Product, parts: _Numbers, chip: CubeChip) -> _Numbers:
    """Rows of an operand, each as long as one part of the inner axis, that L1 holds."""
    return chip.l1 // (over(product.steps, parts) * FRACTAL_ROW_BYTES)


def _parts(products: tuple[Product, ...], chip: CubeChip) -> tuple[int, ...]:
    """Numbers of parts of the inner axis: up to the number of cores where there are few fractals for every core, else as far as shorter rows help L1."""
    few = fractals(products) < 8 * chip.cores
    return multiples(min(products[0].steps, max(chip.cores, _MOST_PARTS) if few else _MOST_PARTS))


def fractals(products: Sequence[Product]) -> int:
    """Fractals of results."""
    return sum(product.count * (padded(product.m) // FRACTAL) * (padded(product.n) // FRACTAL) for product in products)


@dataclass(frozen=True)
class Costs:
    """What tilings cost, one number for each, as amounts of the busiest core times all cores."""

    cores: NDArray[np.int64]
    cube_flops: NDArray[np.float64]
    reads: NDArray[np.float64]
    l0a: NDArray[np.float64]
    l0b: NDArray[np.float64]
    results: NDArray[np.float64]

    @staticmethod
    def of(products: Sequence[Product], lattice: tuple[_Numbers, ...], chip: CubeChip) -> Costs:
        """Costs of the tilings whose columns are given."""
        base_m, base_n, block_m, block_n, parts = lattice
        first, columns = products[0], padded(products[0].n)
        blocks_n, tiles_n = over(columns, block_n), over(columns, base_n)
        blocks, (reads, left, right, results) = 0 * parts, np.zeros((4, len(parts)))
        for product in products:
            rows, weight = padded(product.m), product.count * product.share
            blocks_m = over(rows, block_m)
            blocks = blocks + product.count * blocks_m * blocks_n
            reads += product.count * product.left_gm_bytes * np.maximum(1.0, blocks_n * product.share)
            reads += product.count * product.right_gm_bytes * np.maximum(1.0, blocks_m * product.share)
            left += weight * rows * tiles_n
            right += weight * columns * over(rows, base_m)
            results += weight * product.m * product.n * parts
        cores = np.minimum(chip.cores, blocks * parts)
        idle, row_bytes = chip.cores / cores, first.steps * FRACTAL_ROW_BYTES
        busiest = over(fractals(products) * parts, cores) * over(first.steps, parts)
        flops = np.float64(2.0 * FRACTAL * FRACTAL * first.step * first.share * chip.cores) * busiest
        return Costs(cores, flops, reads * idle, left * row_bytes * idle, right * row_bytes * idle, results * idle)

    def times(self, multiply: DType, chip: CubeChip) -> NDArray[np.float64]:
        """Seconds of cube, mte1, mte2 (all reads over L2) and fixp, one row for each tiling."""
        cube = self.cube_flops / chip.rate(multiply)
        into_l0 = self.l0a / chip.l0a_bytes_per_s + self.l0b / chip.l0b_bytes_per_s
        return np.stack([cube, into_l0, self.reads / chip.l2_read_bytes_per_s, self.results / chip.fixp_elements_per_s], axis=1)

    def path(self, multiply: DType, index: int) -> CubePath:
        """The costs of one tiling."""
        amounts = (float(column[index]) for column in (self.reads, self.l0a, self.l0b, self.results))
        return CubePath({multiply: float(self.cube_flops[index])}, *amounts)


def _tiled(product: Product, tiling: Tiling, costs: Costs, index: int, chip: CubeChip) -> Tiled:
    deep = min(chip.l0a // tiling.base_m, chip.l0b // tiling.base_n) // (_L0_BUFFERS * FRACTAL_ROW_BYTES)
    return Tiled(tiling, min(deep, product.steps) * product.step, int(costs.cores[index]), costs.path(product.multiply, index))


def padded(size: int, step: int = FRACTAL) -> int:
    """`size` rounded up to whole steps."""
    return -(-size // step) * step


def over(size: int | _Numbers, step: _Numbers) -> _Numbers:
    """How many steps cover `size`."""
    return -(-size // step)
