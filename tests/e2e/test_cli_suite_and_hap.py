"""`piton suite` and `piton hap` from the outside: what they print, as tables and as JSON in the documented form."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from null_world import QUOTED_T_BASELINE_US, QUOTED_T_HW_US, command, environment, make_suite, piton

DOCS = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("suites")
    make_suite(root / "suite", {"grow": "raise SystemExit('suites are read, not run')"})
    return root


def as_json(world: Path, *arguments: str) -> dict[str, Any]:
    done = piton(world, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def keys_documented(heading: str) -> set[str]:
    """Names in the first column of the table under `heading` of docs/cli.md."""
    section = DOCS.read_text().partition(f"\n#### {heading}\n")[2].partition("\n#")[0]
    return {name for line in section.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])}


def test_suites_are_listed_with_version_operators_per_level_and_cases(world: Path) -> None:
    found = as_json(world, "suite", "list", "piton", "suite")["suites"]
    own, foreign = found
    assert (own["name"], own["is_foreign"], foreign["name"], foreign["is_foreign"]) == ("piton", False, "suite", True)
    assert {"exp", "gelu"} <= set(own["levels"]["1"])
    assert (foreign["levels"], foreign["cases"]) == ({"1": ["grow", "twice"]}, 8)
    assert set(own) == keys_documented("suite list")
    assert set(own["operators"][0]) == keys_documented("suite list: operators")
    text = piton(world, "suite", "list").stdout
    assert "piton" in text
    assert "exp, foreach_addcdiv_scalar" in text


def test_a_foreign_operator_is_shown_without_trust_and_without_running_it(world: Path) -> None:
    found = as_json(world, "suite", "show", "suite", "grow", "--target", "null", "--case", "3")
    assert (found["schema_text"], found["description"], len(found["cases"])) == ("grow(Tensor x) -> Tensor y", "# grow\n", 1)
    case = found["cases"][0]
    assert (case["elements"], case["nbytes"], case["inputs"][0]["shape"], case["inputs"][0]["dtype"]) == (77, 154, [7, 11], "bfloat16")
    assert (case["t_hw"]["value_us"], case["t_hw"]["provenance"]) == (QUOTED_T_HW_US, "quoted")
    assert (case["t_baseline"]["value_us"], case["t_baseline"]["provenance"]) == (QUOTED_T_BASELINE_US, "quoted")
    assert set(found) == keys_documented("suite show")
    assert set(case) == keys_documented("suite show: cases")
    assert set(found["thresholds"][0]) == keys_documented("suite show: thresholds")


def test_an_operator_of_ours_is_shown_by_its_name_alone(world: Path) -> None:
    text = piton(world, "suite", "show", "exp").stdout
    for part in ("exp(Tensor x, float base=-1.0", "# exp", "float16 tau 0.000977", "base=-1.0, scale=1.5", "1009, 1021", "modelled"):
        assert part.lower() in text.lower(), text
    whole = piton(world, "suite", "show", "exp", "--case", "12").stdout
    assert "x: bfloat16 [5, 3, 11, 61, 149], 1499685 elements, 2999370 bytes, values -inf to inf" in whole


def test_anchors_are_explained_with_work_units_and_both_blocks(world: Path) -> None:
    found = as_json(world, "hap", "gelu", "--case", "1", "--time-us", "5")
    (case,) = found["cases"]
    silicon, convention = case["blocks"]
    assert (silicon["block"], silicon["is_scored"], convention["block"], convention["is_scored"]) == ("silicon", True, "convention", False)
    chosen = next(choice for choice in silicon["choices"] if choice["is_chosen"])
    assert (chosen["read_bytes"], chosen["vector_lane_instructions"]) == (2 * 1024 * 2048, {"float16": 6.0 * 1024 * 2048})
    times = chosen["unit_times_us"]
    assert set(times) == {"mte1", "mte2", "mte3", "vector", "cube", "fixp", "floor"}
    assert times["mte2"] == pytest.approx(2 * 1024 * 2048 / 1.6e12 * 1e6)
    assert (chosen["limiting_unit"], chosen["time_us"]) == ("mte2", max(times.values()))
    assert case["t_hw"]["value_us"] == chosen["time_us"] == min(choice["time_us"] for choice in silicon["choices"])
    assert [anchor["provenance"] for anchor in case["t_baselines"]] == ["modelled"], "nothing is simulated to answer a question"
    assert case["t_baseline"] == case["modelled"]["anchor"]
    assert sum(case["modelled"]["terms_us"].values()) == pytest.approx(case["t_baseline"]["value_us"])
    assert set(case["modelled"]) == keys_documented("hap: modelled")
    assert set(case["modelled"]["golden"][0]) == keys_documented("hap: modelled: golden")
    assert set(found) == keys_documented("hap")
    assert set(case) == keys_documented("hap: cases")
    assert set(chosen) == keys_documented("hap: choices")


def test_an_operator_without_a_formula_says_so_and_shows_what_is_quoted(world: Path) -> None:
    arguments = ("hap", "grow", "--suite", "suite", "--target", "null", "--case", "2", "--time-us", "10")
    found = as_json(world, *arguments)["cases"][0]
    assert (found["has_formula"], found["blocks"], found["quoted_t_hw"]["value_us"]) == (False, [], QUOTED_T_HW_US)
    assert found["hap"]["ranked"] == pytest.approx(15 / (5 + 15))
    assert found["hap"]["points"] == pytest.approx(100 * (0.5 + 0.5 * 0.75))
    assert set(found["hap"]) == keys_documented("hap: hap")
    text = piton(world, *arguments).stdout
    for part in ("no work formula", "5.000 us, quoted", "20.000 us, quoted", "= 0.7500, ranks as 0.7500", "87.5 of 100"):
        assert part in text, text


def test_a_time_below_the_roof_is_said_and_ranks_as_one(world: Path) -> None:
    text = piton(world, "hap", "grow", "--suite", "suite", "--target", "null", "--case", "2", "--time-us", "4").stdout
    assert "ranks as 1.0000" in text
    assert "below T_HW: a finding" in text


def test_a_chip_from_a_file_answers_without_a_target(world: Path) -> None:
    from piton.catalog.hardware import HARDWARE_DIR

    text = (HARDWARE_DIR / "ascend910b2.yaml").read_text()
    (world / "mine.yaml").write_text(
        text.replace("name: ascend910b2\n", "name: mine\n").replace("hbm_read_bytes_per_s: {value: 1.6e12", "hbm_read_bytes_per_s: {value: 0.8e12")
    )
    found = as_json(world, "hap", "exp", "--case", "1", "--hardware", "mine.yaml")
    assert (found["on"], found["hardware"]) == ("mine", "mine")
    assert found["cases"][0]["t_hw"]["value_us"] == pytest.approx(2 * 1024 * 1024 / 0.8e12 * 1e6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("suite", "show", "piton", "nosuch"), "has no operator 'nosuch'"),
        (("suite", "show", "piton", "--case", "1"), "--case needs an operator"),
        (("suite", "check", "piton", "--op", "exp", "--op", "nosuch", "--max-elements", "1000"), "has no operator 'nosuch'"),
        (("suite", "check", "piton", "--op", "exp", "--level", "2"), "no operator is left"),
        (("suite", "check", "piton", "--op", "exp", "--max-elements", "1000"), "no case is left"),
        (("hap", "exp", "--case", "99"), "has no case '99'"),
        (("hap", "exp", "--hardware", "ascend910b1", "--target", "null"), "exclude one another"),
        (("hap", "exp", "--time-us", "0"), "--time-us"),
    ],
)
def test_wrong_use_is_one_message(world: Path, arguments: tuple[str, ...], message: str) -> None:
    done = piton(world, *arguments)
    assert (done.returncode, message in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr


@pytest.fixture(scope="module")
def program(world: Path) -> Path:
    """A program called `piton`, as an installation makes one: completion goes by that name."""
    path = world / "piton"
    path.write_text(f"#!{sys.executable}\nimport sys\nfrom piton.cli.start import run\nrun()\nassert not ({{'torch', 'numpy'}} & set(sys.modules))\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("piton ", {"eval", "report", "suite", "hap", "doctor"}),
        ("piton eval --max", {"--max-elements"}),
        ("piton eval x --suite suite --op ", {"grow", "twice"}),
        ("piton eval x --suite ./su", {"./suite/"}),
        ("piton hap ex", {"exp"}),
        ("piton suite show ge", {"gelu"}),
    ],
)
def test_the_shell_completes_words(world: Path, program: Path, line: str, expected: set[str]) -> None:
    variables = {"_PITON_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    done = subprocess.run([str(program)], cwd=world, env={**environment(world), **variables}, capture_output=True, text=True, timeout=60, check=False)
    assert expected <= set(done.stdout.split())
    assert all(word.startswith(line.split(" ")[-1]) for word in done.stdout.split())
    assert done.stderr == ""


def test_words_that_do_not_exist_are_completed_by_nothing(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from piton.cli import completion

    monkeypatch.chdir(world)
    assert completion.operators_of("nosuch") == []
    assert completion.complete_suite("./nosuch/") == []
    assert completion.complete_suite("~nobody/x") == []
    assert completion.complete_suite("") == ["cann-lowbit", "piton"], "not every folder before a path is begun"
    assert completion.complete_target("ascend910b2") == ["ascend910b2-sim"]
    assert completion.complete_hardware("ascend910b1") == ["ascend910b1"]


def test_completion_loads_neither_torch_nor_numpy(world: Path) -> None:
    code = "import sys; from piton.cli.completion import *; print(operators_of('piton'), complete_target(''), complete_hardware(''), complete_suite(''))\n"
    code += "sys.exit(bool({'torch', 'numpy', 'rich.table'} & set(sys.modules)))"
    done = subprocess.run([*command()[:1], "-c", code], cwd=world, env=environment(world), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'exp', 'foreach_addcdiv_scalar'" in done.stdout
