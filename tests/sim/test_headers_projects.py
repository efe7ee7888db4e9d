"""Are the names there, with the right meaning, that kernels of operator projects use beside the documented API?"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from recorded import CPP, INCLUDE, Record, scenarios_of

FLAGS = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror"]
NUMBERS = INCLUDE / "project" / "piton_project" / "kernel_numbers.h"
SET_FLAG, WAIT_FLAG = 256, 257
EXP, MAX, DIV, MULS = 64, 5, 4, 33


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Record]]:
    return scenarios_of("headers_projects.cpp", tmp_path_factory.mktemp("projects"), f"-I{INCLUDE / 'project'}")


@pytest.mark.parametrize("name", ["scratch_queue", "handle"])
def test_a_queue_sets_and_waits_in_pairs(scenarios: dict[str, list[Record]], name: str) -> None:
    flags = [record["op"] for record in scenarios[name] if record["op"] in (SET_FLAG, WAIT_FLAG)]
    assert flags.count(SET_FLAG) == flags.count(WAIT_FLAG) == 2


def test_functions_of_the_api_can_be_handed_to_templates(scenarios: dict[str, list[Record]]) -> None:
    vector = [record for record in scenarios["addresses"] if record["op"] in (EXP, MAX, DIV, MULS)]
    assert [record["op"] for record in vector] == [EXP, MAX, DIV, MULS, EXP]
    lines = (CPP / "headers_projects.cpp").read_text("utf-8").splitlines()
    assert lines[vector[-1]["line"] - 1].rstrip().endswith("@called"), "a plain call keeps its own place"


def test_an_assertion_that_does_not_hold_stops_at_its_line(scenarios: dict[str, list[Record]]) -> None:
    lines = (CPP / "headers_projects.cpp").read_text("utf-8").splitlines()
    wanted = next(number for number, line in enumerate(lines, 1) if line.rstrip().endswith("@fails"))
    assert scenarios["assertions"][-1]["line"] == wanted


def test_numbers_that_kernels_compare_are_those_of_host_code(tmp_path: Path) -> None:
    numbers = dict(re.findall(r"^#define ((?:DT|FORMAT)_\w+) (\d+)$", NUMBERS.read_text("utf-8"), re.MULTILINE))
    assert [numbers["DT_BF16"], numbers["FORMAT_FRACTAL_NZ"]] == ["27", "29"]  # as documented
    checks = "".join(f'static_assert(static_cast<int>(ge::{name}) == {number}, "{name}");\n' for name, number in numbers.items())
    source = tmp_path / "numbers.cpp"
    source.write_text(f'#include "piton_project/types.h"\n{checks}', "utf-8")
    flags = [*FLAGS, "-DPITON_HOST_PASS", "-DPITON_PROJECT_HOST", f"-I{INCLUDE / 'project'}", f"-I{INCLUDE}"]
    subprocess.run(["g++", *flags, "-fsyntax-only", str(source)], check=True, timeout=60)
