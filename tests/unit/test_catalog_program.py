"""Is a program's folder copied whole, and is what it wrote found and brought?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from piton.catalog import program as program_module
from piton.catalog.program import bring, make_work_dir, read_program, written
from piton.core.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "prog"
    for name, text in {"main.asc": "int main() {}\n", "tiling.h": "", "input/x.bin": "data", "src/more.cpp": "", "build/old.o": ""}.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    (made / "output").mkdir()
    return made


def test_sources_are_copied_and_data_is_not(folder: Path, tmp_path: Path) -> None:
    found = read_program(folder / "main.asc", None, ("src/more.cpp",), tmp_path / "store")
    assert [item.path for item in found.submission.files] == ["main.asc", "src/more.cpp", "tiling.h"]
    assert (found.main, found.others) == ("main.asc", ("src/more.cpp",))


def test_the_working_directory_has_data_and_empty_folders_and_no_build_products(folder: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    before = make_work_dir(folder, work)
    assert sorted(before) == ["input/x.bin", "main.asc", "src/more.cpp", "tiling.h"]
    assert (work / "output").is_dir()
    assert not (work / "build").exists()


def test_files_can_be_written_over_by_a_user_who_may_enter_the_folder_which_is_its_owner_alone(folder: Path, tmp_path: Path) -> None:
    make_work_dir(folder, tmp_path / "work")
    assert stat.S_IMODE((tmp_path / "work" / "input" / "x.bin").stat().st_mode) == 0o666
    assert stat.S_IMODE((tmp_path / "work").stat().st_mode) == 0o700


def test_new_and_changed_files_are_found_and_links_are_not(folder: Path, tmp_path: Path) -> None:
    work, out = tmp_path / "work", tmp_path / "out"
    work.mkdir()
    before = make_work_dir(folder, work)
    (work / "output" / "z.bin").write_text("result")
    (work / "input" / "x.bin").write_text("more data")
    (work / "link").symlink_to("/etc/passwd")
    names = written(before, work)
    assert names == ["input/x.bin", "output/z.bin"]
    assert bring(work, names, out) == []
    assert (out / "output" / "z.bin").read_text() == "result"


def test_what_is_too_large_stays_behind_and_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_module, "MAX_WORK_BYTES", 100)
    work = tmp_path / "work"
    work.mkdir()
    before = make_work_dir(folder, work)
    (work / "a.bin").write_bytes(bytes(60))
    (work / "b.bin").write_bytes(bytes(60))
    assert bring(work, written(before, work), tmp_path / "out") == ["b.bin"]
    (folder / "input" / "x.bin").write_bytes(bytes(101))
    with pytest.raises(UsageError, match="too large"):
        make_work_dir(folder, tmp_path / "again")


def test_a_link_that_leaves_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    os.symlink("/etc/passwd", folder / "input" / "link.bin")
    with pytest.raises(UsageError, match="leaves"):
        make_work_dir(folder, tmp_path / "work")
