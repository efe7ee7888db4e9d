"""Does the search over tile shapes find the best one, and does what it finds fit on the chip?"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from piton.anchors.cube_chip import CubeChip, cube_chip
from piton.anchors.tiles import Product, Tiled, Tiling, choices, multiples, sizes
from piton.catalog.hardware import load_hardware
from piton.core.dtype import DType

HALF = DType.FLOAT16
SMALL_CHIP = CubeChip(
    4, l1=4096, l0a=4096, l0b=2048, l0c=8192, cube_flops=((HALF, 4e12),), l2_read_bytes_per_s=1e11, l0a_bytes_per_s=4e11, l0b_bytes_per_s=2e11
)
"""Four cores with accumulators of 8 fractals, left operands of 4 and right ones of 2 fractals at a time (twice, 512 B each), L1 of 128 rows of a fractal."""


def half_product(m: int, k: int, n: int, count: int = 1, share: float = 1.0) -> Product:
    return Product(m, k, n, HALF, left_gm_bytes=2.0 * m * k, right_gm_bytes=2.0 * k * n, count=count, share=share)


def up(size: int, step: int) -> int:
    return (size + step - 1) // step


def all_tilings(product: Product, chip: CubeChip) -> Iterator[Tiling]:
    """Every tile of whole fractals, every block of whole tiles, every number of parts, whether the chip can hold it or not."""
    rows, columns = 16 * up(product.m, 16), 16 * up(product.n, 16)
    for base_m in range(16, rows + 1, 16):
        for base_n in range(16, columns + 1, 16):
            for block_m in range(base_m, rows + base_m, base_m):
                for block_n in range(base_n, columns + base_n, base_n):
                    for parts in range(1, min(8, up(product.k, 16)) + 1):
                        yield Tiling(base_m, base_n, block_m, block_n, parts)


def fits(tiling: Tiling, product: Product, chip: CubeChip) -> bool:
    """Two steps of 32 B per row in L0A and L0B, 4 B per result in L0C, and what the tiles of a block share in L1."""
    if 2 * 32 * tiling.base_m > chip.l0a or 2 * 32 * tiling.base_n > chip.l0b or 4 * tiling.base_m * tiling.base_n > chip.l0c:
        return False
    row = 32 * up(up(product.k, 16), tiling.parts)
    has_rows, has_columns = tiling.block_m > tiling.base_m, tiling.block_n > tiling.base_n
    left_whole = (tiling.block_m if has_columns else 0) + (tiling.base_n if has_rows else 0)
    right_whole = (tiling.block_n if has_rows else 0) + (tiling.base_m if has_columns else 0)
    return min(left_whole, right_whole) * row <= chip.l1


def seconds(tiling: Tiling, product: Product, chip: CubeChip) -> tuple[float, ...]:
    """cube, mte1, mte2 and fixp of the busiest core, written down anew."""
    rows, columns, depth = 16 * up(product.m, 16), 16 * up(product.n, 16), 16 * up(product.k, 16)
    blocks = up(rows, tiling.block_m) * up(columns, tiling.block_n) * product.count
    cores = min(chip.cores, blocks * tiling.parts)
    fractals = up(rows * columns // 256 * product.count * tiling.parts, cores) * up(depth // 16, tiling.parts)
    into_a = product.count * rows * depth * 2 * up(columns, tiling.base_n) / cores
    into_b = product.count * columns * depth * 2 * up(rows, tiling.base_m) / cores
    reads = product.count * (2 * product.m * product.k * up(columns, tiling.block_n) + 2 * product.k * product.n * up(rows, tiling.block_m)) / cores
    results = product.count * product.m * product.n * tiling.parts / cores
    return (
        fractals * 2 * 16**3 / (dict(chip.cube_flops)[HALF] / chip.cores),
        into_a / (chip.l0a_bytes_per_s / chip.cores) + into_b / (chip.l0b_bytes_per_s / chip.cores),
        reads / (chip.l2_read_bytes_per_s / chip.cores),
        results / (chip.fixp_elements_per_s / chip.cores),
    )


def found_seconds(tiled: Tiled, chip: CubeChip) -> tuple[float, ...]:
    path = tiled.path
    into_l0 = path.l0a_bytes / chip.l0a_bytes_per_s + path.l0b_bytes / chip.l0b_bytes_per_s
    return (path.cube_flops[HALF] / chip.rate(HALF), into_l0, path.l2_read_bytes / chip.l2_read_bytes_per_s, path.l0c_elements / chip.fixp_elements_per_s)


SMALL_PRODUCTS = [(16, 16, 16, 1), (17, 33, 40, 1), (64, 64, 64, 1), (128, 16, 128, 1), (112, 200, 16, 1), (16, 512, 80, 3), (90, 90, 90, 2), (128, 128, 96, 5)]


@pytest.mark.parametrize(("m", "k", "n", "count"), SMALL_PRODUCTS)
@pytest.mark.parametrize("slow_unit", ["none", "cube", "l0", "fixp"])
def test_the_search_finds_what_trying_every_tile_shape_finds(m: int, k: int, n: int, count: int, slow_unit: str) -> None:
    rates = {"cube": {"cube_flops": ((HALF, 4e10),)}, "l0": {"l0a_bytes_per_s": 4e9, "l0b_bytes_per_s": 2e9}, "fixp": {"fixp_elements_per_s": 1e8}}
    chip = CubeChip(**{**SMALL_CHIP.__dict__, **rates.get(slow_unit, {})})
    product = half_product(m, k, n, count)
    least = min(max(seconds(tiling, product, chip)) for tiling in all_tilings(product, chip) if fits(tiling, product, chip))
    best = choices((product,), chip)[0]
    assert max(found_seconds(best, chip)) == pytest.approx(least, rel=1e-12)
    assert found_seconds(best, chip) == pytest.approx(seconds(best.tiling, product, chip), rel=1e-12)


@pytest.mark.parametrize("name", ["ascend910b1", "ascend910b2", "ascend950pr"])
def test_every_chosen_tile_respects_every_capacity(name: str) -> None:
    chip, random_sizes = cube_chip(load_hardware(name)), random.Random(7)
    for _ in range(40):
        m, k, n = (int(2 ** random_sizes.uniform(0, 13)) for _ in range(3))
        product = half_product(m, k, n, count=random_sizes.choice((1, 1, 8)))
        for tiled in choices((product,), chip):
            assert fits(tiled.tiling, product, chip), (tiled, m, k, n)
            assert 2 * 2 * tiled.base_k * tiled.tiling.base_m <= chip.l0a
            assert 2 * 2 * tiled.base_k * tiled.tiling.base_n <= chip.l0b
            assert 1 <= tiled.cores <= chip.cores


def test_the_published_matrix_product_takes_the_tiles_that_the_vendor_took() -> None:
    """8192 cubed in half: accumulators of 32 Ki floats are 128 x 256 or 256 x 128; L0B is the slower way in, so the right operand should pass less often."""
    chip = cube_chip(load_hardware("ascend910b2"))
    best = choices((half_product(8192, 8192, 8192),), chip)[0]
    assert {best.tiling.base_m, best.tiling.base_n} == {128, 256}
    assert best.cores == 24
    assert best.path.cube_flops[HALF] == pytest.approx(2 * 8192**3, rel=1e-4)  # 262144 fractals of results over 24 cores: 10923 instead of 10922.67
    assert best.path.l0a_bytes == 2 * 8192 * 8192 * (8192 // best.tiling.base_n)
    assert best.path.l0b_bytes == 2 * 8192 * 8192 * (8192 // best.tiling.base_m)


def test_fewer_tiles_than_cores_leave_cores_idle() -> None:
    """[16, 16] x [16, 16] is one fractal and one step: 24 cores have the work of one, 24 times 2 x 16 x 16 x 16 operations."""
    chip = cube_chip(load_hardware("ascend910b2"))
    (only,) = choices((half_product(16, 16, 16),), chip)
    assert (only.cores, only.path.cube_flops[HALF], only.path.l0c_elements) == (1, 24 * 2 * 16**3, 24 * 256)


def test_an_inner_axis_may_be_split_over_cores_and_its_results_leave_once_for_each_part() -> None:
    chip = cube_chip(load_hardware("ascend910b2"))
    (best, *_others) = choices((half_product(16, 24 * 1600, 16),), chip)
    assert (best.tiling.parts, best.cores) == (24, 24)
    assert best.path.l0c_elements == 24 * 16 * 16


def test_groups_share_the_chip() -> None:
    """Twelve groups of 16 rows and twelve of 32, n = 16: 12 + 24 = 36 fractals, two on the busiest of 24 cores, each 4 steps of 2 x 16^3 operations."""
    chip = cube_chip(load_hardware("ascend910b2"))
    best = choices((half_product(16, 64, 16, 12), half_product(32, 64, 16, 12)), chip)[0]
    assert best.path.cube_flops[HALF] == 24 * 2 * 4 * 2 * 16**3


def test_a_share_of_the_products_costs_that_share() -> None:
    chip = cube_chip(load_hardware("ascend910b2"))
    whole, half = (choices((half_product(4096, 128, 4096, share=share),), chip)[0] for share in (1.0, 0.5))
    assert half.path.cube_flops[HALF] == whole.path.cube_flops[HALF] / 2
    assert half_product(2, 3, 5, share=0.5).flops == 2 * 2 * 3 * 5 * 0.5


def test_the_same_products_get_the_same_choices() -> None:
    chip = cube_chip(load_hardware("ascend910b2"))
    first = choices((half_product(1000, 700, 900),), chip)
    choices.cache_clear()
    assert choices((half_product(1000, 700, 900),), chip) == first
    assert next(str(item) for item in first).startswith("tiles ")


def test_no_choice_beats_another_in_every_unit() -> None:
    chip = cube_chip(load_hardware("ascend910b2"))
    times = [found_seconds(item, chip) for item in choices((half_product(160, 100_000, 160),), chip)]
    assert len(times) > 1
    assert [max(row) for row in times] == sorted(max(row) for row in times)
    for one in times:
        assert not any(all(x <= y for x, y in zip(other, one, strict=True)) for other in times if other is not one)


def test_no_products_are_refused() -> None:
    with pytest.raises(ValueError, match="no products"):
        choices((), SMALL_CHIP)


def test_sizes_are_whole_fractals_within_bounds() -> None:
    assert sizes(112, 1024) == (16, 32, 48, 64, 96, 112)
    assert sizes(112, 64) == (16, 32, 48, 64)
    assert multiples(7) == (1, 2, 3, 4, 6, 7)
