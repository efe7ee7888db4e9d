"""Writing a hardware file: every figure with its source, readable back by `load_hardware` as the same chip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from piton.catalog.hardware import load_hardware
from piton.core.errors import EvaluatorError, UsageError
from piton.core.hardware import Hardware

_HEAD = "# Written by Piton; every figure names where it comes from. Use it as --target {name}.yaml or --hardware {name}.yaml.\n"


def write_hardware(hardware: Hardware, path: Path) -> None:
    """Write `hardware` to `path`, whose name has to be the chip's. Raises UsageError for another name or an existing file of another chip."""
    if path.suffix not in (".yaml", ".yml") or path.stem != hardware.name:
        raise UsageError("a hardware file is named after its chip", expected=f"{hardware.name}.yaml", found=path.name)
    text = _HEAD.format(name=hardware.name) + yaml.safe_dump(_plain(hardware), sort_keys=False, allow_unicode=True, width=150)
    partial = path.with_suffix(".partial.yaml")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
    if load_hardware(path) != hardware:
        raise EvaluatorError("the hardware file does not read back as what was written", where=str(path))


def _plain(hardware: Hardware) -> dict[str, Any]:
    data = hardware.model_dump(mode="json", exclude_none=True)
    return {name: value for name, value in data.items() if value not in ({}, [])}
