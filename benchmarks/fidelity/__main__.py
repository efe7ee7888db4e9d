"""Published against simulated times, with the error in %: `python benchmarks/fidelity` (needs g++, about 20 s)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).resolve().parent)]

import published  # noqa: E402 - the path is set above so that the command works in a plain checkout
import timing_driver  # noqa: E402 - as above
from bands import bands  # noqa: E402 - as above

from piton.core.calibration import rank_correlation  # noqa: E402 - as above

CHIP = "ascend910b1"
CLOCK_MHZ = 1850

Row = tuple[str, float, float]
"""What, published figure, simulated figure (both in the unit of the table)."""


def add_rows() -> Iterator[Row]:
    """Task time of the Add cases in us: first launch with a cold L2, then the same launch again (cases 2 to 6)."""
    for number, case in published.ADD_CASES.items():
        answers = timing_driver.run(CHIP, published.add_script(case) + "launch\nrepeat\n")
        for state, answer in zip(("cold", "again"), answers, strict=True):
            yield f"Add case {number}, {case.cores} cores, {2 * case.tile} B tiles, L2 {state}", published.ADD_TASK_US[number], answer["cycles"] / CLOCK_MHZ


def copy_rows() -> Iterator[Row]:
    """MTE2 time of the fifteen DataCopy scenarios in us."""
    for number, scenario in published.COPY_SCENARIOS.items():
        (answer,) = timing_driver.run(CHIP, published.copy_script(scenario) + "launch\n")
        yield f"DataCopy {number}, {scenario.note}", scenario.published_us, published.copy_us(scenario, answer, CLOCK_MHZ)


def bank_rows() -> Iterator[Row]:
    """Cycles per Add of the bank conflict scenarios."""
    for number in published.BANK_SCENARIOS:
        (answer,) = timing_driver.run(CHIP, published.bank_script(number))
        yield f"bank conflict scenario {number}", published.bank_cycles(number), answer["cycles"]


def small_rows() -> Iterator[Row]:
    """Whole time of small casts in us, cold L2."""
    for cast in published.SMALL_CASTS:
        (answer,) = timing_driver.run(CHIP, published.small_script(cast) + "launch\n")
        yield f"cast of {cast.elements} elements, {cast.blocks} blocks", cast.published_us, answer["cycles"] / CLOCK_MHZ


def print_table(unit: str, rows: Iterable[Row]) -> list[Row]:
    """Rows with their errors, and the median of those; returns the rows."""
    shown = list(rows)
    print(f"{'':52}{'published':>12}{'simulated':>12}{'error':>9}   ({unit}, {CHIP})")
    errors: list[float] = []
    for what, reference, simulated in shown:
        errors.append(100 * (simulated / reference - 1))
        print(f"{what:52}{reference:12.2f}{simulated:12.2f}{errors[-1]:+8.1f}%")
    sizes = [abs(error) for error in errors]
    print(f"{'median and largest error':76}{median(sizes):8.1f}%{max(sizes):8.1f}%\n")
    return shown


def families(tables: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
    """Rows that belong together: of Add the repeated launch, which is the one to compare; loads by where they go to."""
    copies = tables["copy"]
    return {
        "Add, L2 again": [row for row in tables["add"] if row[0].endswith("again")],
        "DataCopy into UB": [row for row in copies if "UB" in row[0]],
        "DataCopy into L1": [row for row in copies if "L1" in row[0]],
        "bank conflicts": list(tables["bank"]),
    }


def print_families(tables: Mapping[str, Sequence[Row]]) -> None:
    """Median error and rank correlation of the published sample rows, within each family and together.

    Published figures have three digits here: bank conflict scenarios that differ by one tick of the counter (0.04 %) are equal.
    """
    print(f"{'published sample rows':52}{'rows':>12}{'median':>12}{'rank correlation':>18}")
    errors: list[float] = []
    for name, rows in families(tables).items():
        sizes = [abs(simulated / reference - 1) for _, reference, simulated in rows]
        rank = rank_correlation([float(f"{reference:.3g}") for _, reference, _ in rows], [simulated for _, _, simulated in rows])
        errors += sizes
        print(f"{name:52}{len(rows):12}{100 * median(sizes):11.1f}%{rank or 0:18.3f}")
    print(f"{'together':52}{len(errors):12}{100 * median(errors):11.1f}%\n")


def print_bands(tables: Mapping[str, Sequence[Row]]) -> None:
    """What the references say about one more kernel (docs/fidelity.md)."""
    ratios = {name: [simulated / reference for what, reference, simulated in rows if not what.endswith("again")] for name, rows in tables.items()}
    print(f"{'band of simulated / measured':52}{'low':>12}{'high':>12}{'level':>9}   (references)")
    for kind, (low, high, level, references) in bands(ratios).items():
        print(f"{kind:52}{low:12.3f}{high:12.3f}{100 * level:8.1f}%   ({references})")


def main() -> None:
    """Print every table, and the bands that follow."""
    tables = (("add", "us", add_rows()), ("copy", "us", copy_rows()), ("bank", "cycles", bank_rows()), ("small", "us", small_rows()))
    found = {name: print_table(unit, rows) for name, unit, rows in tables}
    print_families(found)
    print_bands(found)


if __name__ == "__main__":
    main()
