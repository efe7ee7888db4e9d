"""Results kept between runs: one JSON file, written after every kernel so that a run that is ended goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock

from measure import Measurer, Result
from selection import Kernel


class Store:
    """Results by repository and path."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        listed = json.loads(path.read_text("utf-8")) if path.exists() else []
        self._kept = {(item["repository"], item["path"]): Result.model_validate(item) for item in listed}

    def find(self, kernel: Kernel, measurer: Measurer, *, is_enough: Callable[[Result], bool]) -> Result | None:
        """The kept result if nothing has changed since, or if it is enough whatever has."""
        found = self._kept.get((kernel.root.name, kernel.path))
        return found if found is not None and (is_enough(found) or found.key == measurer.key(kernel)) else None

    def kept(self, kernels: Sequence[Kernel]) -> list[Result]:
        """What there is of these kernels, whatever it was made with."""
        names = [(kernel.root.name, kernel.path) for kernel in kernels]
        return [self._kept[name] for name in names if name in self._kept]

    def keep(self, result: Result) -> Result:
        """Write it with all others."""
        with self._lock:
            self._kept[(result.repository, result.path)] = result
            self._write()
        return result

    def _write(self) -> None:
        scratch = self._path.with_suffix(".new")
        scratch.write_text(json.dumps([item.model_dump(mode="json") for item in self._kept.values()], indent=1), "utf-8")
        os.replace(scratch, self._path)
