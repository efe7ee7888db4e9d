"""The journal of a run: what is found again after every way a run can end, and what passes for no result."""

import errno
import json
import os
import resource
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from piton.core.case import Case, CaseInput, SizeClass
from piton.core.dtype import DType
from piton.core.errors import FormatError, StorageError, UsageError
from piton.core.report import CaseResult
from piton.core.verdict import PASSED
from piton.evaluate.journal import Journal
from piton.evaluate.syncs import SYNC_S

CASE = Case(operator="exp", id="1", inputs=(CaseInput(argument="x", shape=(3,), dtype=DType.FLOAT16, low=float("-inf"), high=float("inf")),))
RESULT = CaseResult(operator="exp", case=CASE, size=SizeClass.SMALL, outcome=PASSED)


def write(path: Path, *keys: str) -> None:
    with Journal(path, "identity", is_resumed=False) as journal:
        for key in keys:
            journal.append(key, RESULT)


def found(path: Path, *keys: str) -> list[bool]:
    with Journal(path, "identity", is_resumed=True) as journal:
        return [journal.find(key) is not None for key in keys]


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@contextmanager
def at_most(nbytes: int) -> Iterator[None]:
    """No file of this process may grow beyond: the system refuses as it does on a full disk, with another number."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_finished_case_is_found_again_and_is_equal(tmp_path: Path) -> None:
    write(tmp_path / "j", "a")
    with Journal(tmp_path / "j", "identity", is_resumed=True) as journal:
        assert journal.find("a") == RESULT
        assert journal.find("b") is None


@pytest.mark.parametrize("cut", [1, 7, 40, 200])
def test_a_torn_last_line_costs_that_case_only_and_is_said(tmp_path: Path, cut: int) -> None:
    write(tmp_path / "j", "a", "b")
    data = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(data[:-cut])
    with Journal(tmp_path / "j", "identity", is_resumed=True) as journal:
        assert "the last line was cut short" in journal.remark
        assert (journal.find("a"), journal.find("b")) == (RESULT, None)
        journal.append("b", RESULT)
    assert (tmp_path / "j").read_bytes() == data


def test_every_cut_of_a_journal_is_a_run_that_can_be_gone_on_with(tmp_path: Path) -> None:
    write(tmp_path / "j", "a", "b", "c")
    data, ends = (tmp_path / "j").read_bytes(), [0]
    for line in lines_of(tmp_path / "j"):
        ends.append(ends[-1] + len(line))
    for cut in [*range(0, len(data), 97), *(end + offset for end in ends for offset in (-1, 0, 1))]:
        if 0 <= cut <= len(data):
            (tmp_path / "k").write_bytes(data[:cut])
            assert found(tmp_path / "k", "a", "b", "c") == [cut >= end for end in ends[2:]], cut


@pytest.mark.parametrize("zeros", [1, 4096])
def test_blocks_that_never_reached_the_disk_are_a_torn_end(tmp_path: Path, zeros: int) -> None:
    write(tmp_path / "j", "a", "b")
    *first, last = lines_of(tmp_path / "j")
    (tmp_path / "j").write_bytes(b"".join(first) + last[: len(last) // 2] + bytes(zeros) + last[-4:])
    assert found(tmp_path / "j", "a", "b") == [True, False]


def test_zeros_before_an_intact_line_are_damage(tmp_path: Path) -> None:
    write(tmp_path / "j", "a", "b")
    head, first, last = lines_of(tmp_path / "j")
    (tmp_path / "j").write_bytes(head + first[:20] + bytes(20) + first[40:] + last)
    with pytest.raises(FormatError, match="j:2: a line of the file is damaged"):
        found(tmp_path / "j")


def test_an_empty_journal_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "j").write_text('{"piton_jour')
    assert found(tmp_path / "j", "a") == [False]
    assert json.loads((tmp_path / "j").read_text())["evaluation"] == "identity"


def test_a_line_outlives_the_process_when_append_returns(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "identity", is_resumed=False) as journal:
        journal.append("a", RESULT)
        assert len((tmp_path / "j").read_text().splitlines()) == 2


def test_syncs_are_as_the_policy_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def sync(descriptor: int) -> None:
        sizes.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", sync)
    with Journal(tmp_path / "j", "identity", is_resumed=False) as journal:
        assert (tmp_path / "j").stat().st_size in sizes
        for number in range(50):
            journal.append(str(number), RESULT)
        journal.sync()
        assert sizes[-1] == (tmp_path / "j").stat().st_size
        journal.append("last", RESULT)
    assert sizes[-1] == (tmp_path / "j").stat().st_size
    assert SYNC_S <= 1.0


def test_a_void_is_not_found_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "identity", is_resumed=False) as journal:
        journal.append("a", RESULT.model_copy(update={"void": "device away"}))
    assert found(tmp_path / "j", "a") == [False]


def test_the_last_word_on_a_case_counts(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "identity", is_resumed=False) as journal:
        journal.append("a", RESULT.model_copy(update={"void": "device away"}))
        journal.append("a", RESULT)
    assert found(tmp_path / "j", "a") == [True]


def test_starting_anew_forgets_what_was_there(tmp_path: Path) -> None:
    write(tmp_path / "j", "a")
    write(tmp_path / "j")
    assert found(tmp_path / "j", "a") == [False]


@pytest.mark.parametrize("line", ["", "nonsense", "[]", '{"key": "b"}', '{"line":3,"crc32":"00000000","key":"b","result":{}}'])
def test_a_damaged_line_is_named_with_the_remedy_that_keeps_the_others(tmp_path: Path, line: str) -> None:
    write(tmp_path / "j", "a", "b")
    head, first, last = lines_of(tmp_path / "j")
    (tmp_path / "j").write_bytes(head + first + line.encode() + b"\n" + last)
    with pytest.raises(FormatError, match=r"j:3: a line of the file is damaged") as error:
        found(tmp_path / "j")
    assert f"head -n 2 {tmp_path / 'j'} >" in error.value.action
    assert os.system(error.value.action.partition(": ")[2]) == 0
    assert found(tmp_path / "j", "a", "b") == [True, False]


def test_one_changed_letter_is_damage_even_in_the_last_line(tmp_path: Path) -> None:
    write(tmp_path / "j", "a")
    data = (tmp_path / "j").read_bytes()
    for place in range(len(data) - len(lines_of(tmp_path / "j")[1]), len(data) - 1, 13):
        (tmp_path / "j").write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(FormatError, match="j:2"):
            found(tmp_path / "j")


@pytest.mark.parametrize("order", [[0, 2], [0, 1, 1, 2], [0, 2, 1]], ids=["one is missing", "one is doubled", "two are swapped"])
def test_lines_that_are_missing_doubled_or_swapped_are_damage(tmp_path: Path, order: list[int]) -> None:
    write(tmp_path / "j", "a", "b")
    lines = lines_of(tmp_path / "j")
    (tmp_path / "j").write_bytes(b"".join(lines[number] for number in order))
    with pytest.raises(FormatError, match=r"j:[23]: a line of the file is damaged or missing"):
        found(tmp_path / "j")


def test_a_line_is_json_with_number_and_checksum(tmp_path: Path) -> None:
    """As docs/report-schema.md says it: CRC-32 over the number and what stands between the checksum's comma and the last brace."""
    write(tmp_path / "j", "a")
    line = lines_of(tmp_path / "j")[1].rstrip(b"\n")
    record = json.loads(line)
    assert (list(record), record["line"]) == (["line", "crc32", "key", "result"], 2)
    content = line.partition(b'",')[2].removesuffix(b"}")
    assert record["crc32"] == f"{zlib.crc32(b'2' + content):08x}"


@pytest.mark.parametrize("header", ["[]", "{}", '{"piton_journal": 1}', "nonsense"])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path, header: str) -> None:
    (tmp_path / "j").write_text(header + "\n")
    with pytest.raises((FormatError, UsageError)):
        found(tmp_path / "j")
    assert (tmp_path / "j").read_text() == header + "\n"


def test_a_journal_of_another_evaluation_is_refused_and_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "j", "a")
    with open(tmp_path / "j", "ab") as file:
        file.write(b"torn")
    before = (tmp_path / "j").read_bytes()
    with pytest.raises(UsageError, match="another evaluation"):
        Journal(tmp_path / "j", "other", is_resumed=True)
    assert (tmp_path / "j").read_bytes() == before
    assert found(tmp_path / "j", "a") == [True]


def test_two_runs_cannot_write_to_one_journal(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", "identity", is_resumed=False), pytest.raises(UsageError, match="another run"):
        Journal(tmp_path / "j", "identity", is_resumed=False)
    write(tmp_path / "j")


_ON_A_SMALL_DISK = """
import subprocess, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", {disk!r}], check=True)
import test_evaluate_journal
test_evaluate_journal.{function}(Path({disk!r}))
"""


def on_a_small_disk(tmp_path: Path, function: str) -> None:
    """Run a function of this module with a file system of 2 MiB, which only its process sees."""
    code = _ON_A_SMALL_DISK.format(tests=str(Path(__file__).parent), disk=str(tmp_path), function=function)
    alone = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    if subprocess.run([*alone, "mount", "-t", "tmpfs", "none", str(tmp_path)], capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system of our own can be mounted here")
    done = subprocess.run([*alone, sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def fill(disk: Path) -> None:
    """Take what the disk has left."""
    with open(disk / "rest", "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12):
            with suppress(OSError):
                while True:
                    file.write(bytes(size))


def write_until_full(disk: Path) -> None:
    """What is in hand when the disk turns out to be full goes into room that was taken before; each append says it."""
    journal = Journal(disk / "j", "identity", is_resumed=False)
    journal.append("a", RESULT)
    fill(disk)
    journal.append("void", RESULT.model_copy(update={"void": "x" * 400_000}))
    for key in ("b" * 140_000, "c", "d"):
        with pytest.raises(StorageError) as error:
            journal.append(key, RESULT)
        assert error.value.is_kept
        assert error.value.error.errno == errno.ENOSPC
    with pytest.raises(StorageError) as error:
        journal.append("too much", RESULT.model_copy(update={"void": "x" * 600_000}))
    assert not error.value.is_kept
    journal.close()
    assert (disk / "j").stat().st_blocks * 512 < 700_000
    assert found_when_there_is_room(disk) == [True, True, True, True, False]


def found_when_there_is_room(disk: Path) -> list[bool]:
    (disk / "j2").write_bytes(b"")
    with pytest.raises(StorageError, match="No space left"):
        Journal(disk / "j2", "identity", is_resumed=False)
    (disk / "rest").unlink()
    return found(disk / "j", "a", "b" * 140_000, "c", "d", "too much")


def test_what_is_finished_when_the_disk_is_full_is_kept_and_found_again(tmp_path: Path) -> None:
    on_a_small_disk(tmp_path, "write_until_full")


def test_a_line_for_which_there_is_no_room_leaves_nothing_behind(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", "identity", is_resumed=False)
    journal.append("a", RESULT)
    before = (tmp_path / "j").read_bytes()
    with at_most(len(before) + 100), pytest.raises(StorageError) as error:
        journal.append("b", RESULT.model_copy(update={"void": "x" * 600_000}))
    assert not error.value.is_kept
    assert error.value.error.errno == errno.EFBIG
    assert "make room there, then go on with --resume" in str(error.value)
    assert (tmp_path / "j").read_bytes() == before
    with pytest.raises(StorageError) as error:  # the disk was full: what else is finished goes in and says so
        journal.append("c", RESULT)
    assert error.value.is_kept
    journal.close()
    assert found(tmp_path / "j", "a", "b", "c") == [True, False, True]


def test_a_disk_without_room_is_said_before_anything_is_done(tmp_path: Path) -> None:
    with at_most(10), pytest.raises(StorageError):
        Journal(tmp_path / "j", "identity", is_resumed=False)
    write(tmp_path / "j", "a")


def test_a_sync_that_fails_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "j", "identity", is_resumed=False)

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match="Input/output error"):
        journal.sync()
    with pytest.raises(StorageError, match="Input/output error"):
        journal.close()


@pytest.mark.parametrize("is_resumed", [False, True])
def test_a_journal_that_can_not_be_synced_leaves_neither_file_nor_thread_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_resumed: bool) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    write(tmp_path / "j", "a")
    (tmp_path / "j").write_bytes((tmp_path / "j").read_bytes()[:-1])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StorageError, match="Input/output error"):
            Journal(tmp_path / "j", "identity", is_resumed=is_resumed)
    assert [thread.name for thread in threading.enumerate() if thread.name == "journal-sync"] == []
    write(tmp_path / "j", "a")


def test_an_error_on_its_way_is_not_hidden_by_one_of_closing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    def break_down() -> None:
        with Journal(tmp_path / "j", "identity", is_resumed=False):
            monkeypatch.setattr(os, "fsync", fail)
            raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        break_down()
