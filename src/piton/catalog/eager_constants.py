"""The constants of the modelled baseline: one file for all chips, written by `benchmarks/baseline_model`."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import ValidationError

import piton
from piton.catalog.source import read_yaml, show
from piton.core.eager import EagerConstants
from piton.core.hardware import Edition

CONSTANTS_PATH = Path(piton.__file__).parent / "anchors" / "data" / "eager_baseline.yaml"
_HEAD = """# Constants of the modelled eager baseline (docs/baselines.md), by the edition that a hardware file names.
# Written by `python benchmarks/baseline_model --write`.
"""


def load_eager_constants(edition: Edition, path: Path = CONSTANTS_PATH) -> EagerConstants | None:
    """The constants for chips of `edition`, or None when the file has none. Raises FormatError with file and line for content of another form."""
    located = read_yaml(path)
    if not isinstance(located.data, dict):
        located.refuse("not a mapping", expected="constants by edition", found=type(located.data).__name__)
    if edition not in located.data:
        return None
    try:
        return EagerConstants.model_validate(located.data[edition])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        found = "nothing" if first["type"] == "missing" else show(first["input"])
        located.refuse(f"field `{'.'.join(map(str, first['loc']))}` is wrong", (edition, *first["loc"]), expected=first["msg"], found=found)


def eager_constants_yaml(constants: dict[Edition, EagerConstants]) -> str:
    """The text of the file; read back it gives equal constants."""
    data = {edition: found.model_dump(mode="json") for edition, found in constants.items()}
    return _HEAD + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=155)
