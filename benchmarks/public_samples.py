"""Run the public basic-API samples of a checkout of asc-devkit unmodified on the virtual NPU, and check them by their own scripts.

usage: python benchmarks/public_samples.py CHECKOUT [NAME ...] [--work FOLDER]

The samples are somebody else's: nothing of them is kept here. Each is copied to a scratch folder, its generator writes inputs and expected results, `piton run`
compiles and runs it, its verifier compares. Prints one row per sample and scenario: passed, or the first line that says why not.
Exit status 0 when all passed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SAMPLES = Path("examples/01_simd_cpp_api/03_basic_api")
TIMEOUT_S = 600


@dataclass(frozen=True)
class Sample:
    """One sample with its scenarios that are for the Ascend 910B; None: it has no scenarios."""

    folder: str
    scenarios: tuple[int | None, ...] = (None,)
    option: str = "-scenarioNum"
    """How its scripts call the scenario."""
    verifies_by_number: bool = False
    """The verifier takes the scenario as a third argument without a name."""
    has_verifier: bool = True
    """Without one the program compares and prints `test pass`."""


VECTOR = "01_memory_vector_compute"
ALL = (
    Sample(f"{VECTOR}/cast", (0, 1)),
    Sample(f"{VECTOR}/compare", (1, 2, 3), option="-scenario_num"),
    Sample(f"{VECTOR}/select", (1, 2, 3), option="-scenario_num"),
    Sample(f"{VECTOR}/reduce", has_verifier=False),
    Sample(f"{VECTOR}/reduce_computation", (1, 2, 3, 4, 5, 6)),
    Sample(f"{VECTOR}/reduce_repeat", (1, 2, 3, 4)),
    Sample(f"{VECTOR}/reduce_data_block", (1, 2, 3)),
    Sample(f"{VECTOR}/reduce_pair_elem"),
    Sample(f"{VECTOR}/brcb"),
    Sample(f"{VECTOR}/gather", (1, 2, 3, 4), option="-scenario_num", verifies_by_number=True),
    Sample(f"{VECTOR}/duplicate"),
    Sample(f"{VECTOR}/create_vec_index"),
    Sample(f"{VECTOR}/element_wise_arithmetic"),
    Sample(f"{VECTOR}/element_wise_compound_compute", (1, 2)),
    Sample(f"{VECTOR}/element_wise_logic", (1, 4)),
    Sample(f"{VECTOR}/mrg_sort", (1, 2, 3)),
    Sample(f"{VECTOR}/transpose", (1, 2, 3), option="-scenario_num"),
    Sample("05_sync_control/sync_all"),
    Sample("05_sync_control/ib_set_wait"),
    Sample("05_sync_control/sequential_block_sync"),
    Sample("06_atomic/data_movement_with_atomic_operations", (1, 2)),
    Sample("06_atomic/set_atomic_deterministic_computation"),
)


def script(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One of the sample's own Python scripts, in its folder."""
    return subprocess.run([sys.executable, f"scripts/{name}", *arguments], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def run_program(folder: Path, scenario: int | None) -> subprocess.CompletedProcess[str]:
    """`piton run` of the sample; what it writes comes back into the folder."""
    program = next(folder.glob("*.asc"))
    define = [] if scenario is None else ["-D", f"SCENARIO_NUM={scenario}"]
    argv = [sys.executable, "-m", "piton.cli.main", "run", str(program), *define, "--out", str(folder)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env={**os.environ, "COLUMNS": "200"})


def verify(sample: Sample, folder: Path, scenario: int | None) -> subprocess.CompletedProcess[str]:
    """The sample's own verdict on output.bin against golden.bin."""
    files = ("output/output.bin", "output/golden.bin")
    if scenario is None:
        return script(folder, "verify_result.py", *files)
    if sample.verifies_by_number:
        return script(folder, "verify_result.py", *files, str(scenario))
    named = script(folder, "verify_result.py", *files, f"{sample.option}={scenario}")
    return named if "unrecognized" not in named.stderr else script(folder, "verify_result.py", *files)


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")


def complaint(result: subprocess.CompletedProcess[str]) -> str:
    """Why `piton run` was not content; empty when it was."""
    if result.returncode == 0 and "nothing wrong" in result.stdout + result.stderr:
        return ""
    wanted = ("error", "hazard", "failed", "unsupported", "wrong")
    lines = [line.strip() for line in (result.stdout + result.stderr).splitlines()]
    return next((line for line in lines if any(word in line.lower() for word in wanted)), last_line(result.stdout + result.stderr))


def try_one(sample: Sample, source: Path, scratch: Path, scenario: int | None) -> str:
    """`passed`, or why not; `right, reported: ...` when the values are right and the virtual NPU had something to say."""
    folder = scratch / f"{source.name}_{scenario}"
    shutil.copytree(source, folder, dirs_exist_ok=True)
    made = script(folder, "gen_data.py", *([] if scenario is None else [f"{sample.option}={scenario}"]))
    if made.returncode != 0:
        return f"its generator failed: {last_line(made.stderr)}"
    result = run_program(folder, scenario)
    why = complaint(result)
    if not (folder / "output" / "output.bin").exists():
        return why
    said = result.stdout
    if sample.has_verifier:
        verdict = verify(sample, folder, scenario)
        said = verdict.stdout + verdict.stderr
    if "test pass" not in said:
        return f"{why}; its verifier: {last_line(said)}"
    return f"right, reported: {why}" if why else "passed"


def main() -> int:
    """Rows to standard output; JSON of them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("names", nargs="*", help="samples by folder name; all by default")
    parser.add_argument("--work", type=Path, help="scratch folder; a temporary one by default")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        scratch = options.work or Path(temporary)
        for sample in ALL:
            name = Path(sample.folder).name
            if options.names and name not in options.names:
                continue
            for scenario in sample.scenarios:
                why = try_one(sample, options.checkout / SAMPLES / sample.folder, scratch, scenario)
                rows.append({"sample": name, "scenario": scenario, "result": why})
                if not options.json:
                    print(f"{name:32} {'-' if scenario is None else scenario!s:>3}  {why}", flush=True)
    if options.json:
        print(json.dumps(rows, indent=2))
    return 0 if all(row["result"] == "passed" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
