"""The two maps of a core's accesses against a table with the last writer and the last reader of each pipe per byte."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VNPU = ROOT / "src" / "piton" / "vnpu_cpp"
PIPES = 7
MEMORY = 1500
FLAGS = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-D_GLIBCXX_ASSERTIONS")

Found = tuple[int, int, bool, int]
"""Byte, pipe of the earlier access, whether it wrote, its number."""


@dataclass(frozen=True)
class Access:
    begin: int
    end: int
    pipe: int
    is_write: bool
    number: int


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("maps") / "maps"
    sources = [ROOT / "tests" / "sim" / "cpp" / "hazard_maps.cpp", VNPU / "engine" / "hazard.cpp", VNPU / "engine" / "on_chip_map.cpp"]
    subprocess.run(["g++", *FLAGS, f"-I{VNPU / 'engine'}", f"-I{VNPU / 'include'}", "-o", str(program), *map(str, sources)], check=True, timeout=300)
    return program


def accesses(seed: int, count: int) -> list[Access]:
    """Pieces of instructions: whole units of 32 bytes mostly, some of any bytes; an instruction reads its pieces before it writes."""
    draw, found = random.Random(seed), []
    for number in range(1, count + 1):
        pipe, unit = draw.randrange(PIPES), draw.choice((32, 32, 32, 4, 1))
        pieces = draw.randrange(1, 6)
        step, length, start = draw.randrange(1, 9) * unit, draw.randrange(1, 9) * unit, draw.randrange(MEMORY // unit) * unit
        for is_write in sorted(draw.choices((False, True), k=draw.randrange(1, 3))):
            for piece in range(pieces):
                begin = start + piece * step
                found.append(Access(begin, min(begin + length, MEMORY), pipe, is_write, number))
    return [one for one in found if one.begin < one.end]


class Table:
    """Byte by byte."""

    def __init__(self) -> None:
        self._writer: list[tuple[int, int]] = [(0, 0)] * MEMORY
        self._readers: list[dict[int, int]] = [{} for _ in range(MEMORY)]

    def access(self, one: Access) -> list[Found]:
        found = [item for at in range(one.begin, one.end) for item in self._before(at, one.is_write)]
        for at in range(one.begin, one.end):
            if one.is_write:
                self._writer[at], self._readers[at] = (one.pipe, one.number), {}
            else:
                self._readers[at] = {**self._readers[at], one.pipe: one.number}
        return found

    def _before(self, at: int, is_write: bool) -> Iterator[Found]:
        if is_write:
            yield from ((at, pipe, False, number) for pipe, number in sorted(self._readers[at].items()))
        pipe, number = self._writer[at]
        if number:
            yield at, pipe, True, number


def by_bytes(line: str) -> list[Found]:
    """The conflicts of one access, which come as ranges in the order of addresses, for each of their bytes."""
    numbers = [int(word) for word in line.split()]
    ranges = [numbers[at : at + 5] for at in range(0, len(numbers), 5)]
    assert [item[0] for item in ranges] == sorted(item[0] for item in ranges)
    return sorted((at, pipe, bool(was_write), number) for begin, end, pipe, was_write, number in ranges for at in range(begin, end))


@pytest.mark.parametrize("name", ["o", "g"])
@pytest.mark.parametrize("seed", range(3))
def test_a_map_finds_for_every_byte_the_last_writer_and_the_last_reader_of_each_pipe(program: Path, name: str, seed: int) -> None:
    given = accesses(seed, 400)
    lines = "".join(f"{name} {one.begin} {one.end} {one.pipe} {int(one.is_write)} {one.number}\n" for one in given)
    result = subprocess.run([str(program)], input=lines, check=True, capture_output=True, text=True, timeout=120)
    table = Table()
    for one, line in zip(given, result.stdout.splitlines(), strict=True):
        # The scalar unit is in order with itself.
        expected = sorted(item for item in table.access(one) if not (one.pipe == 0 and item[1] == 0))
        assert by_bytes(line) == expected, one


def test_histories_that_no_byte_has_any_more_are_dropped(program: Path) -> None:
    lines = "".join(f"o {number % 40 * 32} {number % 40 * 32 + 64} {number % PIPES} {number % 2} {number + 1}\n" for number in range(20000))
    result = subprocess.run([str(program)], input=lines, check=True, capture_output=True, text=True, timeout=120)
    assert int(result.stderr) < 2000
