"""Shared by the end-to-end suites."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from null_world import make_suite

from piton.core.protocols import Runner
from piton.evaluate.sandbox import make_runner


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """A sandbox as this machine allows it."""
    made = make_runner()
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Suite and cache of all tests of a module, for the null target."""
    root = tmp_path_factory.mktemp("null-world")
    make_suite(root / "suite")
    return root
