"""Do the convention counts of sampling, stencils, row quantisation, routing and selection reproduce published anchors of both editions?"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from piton.anchors import t_hw
from piton.catalog import load_suite
from piton.catalog.hardware import load_hardware
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.operator import AttrValue, Operator
from piton.evaluate.arguments import all_attributes

PUBLISHED = Path(__file__).parent.parent / "data" / "published_anchors_vector_operators.csv"
SUITE = load_suite()


HARDWARE = {edition: load_hardware(f"ascend{edition}") for edition in ("910b2", "950pr")}


def published_rows() -> list[dict[str, str]]:
    with PUBLISHED.open(newline="") as stream:
        return list(csv.DictReader(stream))


def operator(name: str) -> Operator:
    member = SUITE.member(name)
    assert member is not None
    return member.operator


def published_case(row: dict[str, str]) -> Case:
    """The tensors are in the order of the schema; those that a case leaves out are null or missing at the end."""
    found = operator(row["operator"])
    shapes, dtypes = json.loads(row["input_shape"]), json.loads(row["dtype"])
    given = zip((spec.name for spec in found.inputs), shapes, dtypes, strict=False)
    inputs = tuple(CaseInput(argument=name, shape=tuple(shape), dtype=DType(dtype)) for name, shape, dtype in given if shape is not None)
    attributes: dict[str, AttrValue] = {name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(row["attrs"]).items()}
    case = Case(operator=found.name, id=row["case"], inputs=inputs, attributes=attributes)
    return case.model_copy(update={"attributes": all_attributes(found, case)})


@pytest.mark.parametrize("edition", list(HARDWARE))
@pytest.mark.parametrize("row", published_rows(), ids=lambda row: f"{row['operator']}-{row['case']}")
def test_the_convention_reproduces_the_published_anchor(row: dict[str, str], edition: str) -> None:
    case = published_case(row)
    anchor = t_hw(operator(case.operator), case, HARDWARE[edition], block="convention")
    assert anchor is not None
    assert anchor.value_us == pytest.approx(float(row[f"t_hw_{edition}"]), rel=0.002, abs=0.006)


def test_every_row_tells_a_count_from_the_floor() -> None:
    """An anchor at the floor of 1 us would say nothing about the counts."""
    for row in published_rows():
        assert max(float(row["t_hw_910b2"]), float(row["t_hw_950pr"])) > 1.05, f"{row['operator']} {row['case']}"
