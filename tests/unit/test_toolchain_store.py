"""Is a built thing made once, kept while it is used, and removed when there is too much?"""

from __future__ import annotations

import errno
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from piton.core.protocols import ProcessJob, ProcessResult
from piton.targets.vnpu.compiler import Compiler, Step, Workshop
from piton.targets.vnpu.store import REST_S, Store

LONG_AGO = 1_000_000_000
SIZE = 1000


def put(store: Store, key: str, *, used_at: float = LONG_AGO, size: int = SIZE) -> Path:
    """A result of `size` bytes that was used at a given time."""
    source = store.root.parent / f"source-{key}"
    source.write_bytes(b"x" * size)
    kept = store.keep(source, f"steps/{key}/made")
    os.utime(kept.parent, (used_at, used_at))
    return kept


def kept_keys(store: Store) -> set[str]:
    return {path.name for path in (store.root / "steps").iterdir()}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", cap_bytes=2 * SIZE)


def test_what_was_used_longest_ago_goes_first_and_no_more_than_needed(store: Store) -> None:
    for number, key in enumerate("cab"):
        put(store, key, used_at=LONG_AGO + number)
    assert store.tidy() == SIZE
    assert kept_keys(store) == {"a", "b"}


def test_a_store_at_its_cap_loses_nothing(store: Store) -> None:
    for key in "ab":
        put(store, key)
    assert (store.tidy(), kept_keys(store)) == (0, {"a", "b"})


def test_what_was_found_lately_stays_although_there_is_too_much(store: Store) -> None:
    for key in "abc":
        put(store, key)
        assert store.find(f"steps/{key}/made")
    assert (store.tidy(), kept_keys(store)) == (0, {"a", "b", "c"})


def test_what_another_store_holds_stays_until_that_one_is_gone(store: Store) -> None:
    user = Store(store.root, cap_bytes=2 * SIZE)
    user.hold(put(store, "a"))
    for key in "bc":
        put(store, key, used_at=LONG_AGO + 1)
    store.tidy()
    assert "a" in kept_keys(store)
    del user
    put(store, "d", used_at=LONG_AGO + 2)
    os.utime(store.root / "steps" / "a", (LONG_AGO, LONG_AGO))
    store.tidy()
    assert "a" not in kept_keys(store)


def test_what_is_being_made_stays(store: Store) -> None:
    for key in "abc":
        put(store, key)
    with store.lock("a"), store.lock("b"):
        store.tidy()
        assert kept_keys(store) == {"a", "b"}


def test_what_a_killed_build_left_goes_once_it_is_old(store: Store) -> None:
    kept = put(store, "a")
    left = [store.root / "work" / "key", store.root / "steps" / ".gone-key", kept.parent / ".partial-1"]
    for path in left[:2]:
        (path / "inner").mkdir(parents=True)
    left[2].write_text("half")
    store.tidy()
    assert all(path.exists() for path in left)
    for path in left:
        os.utime(path, (LONG_AGO, LONG_AGO))
    store.tidy()
    assert (any(path.exists() for path in left), kept.exists()) == (False, True)


def test_the_lock_of_a_removed_result_is_removed_and_can_be_taken_again(store: Store) -> None:
    for key in "abc":
        with store.lock(key):
            put(store, key)
    store.tidy()
    assert len(list((store.root / "locks").iterdir())) == 2
    gone = ({"a", "b", "c"} - kept_keys(store)).pop()
    with store.lock(gone):
        assert put(store, gone).exists()


def test_the_age_that_protects_is_longer_than_a_build_and_its_links() -> None:
    assert REST_S >= 10 * 180


class OneAtATime:
    """Makes the file that a job asks for, and waits a moment for a second one to begin: with a lock none ever does."""

    isolation: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.runs = 0
        self._second = threading.Event()

    def run(self, job: ProcessJob) -> ProcessResult:
        self.runs += 1
        if self.runs > 1:
            self._second.set()
        self._second.wait(0.3)
        Path(job.argv[-1]).write_bytes(b"made")
        return ProcessResult(0, None, False, "", "", 0.0)


def test_two_that_want_the_same_thing_at_once_make_it_once(tmp_path: Path) -> None:
    runner, step = OneAtATime(), Step("thing", (), "key", is_product=True)
    shops = [Workshop(Compiler("g++", "12"), Store(tmp_path / "store"), runner, tmp_path / f"work-{number}") for number in range(2)]  # type: ignore[arg-type]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda shop: shop.make(step), shops))
    assert runner.runs == 1
    assert sorted(result.is_cached for result in results) == [False, True]
    assert results[0].path == results[1].path


def test_a_copy_that_the_disk_has_no_room_for_is_not_left_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(source: Path, target: str, *, follow_symlinks: bool) -> None:
        Path(target).write_bytes(b"part")
        raise OSError(errno.ENOSPC, "No space left on device")

    store, made = Store(tmp_path / "store"), tmp_path / "made"
    made.write_bytes(b"whole")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", fill)
        with pytest.raises(OSError, match="No space left"):
            store.keep(made, "steps/a/out")
    assert list((tmp_path / "store" / "steps" / "a").iterdir()) == []
    assert store.keep(made, "steps/a/out").read_bytes() == b"whole"
