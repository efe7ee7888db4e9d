"""Writing a hardware file: every figure with its source, readable back by `load_hardware` as the same chip."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from piton.catalog.hardware import hardware_names, load_hardware
from piton.core.errors import EvaluatorError, UsageError
from piton.core.hardware import Hardware

_HEAD = "# Written by Piton; every figure names where it comes from. Use it as --target {name}.yaml or --hardware {name}.yaml.\n"


def check_new_file(path: Path, *, source: str, is_overwriting: bool) -> None:
    """Raise UsageError when a hardware file made from `source` (a chip's name or a file) can't be written to `path`, or would replace what is there."""
    if path.suffix not in (".yaml", ".yml"):
        raise UsageError("not the name of a hardware file", expected="mychip.yaml", found=path.name, where="--out", action="let it end with .yaml")
    if path.stem in hardware_names():
        raise UsageError("the name of a shipped chip", expected="a name of your own", found=path.name, where="--out", action="choose another name")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UsageError("can't write there", expected="a folder that is there and can be written to", found=str(path.parent), where="--out")
    if path.is_dir():
        raise UsageError("a folder has that name", found=str(path), where="--out", action="choose another name")
    if path.exists() and Path(source).exists() and path.samefile(source):
        raise UsageError("the file to start from would be lost", found=str(path), where="--out", action="choose another name than that of --hardware")
    if path.exists() and not is_overwriting:
        raise UsageError("the file is there already", found=str(path), where="--out", action="choose another name, or give --overwrite")


def write_hardware(hardware: Hardware, path: Path) -> None:
    """Write `hardware` to `path`, whose name has to be the chip's, over what is there. Raises UsageError for another name."""
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
