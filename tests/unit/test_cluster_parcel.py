"""Parcels: named by their content, fetched once, and never used when they are not what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.core.errors import EvaluatorError, UsageError
from piton.evaluate.cluster import parcel
from piton.evaluate.cluster.parcel import Parcel, list_tree, pack, unpack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "from"
    (root / "level1" / "exp").mkdir(parents=True)
    (root / "level1" / "exp" / "golden.py").write_text("golden")
    (root / "suite.yaml").write_text("name: s")
    return root


class Sender:
    """Counts how often a parcel is asked for."""

    def __init__(self, found: Parcel) -> None:
        self.found, self.asked = found, 0

    def __call__(self) -> bytes:
        self.asked += 1
        return self.found.data


def test_a_parcel_arrives_as_it_was_sent_and_is_fetched_once(folder: Path, tmp_path: Path) -> None:
    sender = Sender(pack(folder, list_tree(folder)))
    first = unpack(sender.found.digest, tmp_path / "store", sender)
    second = unpack(sender.found.digest, tmp_path / "store", sender)
    assert (first, sender.asked) == (second, 1)
    assert sorted(list_tree(first)) == sorted(list_tree(folder))
    assert (first / "level1" / "exp" / "golden.py").read_text() == "golden"


def test_a_parcel_that_was_changed_on_the_disk_is_fetched_again(folder: Path, tmp_path: Path) -> None:
    sender = Sender(pack(folder, list_tree(folder)))
    place = unpack(sender.found.digest, tmp_path / "store", sender)
    (place / "added.py").write_text("import os")
    again = unpack(sender.found.digest, tmp_path / "store", sender)
    assert sender.asked == 2
    assert not (again / "added.py").exists()


def test_a_parcel_with_other_content_than_its_name_says_is_refused(folder: Path, tmp_path: Path) -> None:
    sender = Sender(pack(folder, list_tree(folder)))
    with pytest.raises(EvaluatorError, match="not what was announced"):
        unpack("0" * 64, tmp_path / "store", sender)
    assert [path.name for path in (tmp_path / "store").iterdir()] == [".lock"]


def test_the_name_of_a_parcel_follows_every_path_and_every_byte(folder: Path) -> None:
    before = pack(folder, list_tree(folder)).digest
    assert pack(folder, reversed(list(list_tree(folder)))).digest == before
    (folder / "suite.yaml").write_text("name: t")
    changed = pack(folder, list_tree(folder)).digest
    (folder / "suite.yaml").rename(folder / "suites.yaml")
    assert len({before, changed, pack(folder, list_tree(folder)).digest}) == 3


def test_version_control_and_caches_stay_behind(folder: Path) -> None:
    for name in (".git", "__pycache__"):
        (folder / name).mkdir()
        (folder / name / "file").write_text("x")
    assert sorted(list_tree(folder)) == ["level1/exp/golden.py", "suite.yaml"]


def test_a_folder_that_is_too_large_to_be_sent_is_an_error_that_names_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcel, "MAX_FILES", 1)
    with pytest.raises(UsageError, match="too large to be sent") as caught:
        pack(folder, list_tree(folder))
    assert caught.value.where == str(folder)
