"""Does host code of an operator project get the documented answers about the chip, and do its reports say what was found and expected?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

CPP = Path(__file__).parent / "cpp"
INCLUDE = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp" / "include"


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    program = tmp_path_factory.mktemp("reports") / "program"
    folders = [f"-I{folder}" for folder in (INCLUDE / "host", INCLUDE / "project", INCLUDE)]
    flags = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-DPITON_HOST_PASS", "-DPITON_PROJECT_HOST", *folders]
    subprocess.run(["g++", *flags, str(CPP / "project_reports.cpp"), "-o", str(program)], check=True, timeout=120)
    output = subprocess.run([str(program)], check=True, timeout=60, capture_output=True, text=True).stdout
    return dict(line.split("=", 1) for line in output.splitlines())


@pytest.mark.parametrize(
    ("question", "answer"),
    [("ub", "196608"), ("cores", "48 24"), ("apart", "found split"), ("count", "found 24"), ("arch", "2201")],
)
def test_the_chip_is_described_as_documented(facts: dict[str, str], question: str, answer: str) -> None:
    assert facts[question] == answer


@pytest.mark.parametrize("question", ["mmad", "frequency"])
def test_an_entry_that_is_not_known_is_missing_and_leaves_no_text(facts: dict[str, str], question: str) -> None:
    assert facts[question] == "missing "


def test_a_report_says_what_was_found_and_what_was_expected(facts: dict[str, str]) -> None:
    assert facts["refused"] == "1 invalid shape: x, [2, -1], 3 axes"
    assert facts["accepted"] == "1"


def test_each_combination_of_a_template_has_the_kernel_type_that_its_selection_names(facts: dict[str, str]) -> None:
    assert facts["selected"] == "1 2 : 5; 1 4 : 5; 0 4 : 1; 0 2 : -1; "


def test_a_shared_kernel_type_is_a_parameter_too(facts: dict[str, str]) -> None:
    assert facts["shared"] == "0 1 : 0; 4 1 : 4; "


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("like", "[3, 4]"),
        ("stretched", "[4, 2, 3]"),
        ("apart_shapes", "shapes [4, 3], [4, 2] do not broadcast"),
        ("reduced", "[1, 6, 1]"),
        ("no_axis", "an axis is not one of shape [5, 6, 7]"),
        ("hidden_axes", "the axes, which are the values of input 1, may not be read here: give it ValueDepend in the OpDef"),
        ("without", "[6] [5, 6] none"),
    ],
)
def test_shapes_follow_from_those_of_inputs_or_it_is_said_why_not(facts: dict[str, str], fact: str, text: str) -> None:
    assert facts[fact] == text


def test_types_and_formats_are_shown_by_their_names(facts: dict[str, str]) -> None:
    assert facts["type"] == "DT_BF16 FRACTAL_NZ"


@pytest.mark.parametrize(("question", "answer"), [("first row", "0 DT_FLOAT ND"), ("second row", "1 DT_INT32 NCHW")])
def test_of_rows_with_equal_inputs_the_one_of_the_inferred_output_is_taken(facts: dict[str, str], question: str, answer: str) -> None:
    assert facts[question] == answer


def test_an_inferred_output_without_a_row_is_told(facts: dict[str, str]) -> None:
    assert "its InferDataType function gives outputs of DT_INT64, for which its DataType lists have no row with these inputs" in facts["no row"]


def test_a_type_that_follows_a_name_is_that_of_the_input_where_an_output_shares_it(facts: dict[str, str]) -> None:
    assert facts["followed"].split() == ["DT_FLOAT"] * 3 + ["DT_BF16"] * 3


def test_axes_of_another_type_are_told(facts: dict[str, str]) -> None:
    assert facts["short_axes"] == "the axes, which are the values of input 1, have to be of int32 or int64"


def test_an_attribute_that_a_call_leaves_out_needs_a_default_where_it_is_required(facts: dict[str, str]) -> None:
    bare, bare_list, written, optional = facts["left out"].split(" | ")
    assert "operator Asks" in bare
    assert "attribute bare is REQUIRED and the call brings no value for it" in bare
    assert "attribute bare_list is REQUIRED" in bare_list
    assert (written, optional) == ("taken", "taken")
