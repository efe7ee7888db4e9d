"""Which machines of a cluster take workers, from the resources that they declare.

A machine that declares the resource `piton-<target>` (a number) takes that many workers. When none does, and the target's times do not depend on the
machine, every machine with processors takes one. A target whose times are measured needs the resource: whoever declares it says that these machines may be
compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piton.core.errors import UsageError
from piton.evaluate.cluster.fleet import Seat

PREFIX = "piton-"


@dataclass(frozen=True)
class Machine:
    """A machine of the cluster that is alive."""

    id: str
    name: str
    resources: Mapping[str, float]


@dataclass(frozen=True)
class Placement:
    """A seat, the machine it is meant for, and what a worker there takes of its resources."""

    seat: Seat
    machine: Machine
    processors: float
    resources: Mapping[str, float]


def placements(machines: Sequence[Machine], target: str, jobs: int, *, is_measured: bool) -> tuple[Placement, ...]:
    """Where the workers of a run go, each evaluating up to `jobs` cases at a time. Raises UsageError when no machine takes one."""
    name = PREFIX + target
    wanted = [(machine, {name: 1.0}) for machine in machines for _ in range(int(machine.resources.get(name, 0)))]
    if not wanted and not is_measured:
        wanted = [(machine, {}) for machine in machines if machine.resources.get("CPU", 0) >= 1]
    if not wanted:
        _refuse(machines, name, is_measured=is_measured)
    return tuple(_placement(number, machine, needs, jobs) for number, (machine, needs) in enumerate(wanted))


def _placement(number: int, machine: Machine, needs: Mapping[str, float], jobs: int) -> Placement:
    if needs:  # the unit of the resource is the whole claim: its owner knows what a machine can take
        return Placement(Seat(number, machine.name, jobs), machine, 0, needs)
    lanes = min(jobs, int(machine.resources["CPU"]))
    return Placement(Seat(number, machine.name, lanes), machine, lanes, {})


def _refuse(machines: Sequence[Machine], name: str, *, is_measured: bool) -> None:
    found = "; ".join(f"{machine.name}: {', '.join(sorted(key for key in machine.resources if not key.startswith('node:')))}" for machine in machines)
    raise UsageError(
        "no machine of the cluster takes a worker of this target",
        expected=f"the resource {name}" + ("" if is_measured else ", or processors"),
        found=found or "no machine",
        action=f"""start nodes with `ray start ... --resources '{{"{name}": 1}}'` (docs/ray.md)""",
    )
