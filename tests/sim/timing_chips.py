"""Chips with single figures replaced, for tests of the timing rules."""

from __future__ import annotations

from piton.catalog.hardware import load_hardware
from piton.core.hardware import Figure, Hardware


def with_figures(**values: float) -> Hardware:
    """The 910B1 with single figures of the simulation block replaced; a double underscore stands for the dot."""
    chip = load_hardware("ascend910b1")
    changed = {name.replace("__", "."): Figure(value=value, source="test") for name, value in values.items()}
    assert set(changed) <= set(chip.simulation)
    return chip.model_copy(update={"simulation": {**chip.simulation, **changed}})


NO_LAUNCH = {"launch__base_us": 0.0, "launch__per_block_us": 0.0, "launch__minimum_us": 0.0, "launch__sync_all_us": 0.0, "sync__cross_core_us": 0.0}
"""What a launch costs beside its blocks, switched off."""
