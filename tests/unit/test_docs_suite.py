"""Does docs/suite.md list what the suites hold?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog import load_suite, suite_names
from piton.catalog.source import read_yaml
from piton.numerics.thresholds import default_tolerance

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "suite.md").read_text()


@pytest.mark.parametrize("name", suite_names())
def test_the_page_has_a_row_for_every_operator_as_its_files_describe_it(name: str) -> None:
    for member in load_suite(name).members:
        operator = member.operator
        about = read_yaml(Path(operator.golden_path).parent / "proto.yaml").data["operator"]["description"]
        dtypes = " ".join(dtype.value for dtype in operator.inputs[0].dtypes)
        assert f"| {operator.level} | {operator.name} | {about} | {dtypes} |" in PAGE


def test_the_page_has_no_other_operator() -> None:
    listed = [line.split("|")[2].strip() for line in PAGE.splitlines() if line[:3] in ("| 1", "| 2", "| 3", "| 4")]
    assert sorted(listed) == sorted(member.operator.name for name in suite_names() for member in load_suite(name).members)


def test_the_page_names_every_operator_whose_floating_thresholds_are_relaxed() -> None:
    tolerances = next(part for part in PAGE.split("\n\n") if part.startswith("**Tolerances.**")).split("Published")[0]
    operators = [member.operator for member in load_suite("piton").members]
    relaxed = {item.name for item in operators for dtype, tau in item.thresholds.items() if dtype.is_floating and tau > default_tolerance(dtype).tau}
    assert relaxed == {item.name for item in operators if item.name in tolerances.replace(",", " ").split()}
