"""The folder that all runs of a user share on one machine: golden results, baselines, builds."""

from __future__ import annotations

import os
from pathlib import Path

from piton.core.errors import UsageError


def cache_dir() -> Path:
    """Folder that all runs of this user share: $PITON_CACHE_DIR, else the user's cache folder. Raises UsageError for one that cannot be made."""
    if chosen := os.environ.get("PITON_CACHE_DIR"):
        try:
            Path(chosen).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            action = "set PITON_CACHE_DIR to a folder that can be written, or unset it"
            raise UsageError("the cache folder can't be made", found=error.strerror or str(error), where=chosen, action=action) from None
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "piton"
