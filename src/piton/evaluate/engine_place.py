"""Where the engine of a virtual device is: beside device code, or in a process that device code does not reach."""

from __future__ import annotations

from typing import cast, get_args

from piton.core.errors import UsageError
from piton.core.protocols import ENGINE_APART, EnginePlace, Runner, SeparableTarget, Target
from piton.evaluate.sandbox.levels import HIGHEST_IN_PROCESS


def engine_place(name: str, isolation: int = 0) -> EnginePlace:
    """The place of that name, or the one that a demanded level of isolation needs. Raises UsageError for a name that there isn't."""
    if name not in get_args(EnginePlace):
        raise UsageError("no such place for the engine", expected=" or ".join(get_args(EnginePlace)), found=name, action="correct --engine")
    return "own-process" if isolation > HIGHEST_IN_PROCESS else cast(EnginePlace, name)


def with_engine(target: Target, engine: EnginePlace) -> Target:
    """The target with its engine at that place. Raises UsageError for one that simulates nothing."""
    if engine == "in-process":
        return target
    if not isinstance(target, SeparableTarget):
        raise UsageError(f"target {target.name} has no engine that could run apart", expected="a virtual NPU", action="leave --engine out")
    return target.with_engine_apart()


def isolation_of(runner: Runner, engine: EnginePlace) -> tuple[str, ...]:
    """The mechanisms in force, for the report."""
    return (*runner.isolation, *((ENGINE_APART,) if engine == "own-process" else ()))
