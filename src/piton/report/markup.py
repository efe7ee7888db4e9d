"""Texts of others on their way into Markdown."""

from __future__ import annotations


def escape_markdown(text: str) -> str:
    """The text without markup, links or table cells of its own, in one line."""
    for character in "\\`*_[]<>|#":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())
