"""Do the links of the documentation lead somewhere, and is every page listed?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
_LINK = re.compile(r"\]\((?!https?://)([^)\s#]*)(?:#([^)\s]*))?\)|(?:src|srcset)=\"([^\"]+)\"")


def anchors(page: Path) -> set[str]:
    """Anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor, image in _LINK.findall(page.read_text()):
        found = (page.parent / (target or image)).resolve() if target or image else page
        assert found.exists(), f"{target or image} does not exist"
        assert not anchor or anchor in anchors(found), f"{target}#{anchor}: no such heading"


def test_every_page_is_listed() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {name for name in pages if f"({name})" not in index} == set()
