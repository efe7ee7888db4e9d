"""A suite is read once, and again when a file of it has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from piton.core.errors import UsageError
from piton.evaluate.suite_memory import load_unchanged

_PROTO = """operator:
  name: Grow
  category: Elementwise
  difficulty: L1
  formula: y = f(x)
  description: a function
  shape_support: any
  attrs: []
  inputs:
  - {name: x, description: input, dtype: [float32]}
  outputs:
  - {name: y, description: output, dtype: [float32]}
  schema: grow(Tensor x) -> Tensor y
"""
_CASES = 'operator,case_id,input_shape,dtype,attrs,value_range,note\nGrow,1,"[[64, 33]]",[\'float32\'],{},"[-1, 1]",\n'


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite" / "level1" / "grow"
    folder.mkdir(parents=True)
    texts = {"proto.yaml": _PROTO, "cases.csv": _CASES, "golden.py": "def grow(x):\n    return x\n", "desc.md": "# grow\n"}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return tmp_path / "suite"


def test_a_suite_that_has_not_changed_is_not_read_again(suite: Path) -> None:
    assert load_unchanged(str(suite)) is load_unchanged(f"{suite}/")


@pytest.mark.parametrize("name", ["golden.py", "cases.csv", "proto.yaml"])
def test_a_file_that_was_written_is_read_again(suite: Path, name: str) -> None:
    before = load_unchanged(str(suite))
    path = suite / "level1" / "grow" / name
    at = path.stat().st_mtime_ns
    path.write_text(path.read_text().replace("1", "2") if name == "cases.csv" else path.read_text() + "\n# more\n")
    os.utime(path, ns=(at, at + 1))
    assert load_unchanged(str(suite)).digest() != before.digest() if name != "proto.yaml" else load_unchanged(str(suite)) is not before


def test_a_file_that_took_the_place_of_another_is_read_again(suite: Path) -> None:
    before = load_unchanged(str(suite))
    path = suite / "level1" / "grow" / "golden.py"
    at = path.stat().st_mtime_ns
    (suite / "new").write_text("def grow(x):\n    return y\n")
    os.utime(suite / "new", ns=(at, at))
    (suite / "new").replace(path)
    assert load_unchanged(str(suite)).digest() != before.digest()


def test_a_suite_that_went_away_is_an_error(suite: Path) -> None:
    load_unchanged(str(suite))
    suite.rename(suite.parent / "elsewhere")
    with pytest.raises(UsageError, match="no suite"):
        load_unchanged(str(suite))
