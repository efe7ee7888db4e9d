"""The speeds that Piton promises, in one run: `python benchmarks/speed [--only NAME ...] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).resolve().parent)]

import builds  # noqa: E402 - the path is set above so that the command works in a plain checkout
import comparison  # noqa: E402 - as above
import matrices  # noqa: E402 - as above
import overhead  # noqa: E402 - as above
import places  # noqa: E402 - as above
import simulation  # noqa: E402 - as above
import startup  # noqa: E402 - as above
import throughput  # noqa: E402 - as above
from figures import Figure, describe_machine, render  # noqa: E402 - as above
from rig import Rig, open_rig  # noqa: E402 - as above

ALONE: dict[str, Callable[[], list[Figure]]] = {"startup": startup.measure, "comparison": comparison.measure}
ON_A_RIG: dict[str, Callable[[Rig], list[Figure]]] = {
    "builds": builds.measure,
    "simulation": simulation.measure,
    "overhead": overhead.measure,
    "throughput": throughput.measure,
    "places": places.measure,
    "matrices": matrices.measure,
}


def main() -> None:
    """Measure, print a table, write JSON when asked."""
    parser = argparse.ArgumentParser(prog="python benchmarks/speed", description=__doc__)
    parser.add_argument("--only", action="append", choices=[*ALONE, *ON_A_RIG], help="leave out the others; may be repeated")
    parser.add_argument("--json", metavar="FILE", help="also write all samples with the description of the machine to FILE")
    options = parser.parse_args()
    machine = describe_machine()
    figures = list(measured(options.only or [*ALONE, *ON_A_RIG]))
    print(f"measured on {machine['processor']}, {machine['cores']} cores, {machine['system']}; load before: {machine['load_average_1_min']}")
    print(render(figures))
    if options.json:
        content = {"machine": machine, "figures": [figure.as_json() for figure in figures]}
        Path(options.json).write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def measured(names: list[str]) -> Iterator[Figure]:
    """The figures of the named benchmarks; those of the virtual NPU share one."""
    for name in (name for name in names if name in ALONE):
        yield from ALONE[name]()
    wanted = [name for name in names if name in ON_A_RIG]
    if wanted:
        with open_rig() as rig:
            for name in wanted:
                yield from ON_A_RIG[name](rig)


if __name__ == "__main__":
    main()
