"""cases.csv as text: the writer beside the reader, for generated cases."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence

from piton.catalog.cases import CSV_COLUMNS
from piton.core.canonical import plain
from piton.core.case import Case, CaseInput
from piton.core.operator import Operator

_SEED = "seed"


def cases_csv(operator: Operator, cases: Sequence[Case]) -> str:
    """The table of `cases`; read back it gives equal cases. A column `seed` is there when one of them has its own."""
    has_seed = any(case.seed for case in cases)
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow([*CSV_COLUMNS, *([_SEED] if has_seed else [])])
    for case in cases:
        table.writerow([operator.title, case.id, *_cells(operator, case), case.note, *([case.seed] if has_seed else [])])
    return out.getvalue()


def _cells(operator: Operator, case: Case) -> tuple[str, str, str, str]:
    groups = [[item for item in case.inputs if item.argument == spec.name] for spec in operator.inputs]
    while groups and not groups[-1]:
        groups.pop()
    shapes, dtypes, ranges = ([_entry(operator, index, group, kind) for index, group in enumerate(groups)] for kind in ("shape", "dtype", "range"))
    given = {name: value for name, value in case.attributes.items() if value is not None}
    attributes = json.dumps(plain(given), ensure_ascii=False)
    return json.dumps(shapes), json.dumps(dtypes), attributes, json.dumps(ranges[0] if len(ranges) == 1 and not operator.inputs[0].is_list else ranges)


def _entry(operator: Operator, index: int, group: list[CaseInput], kind: str) -> object:
    if not group:
        return None
    values = [_value(item, kind) for item in group]
    return values if operator.inputs[index].is_list else values[0]


def _value(item: CaseInput, kind: str) -> object:
    if kind == "shape":
        return list(item.shape)
    return item.dtype.value if kind == "dtype" else [_number(item.low), _number(item.high)]


def _number(value: float) -> float | int | str:
    if not math.isfinite(value):
        return str(plain(value))
    return int(value) if value == int(value) and abs(value) < 1e6 else value
