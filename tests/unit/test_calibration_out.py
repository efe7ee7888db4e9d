"""`piton calibrate --out`: what can't or mustn't be written is refused before anything is simulated."""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog.hardware import load_hardware
from piton.catalog.hardware_file import check_new_file, write_hardware
from piton.core.errors import UsageError
from piton.evaluate.calibration import run
from piton.evaluate.calibration.run import CalibrationRequest, calibrate


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A hardware file to start from, beside another one."""
    for name in ("mine", "there"):
        write_hardware(load_hardware("ascend910b1").model_copy(update={"name": name}), tmp_path / f"{name}.yaml")
    return tmp_path / "mine.yaml"


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        ("new.txt", "not the name of a hardware file"),
        ("ascend910b2.yaml", "shipped chip"),
        ("nowhere/new.yaml", "can't write there"),
        ("there.yaml", "there already"),
        ("mine.yaml", "would be lost"),
    ],
)
def test_a_file_that_must_not_be_written_is_refused_before_the_profile_is_simulated(
    source: Path, out: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "simulating", lambda *_: pytest.fail("the simulator was started"))
    with pytest.raises(UsageError, match=expected):
        calibrate(CalibrationRequest("none.csv", "none.toml", str(source), str(source.parent / out), ""), lambda _text: None)


def test_overwriting_has_to_be_asked_for_and_spares_the_file_to_start_from(source: Path) -> None:
    check_new_file(source.with_name("new.yaml"), source=str(source), is_overwriting=False)
    check_new_file(source.with_name("there.yaml"), source=str(source), is_overwriting=True)
    with pytest.raises(UsageError, match="would be lost"):
        check_new_file(source, source=str(source), is_overwriting=True)
