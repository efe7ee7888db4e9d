"""Where runs share what they can, and how much of it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.cli.evaluation import GOLDEN_CACHE_GIB, bounds, cache_dir
from piton.core.errors import UsageError


def test_a_cache_folder_is_made_where_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PITON_CACHE_DIR", str(tmp_path / "deep" / "cache"))
    assert cache_dir().is_dir()


def test_one_that_cannot_be_made_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PITON_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(UsageError, match="cache folder can't be made"):
        cache_dir()


def test_the_cap_of_the_goldens_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GOLDEN_CACHE_GIB, "1.5")
    assert bounds().golden_cache_bytes == 3 << 29


@pytest.mark.parametrize("text", ["much", "-1", "nan", "inf"])
def test_a_cap_that_is_no_number_is_one_message(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GOLDEN_CACHE_GIB, text)
    with pytest.raises(UsageError, match="can't be read"):
        bounds()
