"""Is a suite of one's own read as suite.toml says, with mistakes reported in that file's words?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog import load_metadata
from piton.catalog.adapters import find_suite, write_user_suite
from piton.catalog.adapters.user_suite import write_example
from piton.core.dtype import DType
from piton.core.errors import FormatError, UsageError
from piton.core.foreign import SuiteFormat
from piton.core.suite import Suite


def read(root: Path, **changes: str) -> Suite:
    """The example with texts of suite.toml replaced, `old=new` as pairs in `changes`' values `old -> new`."""
    write_example(root / "mine")
    file = root / "mine" / "suite.toml"
    text = file.read_text()
    for change in changes.values():
        old, _, new = change.partition(" -> ")
        assert old in text
        text = text.replace(old, new, 1)
    file.write_text(text)
    return write_user_suite(root / "mine", root / "store")


def test_the_example_is_a_suite_that_has_to_be_trusted(tmp_path: Path) -> None:
    suite = read(tmp_path)
    member = suite.members[0]
    assert (suite.name, suite.version, suite.is_foreign, member.operator.name) == ("my-suite", "1", True, "scaled_relu")
    assert [(case.id, case.inputs[0].shape, case.inputs[0].dtype, case.attributes["scale"]) for case in member.cases] == [
        ("1", (256, 1024), DType.FLOAT16, 0.5),
        ("2", (7, 1001), DType.FLOAT32, 1.0),
    ]
    assert member.operator.thresholds == {}


def test_a_folder_with_suite_toml_is_recognised(tmp_path: Path) -> None:
    read(tmp_path)
    found = find_suite(tmp_path / "mine")
    assert found is not None
    assert found.format is SuiteFormat.USER


def test_precision_and_quoted_times_come_from_the_file(tmp_path: Path) -> None:
    suite = read(
        tmp_path,
        precision="# [operator.precision]\n# float16 = 0.002 -> [operator.precision]\nfloat16 = 0.002",
        times='note = "a plain case" -> t_hw_us = 1.5\nt_baseline_us = 6.5',
    )
    assert suite.members[0].operator.thresholds == {DType.FLOAT16: 0.002}
    quoted = load_metadata(suite.root, "ascend910b2")
    assert set(quoted) == {("scaled_relu", "1")}
    anchors = quoted["scaled_relu", "1"]
    assert anchors.t_hw is not None
    assert anchors.t_baseline is not None
    assert (anchors.t_hw.value_us, anchors.t_baseline.value_us) == (1.5, 6.5)


def test_a_changed_golden_is_another_suite(tmp_path: Path) -> None:
    before = read(tmp_path).digest()
    golden = tmp_path / "mine" / "scaled_relu.py"
    golden.write_text(golden.read_text().replace("min=0", "min=1"))
    assert write_user_suite(tmp_path / "mine", tmp_path / "store").digest() != before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("level = 1 -> levle = 1", "operator.0.levle is wrong"),
        ('version = "1" -> version = ', "not valid TOML"),
        ("scaled_relu(Tensor x, -> scaled_relu(Tensor x", "schema"),
        ('golden = "scaled_relu.py" -> golden = "other.py"', "a golden that is not there"),
        ('golden = "scaled_relu.py" -> golden = "../../store"', "a golden that is not there"),
        ("attributes = { scale = 0.5 } -> attributes = { scale = 'half' }", "attribute 'scale'"),
        ('dtypes = ["float32"] -> dtypes = ["int4"]', "is not in the signature"),
    ],
)
def test_a_mistake_is_reported_in_the_users_own_file(tmp_path: Path, change: str, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, change=change)
    assert caught.value.where.startswith(str(tmp_path / "mine" / "suite.toml"))


def test_an_example_overwrites_nothing(tmp_path: Path) -> None:
    read(tmp_path)
    with pytest.raises(UsageError, match="a file is there already"):
        write_example(tmp_path / "mine")
