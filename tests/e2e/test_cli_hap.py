"""`piton hap` and `piton hap audit` from the outside: typed cases, overview, audit; tables, documented JSON, exit statuses."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from null_world import make_suite
from typer.testing import CliRunner

from piton.catalog.suite import SUITES_ROOT
from piton.cli.main import app
from piton.core.errors import PitonError

DOCS = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hap")
    make_suite(root / "suite", {"grow": "raise SystemExit('suites are read, not run')"})
    (root / "suite/metadata/910b2.json").write_text((root / "suite/metadata/null.json").read_text())
    lines = [published("exp", number, elements, t_hw) for number, elements, t_hw in ((1, 2**20, 1.09), (2, 2**21, 2.18), (3, 2**21, 1.09))]
    (root / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root


@pytest.fixture(autouse=True)
def here(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In that folder, with its own cache and a terminal of 160 columns."""
    monkeypatch.chdir(world)
    for name, value in {"PITON_CACHE_DIR": str(world / "cache"), "COLUMNS": "160", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)


@dataclass(frozen=True)
class Done:
    """What a command left."""

    returncode: int
    stdout: str
    stderr: str


def piton(*arguments: str) -> Done:
    """The command in this process: forty starts of Python would take most of the time. A PitonError becomes what the program makes of it."""
    done = CliRunner().invoke(app, arguments)
    if isinstance(done.exception, PitonError):
        return Done(done.exception.exit_status, done.stdout, done.stderr + str(done.exception))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def folder_of(operator: str) -> str:
    """The folder of one operator, which is a suite too: most of the time of a command is the reading of suites."""
    (folder,) = (SUITES_ROOT / "piton").glob(f"level*/{operator}")
    return str(folder)


def only(operator: str) -> tuple[str, ...]:
    """Options that read one operator and ask a chip: a target would look for baselines, whose names take a compiler."""
    return "--suite", folder_of(operator), "--hardware", "ascend910b2"


def published(operator: str, number: int, elements: int, t_hw_us: float) -> dict[str, Any]:
    """A case of halfs; 2^20 of them are 2,097,152 bytes, 1.092 us at the convention's 1.92 TB/s."""
    case = {"operator": operator, "case": number, "input_shape": [[elements]], "dtype": ["float16"], "attrs": {}, "value_range": [-1, 1]}
    return {**case, "910b2": {"t_hw_us": t_hw_us, "baseline_us": 10 * t_hw_us}}


def as_json(*arguments: str) -> dict[str, Any]:
    done = piton(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def keys_documented(heading: str) -> set[str]:
    """Names in the first column of the table under `heading` of docs/cli.md."""
    section = DOCS.read_text().partition(f"\n#### {heading}\n")[2].partition("\n#")[0]
    return {name for line in section.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])}


def test_a_typed_case_has_bytes_that_can_be_counted_by_hand_and_both_profiles() -> None:
    (case,) = as_json("hap", "rms_norm", *only("rms_norm"), "--shape", "x=4096x1000:float16,gamma=1000", "--attr", "epsilon=1e-5")["cases"]
    assert (case["case"], case["elements"]) == ("typed", 4096 * 1000 + 1000)
    silicon, convention = case["blocks"]
    for block in (silicon, convention):
        (chosen,) = [choice for choice in block["choices"] if choice["is_chosen"]]
        assert (chosen["read_bytes"], chosen["write_bytes"]) == (4096 * 1000 * 2 + 1000 * 2, 4096 * 1000 * 2)
        assert block["reasoning"]
    assert "Bytes:" in case["family"]
    difference = case["difference"]
    assert set(difference) == keys_documented("hap: difference")
    assert set(difference["t_hw"]) == keys_documented("hap: difference: units")
    reads = next(unit for unit in difference["units"] if unit["unit"] == "mte2")
    assert reads["by_rates"] == pytest.approx(1.92 / 1.6)
    assert reads["by_counts"] == pytest.approx(1.0), "both read each byte once"
    assert reads["convention_us"] == pytest.approx(8_194_000 / 1.92e12 * 1e6)
    assert reads["by_rates"] * reads["by_counts"] == pytest.approx(reads["silicon_us"] / reads["convention_us"])


def test_a_table_says_that_an_evaluation_would_model_the_baseline() -> None:
    note = "an evaluation traces the golden"
    assert note in piton("hap", "rms_norm", *only("rms_norm")).stdout
    case = "--case", "1"
    assert piton("hap", "rms_norm", *only("rms_norm"), *case).stdout.count("T_baseline that scores") == 1
    assert note not in piton("hap", "rms_norm", *only("rms_norm"), *case).stdout


def test_one_case_is_printed_with_the_reason_for_the_difference_and_how_it_is_counted() -> None:
    text = piton("hap", "exp", *only("exp"), "--case", "2").stdout
    for part in (
        "mte2 (MTE)",
        "convention against silicon",
        "Silicon is 1.2 times convention",
        "HBM reads at 1.92 TB/s",
        "how silicon counts",
        "how convention",
    ):
        assert part in text, text


def test_counts_and_rates_are_told_apart() -> None:
    """exp of bfloat16: one instruction an element and two casts in the shortest code, two and two casts published."""
    (case,) = as_json("hap", "exp", *only("exp"), "--shape", "4096x4096:bfloat16")["cases"]
    vector = next(unit for unit in case["difference"]["units"] if unit["unit"] == "vector")
    assert vector["by_rates"] == pytest.approx(6.0 / 5.5296), "lanes a second: convention over silicon"
    assert vector["by_counts"] == pytest.approx((1 + 2) / (2 + 2))


def test_a_case_of_the_suite_is_changed_by_an_attribute() -> None:
    (changed,) = as_json("hap", "gelu", *only("gelu"), "--case", "1", "--attr", "approximate=tanh")["cases"]
    assert (changed["case"], changed["elements"]) == ("1, changed", 1024 * 2048)


def test_sizes_that_do_not_go_together_are_remarked_and_still_answered() -> None:
    done = piton("hap", "rms_norm", *only("rms_norm"), "--shape", "4x33,32")
    assert done.returncode == 0
    assert "make sure that they go together" in done.stderr
    assert "nothing is written" not in done.stderr


def test_a_case_that_writes_nothing_is_remarked() -> None:
    assert "nothing is written" in piton("hap", "resize_bilinear", *only("resize_bilinear"), "--shape", "1x2x30x40").stderr


def test_sizes_that_a_formula_cannot_read_are_one_message() -> None:
    done = piton("hap", "arg_max", *only("arg_max"), "--shape", "4x5", "--attr", "dim=7")
    assert done.returncode == 2
    assert "the work formula of arg_max can't read case typed" in done.stderr


def test_without_an_operator_there_is_an_overview_of_the_suite() -> None:
    found = as_json("hap", "--hardware", "ascend910b2")
    overview = found["overview"]
    assert set(overview) == keys_documented("hap: overview")
    operators = {item["operator"]: item for item in overview["operators"]}
    assert operators["exp"]["cases"] == 20
    assert set(operators["exp"]["blocks"][0]) == keys_documented("hap: overview: blocks")
    silicon, convention = overview["blocks"]
    assert (silicon["block"], convention["block"]) == ("silicon", "convention")
    assert sum(silicon["labels"].values()) == silicon["cases"] == sum(len(item["blocks"]) and item["cases"] - item["absent"] for item in overview["operators"])
    text = piton("hap", "--hardware", "ascend950pr").stdout
    for part in ("piton", "on ascend950pr", "exp", "silicon: ", "convention: ", "operators have a work formula"):
        assert part in text, text


def test_a_chip_without_a_type_says_so() -> None:
    done = piton("hap", "fp8_quant_matmul", "--suite", "cann-lowbit", "--hardware", "ascend910b2", "--case", "1")
    assert done.returncode == 2
    assert "an element type that ascend910b2 does not have" in done.stderr
    assert as_json("hap", "--suite", "cann-lowbit", "--hardware", "ascend910b2")["overview"]["operators"], "an overview counts such cases"


def test_a_target_for_a_chip_without_a_timing_model_is_one_clear_error() -> None:
    done = piton("hap", "exp", "--suite", folder_of("exp"), "--target", "ascend950pr-sim")
    assert done.returncode == 2
    assert "ascend950pr has no timing model yet" in done.stderr
    assert "--hardware ascend950pr" in done.stderr


def test_help_explains_both_the_operator_and_the_audit() -> None:
    text = piton("hap", "--help").stdout
    for part in ("audit", "show", "--shape", "--case", "Compare published anchors"):
        assert part in text, text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hap", "--case", "1"), "need an operator"),
        (("hap", "exp", *only("exp"), "--attr", "scale=2"), "--attr belongs to a case"),
        (("hap", "exp", *only("exp"), "--case", "1", "--case", "2", "--attr", "scale=2"), "change one case"),
        (("hap", "exp", "--shape", "4x5", "--hardware", "ascend910b2", "--target", "null"), "exclude one another"),
        (("hap", "softmax", *only("softmax"), "--shape", "4x5", "--attr", "dim=x"), "attribute 'dim'"),
        (("hap", "audit"), "an audit needs published anchors"),
        (("hap", "audit", "--suite", "suite", "--cases", "cases.jsonl"), "both"),
        (("hap", "audit", "--suite", "piton"), "quotes no anchors"),
        (("hap", "audit", "--cases", "nosuch.jsonl"), "can't be read|cannot be read"),
        (("hap", "audit", "--cases", "cases.jsonl", "--op", "gelu"), "nothing is published for operator 'gelu'"),
        (("hap", "audit", "--cases", "cases.jsonl", "--hardware", "ascend950pr"), "no anchors are published for ascend950pr"),
    ],
)
def test_wrong_use_is_one_message(arguments: tuple[str, ...], message: str) -> None:
    done = piton(*arguments)
    assert (done.returncode, bool(re.search(message, done.stderr))) == (2, True), done.stderr


def test_an_audit_of_a_table_tells_equal_from_stale() -> None:
    found = as_json("hap", "audit", "--cases", "cases.jsonl")
    assert set(found) == keys_documented("hap audit")
    (platform,) = found["platforms"]
    assert set(platform) == keys_documented("hap audit: platforms")
    assert (platform["platform"], platform["hardware"], platform["states"]) == ("910b2", "ascend910b2", {"equal": 2, "stale": 1})
    assert platform["marks"]["baseline_capped"] == 3
    last = platform["rows"][2]
    assert set(last) == keys_documented("hap audit: rows")
    assert last["factor"] == pytest.approx(1.09 / (2**22 / 1.92e12 * 1e6))
    assert any("what case 1 has" in reason for reason in last["reasons"])


def test_a_strict_audit_ends_with_one_when_something_differs(world: Path) -> None:
    assert piton("hap", "audit", "--cases", "cases.jsonl").returncode == 0
    done = piton("hap", "audit", "--cases", "cases.jsonl", "--strict")
    assert done.returncode == 1
    for part in ("2 of 3 published T_HW equal the derived ones", "differing", "stale", "impossible", "T_HW asks 2.4 times"):
        assert part in done.stdout, done.stdout
    text = (world / "cases.jsonl").read_text().splitlines()
    (world / "good.jsonl").write_text("\n".join(text[:2]) + "\n")
    assert piton("hap", "audit", "--cases", "good.jsonl", "--strict").returncode == 0


def test_a_checkout_is_audited_without_trust_and_without_running_it() -> None:
    done = piton("hap", "audit", "--suite", "suite", "--all")
    assert (done.returncode, "no_formula" in done.stdout) == (0, True), done.stdout + done.stderr
