"""Measured published baselines with the trace of the golden on their case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from piton.anchors.eager import quantities, quantities_of_work, terms
from piton.catalog import load_suite
from piton.catalog.hardware import load_hardware
from piton.catalog.published import PublishedCase, read_published
from piton.core.case import Case
from piton.core.eager import EagerTrace
from piton.core.operator import Operator
from piton.evaluate.arguments import all_attributes
from piton.numerics.eager_trace import trace_golden
from piton.numerics.golden import build_inputs
from piton.numerics.inputs import Inputs, make_inputs

CHIPS = {"910b2": "ascend910b2", "950pr": "ascend950pr"}
"""Hardware file of every platform."""
_SEED = 0
_SLACK_US = 0.03
"""Published values are rounded, T_HW to 0.01 us, and one derived baseline by twice as much."""


@dataclass(frozen=True)
class Row:
    """One measured baseline."""

    operator: str
    category: str
    platform: str
    case: str
    measured_us: float
    t_hw_us: float
    origin: str
    """What the terms come from: `trace` or `work formula`."""
    terms: dict[str, float]
    formula_terms: dict[str, float] | None
    """The same from the work formula, whatever `origin` is; None for an operator without one."""
    launches: tuple[tuple[int, float], ...]
    """Of the trace: how many launches, and the bytes that each of them reads and writes."""


def read_rows(path: Path, cache: Path | None) -> list[Row]:
    """All measured rows of a table of published cases; `cache` keeps the traces between runs."""
    operators = {member.operator.name: member.operator for member in load_suite("piton").members}
    published = read_published(path, operators)
    traces = _traces(published, cache)
    chips = {platform: load_hardware(name) for platform, name in CHIPS.items()}
    rows: list[Row] = []
    for item in published:
        trace = traces[item.operator.name, item.case.id]
        for platform, chip in chips.items():
            case = filled(item.operator, item.case)
            found, by_formula = quantities(item.operator, case, trace, chip), quantities_of_work(item.operator, case, chip)
            measured, t_hw = (anchor and anchor.value_us for anchor in (item.quoted[platform].t_baseline, item.quoted[platform].t_hw))
            if found is None or measured is None or t_hw is None or is_derived(measured, t_hw):
                continue
            launches = tuple((launch.count, float(launch.read_bytes + launch.write_bytes)) for launch in trace.launches)
            row = Row(
                operator=item.operator.name,
                category=item.operator.category,
                platform=platform,
                case=item.case.id,
                measured_us=measured,
                t_hw_us=t_hw,
                origin=found.origin,
                terms=terms(found, chip),
                formula_terms=terms(by_formula, chip) if by_formula else None,
                launches=launches,
            )
            rows.append(row)
    return rows


def is_derived(baseline_us: float, t_hw_us: float) -> bool:
    """True for a published baseline that is max(10 T_HW, 10 us) instead of a measurement."""
    return abs(baseline_us - max(10 * t_hw_us, 10.0)) <= _SLACK_US


def filled(operator: Operator, case: Case) -> Case:
    """The case with a value for every attribute."""
    return case.model_copy(update={"attributes": all_attributes(operator, case)})


def _traces(published: tuple[PublishedCase, ...], cache: Path | None) -> dict[tuple[str, str], EagerTrace]:
    known = dict(_read_cache(cache)) if cache and cache.is_file() else {}
    for item in published:
        if (item.operator.name, item.case.id) not in known:
            known[item.operator.name, item.case.id] = _trace(item.operator, filled(item.operator, item.case))
    if cache:
        lines = [json.dumps({"operator": name, "case": case, "trace": trace.model_dump(mode="json")}) for (name, case), trace in known.items()]
        cache.write_text("\n".join(lines) + "\n")
    return known


def _read_cache(cache: Path) -> Iterator[tuple[tuple[str, str], EagerTrace]]:
    for line in cache.read_text().splitlines():
        data = json.loads(line)
        yield (data["operator"], data["case"]), EagerTrace.model_validate(data["trace"])


def _trace(operator: Operator, case: Case) -> EagerTrace:
    """Of a golden of ours, in this process: it needs no sandbox."""

    def draw() -> Inputs:
        return build_inputs(operator.golden_path, operator, case, make_inputs("1", case, _SEED), _SEED)

    return trace_golden(operator.golden_path, operator, case, draw)
