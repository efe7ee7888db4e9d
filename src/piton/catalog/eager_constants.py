"""The constants of the modelled baseline: one file for all chips, written by `benchmarks/baseline_model`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml
from pydantic import ValidationError

import piton
from piton.catalog.source import Located, read_yaml, show
from piton.core.eager import EagerConstants

CONSTANTS_PATH = Path(piton.__file__).parent / "anchors" / "data" / "eager_baseline.yaml"
_HEAD = """# Constants of the modelled eager baseline (docs/baselines.md), by the platform whose baselines they were fitted to.
# Written by `python benchmarks/baseline_model --write`.
"""


def load_eager_constants(hardware: str, path: Path = CONSTANTS_PATH) -> EagerConstants | None:
    """The constants for the chip of that name, or None when the file has none for it. Raises FormatError with file and line for content of another form."""
    located = read_yaml(path)
    if not isinstance(located.data, dict):
        located.refuse("not a mapping", expected="constants by platform", found=type(located.data).__name__)
    known = [_constants(located, platform) for platform in located.data]
    return next((found for found in known if hardware in found.chips), None)


def _constants(located: Located, platform: str) -> EagerConstants:
    try:
        return EagerConstants.model_validate(located.data[platform])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        found = "nothing" if first["type"] == "missing" else show(first["input"])
        located.refuse(f"field `{'.'.join(map(str, first['loc']))}` is wrong", (platform, *first["loc"]), expected=first["msg"], found=found)


def eager_constants_yaml(constants: Sequence[EagerConstants]) -> str:
    """The text of the file; read back it gives equal constants."""
    data = {found.platform: found.model_dump(mode="json") for found in constants}
    return _HEAD + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=155)
