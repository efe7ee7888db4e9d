"""What of a machine has to be the same on all machines of a run. Sent to a machine by value: it has to work where Piton is missing or another one.

So this file imports nothing of Piton's.
"""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = ("torch", "numpy", "ml-dtypes")
"""What inputs and goldens are made with."""


def describe() -> dict[str, str]:
    """Versions that decide results; `piton` is a digest of all its files, suites included, since two states of development have one version number."""
    facts = {"Python": ".".join(platform.python_version_tuple()[:2]), "processor": platform.machine(), "Piton": _piton()}
    return {**facts, **{name: _version(name) for name in LIBRARIES}}


def _piton() -> str:
    try:
        import piton
    except ImportError as error:
        return f"none ({error})"
    return f"{piton.__version__} ({tree_digest(os.path.dirname(os.path.abspath(piton.__file__)))[:12]})"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def tree_digest(root: str) -> str:
    """SHA-256 over paths and contents of the files below `root`, caches of Python left out."""
    total = hashlib.sha256()
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest()
            total.update(f"{os.path.relpath(path, root)}\0{content}\n".encode())
    return total.hexdigest()


def differences(here: dict[str, str], there: dict[str, str]) -> list[str]:
    """What is not the same there, in words."""
    return [f"{name} {there.get(name, 'none')} instead of {value}" for name, value in here.items() if there.get(name) != value]
