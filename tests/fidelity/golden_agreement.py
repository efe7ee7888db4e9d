"""Do Piton's goldens define the same operators as the published ones? Runs both on every published case in float64 and compares the unrounded results.

    python tests/fidelity/golden_agreement.py CHECKOUT --trust [--op gelu ...] [--max-elements 16000000] [--out agreement.jsonl]

CHECKOUT is a checkout of CANN Bench. Its golden.py files are somebody else's code: each operator runs in a process of its own, with a memory limit and a
deadline, but not in a sandbox; so read them and say --trust. Inputs are Piton's for the published case; where the published golden has a `get_input` it builds
them, else ours does.

Error of an element: |ours - theirs| / max(|theirs|, root mean square of theirs). The second term is there for sums that cancel: two orders of summation differ
there in float64 by more than 1e-12 of the result. Integers and positions of NaN and infinity have to be equal. A difference counts as explained when desc.md of
the operator has a line that begins with `Difference from the published golden:`. Results are kept in --out, one line per case; a case whose goldens have not
changed is not run again. Exits with 1 when a difference has no explanation.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from piton.catalog import load_suite
from piton.core.canonical import digest_bytes
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.errors import PitonError
from piton.core.operator import Operator, TensorSpec
from piton.core.suite import SuiteOperator

LIMIT = 1e-12
MARK = "Difference from the published golden:"
MEMORY_BYTES = 14 << 30


@dataclass(frozen=True)
class Agreement:
    """One case: `status` is equal, differs, too_large, failed or late."""

    operator: str
    case: str
    elements: int
    status: str
    worst: float = 0.0
    """Largest error of an element of any output; infinite where special positions, shapes or integers differ."""
    text: str = ""
    goldens: str = ""
    """Digest of both golden.py."""


@dataclass(frozen=True)
class Pair:
    """One operator, ours and theirs."""

    ours: SuiteOperator
    theirs: SuiteOperator

    @property
    def goldens(self) -> str:
        """What a kept result is valid for."""
        return digest_bytes(b"".join(Path(side.operator.golden_path).read_bytes() for side in (self.ours, self.theirs)))[:16]


def main() -> int:
    """Compare, print the table."""
    options = _options()
    console = Console()
    if not options.trust:
        console.print("the goldens of the checkout are code that will run here: read them, then add --trust", style="yellow")
        return 2
    try:
        pairs = _pairs(options.checkout, options.op)
    except PitonError as error:
        console.print(str(error), style="red")
        return 2
    results = _compare_all(pairs, options, console)
    return _print(pairs, results, console)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--trust", action="store_true")
    parser.add_argument("--op", action="append", default=[])
    parser.add_argument("--max-elements", type=int, default=16_000_000)
    parser.add_argument("--deadline", type=float, default=600.0, help="seconds for one case, both goldens")
    parser.add_argument("--out", type=Path, default=Path("golden-agreement.jsonl"))
    return parser.parse_args()


def _pairs(checkout: str, wanted: list[str]) -> list[Pair]:
    theirs = {member.operator.name: member for member in load_suite(checkout).members}
    ours = {member.operator.name: member for member in load_suite("piton").members}
    missing = sorted(set(wanted) - (set(ours) & set(theirs)))
    if missing:
        raise PitonError(f"no operator {missing[0]} in both suites")
    return [Pair(ours[name], theirs[name]) for name in sorted(ours) if name in theirs and (not wanted or name in wanted)]


def _compare_all(pairs: list[Pair], options: argparse.Namespace, console: Console) -> list[Agreement]:
    kept = {(item.operator, item.case, item.goldens): item for item in _read(options.out)}
    results: list[Agreement] = []
    columns = (TextColumn("{task.description:28}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress, options.out.open("a") as out:
        bar = progress.add_task("cases", total=sum(len(pair.theirs.cases) for pair in pairs))
        for pair in pairs:
            progress.update(bar, description=pair.ours.operator.name)
            for item in _compare_operator(pair, kept, options):
                if (item.operator, item.case, item.goldens) not in kept and item.status in ("equal", "differs", "failed"):
                    out.write(json.dumps(asdict(item)) + "\n")
                    out.flush()
                results.append(item)
                progress.advance(bar)
    return results


def _read(path: Path) -> Iterator[Agreement]:
    if path.is_file():
        yield from (Agreement(**json.loads(line)) for line in path.read_text().splitlines() if line.endswith("}"))


def _compare_operator(pair: Pair, kept: dict[tuple[str, str, str], Agreement], options: argparse.Namespace) -> Iterator[Agreement]:
    name, goldens, child = pair.ours.operator.name, pair.goldens, None
    for case in pair.theirs.cases:
        known = kept.get((name, case.id, goldens))
        if known is not None:
            yield known
        elif case.elements > options.max_elements:
            yield Agreement(name, case.id, case.elements, "too_large", goldens=goldens)
        else:
            child = child if child is not None and child.is_alive() else _Child(pair)
            yield child.compare(case, options.deadline, goldens)
    if child is not None:
        child.end()


class _Child:
    """The process that runs the goldens of one operator."""

    def __init__(self, pair: Pair) -> None:
        context = multiprocessing.get_context("spawn")
        self._name = pair.ours.operator.name
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, pair), daemon=True)
        self._process.start()
        other.close()

    def is_alive(self) -> bool:
        """False after a deadline or a crash."""
        return self._process.is_alive()

    def compare(self, case: Case, deadline: float, goldens: str) -> Agreement:
        """One case; a golden that takes too long or kills its process is a result."""
        self._pipe.send(case)
        try:
            if not self._pipe.poll(deadline):
                self.end()
                return Agreement(self._name, case.id, case.elements, "late", text=f"more than {deadline:g} s", goldens=goldens)
            status, worst, text = self._pipe.recv()
        except EOFError:
            self.end()
            status, worst, text = "failed", 0.0, "the process of the goldens ended"
        return Agreement(self._name, case.id, case.elements, status, worst, text, goldens)

    def end(self) -> None:
        """Stop the process."""
        self._process.kill()
        self._process.join()


def _serve(pipe: Connection, pair: Pair) -> None:
    """Answer cases until the parent is gone."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            return
        try:
            worst, text = _compare_case(pair, case)
            pipe.send(("equal" if worst <= LIMIT else "differs", worst, text))
        except (PitonError, MemoryError, RuntimeError) as error:
            pipe.send(("failed", 0.0, str(error).splitlines()[0] if str(error) else type(error).__name__))


def _compare_case(pair: Pair, case: Case) -> tuple[float, str]:
    from piton.numerics.golden import build_inputs, run_golden
    from piton.numerics.golden_module import load_golden
    from piton.numerics.inputs import make_inputs

    ours, theirs = (_wide(side.operator, case) for side in (pair.ours, pair.theirs))
    drawn = make_inputs("agreement", case, 0)
    builder = theirs if load_golden(theirs.golden_path).has("get_input") else ours
    inputs = build_inputs(builder.golden_path, builder, case, drawn, 0)
    started = time.monotonic()
    got = run_golden(ours.golden_path, ours, case, inputs)
    between = time.monotonic()
    expected = run_golden(theirs.golden_path, theirs, case, inputs)
    seconds = f"{between - started:.2f} s against {time.monotonic() - between:.2f} s"
    if len(got) != len(expected):
        return np.inf, f"{len(got)} outputs against {len(expected)}"
    compared = [(*_distance(one.array().reshape(one.shape), other.array().reshape(other.shape)), other.name) for one, other in zip(got, expected, strict=True)]
    worst, text, name = max(compared)
    return worst, f"{name}: {text}" if text else seconds


def _wide(operator: Operator, case: Case) -> Operator:
    """The operator with floating outputs declared as float64, so that nothing is rounded. Outputs of any dtype have the kind of the first input."""
    return operator.model_copy(update={"outputs": tuple(_widened(spec, case) for spec in operator.outputs)})


def _widened(spec: TensorSpec, case: Case) -> TensorSpec:
    floating = [dtype.is_floating for dtype in spec.dtypes]
    is_floating = all(floating) or (any(floating) and case.inputs[0].dtype.is_floating)
    return spec.model_copy(update={"dtypes": (DType.FLOAT64,)}) if is_floating else spec


def _distance(one: NDArray[Any], other: NDArray[Any]) -> tuple[float, str]:
    """Largest error of an element, and what is wrong when it has no number."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return np.inf, f"{one.dtype} {list(one.shape)} against {other.dtype} {list(other.shape)}"
    if one.dtype.kind != "f":
        wrong = int(np.count_nonzero(one != other))
        return (np.inf, f"{wrong} of {one.size} integers differ") if wrong else (0.0, "")
    finite = np.isfinite(other)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True) or not np.isfinite(one[finite]).all():
        return np.inf, "NaN or infinity at other positions"
    if not finite.any():
        return 0.0, ""
    mine, wanted = one[finite], other[finite]
    largest = np.abs(wanted).max() or 1.0
    scale = largest * np.sqrt(np.mean(np.square(wanted / largest)))
    return float((np.abs(mine - wanted) / np.maximum(np.abs(wanted), scale if scale > 0 else 1.0)).max()), ""


def _print(pairs: list[Pair], results: list[Agreement], console: Console) -> int:
    table = Table("operator", "equal", "differs", "too large", "failed", "worst error", "note", box=SIMPLE_HEAD, pad_edge=False)
    unexplained = 0
    for pair in pairs:
        name = pair.ours.operator.name
        mine = [item for item in results if item.operator == name]
        count = {status: sum(item.status == status for item in mine) for status in ("equal", "differs", "too_large", "failed", "late")}
        worst = max((item.worst for item in mine if item.status in ("equal", "differs")), default=0.0)
        note = _note(pair, mine)
        unexplained += bool(count["differs"] + count["failed"] + count["late"]) and not _explanation(pair)
        table.add_row(name, str(count["equal"]), str(count["differs"]), str(count["too_large"]), str(count["failed"] + count["late"]), f"{worst:.1e}", note)
    console.print(table)
    total = {status: sum(item.status == status for item in results) for status in dict.fromkeys(item.status for item in results)}
    console.print(f"{len(pairs)} operators, {len(results)} cases: {total}; {unexplained} operators with an unexplained difference")
    return 1 if unexplained else 0


def _note(pair: Pair, results: list[Agreement]) -> str:
    odd = [item for item in results if item.status not in ("equal", "too_large")]
    if not odd:
        return ""
    cases = f"{', '.join(item.case for item in odd)}: {odd[0].text or f'{odd[0].worst:.1e}'}"
    return f"{cases}\n{_explanation(pair) or 'NOT EXPLAINED in desc.md'}"


def _explanation(pair: Pair) -> str:
    lines = (Path(pair.ours.operator.golden_path).parent / "desc.md").read_text().splitlines()
    return next((line.strip() for line in lines if line.strip().startswith(MARK)), "")


if __name__ == "__main__":
    sys.exit(main())
