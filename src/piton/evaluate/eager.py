"""T_baseline by the model: traces of goldens from the cache or from a golden worker, and their prices (docs/baselines.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from piton.anchors.eager import modelled_baseline
from piton.catalog.eager_constants import load_eager_constants
from piton.core.canonical import digest
from piton.core.case import Case
from piton.core.eager import EagerConstants, EagerTrace
from piton.core.errors import EvaluatorError
from piton.core.hardware import Hardware
from piton.core.measurement import Anchor
from piton.core.operator import Operator
from piton.core.suite import Suite
from piton.evaluate.arguments import all_attributes
from piton.evaluate.cache import TensorStore, ValueStore
from piton.evaluate.golden_service import GoldenService, GoldenSettings, generator_parts
from piton.evaluate.memory import MemoryGuard, available_bytes

FOLDER = "eager"
"""Traces inside the cache folder."""
Trace = Callable[[Operator, Case], EagerTrace]
"""Makes the trace of a case; raises EvaluatorError when it can't."""
_DEADLINE_S = 60.0
"""Of one trace: the longest of ours takes 3 s with the start of torch."""


class TraceBook:
    """Traces by case, each made once."""

    def __init__(self, store: ValueStore | None, suite_version: str, make: Trace | None) -> None:
        """Without `store` nothing is kept (hidden cases); without `make` only what is kept is known, and nothing runs."""
        self._store = store
        self._suite_version = suite_version
        self._make = make

    def trace(self, operator: Operator, case: Case) -> EagerTrace | None:
        """The trace of a case; one with a refusal when it can't be made; None when it is not kept and nothing may run."""
        key = self._key(operator, case)
        kept = self._kept(key)
        if kept is not None or self._make is None:
            return kept
        try:
            made = self._make(operator, case)
        except EvaluatorError as error:  # a time limit, a lack of memory: another run may do better, so that this is not kept
            return EagerTrace(refusal=f"the golden could not be traced: {error.problem}")
        if self._store is not None:
            self._store.keep(key, made.model_dump(mode="json"))
        return made

    def _key(self, operator: Operator, case: Case) -> str:
        named = operator.model_dump(mode="python", exclude={"golden_path"})
        return digest(["eager trace", generator_parts(), named, case.digest(), self._suite_version])

    def _kept(self, key: str) -> EagerTrace | None:
        try:
            return EagerTrace.model_validate(self._store.load(key)) if self._store else None
        except ValidationError:  # nothing there, or damaged: a miss
            return None


@dataclass(frozen=True)
class ModelledBaselines:
    """The model for one chip."""

    book: TraceBook
    constants: EagerConstants
    hardware: Hardware

    def anchor(self, operator: Operator, case: Case) -> Anchor | None:
        """T_baseline of a case, or None when the model does not know the operator, or its trace is not known."""
        trace = self.book.trace(operator, case)
        return None if trace is None else modelled_baseline(operator, named_case(operator, case), trace, self.constants, self.hardware)


def named_case(operator: Operator, case: Case) -> Case:
    """The case with a value for every attribute, as work formulas read it."""
    return case.model_copy(update={"attributes": all_attributes(operator, case)})


def modelled_baselines(book: TraceBook, hardware: Hardware) -> ModelledBaselines | None:
    """The model for a chip, or None for one without constants."""
    constants = load_eager_constants(hardware.edition)
    return None if constants is None else ModelledBaselines(book, constants, hardware)


@contextmanager
def open_book(suite: Suite, cache_dir: str) -> Iterator[TraceBook]:
    """Traces of a suite for a command that shows anchors. A golden worker is started when the first trace is missing, and only for a suite of ours."""
    cache = Path(cache_dir)
    workers = _Workers(suite, cache)
    try:
        yield TraceBook(ValueStore(cache / FOLDER), suite.version, None if suite.is_foreign else workers.trace)
    finally:
        workers.close()


class _Workers:
    """A golden service that starts when it is needed."""

    def __init__(self, suite: Suite, cache: Path) -> None:
        self._suite = suite
        self._cache = cache
        self._service: GoldenService | None = None
        self._close: list[Callable[[], None]] = []

    def trace(self, operator: Operator, case: Case) -> EagerTrace:
        """The trace of a case. Raises EvaluatorError."""
        if self._service is None:
            self._service = self._start()
        return self._service.trace(operator, case)

    def close(self) -> None:
        """End the worker and what started it."""
        for end in reversed(self._close):
            end()

    def _start(self) -> GoldenService:
        from piton.evaluate.sandbox import make_runner

        runner = make_runner()
        self._close.append(runner.close)
        settings = GoldenSettings(self._suite.version, 0, (self._suite.root,), _DEADLINE_S)
        service = GoldenService(runner, TensorStore(self._cache / "golden", 0), settings, MemoryGuard(available_bytes()))
        self._close.append(service.close)
        return service
