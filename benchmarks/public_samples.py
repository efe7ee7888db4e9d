"""Run public sample programs of a checkout of asc-devkit on the virtual NPU, and check them by their own scripts.

usage: python benchmarks/public_samples.py CHECKOUT [NAME ...] [--group GROUP] [--work FOLDER] [--json] [--markdown]

The samples are somebody else's: nothing of them is kept here. Which there are, and what is known of each, stands in public_samples.yaml. Each is
copied to a scratch folder; its generator writes inputs and expected results; `piton run` compiles and runs it with the macros that its CMakeLists.txt
sets; its verifier compares. How its scripts are called is read from its README. Prints one row per sample and scenario: what the verifier says, what
the virtual NPU reported and whether that is known, simulated time. Exit status 0 when every row is right, or known to be otherwise, and nothing is
reported that is not known.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

SAMPLES = Path("examples/01_simd_cpp_api")
TABLE = Path(__file__).with_suffix(".yaml")
TIMEOUT_S = 1200
PASSED = re.compile(r"test pass|\bPASS\b|\[Success\]|CompareResult golden.bin success", re.IGNORECASE)
SET_BY_CMAKE = re.compile(r"(?:-D|^\s+)(\w+)=\$\{(\w+)\}", re.MULTILINE)
ALWAYS_KNOWN = {"auto_sync_relied_on": "true: the compiler's own synchronisation orders it, which is on by default"}
ARCHITECTURE = {"NPU_ARCH_ID": "2201", "ARCH_NUM": "2201"}
"""What the samples' CMakeLists.txt derive from the architecture dav-2201."""


@dataclass(frozen=True)
class Case:
    """One sample in one scenario."""

    path: str
    group: str
    scenario: int | None
    variables: dict[str, str] = field(default_factory=dict)
    """Variables of its CMakeLists.txt besides the scenario."""
    define: tuple[str, ...] = ()
    """Macros that its CMakeLists.txt sets by a condition."""
    edit: dict[str, dict[str, str]] = field(default_factory=dict)
    """By file: patterns and what stands in their place, such as smaller sizes."""
    inputs: dict[str, int] = field(default_factory=dict)
    """Files of zeros in place of what the generator makes, by bytes: for what is timed alone."""
    options: tuple[str, ...] = ()
    """Of `piton run`."""
    title: str = ""
    known: dict[str, str] = field(default_factory=dict)
    """By cause or kind of finding: whether it is true, and why. `result`: why the sample is not right."""

    @property
    def name(self) -> str:
        return Path(self.path).name

    @property
    def label(self) -> str:
        """Scenario and what is changed."""
        return " ".join(word for word in ("" if self.scenario is None else str(self.scenario), self.title) if word) or "-"


@dataclass(frozen=True)
class Row:
    """What became of one case."""

    case: Case
    result: str
    reported: dict[str, int]
    """Causes and kinds of findings by their number."""
    time_us: float = 0.0
    example: str = ""
    """The first message that is not known."""

    @property
    def unknown(self) -> list[str]:
        return [name for name in self.reported if name not in self.case.known]

    @property
    def is_as_known(self) -> bool:
        is_right = self.result in ("right", "ran") or "result" in self.case.known
        return is_right and not self.unknown


def cases() -> Iterator[Case]:
    """Every row of the table."""
    for item in yaml.safe_load(TABLE.read_text("utf-8"))["samples"]:
        for scenario in item.get("scenarios", [None]):
            known = item.get("known", {})
            yield Case(
                path=item["path"], group=item.get("group", ""), scenario=scenario, title=item.get("title", ""),
                variables={name: str(value) for name, value in item.get("variables", {}).items()}, define=tuple(item.get("define", ())),
                edit=item.get("edit", {}), inputs=item.get("inputs", {}), options=tuple(item.get("options", ())),
                known={**ALWAYS_KNOWN, **known.get("all", {}), **known.get(scenario, {})},
            )  # fmt: skip


def values(case: Case) -> dict[str, str]:
    """Values of CMake's variables."""
    scenario = {} if case.scenario is None else {"SCENARIO_NUM": str(case.scenario)}
    return {**ARCHITECTURE, **scenario, **case.variables}


def macros(case: Case, folder: Path) -> list[str]:
    """`-D` for each macro that the sample's CMakeLists.txt sets."""
    text = (folder / "CMakeLists.txt").read_text("utf-8")
    known = values(case)
    found = dict.fromkeys(f"{name}={known[variable]}" for name, variable in SET_BY_CMAKE.findall(text) if variable in known)
    return [part for macro in (*found, *case.define) for part in ("-D", macro)]


def script_call(case: Case, folder: Path, script: str) -> list[str] | None:
    """How the README calls one of the sample's scripts."""
    text = (folder / "README.md").read_text("utf-8", errors="replace")
    found = re.search(rf"^\s*python3? \S*/{script}(?P<rest>[^#\n]*)", text, re.MULTILINE)
    if found is None:
        return None
    rest = re.sub(r"\$\{?(\w+)\}?", lambda name: values(case).get(name[1], "dav-2201"), found["rest"])
    return [sys.executable, f"scripts/{script}", *shlex.split(rest)]


def prepare(case: Case, source: Path, folder: Path) -> str:
    """The sample's copy with its inputs; empty, or why there are none."""
    shutil.rmtree(folder, ignore_errors=True)  # results of an earlier run are not to be taken for this one's
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("figures"))
    for name, replacements in case.edit.items():
        text = (folder / name).read_text("utf-8")
        for pattern, put in replacements.items():
            text, count = re.subn(pattern, put, text)
            if count == 0:
                return f"nothing to edit in {name}: {pattern}"
        (folder / name).write_text(text, "utf-8")
    for name, size in case.inputs.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
        os.truncate(folder / name, size)
    call = None if case.inputs else script_call(case, folder, "gen_data.py")
    (folder / "output").mkdir(exist_ok=True)
    if call is None:
        return ""
    made = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    return "" if made.returncode == 0 else f"its generator failed: {last_line(made.stderr)}"


def run_program(case: Case, folder: Path) -> dict[str, Any]:
    """The report of `piton run`; what the program writes comes back into the folder."""
    program = next(iter(sorted(folder.glob("*.asc"))), None)
    if program is None:
        raise RuntimeError("the sample has no *.asc file")
    options = [*macros(case, folder), *case.options, "--timeout", str(TIMEOUT_S)]
    argv = [sys.executable, "-m", "piton.cli.main", "run", str(program), *options, "--json", "--out", str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=2 * TIMEOUT_S, check=False)
    if not done.stdout:
        raise RuntimeError(f"piton run: {last_line(done.stderr)}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def verdict(case: Case, folder: Path, report: dict[str, Any]) -> str:
    """`right`, `ran` where nothing compares, or what the verifier or the program said last."""
    if report["exit_code"] is None:
        return f"not run: {report['outcome']['message']}"
    if "--timing-only" in case.options:
        return "ran"
    call = script_call(case, folder, "verify_result.py")
    said = report["stdout"]
    if call is not None:
        done = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        said = done.stdout + done.stderr
    if PASSED.search(said) and not re.search(r"\bFAIL", said):
        return "right"
    return "ran" if call is None and report["exit_code"] == 0 else f"wrong: {last_line(said)}"


def reported(report: dict[str, Any]) -> tuple[dict[str, int], dict[str, str]]:
    """Causes of failures and kinds of findings: how many of each, and the first message."""
    counts: dict[str, int] = {}
    messages: dict[str, str] = {}
    for name, item in [*((item["cause"], item) for item in report["outcomes"]), *((item["kind"], item) for item in report["findings"])]:
        counts[name] = counts.get(name, 0) + 1
        place = item.get("place") or {}
        messages.setdefault(name, f"{place.get('file', '')}:{place.get('line', '')}: {item['message']}")
    return counts, messages


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")


def try_case(case: Case, checkout: Path, scratch: Path) -> Row:
    """One row."""
    folder = scratch / re.sub(r"\W+", "_", f"{case.path} {case.label}")
    try:
        why = prepare(case, checkout / SAMPLES / case.path, folder)
        if why:
            return Row(case, f"not run: {why}", {})
        report = run_program(case, folder)
        said = verdict(case, folder, report)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        return Row(case, f"not run: {error}", {})
    counts, messages = reported(report)
    unknown = [messages[name] for name in counts if name not in case.known]
    return Row(case, said, counts, report["total_us"], unknown[0] if unknown else "")


def text_of(row: Row) -> str:
    """For people, one line; a second one shows the first message that is not known."""
    said = ", ".join(f"{name}{'' if name in row.case.known else ' (NEW)'}" for name in row.reported)
    line = f"{row.case.name:34} {row.case.label:14} {row.time_us:10.2f} us  {row.result}{'; ' + said if said else ''}"
    return f"{line}\n    {row.example}" if row.example else line


def markdown_of(row: Row) -> str:
    """A row of a table."""
    said = "; ".join(f"`{name}`: {row.case.known.get(name, 'new')}" for name in row.reported) or "nothing"
    note = f" ({row.case.known['result']})" if "result" in row.case.known and row.result not in ("right", "ran") else ""
    return f"| `{row.case.path}` | {row.case.label} | {row.result}{note} | {said} | {row.time_us:.2f} |"


def main() -> int:
    """Rows to standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("names", nargs="*", help="samples by folder name, or NAME:SCENARIO; all of the group by default")
    parser.add_argument("--group", help="those of one group of the table")
    parser.add_argument("--work", type=Path, help="scratch folder; a temporary one by default")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="rows of a table")
    options = parser.parse_intermixed_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for case in cases():
            is_named = not options.names or {case.name, f"{case.name}:{case.scenario}"} & set(options.names)
            if not is_named or (options.group and case.group != options.group):
                continue
            rows.append(try_case(case, options.checkout, options.work or Path(temporary)))
            if not options.json:
                print(markdown_of(rows[-1]) if options.markdown else text_of(rows[-1]), flush=True)
    if not rows:
        parser.error("no sample of public_samples.yaml has one of these names in this group")
    if options.json:
        shown = [{"sample": row.case.path, "scenario": row.case.label, "result": row.result, "reported": row.reported, "us": row.time_us} for row in rows]
        print(json.dumps(shown, indent=2))
    return 0 if all(row.is_as_known for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
