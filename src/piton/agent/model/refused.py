"""Which optional parameters a model refuses: learned from its refusals, kept beside the cache, so that each is refused once.

A parameter that a model begins to take again is tried again after `_DAYS`.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

_DAYS = 30.0


class RefusedParameters:
    """Names by model, in a JSON file that any number of processes may write; one that cannot be read is empty."""

    def __init__(self, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        """Without a path they are kept for this process only."""
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._own: dict[str, dict[str, float]] = {}

    def of(self, model: str) -> frozenset[str]:
        """What this model is known to refuse."""
        with self._lock:
            found = {**self._read().get(model, {}), **self._own.get(model, {})}
        return frozenset(name for name, since in found.items() if self._clock() - since < _DAYS * 86_400)

    def add(self, model: str, parameter: str) -> None:
        """Remember a refusal."""
        with self._lock:
            self._own.setdefault(model, {})[parameter] = self._clock()
            if self._path is not None:
                everything = self._read()
                everything.setdefault(model, {}).update(self._own[model])
                self._write(self._path, everything)

    def _read(self) -> dict[str, dict[str, float]]:
        if self._path is None:
            return {}
        try:
            data = json.loads(self._path.read_text("utf-8"))
            return {str(model): {str(name): float(since) for name, since in names.items()} for model, names in data.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}

    @staticmethod
    def _write(path: Path, content: dict[str, dict[str, float]]) -> None:
        """Best effort: what is lost is refused once more."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix=".refused-", dir=path.parent)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(content, file, indent=1, sort_keys=True)
            os.replace(name, path)
        except OSError:
            return
