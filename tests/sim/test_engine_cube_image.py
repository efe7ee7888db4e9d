"""LoadData as convolution against NumPy: image to column with padding, strides, dilations, parts, repeats, three orders of fractals; registers and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from cube_steps import FRACTAL, L0A, L0B, UNIT, ZERO, fixpipe, local, mmad, up
from engine_rig import AIC, F16, F32, FIX, I4, I8, I32, MTE1, MTE2, NUMPY, SIZE, M, Operand, Record, Report, Rig, S, flag, gm, l1, load, record

LOAD_IMAGE, SET_IMAGE = 208, 304
TRANSPOSE, RIGHT_SHAPE, SETS_SHAPE, SETS_PADDING = 1, 2, 4, 8
GENERATOR = np.random.default_rng(29)


@dataclass(frozen=True)
class Image:
    """A feature map and the windows that walk over it."""

    height: int
    width: int
    channels: int
    pad: tuple[int, int, int, int] = (0, 0, 0, 0)
    stride: tuple[int, int] = (1, 1)
    window: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)

    def shape_bits(self) -> int:
        left, right, top, bottom = self.pad
        return self.height | self.width << 16 | left << 32 | right << 40 | top << 48 | bottom << 56


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


def feature_map(image: Image, dtype: int) -> npt.NDArray[Any]:
    """Height x width x channels of small whole numbers."""
    return np.asarray(GENERATOR.integers(-9, 10, (image.height, image.width, image.channels)), NUMPY[dtype])


def in_blocks(values: npt.NDArray[Any], depth: int) -> npt.NDArray[Any]:
    """As L1 holds it: blocks of 32 bytes of channels one after another, the last as narrow as its channels."""
    return np.concatenate([values[:, :, at : at + depth].ravel() for at in range(0, values.shape[2], depth)])


def matrix_of(values: npt.NDArray[Any], image: Image, depth: int, padding: int) -> npt.NDArray[Any]:
    """The matrix of the page: a row per place of the window, columns by block of channels, place in the window, channel."""
    left, right, top, bottom = image.pad
    padded = np.pad(values, ((top, bottom), (left, right), (0, 0)), constant_values=padding)
    reach = [(size - 1) * step for size, step in zip(image.window, image.dilation, strict=True)]
    ys, xs = range(0, padded.shape[0] - reach[0], image.stride[0]), range(0, padded.shape[1] - reach[1], image.stride[1])
    cells = [(y * image.dilation[0], x * image.dilation[1]) for y in range(image.window[0]) for x in range(image.window[1])]
    blocks = range(0, image.channels, depth)
    return np.stack([np.concatenate([padded[y + dy, x + dx, at : at + depth] for at in blocks for dy, dx in cells]) for y in ys for x in xs])


def load_image(space: int, dtype: int, image: Image, part: tuple[int, int, int, int], *, flags: int = SETS_SHAPE | SETS_PADDING, padding: int = 0) -> Record:
    """`part`: rows, columns, first row, first column."""
    rows, columns, row, column = part
    made = record(
        LOAD_IMAGE,
        MTE1,
        p=(rows | columns << 16, row | column << 16, image.stride[1] | image.stride[0] << 8 | image.dilation[1] << 16 | image.dilation[0] << 24, flags),
        scalar=int(np.asarray(padding, NUMPY[dtype]).view(f"u{SIZE[dtype]}")),
    )
    made.dst, made.src0 = local(space, 0, dtype), l1(0, dtype)
    made.mask[0] = image.shape_bits()
    made.mask[1] = image.window[1] | image.window[0] << 16 | image.channels << 32
    return made


def unit_product(rig: Rig, space: int, dtype: int, shape: tuple[int, int]) -> tuple[list[Record], Record]:
    """Loads of the unit matrix into the other operand memory, and the Mmad that leaves what `space` holds (`shape`) in L0C."""
    rows, columns = shape
    size, other = SIZE[dtype], L0B if space == L0A else L0A
    side = columns if space == L0A else rows
    depth = UNIT // size
    fractals = up(side, 16) * up(side, depth)
    unit = np.zeros((up(side, depth), up(side, 16), 16, depth) if other == L0B else (up(side, 16), up(side, depth), 16, depth), NUMPY[dtype])
    for at in range(side):
        place = (at // depth, at // 16) if other == L0B else (at // 16, at // depth)
        unit[place[0], place[1], at % 16, at % depth] = 1
    first = load(l1(262144, dtype), gm(rig.upload(unit.ravel()), dtype), unit.nbytes)
    made = record(195, MTE1, p=(fractals, FRACTAL, FRACTAL, 0))
    made.dst, made.src0 = local(other, 0, dtype), l1(262144, dtype)
    return [first, *flag(MTE2, MTE1), made], mmad((rows, columns, side), dtype, mode=ZERO)


def loaded(
    rig: Rig, image: Image, dtype: int, values: npt.NDArray[Any], steps: list[Record], space: int, shape: tuple[int, int]
) -> tuple[Report, npt.NDArray[Any]]:
    """What the load in `steps` leaves in `space`, read as the operand that Mmad takes it for."""
    flat = in_blocks(values, UNIT // SIZE[dtype])
    padded = np.zeros(up(flat.nbytes, UNIT) * UNIT // SIZE[dtype], NUMPY[dtype])
    padded[: flat.size] = flat
    prologue, product = unit_product(rig, space, dtype, shape)
    out = rig.allocate(shape[0] * shape[1] * 4)
    whole = load(l1(0, dtype), gm(rig.upload(padded), dtype), padded.nbytes)
    source = 8 if dtype == I8 else F32
    back = fixpipe(gm(out, source), shape, shape[1] * 4, source=source)
    report = rig.launch([*prologue, whole, *flag(MTE2, MTE1), *steps, *flag(MTE1, M), product, *flag(M, FIX), back], core_kind=AIC)
    return report, rig.download(out, shape[0] * shape[1], np.int32 if dtype == I8 else np.float32).reshape(shape)


IMAGES = [
    Image(1, 48, 32),
    Image(6, 8, 16, window=(2, 3), pad=(1, 1, 1, 1)),
    Image(9, 9, 16, window=(2, 3), stride=(2, 1), dilation=(3, 2), pad=(2, 1, 0, 3)),
    Image(7, 9, 4, window=(3, 3), pad=(1, 0, 1, 0)),
    Image(5, 8, 40, window=(1, 2)),
]


@pytest.mark.parametrize("dtype", [F16, F32, I8])
@pytest.mark.parametrize("image", IMAGES)
def test_rows_of_windows_become_the_left_matrix(rig: Rig, image: Image, dtype: int) -> None:
    values, depth = feature_map(image, dtype), UNIT // SIZE[dtype]
    expected = matrix_of(values, image, depth, 3)
    rows, columns = expected.shape
    report, got = loaded(rig, image, dtype, values, [load_image(L0A, dtype, image, (rows, columns, 0, 0), padding=3)], L0A, (rows, columns))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, expected)


def nibbles(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """Pairs of 4-bit numbers in bytes, the first in the low half."""
    pairs = values.reshape(-1, 2) & 15
    return np.asarray((pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8).view(np.int8))


def four_bit_load(to: Operand, at: int, fractals: int) -> Record:
    made = record(195, MTE1, p=(fractals, FRACTAL, FRACTAL, 0))
    made.dst, made.src0 = to, l1(at, I4)
    return made


@pytest.mark.parametrize("rows", [16, 15])
def test_windows_of_four_bit_channels_are_padded_with_pairs(rig: Rig, rows: int) -> None:
    """A whole part is copied by blocks, another one element by element."""
    image = Image(1, 15, 64, pad=(1, 0, 0, 0))
    values = GENERATOR.integers(-8, 8, (15, 64))
    step = load_image(L0A, I8, image, (rows, 64, 0, 0), padding=-3)
    step.dst.dtype = step.src0.dtype = I4
    unit = np.eye(64, dtype=np.int64).reshape(4, 16, 64)
    loads = [load(l1(0, I8), gm(rig.upload(nibbles(values)), I8), 480), load(l1(65536, I8), gm(rig.upload(nibbles(unit)), I8), 2048)]
    product = mmad((rows, 64, 64), I8, mode=ZERO)
    product.src0.dtype = product.src1.dtype = I4
    out = rig.allocate(16 * 64 * 4)
    back = fixpipe(gm(out, I32), (rows, 64), 256, source=I32)
    steps = [*loads, *flag(MTE2, MTE1), step, four_bit_load(local(L0B, 0, I4), 65536, 4), *flag(MTE1, M), product, *flag(M, FIX), back]
    assert rig.launch(steps, core_kind=AIC).diagnostics == []
    got = rig.download(out, rows * 64, np.int32).reshape(rows, 64)
    np.testing.assert_array_equal(got, np.concatenate([np.full((1, 64), -3), values])[:rows])


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize("image", IMAGES[:3])
def test_a_part_of_the_windows_becomes_the_right_matrix_or_is_turned_over(rig: Rig, image: Image, dtype: int) -> None:
    values, depth = feature_map(image, dtype), UNIT // SIZE[dtype]
    part = matrix_of(values, image, depth, -2)[16:32, depth : 3 * depth] if image.channels * image.window[0] * image.window[1] >= 3 * depth else None
    columns = 2 * depth if part is not None else depth
    first = depth if part is not None else 0
    part = matrix_of(values, image, depth, -2)[16:32, first : first + columns]
    step = load_image(L0B, dtype, image, (16, columns, 16, first), padding=-2)
    report, got = loaded(rig, image, dtype, values, [step], L0B, (16, columns))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, part)
    step = load_image(L0A, dtype, image, (16, columns, 16, first), padding=-2, flags=TRANSPOSE | SETS_SHAPE | SETS_PADDING)
    report, got = loaded(rig, image, dtype, values, [step], L0A, (columns, 16))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, part.T)


def test_registers_hold_shape_and_padding_until_they_are_set_again(rig: Rig) -> None:
    image = Image(6, 8, 16, window=(3, 3), pad=(1, 1, 1, 1))
    values = feature_map(image, F16)
    registers = [
        record(SET_IMAGE, S, p=(1, 0, 0, 0), scalar=image.shape_bits()),
        record(SET_IMAGE, S, p=(2, 0, 0, 0), scalar=int(np.float16(5).view(np.uint16))),
    ]
    plain = load_image(L0A, F16, Image(1, 1, 16, window=(3, 3)), (48, 144, 0, 0), flags=RIGHT_SHAPE)
    report, got = loaded(rig, image, F16, values, [*registers, plain], L0A, (48, 144))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, matrix_of(values, image, 16, 5))


@pytest.mark.parametrize("is_sideways", [False, True])
def test_repeats_load_blocks_that_lie_apart(rig: Rig, is_sideways: bool) -> None:
    image = Image(1, 64, 64)
    values = feature_map(image, F16)
    whole = matrix_of(values, image, 16, 0)
    repeats = record(SET_IMAGE, S, p=(4, 2, 2, int(is_sideways)))
    report, got = loaded(rig, image, F16, values, [repeats, load_image(L0A, F16, image, (16, 16, 0, 0))], L0A, (16, 32) if is_sideways else (32, 16))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, whole[:16, [*range(16), *range(32, 48)]] if is_sideways else whole[[*range(16), *range(32, 48)], :16])


def test_a_boundary_sends_addresses_back_to_the_start(rig: Rig) -> None:
    image = Image(1, 32, 16)
    values = feature_map(image, F16)
    step = load_image(L0A, F16, image, (32, 16, 0, 0))
    step.src0 = l1(512, F16)
    report, got = loaded(rig, image, F16, values, [record(SET_IMAGE, S, p=(3, 0, 0, 0), scalar=1024), step], L0A, (32, 16))
    assert report.diagnostics == []
    np.testing.assert_array_equal(got, np.roll(values[0], -16, axis=0))


def test_rows_beyond_the_last_window_are_undefined(rig: Rig) -> None:
    image = Image(1, 20, 16)
    report, _ = loaded(rig, image, F16, feature_map(image, F16), [load_image(L0A, F16, image, (32, 16, 0, 0))], L0A, (32, 16))
    assert set(report.causes()) == {"undefined_data"}


@pytest.mark.parametrize(
    ("space", "dtype", "image", "part", "cause"),
    [
        (L0B, I8, Image(1, 32, 32), (16, 32, 0, 0), "unsupported_api"),
        (L0A, F16, Image(1, 32, 20), (16, 16, 0, 8), "bad_parameter"),
        (L0A, F16, Image(1, 32, 22), (16, 16, 0, 0), "bad_parameter"),
        (L0A, F16, Image(1, 32, 16), (16, 32, 0, 0), "bad_parameter"),
        (L0A, F16, Image(2, 2, 16, window=(3, 3)), (16, 16, 0, 0), "bad_parameter"),
        (L0A, F16, Image(1, 32, 16, stride=(0, 1)), (16, 16, 0, 0), "bad_parameter"),
    ],
)
def test_what_the_unit_cannot_do_is_refused(rig: Rig, space: int, dtype: int, image: Image, part: tuple[int, int, int, int], cause: str) -> None:
    report, _ = loaded(rig, image, dtype, feature_map(image, dtype), [load_image(space, dtype, image, part)], space, (16, 16))
    assert report.causes()[0] == cause


def test_no_rows_means_no_load(rig: Rig) -> None:
    assert rig.launch([load_image(L0A, F16, Image(1, 32, 16), (0, 16, 0, 0))], core_kind=AIC).diagnostics == []


def test_a_load_that_does_not_wait_for_the_feature_map_is_found(rig: Rig) -> None:
    image = Image(1, 16, 16)
    whole = load(l1(0, F16), gm(rig.upload(feature_map(image, F16).ravel()), F16), 512)
    report = rig.launch([whole, load_image(L0A, F16, image, (16, 16, 0, 0))], core_kind=AIC)
    assert "missing_sync" in report.causes()
