import errno
import itertools
import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.evaluate.cache import StoredTensor, TensorStore, ValueStore, memory_file

DATA = bytes(range(200))
TENSOR = StoredTensor(name="x", dtype=DType.UINT8, shape=(10, 20), offset=0, nbytes=200)


def publish(store: TensorStore, key: str, data: bytes = DATA, tensor: StoredTensor = TENSOR) -> bytes:
    with memory_file() as descriptor:
        os.write(descriptor, data)
        entry = store.publish(key, descriptor, (tensor,))
    return bytes(entry.view(tensor))


def load(store: TensorStore, key: str) -> bytes | None:
    entry = store.load(key)
    return None if entry is None else bytes(entry.view(entry.tensors[0]))


def test_what_was_published_is_loaded_by_another_process_and_equal(tmp_path: Path) -> None:
    assert publish(TensorStore(tmp_path, 1000), "a") == DATA
    assert load(TensorStore(tmp_path, 1000), "a") == DATA
    assert load(TensorStore(tmp_path, 1000), "b") is None


@pytest.mark.parametrize("refused", [1, 2], ids=["data", "index"])
def test_a_disk_that_is_full_costs_the_keeping_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: int) -> None:
    store, renamed = TensorStore(tmp_path, 1000), itertools.count(1)
    (tmp_path / "a.bin").write_bytes(b"a damaged one of before")

    def rename(source: str, target: Path) -> None:
        if next(renamed) == refused:
            raise OSError(errno.ENOSPC, "No space left on device")
        os.rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", rename)
        assert publish(store, "a") == DATA
    assert load(store, "a") is None
    assert list(tmp_path.glob("new-*")) == []


@pytest.mark.parametrize("damage", ["flip", "cut", "grow", "index", "no_data"])
def test_a_damaged_entry_is_a_miss_and_never_a_wrong_result(tmp_path: Path, damage: str) -> None:
    store = TensorStore(tmp_path, 1000)
    publish(store, "a")
    data, index = tmp_path / "a.bin", tmp_path / "a.json"
    changed = {"flip": bytes([DATA[0] ^ 1]) + DATA[1:], "cut": DATA[:-1], "grow": DATA + b"x"}
    if damage in changed:
        data.write_bytes(changed[damage])
    elif damage == "index":
        index.write_text(index.read_text()[:-5])
    else:
        data.unlink()
    assert load(store, "a") is None
    assert publish(store, "a") == DATA
    assert load(store, "a") == DATA


def test_the_oldest_entries_go_when_the_cap_is_reached(tmp_path: Path) -> None:
    store = TensorStore(tmp_path, 500)
    for number, key in enumerate("ab"):
        publish(store, key)
        os.utime(tmp_path / f"{key}.json", (number, number))
    load(store, "a")  # used again: `b` is the oldest now
    publish(store, "c")
    assert [load(store, key) is not None for key in "abc"] == [True, False, True]
    assert sum(path.stat().st_size for path in tmp_path.glob("*.bin")) <= 500


def test_an_entry_above_the_cap_is_served_and_not_kept(tmp_path: Path) -> None:
    store = TensorStore(tmp_path, 100)
    assert publish(store, "a") == DATA
    assert list(tmp_path.iterdir()) == []


def test_an_entry_that_another_process_evicts_meanwhile_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = TensorStore(tmp_path, 1000)
    publish(store, "a")

    def evict(*_: object) -> None:
        for path in tmp_path.iterdir():
            path.unlink()

    monkeypatch.setattr("piton.evaluate.cache._is_intact", lambda *_: evict() is None)
    assert load(store, "a") == DATA
    monkeypatch.setattr(store, "_keep", evict)
    assert publish(store, "b") == DATA


def test_an_evicted_entry_stays_readable_for_who_has_it(tmp_path: Path) -> None:
    store = TensorStore(tmp_path, 250)
    publish(store, "a")
    entry = store.load("a")
    publish(store, "b")
    assert entry is not None
    assert not (tmp_path / "a.bin").exists()
    assert bytes(entry.view(TENSOR)) == DATA


def test_an_index_that_reaches_past_its_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError, match="more data than it wrote"):
        publish(TensorStore(tmp_path, 1000), "a", DATA[:-1])


@pytest.mark.parametrize("change", [{"nbytes": 199}, {"shape": (10, -20)}, {"offset": -1}, {"dtype": "complex64"}, {"shape": (1,) * 17}])
def test_a_tensor_whose_sizes_disagree_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        StoredTensor.model_validate({**TENSOR.model_dump(), **change})


def test_a_published_memory_file_can_no_longer_change_or_shrink(tmp_path: Path) -> None:
    with memory_file() as descriptor:
        os.write(descriptor, DATA)
        TensorStore(tmp_path, 100).publish("a", descriptor, (TENSOR,))
        for act in (lambda: os.write(descriptor, b"x"), lambda: os.ftruncate(descriptor, 0)):
            with pytest.raises(OSError, match="not permitted"):
                act()


def test_an_empty_tensor_is_a_result_too(tmp_path: Path) -> None:
    empty = StoredTensor(name="x", dtype=DType.UINT8, shape=(0,), offset=0, nbytes=0)
    assert publish(TensorStore(tmp_path, 100), "a", b"", empty) == b""


def test_a_damaged_value_is_a_miss(tmp_path: Path) -> None:
    store = ValueStore(tmp_path)
    store.keep("a", 12.5)
    assert (store.load("a"), store.load("b")) == (12.5, None)
    (tmp_path / "a.json").write_text("12.")
    assert store.load("a") is None


def test_what_killed_runs_left_goes_once_it_is_old(tmp_path: Path) -> None:
    store = TensorStore(tmp_path, cap_bytes=1 << 20)
    publish(store, "whole")
    (tmp_path / "orphan.bin").write_bytes(b"data without an index")
    (tmp_path / "new-half").write_bytes(b"half")
    TensorStore(tmp_path, cap_bytes=1 << 20)
    assert len(list(tmp_path.iterdir())) == 4
    for path in tmp_path.iterdir():
        os.utime(path, (1_000_000_000, 1_000_000_000))
    again = TensorStore(tmp_path, cap_bytes=1 << 20)
    assert {path.name for path in tmp_path.iterdir()} == {"whole.bin", "whole.json"}
    assert load(again, "whole") == DATA
