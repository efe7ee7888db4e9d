"""How well does the modelled eager baseline predict measured ones? Fits its constants, judges it on operators it has not seen, and prints tables.

    python benchmarks/baseline_model --cases published_cases.jsonl                 tables
    python benchmarks/baseline_model --cases published_cases.jsonl --write         the constants that the package ships, as well
    python benchmarks/baseline_model --cases published_cases.jsonl --nested        also with the choice of terms inside the left-out loop (minutes)

The table of published cases is not part of Piton (docs/baselines.md says what it is).
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import fitting
import numpy as np
from models import Judged, fit_constants, judge_all, judge_nested
from rows import CHIPS, Row, read_rows

from piton.catalog.eager_constants import CONSTANTS_PATH, eager_constants_yaml
from piton.core.eager import EagerConstants
from piton.core.errors import PitonError

_OUTSIDE = 0.05
"""Share of the measured baselines beyond either end of the error band."""
_USED_FOR = {"910b2": ("ascend910b1", "ascend910b2"), "950pr": ("ascend950pr",)}
"""Chips that take the constants of a platform: of the 910B1 no baselines are published, and it differs from the 910B2 in little but its clock."""
_FIELDS = ("launch_us", "tensor_us", "resident", "streamed", "cube", "vector", "instruction", "copied")
"""Constants in the order of the terms."""


def main() -> None:
    """Read, fit, print."""
    options = _options()
    try:
        rows = read_rows(options.cases, options.traces)
    except PitonError as error:
        sys.exit(str(error))
    by_platform = {platform: [row for row in rows if row.platform == platform] for platform in CHIPS}
    judged = [found for platform, group in by_platform.items() for found in judge_all(platform, group)]
    if options.nested:
        judged += [judge_nested(platform, group) for platform, group in by_platform.items()]
    _print_models(judged)
    best = [found for found in judged if found.model == "the model"]
    _print_groups("category", best, lambda row: row.category)
    _print_groups("operator", best, lambda row: row.operator)
    text = eager_constants_yaml([_constants(found, options.version) for found in best])
    print(f"\n{text}")
    if options.write:
        CONSTANTS_PATH.write_text(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, required=True, help="table of published cases, one JSON object per line")
    parser.add_argument("--traces", type=Path, help="file that keeps the traces of the goldens between runs; delete it when goldens have changed")
    parser.add_argument("--nested", action="store_true", help="choose the terms inside the left-out loop, too")
    parser.add_argument("--write", action="store_true", help="write the constants file of the package")
    parser.add_argument("--version", default=date.today().isoformat(), help="name of the set of constants")  # noqa: DTZ011 - a date as people say it
    return parser.parse_args()


def _print_models(judged: Sequence[Judged]) -> None:
    print("Measured published baselines against models that have not seen the operator: median of |modelled / measured - 1|, share within 25 % and 50 %")
    print("90 % of draws: where the median lies when the operators are drawn anew, with repetition\n")
    print(f"{'model':32s} {'platform':9s} {'rows':>5s} {'median':>7s} {'90 % of draws':>14s} {'25 %':>6s} {'50 %':>6s}")
    for found in judged:
        errors = fitting.errors(found.modelled_us, found.measured_us)
        share = f"{np.mean(errors <= 0.25):6.0%} {np.mean(errors <= 0.5):6.0%}"
        low, high = found.spread
        print(f"{found.model:32s} {found.platform:9s} {len(errors):5d} {found.median_error:7.1%} {low:6.0%} to {high:4.0%} {share}")


def _print_groups(title: str, judged: Sequence[Judged], key: Callable[[Row], str]) -> None:
    names = sorted({key(row) for found in judged for row in found.rows})
    print(f"\nThe model by {title}: rows, median error, median of modelled / measured\n")
    print(f"{title:28s} " + " ".join(f"{found.platform:>22s}" for found in judged))
    for name in names:
        print(f"{name:28s} " + " ".join(_group_cell(found, [key(row) == name for row in found.rows]) for found in judged))


def _group_cell(found: Judged, chosen: Sequence[bool]) -> str:
    mask = np.array(chosen)
    if not mask.any():
        return f"{'-':>22s}"
    ratios = found.modelled_us[mask] / found.measured_us[mask]
    return f"{mask.sum():5d} {np.median(np.abs(ratios - 1)):8.0%} {np.median(ratios):7.2f}"


def _constants(found: Judged, version: str) -> EagerConstants:
    """Fitted to all rows of the platform; the errors are those of the operators that were left out."""
    names = [row.operator for row in found.rows]
    fitted = fit_constants(found.rows)
    low, high = fitting.band(found.modelled_us, found.measured_us, names, _OUTSIDE)
    origins: dict[str, int] = defaultdict(int)
    for row in found.rows:
        origins[row.origin] += 1
    counted = ", ".join(f"{count} by {origin}" for origin, count in sorted(origins.items()))
    return EagerConstants(
        version=version,
        platform=found.platform,
        chips=_USED_FOR[found.platform],
        source=f"python benchmarks/baseline_model: least mean |log(modelled / measured)| over published baselines that were measured ({counted})",
        **{name: round(float(value), 3) for name, value in zip(_FIELDS, fitted, strict=True)},
        cases=len(names),
        operators=len(set(names)),
        median_error=round(found.median_error, 3),
        low=round(low, 3),
        high=round(high, 3),
    )


if __name__ == "__main__":
    main()
