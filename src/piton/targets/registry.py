"""Targets by name. A new target is one folder or file beside this one and one row here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from piton.core.errors import UsageError
from piton.core.hardware import Hardware
from piton.core.protocols import Target
from piton.targets.cpu.host import NAME as CPU


@dataclass(frozen=True)
class _Row:
    """One target: the hardware file it obeys and what opens it."""

    hardware: str
    opener: str
    """`module:function(name, hardware, chip_table, cache_dir, progress) -> Target`; imported only when the target is used."""


_VNPU = "piton.targets.vnpu.target:open_vnpu"
_TARGETS = {
    "ascend910b2-sim": _Row("ascend910b2", _VNPU),
    "ascend910b1-sim": _Row("ascend910b1", _VNPU),
}
DEFAULT_TARGET = "ascend910b2-sim"
_KNOWN = " or ".join((*_TARGETS, CPU))
_WITHOUT_TIMING_MODEL = {"ascend950pr-sim": "ascend950pr"}
"""Simulated targets that people ask for and that there can't be yet: the chip's hardware file has peaks and no timing model."""


def target_names() -> tuple[str, ...]:
    """Every target whose chip has a hardware file; beside them there are `cpu` and `null`."""
    return tuple(_TARGETS)


def hardware_name(target: str) -> str:
    """Name of the hardware file whose figures the target obeys. Raises UsageError for an unknown target."""
    return _row(target).hardware


Progress = Callable[[str], None]
"""Takes a line about something of the target's own that takes long (a first build)."""


def resolve_target(name: str, hardware: Hardware, chip_table: str, cache_dir: str, progress: Progress | None = None) -> Target:
    """The target of that name on `hardware`; `chip_table` is its flat form for an engine (catalog.hardware.flat_table).

    Raises UsageError for an unknown name.
    """
    module, _, function = _row(name).opener.partition(":")
    opener: Callable[[str, Hardware, str, str, Progress | None], Target] = getattr(importlib.import_module(module), function)
    return opener(name, hardware, chip_table, cache_dir, progress)


def resolve_simulated(hardware: Hardware, chip_table: str, cache_dir: str, progress: Progress | None = None) -> Target:
    """The virtual NPU of a chip that is no target of Piton's (a hardware file of the user's), named after it.

    Raises UsageError for a chip without a timing model.
    """
    if not hardware.simulation:
        action = "add a `simulation` block, or `simulation_from` with the name of a chip to take its figures over from"
        raise UsageError(f"{hardware.name} has no timing model, so nothing can be timed on it", action=action)
    module, _, function = _VNPU.partition(":")
    opener: Callable[[str, Hardware, str, str, Progress | None], Target] = getattr(importlib.import_module(module), function)
    return opener(f"{hardware.name}-sim", hardware, chip_table, cache_dir, progress)


def _row(name: str) -> _Row:
    if name in _WITHOUT_TIMING_MODEL:
        chip = _WITHOUT_TIMING_MODEL[name]
        action = f"choose another target; its limits are computed: `piton hap OPERATOR --hardware {chip}`"
        raise UsageError(f"{chip} has no timing model yet, so nothing can be timed on it", expected=_KNOWN, found=name, action=action)
    if name not in _TARGETS:
        raise UsageError("no such target", expected=_KNOWN, found=name)
    return _TARGETS[name]
