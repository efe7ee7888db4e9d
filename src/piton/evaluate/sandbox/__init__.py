"""The only starter of processes that run untrusted code.

Problem: submissions are foreign programs; they must see neither the golden, the seeds, the verdict nor the clock, and must leave nothing behind.
Approach: programs are started by a freshly exec'd zygote, each under a supervisor of its own, confined by whatever this machine allows (probed once).
Limits: the names in `isolation` are all that is promised. See docs/processes.md.

This file stays free of heavy imports: the zygote imports the package too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from piton.core.protocols import EnginePlace
    from piton.evaluate.sandbox.probe import Mechanisms
    from piton.evaluate.sandbox.runner import SandboxRunner


def make_runner(mechanisms: Mechanisms | None = None, readable: Sequence[str] = (), *, demanded: int = 0, engine: EnginePlace = "in-process") -> SandboxRunner:
    """A Runner with the strongest mechanisms that work here, or exactly those given; `readable` is visible to every job.

    Raises EvaluatorError when not even the weakest set works, UsageError when it does not reach level `demanded` with the engine at that place.
    """
    from piton.core.protocols import ENGINE_APART
    from piton.evaluate.sandbox.levels import demand
    from piton.evaluate.sandbox.runner import SandboxRunner

    runner = SandboxRunner(mechanisms, readable)
    try:
        demand(demanded, (*runner.isolation, *((ENGINE_APART,) if engine == "own-process" else ())), runner.complaints)
    except BaseException:
        runner.close()
        raise
    return runner
