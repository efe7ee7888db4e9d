"""What `piton evolve` does and prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from time import time
from typing import Any

from rich.console import Console

import piton
from piton.agent.candidate import read_tree
from piton.agent.loop import Driver, ModelProposer, PitonEvaluator, Plan, Task
from piton.agent.loop.evaluation import Evaluate
from piton.agent.model import Accounts, Budget, Ledger, Limits, ModelOptions, open_model, resolve
from piton.agent.runs import Head, NewVariant, RunStore
from piton.agent.search import controller_of
from piton.cli.evaluation import cache_dir, resume_command
from piton.cli.runs import show_run
from piton.core.errors import UsageError
from piton.core.operator import Operator
from piton.core.visible import visible
from piton.evaluate.foreign import SuiteRequest, open_suite
from piton.evaluate.policy import EvaluationRequest

KIND = "evolve"
_STOPPED = 130


@dataclass(frozen=True)
class EvolveOptions:
    """The options of `piton evolve` as they were typed."""

    submission: str
    operator: str
    model: str
    controller: str
    rounds: int
    parallel: int
    jobs: int
    tolerance: float
    target_gain: float | None
    budget: Mapping[str, Any]
    base_url: str
    price_input: float | None
    price_output: float | None
    temperature: float | None
    record: str
    suite: str
    target: str
    cases: tuple[str, ...]
    max_elements: int | None
    is_fast: bool
    seed: int
    out: str
    is_resumed: bool
    is_trusted: bool


_FIXED = ("operator", "suite", "target", "cases", "max_elements", "is_fast", "seed", "controller")
"""Options that decide what a measurement or a decision is: a run is gone on with only by the same ones."""


def evolve(options: EvolveOptions) -> int:
    """Run or go on with a run; the exit status: 0 when the best candidate is right, 1 when nothing is."""
    settings = resolve(
        ModelOptions(options.model, options.base_url, options.price_input, options.price_output, {"temperature": options.temperature}), os.environ
    )
    controller, limits, operator = controller_of(options.controller), Limits(**options.budget), _operator(options)
    store = _resumed(options) if options.is_resumed else _created(options)
    console = Console(highlight=False)
    try:
        budget, ledger = _accounts(store, limits)
        model = open_model(settings, Accounts(budget, ledger), cache_dir(), Path(options.record) if options.record else None)
        with _opened(options) as evaluate:
            evaluator = PitonEvaluator(_request(options), evaluate, store.path.parent.absolute() / "work", budget)
            driver = Driver(store, controller, ModelProposer(model, _task(operator), settings.sampling), evaluator, budget)
            driver.events = lambda kind, text: console.print(f"{kind}: {visible(text)}", soft_wrap=True, markup=False)
            try:
                driver.run(Plan(options.rounds, options.parallel, options.jobs, options.tolerance, options.target_gain))
            except KeyboardInterrupt:
                command = resume_command(sys.argv[1:], store.path.parent)
                Console(stderr=True).print(
                    f"piton: stopped; what was measured is kept, go on with: {visible(command)}", soft_wrap=True, highlight=False, markup=False
                )
                return _STOPPED
            finally:
                store.note("elapsed", seconds=budget.elapsed_s)
        return show_run(store, console)
    finally:
        store.close()


def _operator(options: EvolveOptions) -> Operator:
    """The operator of the suite. Raises UsageError for one that it does not have."""
    request = SuiteRequest(suite=options.suite, cache_dir=str(cache_dir().absolute()), is_trusted=options.is_trusted, operators=(options.operator,))
    suite = open_suite(request)
    member = suite.member(options.operator)
    if member is None:
        raise UsageError(f"suite {suite.name} has no operator {options.operator!r}", action="check --op")
    return member.operator


def _task(operator: Operator) -> Task:
    golden = Path(operator.golden_path)
    description = golden.with_name("desc.md")
    text = description.read_text("utf-8") if description.is_file() else ""
    return Task(operator.name, operator.schema_text, text, golden.read_text("utf-8"))


def _created(options: EvolveOptions) -> RunStore:
    start = _start_of(options)
    folder = Path(options.out) if options.out else Path("runs") / f"{KIND}-{options.operator}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    head = Head(KIND, options.operator, options.suite, options.target, options.seed, _fixed(options), time(), piton.__version__)
    store = RunStore.create(folder, head)
    store.add(start)
    return store


def _start_of(options: EvolveOptions) -> NewVariant:
    """The submission as the first variant. Raises UsageError for none."""
    source = Path(options.submission).expanduser()
    if not source.is_dir():
        raise UsageError("no submission to start from", expected="a folder", found=f"no folder at {source}", action="`piton new` writes one to start from")
    return NewVariant(read_tree(source), 0, "start", note=f"from {source.name}")


def _resumed(options: EvolveOptions) -> RunStore:
    """The run in --out. Raises UsageError when it was begun with other options that decide results."""
    if not options.out:
        raise UsageError("--resume needs the run's folder", action="give it with --out")
    store = RunStore.open(Path(options.out), writes=True)
    begun, now = dict(store.head.options), _fixed(options)
    differing = [name for name in _FIXED if begun.get(name) != now[name]]
    if differing:
        store.close()
        name = differing[0]
        raise UsageError("the run was begun with other options", expected=f"{name} {begun.get(name)!r}", found=f"{now[name]!r}", where=options.out)
    if not store.variants():  # killed, or out of room, before its start was written
        store.add(_start_of(options))
    return store


def _fixed(options: EvolveOptions) -> dict[str, Any]:
    values = {name: getattr(options, name) for name in _FIXED}
    return {**values, "cases": list(options.cases)}


def _accounts(store: RunStore, limits: Limits) -> tuple[Budget, Ledger]:
    """A budget that goes on from what the run has taken so far."""
    ledger = Ledger(store.path)
    device_s = sum(item.measured.seconds for item in store.variants() if item.measured)
    elapsed = max((float(event.data["seconds"]) for event in store.events("elapsed")), default=0.0)
    spent = replace(ledger.spent(), device_s=device_s)
    return Budget(limits, spent, elapsed), ledger


def _request(options: EvolveOptions) -> EvaluationRequest:
    return EvaluationRequest(
        submission="",
        run_dir="",
        cache_dir=str(cache_dir().absolute()),
        suite=options.suite,
        target=options.target,
        operators=(options.operator,),
        cases=options.cases,
        max_elements=options.max_elements,
        is_fast=options.is_fast,
        is_trusted=options.is_trusted,
    )


@contextmanager
def _opened(options: EvolveOptions) -> Iterator[Evaluate]:
    """Piton's evaluation with the target and the sandbox opened once for all candidates."""
    from piton.evaluate.pipeline import evaluate_on, named_target
    from piton.evaluate.sandbox import make_runner

    target = named_target(options.target, str(cache_dir().absolute()), lambda text: Console(stderr=True).print(visible(text), markup=False, highlight=False))
    runner = make_runner()
    try:
        yield lambda request: evaluate_on(target, runner, request)
    finally:
        runner.close()
