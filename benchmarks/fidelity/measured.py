"""Kernels of ours that do the jobs of measured ones, simulated: `python benchmarks/fidelity/measured.py CHIP [--fit]` (docs/fidelity.md).

Rows are split by a hash of what they are, before any time is looked at. With `--fit` the constants of the 910B4-1 are fitted to the calibration rows and
written; without it both halves are compared with the frozen file.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src")]

from rich.console import Console  # noqa: E402 - the path is set above so that the command works in a plain checkout

from piton.cli.evaluation import cache_dir  # noqa: E402 - as above
from piton.core.calibration import CalibrationReport, split_by_key  # noqa: E402 - as above
from piton.evaluate.calibration.run import CalibrationRequest, calibrate  # noqa: E402 - as above
from piton.report.calibration import render_calibration  # noqa: E402 - as above

DATA = Path(__file__).resolve().parent / "measured"
KERNELS = ROOT / "kernels" / "fidelity" / "measured"
HELD_OUT_PERCENT = 50
MOST_ELEMENTS = 64_000_000
"""Larger jobs would take minutes to execute."""
MOST_FITTED = 300_000
IDENTITY = ("operator", "inputs_shape", "inputs_dtype", "outputs_dtype", "block_dim")
"""Columns that make a row what it is."""
SHORT_ROW, FEW_ROWS = 1024, 4
"""A kernel that takes its rows one by one does the job of a production kernel where rows are long, or where a block has few of them."""

CHIPS = {"910B1": "ascend910b1", "910B4-1": str(DATA / "ascend910b4-1-fitted.yaml")}
START = str(DATA / "ascend910b4-1.yaml")
CONSTANTS = {"launch.base_us": (0.2, 3.0), "launch.per_block_us": (0.02, 0.4)}
"""Rows of up to MOST_FITTED elements say something about these; with `mte2.latency_us` among them it goes to its bound, to mend rows of norms with adds."""


@dataclass(frozen=True)
class Job:
    """One launch of measured.asc."""

    kernel: str
    rows: int
    columns: int
    kept: int = 0


_ROW_KERNELS = {
    "rms_norm": "rms_norm",
    "add_rms_norm": "add_rms_norm",
    "layer_norm_v3": "layer_norm",
    "softmax_v2": "softmax",
    "dynamic_quant": "dynamic_quant",
    "ascend_quant_v2": "quant",
    "swiglu": "swiglu",
}
_CASTS = {("bool", "float32"): "cast_bool_float", ("int64", "int32"): "cast_int64_int32", ("int32", "int64"): "cast_int32_int64"}
_CASTS |= {("bfloat16", "float32"): "cast_bf16_float", ("float32", "bfloat16"): "cast_float_bf16"}
_BINARY = {("add", "bfloat16"): "add_bf16", ("add", "int32"): "add_int32", ("mul", "bfloat16"): "mul_bf16", ("mul", "float32"): "mul_float"}
_SHORT = {"bfloat16": "bf16", "float32": "float"}


def job_of(row: Mapping[str, str]) -> Job | str:
    """What does the row's job, or why nothing of ours does."""
    inputs, outputs = ast.literal_eval(row["inputs_shape"]), ast.literal_eval(row["outputs_shape"])
    dtype, result = ast.literal_eval(row["inputs_dtype"])[0], ast.literal_eval(row["outputs_dtype"])[0]
    if math.prod(inputs[0]) > MOST_ELEMENTS:
        return "too large to execute"
    operator = row["operator"]
    if operator == "cast":
        return _known(_CASTS.get((dtype, result)), 1, math.prod(inputs[0]))
    if operator in ("add", "mul"):
        if any(shape != outputs[0] for shape in inputs):
            return "broadcasts"
        return _known(_BINARY.get((operator, dtype)), 1, math.prod(outputs[0]))
    if operator == "slice_aicore":
        return Job(f"slice_{_SHORT[dtype]}", math.prod(outputs[0][:-1]), inputs[0][-1], outputs[0][-1])
    return _row_job(operator, dtype, outputs[0], int(row["block_dim"]))


def _known(kernel: str | None, rows: int, columns: int) -> Job | str:
    return Job(kernel, rows, columns) if kernel else "element type"


def _row_job(operator: str, dtype: str, shape: list[int], blocks: int) -> Job | str:
    rows, columns = math.prod(shape[:-1]), shape[-1]
    if columns < SHORT_ROW and rows > FEW_ROWS * blocks:
        return "many short rows"
    return Job(f"{_ROW_KERNELS[operator]}_{_SHORT[dtype]}", rows, columns)


def read_rows(chip: str) -> list[dict[str, str]]:
    """The chip's rows."""
    with (DATA / f"{chip}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def is_held_out(row: Mapping[str, str]) -> bool:
    """By the rule of `piton calibrate`, a hash of the row's identity."""
    key = " ".join(f"{name}={row[name]}" for name in sorted(IDENTITY))
    return split_by_key([key], HELD_OUT_PERCENT)[key]


def is_fitted(row: Mapping[str, str], job: Job) -> bool:
    """Of the calibration rows those that are executed quickly: a fit does it fifty times."""
    return not is_held_out(row) and job.rows * job.columns <= MOST_FITTED


def mapping_text(chip: str, jobs: list[str], *, for_fit: bool) -> str:
    """The mapping file of a chip; lines for jobs.txt are appended to `jobs`."""
    lines: list[str] = []
    if chip == "910B4-1":
        lines += ["[constants]", *(f'"{name}" = [{low}, {high}]' for name, (low, high) in CONSTANTS.items()), ""]
    launches: dict[str, int] = {}
    for row in read_rows(chip):
        job = job_of(row)
        if isinstance(job, str) or (for_fit and not is_fitted(row, job)):
            continue
        launches[job.kernel] = launches.get(job.kernel, 0) + 1
        jobs.append(f"{job.kernel} {job.rows} {job.columns} {job.kept} {row['block_dim']}")
        lines.extend(_entry(row, job, launches[job.kernel]))
    return "\n".join([*lines, ""])


def _entry(row: Mapping[str, str], job: Job, index: int) -> Iterator[str]:
    """The launch of the job."""
    cells = ", ".join(f"{name} = {json.dumps(row[name])}" for name in IDENTITY)
    yield "[[kernel]]"
    yield f'program = "measured.asc"\nlaunch = "{job.kernel}"\nindex = {index}\ngroup = "{row["operator"]}"\ntiming_only = true\nrows = {{ {cells} }}'


def compare(chip: str, console: Console, *, for_fit: bool = False) -> CalibrationReport:
    """Simulate all rows of the chip; or fit to those of calibration and write the frozen file."""
    with tempfile.TemporaryDirectory(prefix="piton-measured-") as folder:
        os.chmod(folder, 0o755)
        place = Path(folder) / "measured"
        shutil.copytree(KERNELS, place)
        jobs: list[str] = []
        (place / "map.toml").write_text(mapping_text(chip, jobs, for_fit=for_fit))
        (place / "jobs.txt").write_text("\n".join([*jobs, ""]))
        hardware, out, held_out = (START, CHIPS[chip], 0) if for_fit else (CHIPS[chip], "", HELD_OUT_PERCENT)
        request = CalibrationRequest(str(DATA / f"{chip}.csv"), str(place / "map.toml"), hardware, out, str(cache_dir().absolute()), held_out)
        return calibrate(request, lambda text: console.print(f"  {text}", markup=False, highlight=False))


def print_left_out(chip: str) -> None:
    """Rows that nothing of ours does the job of, by reason."""
    reasons: dict[str, int] = {}
    for row in read_rows(chip):
        job = job_of(row)
        if isinstance(job, str):
            reasons[f"{row['operator']}: {job}"] = reasons.get(f"{row['operator']}: {job}", 0) + 1
    print("rows without a kernel: " + (", ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items())) or "none"))


def main() -> None:
    """Compare one chip or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chip", nargs="?", choices=sorted(CHIPS), help="by default both")
    parser.add_argument("--fit", action="store_true", help="910B4-1: fit to the calibration rows and write the frozen file again")
    parser.add_argument("--rows", action="store_true", help="print every row")
    given = parser.parse_args()
    console = Console(stderr=True, width=150)
    for chip in [given.chip] if given.chip else sorted(CHIPS):
        if given.fit and chip == "910B4-1":
            Console(width=150).print(render_calibration(compare(chip, console, for_fit=True)))
        report = compare(chip, console)
        print(f"== {chip}: measured kernels of msopmodeling, simulated kernels of ours ==")
        Console(width=150).print(render_calibration(report))
        for row in report.rows if given.rows else ():
            print(f"{row.group:16} {'held out' if row.is_held_out else 'calibration':12} {row.measured_us:9.2f} {row.after_us:9.2f}  {row.key}")
        print_left_out(chip)


if __name__ == "__main__":
    main()
