"""What killed starters of processes left goes with the next start; what belongs to a living one stays."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from piton.evaluate.sandbox.remains import make_folder, sweep_folders, sweep_groups

OLD_S = 3600.0


def folder(place: Path, name: str, *, has_lock: bool = True, is_old: bool = True) -> Path:
    made = place / name
    (made / "root").mkdir(parents=True)
    if has_lock:
        (made / "lock").write_text("")
    if is_old:
        os.utime(made, (time.time() - OLD_S,) * 2)
    return made


def test_a_folder_whose_owner_is_gone_is_removed(tmp_path: Path) -> None:
    left = folder(tmp_path, "piton-sandbox-a")
    sweep_folders(tmp_path)
    assert not left.exists()


def test_a_folder_of_a_living_owner_stays_however_old(tmp_path: Path) -> None:
    held = folder(tmp_path, "piton-sandbox-a")
    with open(held / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sweep_folders(tmp_path)
        assert held.exists()
    sweep_folders(tmp_path)
    assert not held.exists()


@pytest.mark.parametrize(("name", "has_lock", "is_old"), [("piton-sandbox-a", False, True), ("piton-sandbox-a", True, False), ("piton-other", True, True)])
def test_what_may_be_in_use_or_is_not_ours_stays(tmp_path: Path, name: str, *, has_lock: bool, is_old: bool) -> None:
    kept = folder(tmp_path, name, has_lock=has_lock, is_old=is_old)
    sweep_folders(tmp_path)
    assert kept.exists()


def test_a_link_in_the_place_of_a_folder_or_of_its_lock_is_not_followed(tmp_path: Path) -> None:
    target = folder(tmp_path, "elsewhere")
    (tmp_path / "piton-sandbox-a").symlink_to(target)
    (folder(tmp_path, "piton-sandbox-b", has_lock=False) / "lock").symlink_to(target / "lock")
    os.utime(tmp_path / "piton-sandbox-b", (time.time() - OLD_S,) * 2)
    sweep_folders(tmp_path)
    assert (target / "lock").exists()
    assert (tmp_path / "piton-sandbox-b").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_stays(tmp_path: Path) -> None:
    foreign = folder(tmp_path, "piton-sandbox-a")
    os.chown(foreign, 65534, -1)
    os.utime(foreign, (time.time() - OLD_S,) * 2)
    sweep_folders(tmp_path)
    assert foreign.exists()


def test_a_starter_removes_what_another_left_and_locks_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = folder(tmp_path, "piton-sandbox-a")
    made, descriptor = make_folder()
    os.utime(made, (time.time() - OLD_S,) * 2)
    sweep_folders(tmp_path)
    assert (left.exists(), Path(made).exists()) == (False, True)
    os.close(descriptor)


def test_control_groups_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    dead, living = 2**22 + 1, os.getpid()
    groups = [tmp_path / name for name in (f"piton-{dead}-3", f"piton-main-{dead}", f"piton-{living}-3", f"piton-main-{living}", "piton-other-77")]
    for group in groups:
        group.mkdir()
        os.utime(group, (time.time() - OLD_S,) * 2)
    sweep_groups(tmp_path)
    assert [group.exists() for group in groups] == [False, False, True, True, True]
