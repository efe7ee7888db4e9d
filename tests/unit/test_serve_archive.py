"""What is unpacked from a stranger's archive: plain files inside its folder, within the limits, and nothing else."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from piton.core.errors import UsageError
from piton.server.archive import pack_submission, unpack_submission
from piton.server.settings import UploadLimits

_LIMITS = UploadLimits(unpacked_bytes=1 << 20)


def _archive(*members: tuple[tarfile.TarInfo, bytes], packed: Callable[[bytes], bytes] = gzip.compress) -> io.BytesIO:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return io.BytesIO(packed(plain.getvalue()))


def _file(name: str, data: bytes = b"x") -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo(name), data


def _special(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member, b""


def _submission(root: Path) -> Path:
    for name in ("csrc/ops/exp/op_kernel/exp.cpp", "csrc/ops/exp/op_plugin/exp.cpp", "cann_bench/__init__.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"// {name}\n")
    return root


def test_what_is_packed_comes_out_the_same(tmp_path: Path) -> None:
    packed = pack_submission(_submission(tmp_path / "own"))
    (tmp_path / "out").mkdir()
    unpack_submission(io.BytesIO(packed), tmp_path / "out", _LIMITS)
    found = {path.relative_to(tmp_path / "out").as_posix(): path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == {path.relative_to(tmp_path / "own").as_posix(): path.read_text() for path in (tmp_path / "own").rglob("*") if path.is_file()}


def test_equal_submissions_are_packed_to_equal_bytes(tmp_path: Path) -> None:
    assert pack_submission(_submission(tmp_path / "one")) == pack_submission(_submission(tmp_path / "two"))


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ([_file("../outside")], "outside its folder"),
        ([_file("a/../../outside")], "outside its folder"),
        ([_file("/etc/outside")], "outside its folder"),
        ([_special("link", tarfile.SYMTYPE, "/etc/passwd")], "something else"),
        ([_special("link", tarfile.SYMTYPE, ".."), _file("link/outside")], "something else"),
        ([_file("a"), _special("b", tarfile.LNKTYPE, "a")], "something else"),
        ([_special("pipe", tarfile.FIFOTYPE)], "something else"),
        ([_special("device", tarfile.CHRTYPE)], "something else"),
        ([_file("a"), _file("a")], "a name twice"),
        ([_file("a"), _file("a/b")], "a name twice"),
        ([_file("a/b"), _file("a")], "a name twice"),
        ([_file("n" * 300)], "too long"),
        ([_file("d/" * 40 + "f")], "too long"),
        ([_file(("d" * 150 + "/") * 30 + "f")], "too long"),
        ([_special("again", tarfile.GNUTYPE_LONGNAME) for _ in range(1200)], "can't be read"),
        ([_file(f"f{number}", b"") for number in range(4001)], "too many files|unpacks to too much"),
        ([_file("zeros", bytes(2 << 20))], "unpacks to too much"),
    ],
)
def test_an_archive_that_holds_more_than_plain_files_inside_is_refused(tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]], problem: str) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(UsageError, match=problem):
        unpack_submission(_archive(*members), tmp_path / "in", _LIMITS)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_bomb_stops_at_the_limit(tmp_path: Path) -> None:
    bomb = _archive(_file("zeros", bytes(64 << 20)))
    assert len(bomb.getvalue()) < 100_000
    with pytest.raises(UsageError, match="unpacks to too much"):
        unpack_submission(bomb, tmp_path, _LIMITS)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= _LIMITS.unpacked_bytes


@pytest.mark.parametrize(
    "data",
    [b"", b"no archive", gzip.compress(b"no archive at all" * 100), gzip.compress(bytes(1000))[:-9], b"\x1f\x8b\x08" + bytes(40)],
    ids=["empty", "plain text", "text that is packed", "without its end", "a head only"],
)
def test_what_is_no_archive_is_one_clear_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        unpack_submission(io.BytesIO(data), tmp_path, _LIMITS)


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    whole = _archive(_file("a", bytes(range(256)) * 64)).getvalue()
    with pytest.raises(UsageError, match="can't be read"):
        unpack_submission(io.BytesIO(whole[: len(whole) // 2]), tmp_path, _LIMITS)


def test_modes_and_owners_of_the_archive_are_ignored(tmp_path: Path) -> None:
    member, data = _file("a", b"x")
    member.mode, member.uid = 0o4777, 4242
    unpack_submission(_archive((member, data)), tmp_path, _LIMITS)
    assert (tmp_path / "a").stat().st_mode & 0o7111 == 0
    assert (tmp_path / "a").stat().st_uid != 4242
