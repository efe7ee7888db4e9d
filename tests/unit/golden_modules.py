"""The goldens of Piton's suites, loaded as the golden worker loads them."""

from __future__ import annotations

from types import ModuleType

from piton.catalog import load_suite
from piton.numerics.golden_module import load_golden


def golden_module(name: str) -> ModuleType:
    """golden.py of an operator of the suite `piton`."""
    member = load_suite().member(name)
    assert member is not None
    return load_golden(member.operator.golden_path).module
