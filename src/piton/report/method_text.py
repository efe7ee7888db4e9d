"""How a submission came about, in words: the category and tags of the survey's taxonomy."""

from __future__ import annotations

from piton.core.method import Method


def method_pairs(method: Method | None) -> list[tuple[str, str]]:
    """(what, value) of everything that is said; empty when nothing is."""
    if method is None:
        return []
    loop = method.control_loop
    pairs = [
        ("method", method.name),
        ("written by", {"person": "a person", "model": "a model", "both": "a person and a model"}.get(method.written_by or "", "")),
        ("models", ", ".join(method.models)),
        ("control loop", f"{loop.number}, {loop.label}" if loop else ""),
        *((name, ", ".join(tags)) for name, tags in method.axes().items()),
    ]
    return [(name, value) for name, value in pairs if value]


def method_text(method: Method | None) -> str:
    """The same in one line."""
    return "; ".join(f"{name}: {value}" for name, value in method_pairs(method))
