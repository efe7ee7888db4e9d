"""Do LoadDataWithSparse and MmadWithSparse multiply as their pages say, against NumPy, and is a product without places refused?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

PROGRAM = Path(__file__).resolve().parents[1] / "submissions" / "programs" / "sparse.asc"
M, N, K = 20, 40, 128

# Table of the page of MmadWithSparse: two-bit places of a pair, and the elements of four that they choose.
CHOICES = {(2, 2): (2, 3), (1, 2): (1, 3), (0, 2): (0, 3), (1, 1): (1, 2), (0, 1): (0, 2), (0, 0): (0, 1), (2, 0): (2, 2), (1, 0): (1, 1)}

Bytes = npt.NDArray[np.int8]


def fractals(rows: npt.NDArray[Any], inner: int, *, by_row: bool) -> npt.NDArray[Any]:
    """Fractals of 16 rows of `inner` elements: row of fractals after row, or column after column; rows are filled up with 77."""
    full = np.full((-(-rows.shape[0] // 16) * 16, rows.shape[1]), 77, rows.dtype)
    full[: rows.shape[0]] = rows
    cut = full.reshape(full.shape[0] // 16, 16, full.shape[1] // inner, inner)
    return cut.transpose(0, 2, 1, 3) if by_row else cut.transpose(2, 0, 1, 3)


def drawn() -> tuple[Bytes, Bytes, npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """A, the kept half of B with a row per column, its places packed four to a byte, and twice the product."""
    random = np.random.default_rng(5)
    a = random.integers(-128, 128, (M, K)).astype(np.int8)
    kept = random.integers(-128, 128, (N, K // 2)).astype(np.int8)
    pairs = np.array(list(CHOICES))[random.integers(0, len(CHOICES), (N, K // 4))]
    chosen = np.array([[4 * four + CHOICES[tuple(pair)][at] for four, pair in enumerate(row) for at in (0, 1)] for row in pairs.tolist()])
    fours = pairs.reshape(N, K // 8, 4)
    packed = (fours << (2 * np.arange(4))).sum(axis=2).astype(np.uint8)
    product = np.stack([a[:, chosen[column]].astype(np.int32) @ kept[column].astype(np.int32) for column in range(N)], axis=1)
    return a, kept, packed, 2 * product


def run(folder: Path, *options: str) -> dict[str, Any]:
    folder.mkdir()
    a, kept, packed, _ = drawn()
    (folder / PROGRAM.name).write_text(PROGRAM.read_text())
    fractals(a, 32, by_row=True).tofile(folder / "a.bin")
    (folder / "b.bin").write_bytes(bytes(512) + fractals(kept, 32, by_row=False).tobytes())  # startIndex leaves the first fractal out
    (folder / "p.bin").write_bytes(bytes(128) + fractals(packed, 8, by_row=False).tobytes())
    command = [sys.executable, "-m", "piton.cli.main", "run", "--json", str(folder / PROGRAM.name), "--out", str(folder / "out"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, env={**os.environ, "COLUMNS": "200"})
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_two_of_four_are_multiplied_with_what_their_places_choose(tmp_path: Path) -> None:
    report = run(tmp_path / "sparse")
    assert report["outcome"]["verdict"] == "passed", report["outcomes"]
    found = np.fromfile(tmp_path / "sparse" / "out" / "c.bin", np.int32).reshape(M, N)
    np.testing.assert_array_equal(found, drawn()[3])


def test_a_sparse_product_without_places_says_what_brings_them(tmp_path: Path) -> None:
    report = run(tmp_path / "sparse", "-D", "WITHOUT_PLACES")
    assert report["outcome"]["cause"] == "undefined_data", report["outcomes"]
    assert "LoadDataWithSparse" in report["outcome"]["message"]
