"""`piton suite lint`, `generate`, `hidden` and hidden evaluations from the outside."""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path
from typing import Any

import pytest
from null_world import make_submission, make_suite, piton

RULES = "rules:\n  layouts:\n  - shapes: {x: [..., N]}\n"
KEY_BYTES = 32
KEYS = {"key": "a key of the tests, no secret 0122", "other": "a key of the tests, no secret 0169"}
"""Under them the first two hidden cases of `twice` are small and ordinary."""
RUN = ("--suite", "suite", "--trust", "--target", "null", "--hidden-key-file", "key", "--hidden-count", "2", "--op", "twice")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("curation")
    make_suite(root / "suite")
    for name in ("grow", "twice"):
        (root / "suite" / "level1" / name / "rules.yaml").write_text(RULES)
    make_submission(root / "right")
    make_submission(root / "wrong", {"twice": {"default": {"compute": "zeros"}}})
    for name, text in KEYS.items():
        (root / name).write_text(text)
        (root / name).chmod(0o600)
    return root


def as_json(root: Path, *arguments: str, status: int = 0) -> dict[str, Any]:
    done = piton(root, *arguments, "--json")
    assert done.returncode == status, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_suite_from_outside_is_linted_by_its_files_alone_and_says_so(world: Path) -> None:
    done = piton(world, "suite", "lint", "suite")
    assert done.returncode == 1
    assert "structural checks only" in done.stdout
    assert re.search(r"element-range: \d+", done.stdout)
    found = as_json(world, "suite", "lint", "suite", status=1)
    assert found["stages"] == ["structural"]
    assert {item["check"] for item in found["violations"]} >= {"case-ids", "element-range", "special-values"}
    assert all(item["where"] for item in found["violations"])


def test_cases_are_generated_for_an_operator_that_has_none_yet(world: Path, tmp_path: Path) -> None:
    make_suite(tmp_path / "suite")
    folder = tmp_path / "suite" / "level1" / "twice"
    (folder / "rules.yaml").write_text(RULES)
    (folder / "cases.csv").unlink()
    done = piton(tmp_path, "suite", "generate", "--suite", "suite", "--op", "twice", "--seed", "7", "--out", str(folder / "cases.csv"))
    assert done.returncode == 0, done.stderr
    assert (folder / "cases.csv").read_text().count("\nTwice,") == 20
    missing = piton(tmp_path, "suite", "generate", "--suite", "suite", "--op", "thrice", "--seed", "7")
    assert (missing.returncode, "no operator 'thrice'" in missing.stderr) == (2, True)


def test_a_check_is_kept_so_that_a_second_one_runs_no_golden_and_says_what_that_saved(world: Path) -> None:
    first = as_json(world, "suite", "check", "suite", "--trust", "--op", "grow", "--jobs", "2")
    again = as_json(world, "suite", "check", "suite", "--trust", "--op", "grow")
    assert (first["summary"]["goldens_run"], first["summary"]["kept"]) == (8, 0)
    assert (again["summary"]["goldens_run"], again["summary"]["kept"]) == (0, 4)
    assert again["summary"]["saved_s"] == pytest.approx(sum(item["seconds"] for item in first["cases"]))
    assert [item["case"] for item in again["cases"]] == [item["case"] for item in first["cases"]]
    assert first["summary"]["most_memory_bytes"] >= 0


def test_a_changed_golden_is_checked_again(world: Path, tmp_path: Path) -> None:
    make_suite(tmp_path / "suite")
    as_json(tmp_path, "suite", "check", "suite", "--trust", "--op", "twice")
    golden = tmp_path / "suite" / "level1" / "twice" / "golden.py"
    golden.write_text(golden.read_text() + "\n# changed\n")
    again = as_json(tmp_path, "suite", "check", "suite", "--trust", "--op", "twice")
    assert (again["summary"]["goldens_run"] > 0, again["summary"]["kept"]) == (True, 0)


@pytest.mark.slow
def test_a_trusted_suite_has_its_goldens_run_and_a_second_lint_runs_none(world: Path) -> None:
    done = as_json(world, "suite", "lint", "suite", "--trust", "--op", "grow", status=1)
    assert done["stages"] == ["structural", "numeric"]
    assert [item["numeric_cases"] for item in done["operators"]] == [4]
    numeric = {item["check"] for item in done["violations"]} & {"golden-runs", "same-dtype-pass", "special-positions"}
    assert numeric == set()
    kept = sorted((world / "cache" / "lint").iterdir())
    assert len(kept) == 4
    golden = world / "suite" / "level1" / "grow" / "golden.py"
    assert as_json(world, "suite", "lint", "suite", "--trust", "--op", "grow", status=1) == done
    assert sorted((world / "cache" / "lint").iterdir()) == kept
    text = golden.read_text()
    golden.write_text(text + "\n# another file is another golden\n")
    as_json(world, "suite", "lint", "suite", "--trust", "--op", "grow", status=1)
    golden.write_text(text)
    assert len(list((world / "cache" / "lint").iterdir())) == 8


@pytest.mark.slow
def test_a_golden_that_fails_is_a_violation_and_is_tried_again(world: Path) -> None:
    root = make_suite(world / "failing", {"grow": "raise ValueError('no such luck')"})
    found = as_json(world, "suite", "lint", str(root), "--trust", "--op", "grow", status=1)
    runs = [item for item in found["violations"] if item["check"] == "golden-runs"]
    assert [item["case"] for item in runs] == ["1", "2", "3", "4"]
    assert "no such luck" in runs[0]["found"]


@pytest.mark.slow
def test_an_example_that_does_not_run_is_found_on_its_line(world: Path) -> None:
    suite = make_suite(world / "described")
    (suite / "suite.yaml").write_text('name: described\nversion: "1"\n')
    desc = suite / "level1" / "grow" / "desc.md"
    desc.write_text('# grow\n\n```python\nimport torch\nimport cann_bench\n\ny = cann_bench.grow(torch.ones(3).to("npu"))\nassert y.shape == (4,)\n```\n')
    found = as_json(world, "suite", "lint", str(suite), "--trust", "--op", "grow", status=1)
    (example,) = [item for item in found["violations"] if item["check"] == "desc-code-runs"]
    assert example["where"] == f"{desc.resolve()}:8"
    assert "AssertionError" in example["found"]
    desc.write_text(desc.read_text().replace("(4,)", "(3,)"))
    again = as_json(world, "suite", "lint", str(suite), "--trust", "--op", "grow", status=1)
    assert "desc-code-runs" not in {item["check"] for item in again["violations"]}


def test_our_own_suite_keeps_every_structural_rule(world: Path) -> None:
    found = as_json(world, "suite", "lint", "--structural")
    assert found["violations"] == []
    assert found["measures"]["without_special_values"] == 5  # docs/suite.md says which, and why


def test_generated_cases_are_written_with_their_origin_and_pass_the_lint(world: Path) -> None:
    done = piton(world, "suite", "generate", "--op", "softmax", "--seed", "7", "--out", "softmax.csv")
    assert done.returncode == 0, done.stderr
    origin = json.loads((world / "softmax.csv.origin.json").read_text())
    assert (origin["operator"], origin["seed"], origin["count"]) == ("softmax", 7, 20)
    assert piton(world, "suite", "generate", "--op", "softmax", "--seed", "7").stdout == (world / "softmax.csv").read_text()
    assert piton(world, "suite", "lint", "--op", "softmax", "--cases", "softmax.csv", "--structural").returncode == 0
    table = world / "softmax.csv"
    table.write_text(table.read_text().replace("symmetric-small", "symmetric-large", 1))
    found = as_json(world, "suite", "lint", "--op", "softmax", "--cases", "softmax.csv", "--structural", status=1)
    assert [(item["check"], item["where"]) for item in found["violations"]] == [("note", "softmax.csv:2")]


def test_a_hidden_set_is_named_and_written_only_when_asked(world: Path) -> None:
    found = as_json(world, "suite", "hidden", "--key-file", "key", "--op", "exp", "--count", "20")
    assert [(item["operator"], item["cases"]) for item in found["operators"]] == [("exp", 20)]
    other = as_json(world, "suite", "hidden", "--key-file", "other", "--op", "exp", "--count", "20")
    assert found["key_id"] != other["key_id"]
    assert found["set_digest"] != other["set_digest"]
    assert not (world / "clear").exists()
    assert piton(world, "suite", "hidden", "--key-file", "key", "--op", "exp", "--count", "20", "--out", "clear").returncode == 0
    table = world / "clear" / "exp.csv"
    assert len(table.read_text().splitlines()) == 21
    assert table.stat().st_mode & 0o077 == 0
    assert piton(world, "suite", "hidden", "--key-file", "key", "--op", "exp", "--out", "clear").returncode == 2


def test_a_key_that_is_open_or_bad_is_said(world: Path) -> None:
    (world / "open").write_text(secrets.token_hex(KEY_BYTES))
    (world / "open").chmod(0o644)
    done = piton(world, "suite", "hidden", "--key-file", "open", "--op", "gelu", "--count", "1")
    assert done.returncode == 0
    assert "open to others" in done.stdout
    (world / "short").write_text("abc")
    bad = piton(world, "eval", "right", *RUN[:6], "short", "--out", "never")
    assert bad.returncode == 2
    assert "wrong length" in bad.stderr
    assert "abc" not in bad.stderr


def secrets_of(root: Path, key: str) -> list[str]:
    """Texts that would tell what the hidden cases of `twice` are: their seeds."""
    assert piton(root, "suite", "hidden", "--suite", "suite", "--key-file", key, "--op", "twice", "--count", "2", "--out", f"clear-{key}").returncode == 0
    return [line.rpartition(",")[2] for line in (root / f"clear-{key}" / "twice.csv").read_text().splitlines()[1:]]


def everything(folder: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


def test_a_hidden_evaluation_reports_counts_without_telling_which_case_or_what_it_is(world: Path) -> None:
    done = piton(world, "eval", "wrong", *RUN, "--out", "sealed")
    assert done.returncode == 1, done.stderr
    report = json.loads((world / "sealed" / "report.json").read_text())
    (operator,) = report["operators"]
    assert report["hidden"]["detail"] == "counts"
    assert [case["case"]["id"] for case in operator["cases"]] == ["hidden-1", "hidden-2"]
    assert {case["outcome"]["verdict"] for case in operator["cases"]} == {"wrong_value"}
    assert all(not case["case"]["inputs"] and not case["outcome"]["message"] and case["time"] is None for case in operator["cases"])
    kept = everything(world / "sealed") + done.stdout
    assert not [seed for seed in secrets_of(world, "key") if seed in kept]
    assert (world / "key").read_text() not in kept
    assert "h1" not in done.stdout
    assert not (world / "cache" / "golden").exists() or not list((world / "cache" / "golden").glob("*.bin"))
    assert piton(world, "report", "sealed").returncode == 0


def test_more_of_hidden_cases_is_reported_when_asked_for(world: Path) -> None:
    listed = as_json(world, "eval", "wrong", *RUN, "--list-failures", "--out", "listed", status=1)
    assert [case["case"]["id"] for case in listed["operators"][0]["cases"]] == ["h1", "h2"]
    assert not listed["operators"][0]["cases"][0]["case"]["inputs"]
    revealed = as_json(world, "eval", "right", *RUN, "--reveal", "--out", "revealed")
    first = revealed["operators"][0]["cases"][0]
    assert first["case"]["inputs"]
    assert first["time"]["samples"]
    assert revealed["hidden"]["key_id"] == listed["hidden"]["key_id"]


@pytest.mark.slow
def test_a_stopped_hidden_evaluation_goes_on_from_sealed_results_to_the_same_report(world: Path) -> None:
    whole = as_json(world, "eval", "right", *RUN, "--out", "whole")
    journal = world / "whole" / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:2]))
    resumed = as_json(world, "eval", "right", *RUN, "--out", "whole", "--resume")
    assert resumed["result_digest"] == whole["result_digest"]
    assert resumed["operators"][0]["score"] == whole["operators"][0]["score"]
    other = piton(world, "eval", "right", *RUN[:6], "other", *RUN[7:], "--out", "whole", "--resume")
    assert other.returncode == 2
    assert "another evaluation" in other.stderr


def test_what_would_write_hidden_cases_down_is_refused(world: Path) -> None:
    for extra in ("--keep-failures", "--trace"):
        done = piton(world, "eval", "right", *RUN, extra, "--out", "refused")
        assert done.returncode == 2
        assert "--reveal" in done.stderr
    assert piton(world, "eval", "right", *RUN[:5], "--reveal", "--out", "refused").returncode == 2
