"""Content-addressed stores on disk: tensors of golden runs, small JSON values. A damaged entry is a miss, never a wrong result."""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from piton.core.dtype import DType
from piton.core.errors import EvaluatorError

_WRITE_CHUNK = 1 << 24
_SUM_CHUNK = 1 << 20
_PARTIAL = "new-"
_REST_S = 3600.0
"""Age after which nobody is writing a file any more."""
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


@contextmanager
def memory_file() -> Iterator[int]:
    """Descriptor of an empty file in memory that a worker fills and `TensorStore.publish` seals, so that it can't change or shrink under our map."""
    descriptor = os.memfd_create("piton-golden", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class StoredTensor(BaseModel):
    """Where one dense tensor lies in the data file of its entry; written by a golden worker, so every size is checked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(max_length=200)
    list_index: int | None = None
    dtype: DType
    shape: tuple[int, ...] = Field(max_length=16)
    offset: int = Field(ge=0)
    nbytes: int = Field(ge=0)

    @model_validator(mode="after")
    def _size_fits(self) -> StoredTensor:
        elements = 1
        for extent in self.shape:
            if extent < 0:
                raise ValueError(f"negative extent in {self.shape}")
            elements *= extent
        if self.dtype.bytes_of(elements) != self.nbytes:
            raise ValueError(f"{self.name}: {self.nbytes} bytes do not hold {self.shape} of {self.dtype.value}")
        return self


class _Index(BaseModel):
    """The small file beside the data file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tensors: tuple[StoredTensor, ...]
    total_bytes: int
    check_sum: int


@dataclass(frozen=True)
class Entry:
    """The tensors of one entry; `data` is the read-only map of the file and outlives its eviction."""

    tensors: tuple[StoredTensor, ...]
    data: memoryview

    @classmethod
    def copied(cls, descriptor: int, tensors: tuple[StoredTensor, ...]) -> Entry:
        """What lies in a file in memory that somebody else may write to; a tensor beyond its end comes out short."""
        return cls(tensors, memoryview(os.pread(descriptor, os.fstat(descriptor).st_size, 0)))

    def view(self, tensor: StoredTensor) -> memoryview:
        """Raw bytes of one tensor."""
        return self.data[tensor.offset : tensor.offset + tensor.nbytes]


class TensorStore:
    """Entries of one data file and one index each, below a size cap; safe for several processes at once.

    The data file is renamed into place before its index, so an index always finds its data. A check sum over the data catches what a power cut
    left half written.
    """

    def __init__(self, root: Path, cap_bytes: int) -> None:
        self._root = root
        self._cap_bytes = cap_bytes
        self._lock = threading.Lock()
        root.mkdir(parents=True, exist_ok=True)
        _remove_remains(root)

    def load(self, key: str) -> Entry | None:
        """The entry named `key`, or None if there is none or it is damaged."""
        try:
            index = _Index.model_validate_json(self._path(key, "json").read_text())
            data = _map_file(self._path(key, "bin"))
        except (OSError, ValidationError, ValueError):
            return None
        if not _is_intact(index, data):
            return None
        with suppress(FileNotFoundError):  # another process may evict it at any moment; the map stays
            os.utime(self._path(key, "json"))
        return Entry(index.tensors, data)

    def publish(self, key: str, descriptor: int, tensors: tuple[StoredTensor, ...]) -> Entry:
        """Seal the memory file `descriptor`, keep it as `key` and return the entry. Raises EvaluatorError if `tensors` do not describe it.

        A disk that is full or closed costs the keeping only: the entry stays in memory.
        """
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
        data = _map_descriptor(descriptor)
        index = _Index(tensors=tensors, total_bytes=len(data), check_sum=_check_sum(data))
        if not _fits(index, data):
            raise EvaluatorError("a golden worker described more data than it wrote", where=key)
        if len(data) > self._cap_bytes:
            return Entry(tensors, data)
        try:
            with self._lock:
                self._make_room(len(data))
                self._keep(key, data, index)
            return Entry(tensors, _map_file(self._path(key, "bin")))  # pages of a file can be given back, those of `descriptor` can't
        except OSError:  # not kept (what lies there may be an older, damaged one), or evicted already by another process
            return Entry(tensors, data)

    def _keep(self, key: str, data: memoryview, index: _Index) -> None:
        _write_atomically(self._path(key, "bin"), lambda target: _write_all(target, data))
        text = index.model_dump_json().encode()
        _write_atomically(self._path(key, "json"), lambda target: _write_all(target, memoryview(text)))

    def _make_room(self, wanted_bytes: int) -> None:
        entries = sorted(self._root.glob("*.json"), key=_age)
        used = sum(_size(path.with_suffix(".bin")) for path in entries)
        for path in entries:
            if used + wanted_bytes <= self._cap_bytes:
                return
            used -= _size(path.with_suffix(".bin"))
            path.unlink(missing_ok=True)
            path.with_suffix(".bin").unlink(missing_ok=True)

    def _path(self, key: str, suffix: str) -> Path:
        return self._root / f"{key}.{suffix}"


class ValueStore:
    """Small JSON values by key, one file each."""

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(parents=True, exist_ok=True)
        _remove_remains(root)

    def load(self, key: str) -> object | None:
        """The value, or None if there is none or its file is damaged."""
        try:
            value: object = json.loads((self._root / f"{key}.json").read_text())
        except (OSError, ValueError):
            return None
        return value

    def keep(self, key: str, value: object) -> None:
        """Store `value` (JSON types only)."""
        text = json.dumps(value, sort_keys=True).encode()
        _write_atomically(self._root / f"{key}.json", lambda target: _write_all(target, memoryview(text)))


def _map_file(path: Path) -> memoryview:
    with open(path, "rb") as file:
        return _map_descriptor(file.fileno())


def _map_descriptor(descriptor: int) -> memoryview:
    size = os.fstat(descriptor).st_size
    return memoryview(mmap.mmap(descriptor, size, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)) if size else memoryview(b"")


def _fits(index: _Index, data: memoryview) -> bool:
    return index.total_bytes == len(data) and all(item.offset + item.nbytes <= len(data) for item in index.tensors)


def _is_intact(index: _Index, data: memoryview) -> bool:
    return _fits(index, data) and _check_sum(data) == index.check_sum


def _check_sum(data: memoryview) -> int:
    """CRC of the sums of pieces, as 64-bit words: as fast as memory is read, where a CRC of all the data takes three times as long."""
    sums = [int(_words(data[start : start + _SUM_CHUNK]).sum(dtype=np.uint64)) for start in range(0, len(data), _SUM_CHUNK)]
    return zlib.crc32(np.array([len(data), *sums], np.uint64).tobytes())


def _words(piece: memoryview) -> NDArray[np.uint64]:
    whole = piece.nbytes // 8 * 8
    words = np.frombuffer(piece[:whole], np.uint64)
    return words if whole == piece.nbytes else np.append(words, np.frombuffer(bytes(piece[whole:]).ljust(8, b"\0"), np.uint64))


def _write_all(target: BinaryIO, data: memoryview) -> None:
    for start in range(0, len(data), _WRITE_CHUNK):
        target.write(data[start : start + _WRITE_CHUNK])


def _write_atomically(path: Path, write: Callable[[BinaryIO], None]) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_PARTIAL)
    try:
        with os.fdopen(handle, "wb") as target:
            write(target)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _remove_remains(root: Path) -> None:
    """What killed processes left: files half written, and data whose index was never written. Only what is old: another process may be writing now."""
    half = [*root.glob(f"{_PARTIAL}*"), *(path for path in root.glob("*.bin") if not path.with_suffix(".json").exists())]
    for path in half:
        if _age(path) < time.time() - _REST_S:
            path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
