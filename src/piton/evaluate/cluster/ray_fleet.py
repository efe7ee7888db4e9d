"""Workers that Ray starts; the only module that knows Ray, together with `ray_worker`.

Ray is imported when a run asks for it: it takes seconds to load and is not part of every installation.
"""

from __future__ import annotations

import importlib
import logging
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from piton.core.errors import EvaluatorError, TargetUnavailableError, UsageError
from piton.evaluate.cluster import probe
from piton.evaluate.cluster.fleet import AHEAD, Seat, WorkerLostError
from piton.evaluate.cluster.order import Reply, Started, WorkOrder
from piton.evaluate.cluster.parcel import Parcel
from piton.evaluate.cluster.ray_worker import RayWorker
from piton.evaluate.cluster.seats import Machine, Placement
from piton.evaluate.execute import CaseTask

_CONNECT_S = 10.0
"""For a connection to the head's port; whoever listens there answers in a fraction of that."""
_PROBE_S = 300.0
"""For the first process of a machine: Ray starts Python and Piton imports torch, from a cold disk."""
_ROOM_S = 300.0
"""For a worker to be placed; a cluster that is busy with other work for longer is asked again (`crew.MOST_STARTS`)."""
_CLOSE_S = 20.0
"""For a worker to end the processes of its submissions by itself; they end with it in any case."""
_REASON = 200


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The module `ray`, connected to the cluster at `address`. Raises UsageError without Ray, TargetUnavailableError when nothing answers there."""
    ray = _import_ray()
    _check_answers(address)
    with _signals_kept():
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, namespace="piton")
        except (ray.exceptions.RayError, OSError, ValueError, RuntimeError) as error:
            raise _unreachable(address, _first_line(error)) from None
    try:
        with _silent():
            yield ray
    finally:
        ray.shutdown()


def machines(ray: Any) -> tuple[Machine, ...]:
    """The machines of the cluster that are alive."""
    alive = [node for node in ray.nodes() if node["Alive"]]
    return tuple(Machine(node["NodeID"], f"{node['NodeManagerHostname']} ({node['NodeID'][:6]})", node["Resources"]) for node in alive)


def check_software(ray: Any, found: Sequence[Machine]) -> None:
    """Raise UsageError that lists every machine whose Piton, Python or libraries are not this one's."""
    here = probe.describe()
    ray.cloudpickle.register_pickle_by_value(probe)  # it has to run where Piton is missing
    try:
        asked = [(machine, _remote(ray, probe.describe, machine, strict=True).remote()) for machine in found]
        complaints = [f"{machine.name}: {text}" for machine, reference in asked if (text := _complaint(ray, reference, here))]
    finally:
        ray.cloudpickle.unregister_pickle_by_value(probe)
    if complaints:
        expected = ", ".join(f"{name} {value}" for name, value in here.items())
        action = "install the same on all machines, or leave them out of the cluster"
        raise UsageError("machines of the cluster differ from this one", expected=expected, found="; ".join(complaints), action=action)


class RayFleet:
    """Implements `crew.Fleet`."""

    def __init__(self, ray: Any, places: Sequence[Placement], order: WorkOrder, parcels: Sequence[Parcel]) -> None:
        """Hand order and parcels to Ray, which brings each to a machine once."""
        self._ray = ray
        self._places = places
        self._order = ray.put(order)
        self._parcels = {parcel.digest: ray.put(parcel.data) for parcel in parcels}

    @property
    def seats(self) -> Sequence[Seat]:
        """Room for the workers of this run."""
        return [place.seat for place in self._places]

    @property
    def software(self) -> tuple[str, str]:
        """Name and version of what it is, for the report."""
        return "ray", str(self._ray.__version__)

    def hire(self, seat: Seat) -> HiredWorker:
        """A worker on that seat's machine, or on another one when that is gone."""
        place = self._places[seat.number]
        options = {"num_cpus": place.processors, "resources": dict(place.resources), "max_concurrency": seat.lanes + AHEAD + 2, "max_restarts": 0}
        actor = _remote(self._ray, RayWorker, place.machine, strict=False, **options).remote()
        return HiredWorker(self._ray, actor, (self._order, seat.lanes, self._parcels))


class HiredWorker:
    """Implements `crew.Worker`."""

    def __init__(self, ray: Any, actor: Any, order: tuple[Any, ...]) -> None:
        """`order` is what `RayWorker.start` takes."""
        self._ray = ray
        self._actor = actor
        self._order = order
        self._is_placed = False

    def start(self) -> Started:
        """Wait for its place, then for its setting up."""
        ray = self._ray
        try:
            self._is_placed = ray.get(self._actor.ping.remote(), timeout=_ROOM_S)
            started = ray.get(self._actor.start.remote(*self._order))
        except ray.exceptions.GetTimeoutError:
            raise WorkerLostError(f"the cluster had no room for it within {_ROOM_S:.0f} s") from None
        except ray.exceptions.RayTaskError as error:
            return Started("", refusal=f"internal error of Piton, please report it: {_last_line(error)}")
        except ray.exceptions.RayError as error:
            raise WorkerLostError(_first_line(error)) from None
        assert isinstance(started, Started)
        return started

    def evaluate(self, task: CaseTask) -> Reply:
        """Have a case evaluated."""
        ray = self._ray
        try:
            reply = ray.get(self._actor.evaluate.remote(task))
        except ray.exceptions.RayTaskError as error:
            raise EvaluatorError(f"internal error of Piton, please report it: {_last_line(error)}") from None
        except ray.exceptions.RayError as error:
            raise WorkerLostError(_first_line(error)) from None
        assert isinstance(reply, Reply)
        return reply

    def stop(self) -> None:
        """End it; its own end first, so that it can remove what it made."""
        ray = self._ray
        with suppress(ray.exceptions.RayError):  # it may be gone already
            if self._is_placed:
                ray.get(self._actor.close.remote(), timeout=_CLOSE_S)
        with suppress(ray.exceptions.RayError):
            ray.kill(self._actor, no_restart=True)


def _remote(ray: Any, what: Any, machine: Machine, *, strict: bool, **options: Any) -> Any:
    """`what` as something that Ray runs on a machine; not `strict`: on another one when that is gone."""
    strategy = importlib.import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy(machine.id, soft=not strict)
    return ray.remote(what).options(**{"num_cpus": 0, "scheduling_strategy": strategy, **options})


def _complaint(ray: Any, reference: Any, here: dict[str, str]) -> str:
    try:
        return ", ".join(probe.differences(here, ray.get(reference, timeout=_PROBE_S)))
    except ray.exceptions.GetTimeoutError:
        return f"no process came up within {_PROBE_S:.0f} s"
    except ray.exceptions.RayError as error:
        return _first_line(error)


def _import_ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UsageError("--ray needs Ray", found=str(error), action='pip install "piton[ray]" on every machine, or leave --ray out') from None


def _check_answers(address: str) -> None:
    """Look first: Ray itself retries for a minute, and its own message is long."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not port.isdigit() or "/" in host:
        expected = "host:port of its head (usually port 6379), or auto; this machine has to be one of its nodes"
        raise UsageError("no address of a Ray cluster", expected=expected, found=address, action="correct --ray")
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()
    except OSError as error:
        raise _unreachable(address, error.strerror or str(error)) from None


def _unreachable(address: str, found: str) -> TargetUnavailableError:
    action = "start one with `ray start --head` and join it from this machine; where it has a token, set RAY_AUTH_MODE=token here as well (docs/ray.md)"
    return TargetUnavailableError("no Ray cluster answers", where=address, found=found, action=action)


@contextmanager
def _signals_kept() -> Iterator[None]:
    """What a stop does is decided by the command line, not by a library that is being connected."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            with suppress(ValueError, TypeError):  # another thread than the main one, or a handler that is not Python's: then none was replaced
                signal.signal(number, handler)


@contextmanager
def _silent() -> Iterator[None]:
    """Ray writes what it thinks of lost workers to standard output, where a report may be expected (--json), and has no switch for it."""
    module = importlib.import_module("ray._private.worker")
    kept = getattr(module, "print_to_stdstream", None)
    if kept is None:  # another version of Ray: its messages are a blemish, nothing more
        yield
        return
    module.__dict__["print_to_stdstream"] = lambda *_args, **_named: None
    try:
        yield
    finally:
        module.__dict__["print_to_stdstream"] = kept


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:_REASON]


def _last_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1][:_REASON]
