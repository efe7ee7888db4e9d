"""Built things by content key: complete or absent, made once.

Two processes that want the same thing wait for one another on a lock file (flock, so that a killed process leaves no lock behind). A result is copied beside
its final name and renamed: what can be seen is complete.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piton.core.errors import EvaluatorError


class Store:
    """A folder of results."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, name: str) -> Path | None:
        """The result kept under `name`, if there is one."""
        path = self.root / name
        return path if path.is_file() else None

    def keep(self, made: Path, name: str) -> Path:
        """Copy `made` under `name`. Raises EvaluatorError when it is not a plain file (its maker is not trusted)."""
        final = self.root / name
        final.parent.mkdir(parents=True, exist_ok=True)
        if not stat.S_ISREG(made.lstat().st_mode):
            raise EvaluatorError("a build step left something that is not a plain file", found=made.name)
        handle, partial = tempfile.mkstemp(dir=final.parent, prefix=".partial-")
        os.close(handle)
        shutil.copyfile(made, partial, follow_symlinks=False)
        os.chmod(partial, 0o755)
        os.replace(partial, final)
        return final

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Exclude everybody else who makes `name`, in this process and in others."""
        folder = self.root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / name.replace("/", "-")).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
