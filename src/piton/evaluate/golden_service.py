"""Golden service: inputs and golden outputs of a case, from the cache or from a golden worker process, prefetched while devices run."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal, TypeVar

import piton.numerics
from piton.core.canonical import canonical_json, digest, digest_bytes
from piton.core.case import Case
from piton.core.eager import EagerTrace
from piton.core.errors import EvaluatorError, GoldenDeadlineError, ProcessLostError
from piton.core.operator import Operator
from piton.core.protocols import Limits, Role, Runner, RunningProcess
from piton.evaluate.cache import Entry, StoredTensor, TensorStore, memory_file
from piton.evaluate.golden_replies import parse_reply, parse_trace, read_all
from piton.evaluate.memory import MemoryGuard, available_bytes, golden_bytes
from piton.evaluate.single_flight import GOLDENS
from piton.evaluate.trials import FIRST, draw_of
from piton.evaluate.worker.golden_worker import MESSAGE_BYTES, OUTPUT_PREFIX, GoldenRequest
from piton.numerics.tensors import GoldenOutput

_ENTRY = "piton.evaluate.worker.golden_worker:serve"
_DAY_S = 86_400
_LEAST_MEMORY = 2 << 30
"""Loading torch alone reserves most of a GiB."""
_Taken = TypeVar("_Taken")
Precision = Literal["float64", "native"]


@dataclass(frozen=True)
class TensorData:
    """One tensor with its raw little-endian bytes."""

    tensor: StoredTensor
    data: memoryview


@dataclass(frozen=True)
class CaseData:
    """What a case is evaluated with; the views stay valid as long as this lives."""

    inputs: tuple[TensorData, ...]
    outputs: tuple[GoldenOutput, ...]
    """Golden outputs in the declared dtype, in the order of the operator."""


@dataclass(frozen=True)
class GoldenSettings:
    """What golden runs depend on, beyond operator and case."""

    suite_version: str
    seed: int
    """Of the first trial; that of the second follows from it."""
    readable: tuple[str, ...]
    """Folders the workers may read (the suite's)."""
    deadline_s: float


class GoldenWorker:
    """One worker process and the socket to it."""

    def __init__(self, runner: Runner, readable: Sequence[str], deadline_s: float) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * MESSAGE_BYTES)  # a message lies there whole, with the kernel's own bookkeeping
        with theirs:
            self._process: RunningProcess = runner.fork_worker(
                Role.GOLDEN, _ENTRY, {"idle_bytes": str(_idle_bytes())}, {"control": theirs.fileno()}, _limits(), readable
            )
        ours.settimeout(deadline_s)
        self._socket = ours

    def ask(self, request: GoldenRequest, descriptor: int) -> tuple[StoredTensor, ...]:
        """Let the worker fill the memory file `descriptor`. Raises EvaluatorError if it fails, dies, stalls or answers nonsense."""
        where = f"{request.operator.name}/{request.case.id}"
        try:
            socket.send_fds(self._socket, [canonical_json(request).encode()], [descriptor])
            reply = self._socket.recv(MESSAGE_BYTES)
        except TimeoutError:
            raise GoldenDeadlineError("the golden run did not end in time", where=where, found=f"more than {self._socket.gettimeout():.0f} s") from None
        except OSError as error:
            raise ProcessLostError("the golden worker is gone", where=where, found=str(error)) from None
        return parse_reply(reply, where, self._process)

    def close(self) -> None:
        """End the process; an `ask` in progress then fails."""
        self._process.kill()
        self._socket.close()


class GoldenService:
    """Hands out `CaseData`; its threads keep workers busy ahead of the lanes."""

    def __init__(self, runner: Runner, store: TensorStore, settings: GoldenSettings, guard: MemoryGuard, workers: int = 1) -> None:
        self._runner = runner
        self._store = store
        self._settings = settings
        self._guard = guard
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="golden")
        self._idle: queue.LifoQueue[GoldenWorker] = queue.LifoQueue()
        self._pending: dict[str, Future[CaseData]] = {}
        self._lock = threading.Lock()
        self._workers: list[GoldenWorker] = []
        self._is_closed = False
        self._expected: dict[str, tuple[Operator, Case]] = {}
        self._ahead = workers
        self.executed = 0
        """Golden runs so far, of either precision; what came out of the cache is none."""

    def expect(self, cases: Sequence[tuple[Operator, Case]]) -> None:
        """Say which cases will be fetched, in order: each fetch then starts the next ones."""
        with self._lock:
            self._expected = {self._case_key(*item): item for item in cases}
        self._start_ahead()

    def prefetch(self, operator: Operator, case: Case, trial: int = FIRST) -> Future[CaseData]:
        """Start computing the data of a case in one of its trials, once; `fetch` takes the result."""
        key = self._case_key(operator, case, trial)
        with self._lock:
            self._expected.pop(key, None)
            if key not in self._pending:
                self._pending[key] = self._threads.submit(self._load_or_compute, operator, case, trial)
            return self._pending[key]

    def fetch(self, operator: Operator, case: Case, trial: int = FIRST) -> CaseData:
        """The data of a case in one of its trials. Raises EvaluatorError when the golden could not be run."""
        future = self.prefetch(operator, case, trial)
        try:
            return future.result()
        finally:
            with self._lock:
                self._pending.pop(self._case_key(operator, case, trial), None)
            self._start_ahead()

    def native(self, operator: Operator, case: Case, trial: int = FIRST) -> tuple[GoldenOutput, ...]:
        """Outputs of the same-dtype run; called lazily, in the lane's own thread (its memory is part of the lane's reservation)."""
        return _split(self._entry(self._request(operator, case, "native", trial))).outputs

    def trace(self, operator: Operator, case: Case) -> EagerTrace:
        """Which operators the golden starts, recorded in a worker. Raises EvaluatorError when the golden could not be loaded, or the worker fails.

        Neither seed nor trial count: a golden that has to run on data gets the data of seed 0, so that one trace serves every run.
        """
        version = self._settings.suite_version
        request = GoldenRequest(operator=operator, case=case, suite_version=version, seed=0, precision="native", wanted="trace")
        return parse_trace(self._ask(request, read_all), f"{operator.name}/{case.id}")

    def given(self, operator: Operator, case: Case, calls: Sequence[Sequence[memoryview]], precision: Precision) -> tuple[GoldenOutput, ...]:
        """Outputs of calls with other inputs than the case's own (in the order of its tensors), call by call; nothing is kept. Raises as `fetch`."""
        request = self._request(operator, case, precision, FIRST).model_copy(update={"wanted": "given", "calls": len(calls)})
        return _split(self._ask(request, Entry.copied, [part for inputs in calls for part in inputs])).outputs

    def close(self) -> None:
        """End all workers; a golden run in progress fails with EvaluatorError."""
        self._is_closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.close()

    def __enter__(self) -> GoldenService:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start_ahead(self) -> None:
        """Keep one case more than there are workers under way: enough to hide goldens behind devices, little enough to bound memory."""
        while True:
            with self._lock:
                if not self._expected or len(self._pending) > self._ahead or self._is_closed:
                    return
                operator, case = next(iter(self._expected.values()))
            self.prefetch(operator, case)

    def _load_or_compute(self, operator: Operator, case: Case, trial: int) -> CaseData:
        with self._guard.reserve(golden_bytes(case), f"{operator.name}/{case.id}"):
            return _split(self._entry(self._request(operator, case, "float64", trial)))

    def _request(self, operator: Operator, case: Case, precision: Precision, trial: int) -> GoldenRequest:
        draw, version = draw_of(self._settings.seed, trial), self._settings.suite_version
        return GoldenRequest(operator=operator, case=case, suite_version=version, seed=draw.seed, shift=draw.shift, precision=precision)

    def _case_key(self, operator: Operator, case: Case, trial: int = FIRST) -> str:
        return self._key(self._request(operator, case, "float64", trial))

    def _key(self, request: GoldenRequest) -> str:
        case = [request.operator.digest(), request.case.digest(), request.suite_version]
        return digest([generator_digest(), *case, request.seed, request.shift, request.precision])

    def _entry(self, request: GoldenRequest) -> Entry:
        key = self._key(request)
        found = self._store.load(key)
        if found is not None:
            return found
        with GOLDENS.turn(key, lambda: self._is_closed):  # once closed it gives no worker either
            return self._store.load(key) or self._compute(key, request)

    def _compute(self, key: str, request: GoldenRequest) -> Entry:
        with self._lock:
            self.executed += 1
        return self._ask(request, lambda descriptor, tensors: self._store.publish(key, descriptor, tensors))

    def _ask(self, request: GoldenRequest, take: Callable[[int, tuple[StoredTensor, ...]], _Taken], given: Sequence[memoryview] = ()) -> _Taken:
        """What `take` makes of the memory file that an idle worker filled, and of its index; `given` lies in it before."""
        worker = self._take()
        try:
            with memory_file() as descriptor:
                for part in given:
                    os.write(descriptor, part)
                os.lseek(descriptor, 0, os.SEEK_SET)  # the worker's descriptor has the same position
                taken = take(descriptor, worker.ask(request, descriptor))
        except BaseException:
            self._drop(worker)
            raise
        self._idle.put(worker)
        return taken

    def _take(self) -> GoldenWorker:
        with contextlib.suppress(queue.Empty):
            return self._idle.get_nowait()
        with self._lock:
            if self._is_closed:
                raise EvaluatorError("the run is being stopped")
            worker = GoldenWorker(self._runner, self._settings.readable, self._settings.deadline_s)
            self._workers.append(worker)
            return worker

    def _drop(self, worker: GoldenWorker) -> None:
        with self._lock:
            if worker in self._workers:
                self._workers.remove(worker)
                worker.close()


@cache
def generator_parts() -> tuple[str, ...]:
    """Everything that turns a case into bytes: our code by content, so that a change of it without a new version finds no old goldens, and libraries."""
    own = [digest_bytes(path.read_bytes()) for path in sorted(Path(piton.numerics.__file__).parent.glob("*.py"))]
    return (piton.__version__, *own, *(version(name) for name in ("numpy", "ml-dtypes", "torch")))


@cache
def generator_digest() -> str:
    """Names all of `generator_parts`."""
    return digest(generator_parts())


def _idle_bytes() -> int:
    """What a worker may keep between two goldens: an eighth of what there is."""
    return available_bytes() // 8


def _limits() -> Limits:
    """A golden that asks for more memory than there is gets an error of its own, instead of the machine's choice of a victim."""
    return Limits(wall_s=_DAY_S, cpu_s=_DAY_S, memory_bytes=max(available_bytes(), _LEAST_MEMORY), file_bytes=64 << 30)


def _split(entry: Entry) -> CaseData:
    inputs = tuple(TensorData(item, entry.view(item)) for item in entry.tensors if not item.name.startswith(OUTPUT_PREFIX))
    found = [item for item in entry.tensors if item.name.startswith(OUTPUT_PREFIX)]
    outputs = tuple(GoldenOutput(item.name.removeprefix(OUTPUT_PREFIX), item.dtype, item.shape, entry.view(item)) for item in found)
    return CaseData(inputs, outputs)
