"""How close are the reference kernels to what the chip allows, by operator and size, and how much faster than the plain version?

usage: python benchmarks/reference_kernels.py RUN [RUN ...] [--markdown] [--json FILE]

RUN is a folder that `piton eval kernels/reference` wrote, or a report.json; several are taken together (levels run one after the other). Nothing is run here.
T_cand is simulated, T_HW modelled from silicon peaks, T_baseline the simulated time of the suite's plain kernel where it has one. A case counts as bound by
memory when the unit that limits its T_HW moves data. Figures are geometric means, of HAP the arithmetic one. Exit status 1 when a case did not pass, or large
memory-bound cases take more than 1.35 T_HW.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from piton.core.case import SizeClass
from piton.core.errors import PitonError
from piton.core.report import CaseResult, Report
from piton.core.verdict import LEFT_OUT, Verdict
from piton.report.json_file import NAME, read_report

MOST = 1.35
"""Of T_cand / T_HW, over large memory-bound cases."""
_MOVES = ("mte1", "mte2", "mte3")
_PLAIN = "plain v0 kernel"


@dataclass(frozen=True)
class Row:
    """One operator, or all of them."""

    operator: str
    passed: int
    cases: int
    hap: float | None
    small: float | None
    medium: float | None
    large: float | None
    large_memory_bound: float | None
    gain: float | None
    """T_baseline / T_cand where T_baseline is the plain kernel's."""
    slowest_gain: float | None
    wall_s: float


def main() -> int:
    """Print the table; the exit status."""
    options = _options()
    try:
        reports = [read_report(_file(run)) for run in options.runs]
    except PitonError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    found = [(item.operator, [case for case in item.cases if case.outcome.cause not in LEFT_OUT]) for report in reports for item in report.operators]
    rows = [row_of(name, cases) for name, cases in found if cases]
    total = row_of("all", [case for _, cases in found for case in cases])
    if options.markdown:
        print(_markdown(rows, total))
    else:
        Console(width=None if sys.stdout.isatty() else 200).print(_table(rows, total))
    print(_words(reports, total))
    if options.json:
        options.json.write_text(json.dumps({"rows": [asdict(row) for row in rows], "all": asdict(total)}, indent=1) + "\n", "utf-8")
    return 0 if total.passed == total.cases and (total.large_memory_bound or 0.0) <= MOST else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder of a run, or a report.json")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--json", type=Path, help="write all figures there")
    return parser.parse_args()


def _file(run: Path) -> Path:
    return run / NAME if run.is_dir() else run


def row_of(name: str, cases: Sequence[CaseResult]) -> Row:
    """Figures over these cases."""
    passed = [case for case in cases if case.outcome.verdict is Verdict.PASSED and not case.void]
    haps = [case.hap.ranked for case in passed if case.hap]
    gains = [case.t_baseline.value_us / case.time.value for case in passed if case.time and case.t_baseline and case.t_baseline.method.startswith(_PLAIN)]
    sizes = {size: [case for case in passed if case.size is size] for size in SizeClass}
    bound = [case for case in sizes[SizeClass.LARGE] if case.t_hw and case.t_hw.limiting_unit in _MOVES]
    return Row(
        operator=name,
        passed=len(passed),
        cases=len(cases),
        hap=sum(haps) / len(haps) if haps else None,
        small=_ratio(sizes[SizeClass.SMALL]),
        medium=_ratio(sizes[SizeClass.MEDIUM]),
        large=_ratio(sizes[SizeClass.LARGE]),
        large_memory_bound=_ratio(bound),
        gain=_mean(gains),
        slowest_gain=min(gains, default=None),
        wall_s=sum(case.wall_s for case in cases),
    )


def _ratio(cases: Iterable[CaseResult]) -> float | None:
    return _mean([case.time.value / case.t_hw.value_us for case in cases if case.time and case.t_hw])


def _mean(values: Sequence[float]) -> float | None:
    """The geometric mean."""
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


_HEADS = ("operator", "passed", "HAP", "small", "medium", "large", "large, memory-bound", "plain / ours", "least", "harness s")


def _cells(row: Row) -> list[str]:
    figures = (row.hap, row.small, row.medium, row.large, row.large_memory_bound, row.gain, row.slowest_gain)
    return [row.operator, f"{row.passed}/{row.cases}", *("-" if value is None else f"{value:.2f}" for value in figures), f"{row.wall_s:.1f}"]


def _table(rows: Sequence[Row], total: Row) -> Table:
    table = Table(*_HEADS, title="T_cand / T_HW by size (simulated / modelled)", box=None)
    for row in (*rows, total):
        table.add_row(*_cells(row))
    return table


def _markdown(rows: Sequence[Row], total: Row) -> str:
    lines = [_HEADS, ("---",) * len(_HEADS), *(_cells(row) for row in (*rows, total))]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _words(reports: Sequence[Report], total: Row) -> str:
    targets = ", ".join(sorted({report.target for report in reports}))
    large = total.large_memory_bound
    ratio = "no large memory-bound case" if large is None else f"large memory-bound cases take {large:.3f} T_HW (at most {MOST} asked)"
    return f"{targets}: {total.passed} of {total.cases} cases passed; {ratio}"


if __name__ == "__main__":
    sys.exit(main())
