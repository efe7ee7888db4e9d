"""Built things by content key: complete or absent, made once, bounded in size.

Two processes that want the same thing wait for one another on a lock file (flock, so that a killed process leaves no lock behind). A result is copied beside
its final name and renamed: what can be seen is complete. What is in use is held (a shared lock on its folder); what is not and was used longest ago is
removed when the store grows beyond its cap.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piton.core.errors import EvaluatorError

CAP_BYTES = 4 << 30
"""Built things that are kept: some hundred operators beside eight versions of Piton's own parts (half a GiB each, for the precompiled torch header)."""
REST_S = 3600.0
"""What was used or made within this time is never removed: a build holds only its results, not the objects it is about to link."""
_STEPS = "steps"


class Store:
    """A folder of results."""

    def __init__(self, root: Path, cap_bytes: int = CAP_BYTES) -> None:
        self.root = root
        self._cap_bytes = cap_bytes
        self._held: dict[Path, int] = {}
        weakref.finalize(self, _release, self._held)

    def find(self, name: str) -> Path | None:
        """The result kept under `name`, if there is one; that it was asked for counts as use."""
        path = self.root / name
        if not path.is_file():
            return None
        with contextlib.suppress(OSError):  # a cache that belongs to another user is as good, only its age is not ours to change
            os.utime(path.parent)
        return path

    def keep(self, made: Path, name: str) -> Path:
        """Copy `made` under `name`. Raises EvaluatorError when it is not a plain file (its maker is not trusted)."""
        final = self.root / name
        final.parent.mkdir(parents=True, exist_ok=True)
        if not stat.S_ISREG(made.lstat().st_mode):
            raise EvaluatorError("a build step left something that is not a plain file", found=made.name)
        handle, partial = tempfile.mkstemp(dir=final.parent, prefix=".partial-")
        os.close(handle)
        try:
            shutil.copyfile(made, partial, follow_symlinks=False)
            os.chmod(partial, 0o755)
            os.replace(partial, final)
        except BaseException:
            os.unlink(partial)  # on a disk that is full it would keep others from what room there is
            raise
        return final

    def keep_text(self, text: str, name: str) -> None:
        """Keep what was said about a result under `name`."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            self.keep(Path(file.name), name)

    def find_text(self, name: str) -> str:
        """The text kept under `name`; empty when there is none."""
        path = self.find(name)
        return path.read_text("utf-8", errors="replace") if path else ""

    def hold(self, made: Path) -> None:
        """Let the folder of a result live as long as this store object does. To be called under the lock of its key."""
        if made.parent not in self._held:
            handle = os.open(made.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(handle, fcntl.LOCK_SH)
            self._held[made.parent] = handle

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Exclude everybody else who makes `name`, in this process and in others."""
        handle = self._locked(name, is_patient=True)
        assert handle is not None
        try:
            yield
        finally:
            os.close(handle)

    def tidy(self) -> int:
        """Remove what was used longest ago until the cap holds again, and what killed builds left; the bytes removed.

        Nothing that is held, being made, or was used within the last `REST_S` goes, so that the cap may be exceeded for a while.
        """
        self._remove_remains()
        entries = sorted(self._entries(), key=lambda entry: entry[1])
        excess = sum(size for _, _, size in entries) - self._cap_bytes
        removed = 0
        for folder, used_at, size in entries:
            if removed >= excess or used_at > time.time() - REST_S:
                break
            removed += size if self._remove(folder) else 0
        return removed

    def size_bytes(self) -> int:
        """What the results take on disk."""
        return sum(size for _, _, size in self._entries())

    def _entries(self) -> Iterator[tuple[Path, float, int]]:
        """Folder, time of last use and size of each step."""
        with contextlib.suppress(FileNotFoundError):
            for folder in (self.root / _STEPS).iterdir():
                with contextlib.suppress(OSError):  # removed by another process meanwhile
                    yield folder, folder.stat().st_mtime, sum(path.stat().st_size for path in folder.iterdir())

    def _remove(self, folder: Path) -> bool:
        """Remove one step unless somebody makes or holds it."""
        handle = self._locked(folder.name, is_patient=False)
        if handle is None:
            return False
        try:
            if not _is_free(folder):
                return False
            gone = folder.with_name(f".gone-{folder.name}")
            folder.rename(gone)  # at once, so that nobody finds half of it
            shutil.rmtree(gone, ignore_errors=True)
            self._lock_path(folder.name).unlink(missing_ok=True)
            return True
        except OSError:  # another user's
            return False
        finally:
            os.close(handle)

    def _remove_remains(self) -> None:
        """What killed processes left: working folders, half copies, half removed steps."""
        for pattern in ("work/*", f"{_STEPS}/.gone-*", f"{_STEPS}/*/.partial-*"):
            for path in self.root.glob(pattern):
                with contextlib.suppress(OSError):  # gone meanwhile, or another user's
                    if path.lstat().st_mtime < time.time() - REST_S:
                        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def _lock_path(self, name: str) -> Path:
        return self.root / "locks" / name.replace("/", "-")

    def _locked(self, name: str, *, is_patient: bool) -> int | None:
        """A descriptor that holds the lock of `name`; None when somebody else has it and we do not wait."""
        path = self._lock_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | (0 if is_patient else fcntl.LOCK_NB))
            except BlockingIOError:
                os.close(handle)
                return None
            if _is_same_file(handle, path):
                return handle
            os.close(handle)  # removed with its step while we waited: the next holder would lock another file


def _is_free(folder: Path) -> bool:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(handle)


def _is_same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _release(held: dict[Path, int]) -> None:
    for handle in held.values():
        os.close(handle)
    held.clear()
