"""Do the counts of the published convention give the published anchors, on both editions? Values quoted from the published set: see tests/data/README.md."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from piton.anchors import (
    attention,
    combining,
    convolution,
    data_movement,
    elementwise,
    grouped_products,
    latent_projections,
    matmul,
    normalization,
    recurrent,
    reduction,
    t_hw,
)
from piton.catalog import load_suite
from piton.catalog.hardware import load_hardware
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.operator import AttrValue

DATA = Path(__file__).parent.parent / "data"
TABLES = (DATA / "published_anchors_elementwise_reduction_movement.csv", DATA / "published_anchors_matrix_products.csv")
VECTOR_FAMILIES = (combining, data_movement, elementwise, normalization, reduction)
CUBE_FAMILIES = (attention, convolution, grouped_products, latent_projections, matmul, recurrent)
SUITE = load_suite()


def rows() -> list[dict[str, str]]:
    return [row for table in TABLES for row in csv.DictReader(table.read_text().splitlines())]


def case_of(row: dict[str, str]) -> Case:
    return Case(operator=row["operator"], id=row["case_id"], inputs=tuple(map(tensor_of, json.loads(row["inputs"]))), attributes=attributes_of(row))


def tensor_of(entry: list[object]) -> CaseInput:
    argument, shape, dtype, low, high, *index = entry
    return CaseInput.model_validate(
        {"argument": argument, "shape": shape, "dtype": DType(dtype), "low": low, "high": high, "list_index": index[0] if index else None}
    )


def attributes_of(row: dict[str, str]) -> dict[str, AttrValue]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(row["attributes"]).items()}


@pytest.mark.parametrize("edition", ["910b2", "950pr"])
@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['operator']}-{row['case_id']}")
def test_the_published_count_gives_the_published_anchor(row: dict[str, str], edition: str) -> None:
    member = SUITE.member(row["operator"])
    assert member is not None
    anchor = t_hw(member.operator, case_of(row), load_hardware(f"ascend{edition}"), block="convention")
    published = float(row[f"t_hw_us_{edition}"])
    assert anchor is not None
    assert anchor.value_us == pytest.approx(published, rel=0.002, abs=0.006)


def test_every_operator_of_these_families_has_two_published_cases() -> None:
    assert Counter(row["operator"] for row in rows()) == {name: 2 for family in (*VECTOR_FAMILIES, *CUBE_FAMILIES) for name in family.FORMULAS}
