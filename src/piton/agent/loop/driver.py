"""The loop of a run.

Problem: proposals and measurements take long, fail in many ways, and the process may be killed between any two of them.
Approach: rounds. A round asks the controller for as many steps as run side by side (those before count as waiting), proposes them in parallel, writes what is
new to the store, and measures what waits. All that decides the next round is in the store, so that a resumed run first measures what waits and then goes on
with the round that would have come. Budgets, a target, headroom that is used up, the controller and the user end it, each with its reason.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from piton.agent.analysis import Hint, Strategy, assign, hints_of, profile_of, signatures_of, stop_reason
from piton.agent.loop.evaluation import Evaluator
from piton.agent.loop.feedback import feedback_of
from piton.agent.loop.proposals import Proposal, Proposed, Proposer, Refused, Shown
from piton.agent.loop.side_by_side import side_by_side
from piton.agent.model import Budget, BudgetStopError
from piton.agent.runs import NewVariant, RunStore, State, Variant
from piton.agent.search import Action, Controller, Finished, Step
from piton.agent.search.steps import Asked, best, is_right, ratio_of
from piton.core.report import OperatorResult, Report

_EMPTY_ROUNDS = 3
"""Rounds in a row that bring nothing new, after which a run ends."""


@dataclass(frozen=True)
class Plan:
    """How long a run goes on, and how wide."""

    rounds: int = 20
    parallel: int = 3
    """Candidates of a round."""
    lanes: int = 1
    """Measurements at the same time."""
    tolerance: float = 0.1
    """Of headroom (analysis.stopping)."""
    target_gain: float | None = None
    """Times as fast as the start; None: as fast as it gets."""


class Driver:
    """One run; `events` hears what happens, as (kind, text)."""

    def __init__(self, store: RunStore, controller: Controller, proposer: Proposer, evaluator: Evaluator, budget: Budget) -> None:
        self._store = store
        self._controller = controller
        self._proposer = proposer
        self._evaluator = evaluator
        self._budget = budget
        self.events: Callable[[str, str], None] = lambda kind, text: None

    def run(self, plan: Plan) -> str:
        """Go on until something ends it; the reason. KeyboardInterrupt passes through, with the run left as stopped."""
        self._store.set_state(State.RUNNING)
        try:
            reason = self._rounds(plan)
        except BudgetStopError as stop:
            return self._ended(State.STOPPED, f"{stop.problem}: {stop.found}")
        except KeyboardInterrupt:
            self._ended(State.STOPPED, "stopped by the user")
            raise
        except BaseException as error:
            self._ended(State.STOPPED, str(error).splitlines()[0] if str(error) else type(error).__name__)
            raise
        return self._ended(State.FINISHED, reason)

    def _rounds(self, plan: Plan) -> str:
        self._measure_waiting(plan)
        empty = 0
        while True:
            reason = self._end(plan)
            if reason:
                return reason
            self._budget.check()
            number = 1 + max((item.round for item in self._store.variants()), default=0) + empty
            if number > plan.rounds:
                return f"all {plan.rounds} rounds are done"
            steps = self._steps(plan.parallel)
            if isinstance(steps, Finished):
                return steps.reason
            try:
                added = self._propose(number, steps)
            except BudgetStopError:
                self._measure_waiting(plan)
                raise
            self._measure_waiting(plan)
            empty = 0 if added else empty + 1
            if empty >= _EMPTY_ROUNDS:
                return f"{empty} rounds in a row brought nothing new"

    def _end(self, plan: Plan) -> str:
        """Why the best variant so far ends the run; empty when it does not."""
        variants = self._store.variants()
        fastest = best(variants)
        if fastest is None:
            return ""
        start = variants[0]
        if plan.target_gain and is_right(start) and ratio_of(start) / ratio_of(fastest) >= plan.target_gain:
            return f"variant {fastest.id} is {ratio_of(start) / ratio_of(fastest):.2f} times as fast as the start, asked were {plan.target_gain:g}"
        return stop_reason(profile_of(self._result(fastest.id)), plan.tolerance)

    def _steps(self, count: int) -> list[Step] | Finished:
        """The steps of a round, each asked with those before it waiting."""
        variants = list(self._store.variants())
        steps: list[Step] = []
        for _ in range(count):
            step = self._controller.ask(Asked(tuple(variants), self._store.head.seed))
            if isinstance(step, Finished):
                return steps or step
            steps.append(step)
            variants.append(Variant(variants[-1].id + 1, 0, "model", step.parents, "", {}, "", step.reason, 0.0, None))
        return steps

    def _propose(self, number: int, steps: Sequence[Step]) -> int:
        """Propose a round's candidates and write those that are new; how many. What ends the run ends it when the others' answers are written."""
        proposals = self._proposals(number, steps)
        futures = side_by_side(self._proposer.propose, proposals)
        failed = [error for future in futures if (error := future.exception()) is not None]
        answered = [(proposal, future.result()) for proposal, future in zip(proposals, futures, strict=True) if future.exception() is None]
        added = sum(self._keep(number, proposal, made) for proposal, made in answered)
        if failed:
            raise next((error for error in failed if not isinstance(error, BudgetStopError)), failed[0])
        return added

    def _proposals(self, number: int, steps: Sequence[Step]) -> list[Proposal]:
        hints = self._hints(number)
        dice = random.Random(f"{self._store.head.seed}/{number}")
        strategies = self._strategies(steps, dice)
        return [
            Proposal(
                step=step,
                parents=tuple(self._shown(parent) for parent in step.parents),
                inspirations=tuple((item.tier.value, self._shown(item.variant)) for item in step.inspirations),
                strategy=strategy,
                hints=hints if step.action in (Action.IMPROVE, Action.CROSS) else (),
                seed=dice.randrange(2**31),
            )
            for step, strategy in zip(steps, strategies, strict=True)
        ]

    def _strategies(self, steps: Sequence[Step], dice: random.Random) -> list[Strategy | None]:
        """A different one for every step that improves, against what its parent loses time to."""
        chosen: list[Strategy] = []
        found: list[Strategy | None] = []
        for step in steps:
            parent = next((item for item in self._store.variants() if item.id == step.parents[0]), None)
            if step.action not in (Action.IMPROVE, Action.CROSS) or parent is None or not is_right(parent):
                found.append(None)
                continue
            used = [item.strategy for item in self._store.variants() if item.parents[:1] == (parent.id,)]
            pool = assign(signatures_of(profile_of(self._result(parent.id))), len(steps) + len(chosen), dice, used)
            pick = next((item for item in pool if item not in chosen), None)
            chosen += [pick] if pick else []
            found.append(pick)
        return found

    def _hints(self, number: int) -> tuple[Hint, ...]:
        """What the profile of the best variant advises; written down, so that a review can look at it."""
        fastest = best(self._store.variants())
        if fastest is None:
            return ()
        hints = hints_of(profile_of(self._result(fastest.id)), self._store.tree(fastest.id))
        for hint in hints:
            self._store.note("hint", round=number, variant=fastest.id, strategy=hint.strategy, ratio=ratio_of(fastest), evidence=hint.evidence)
        return hints

    def _keep(self, number: int, proposal: Proposal, made: Proposed | Refused) -> bool:
        """Write a candidate that is new; a refused one and a duplicate are events."""
        about = {"round": number, "action": proposal.step.action.value, "parents": list(proposal.step.parents)}
        if isinstance(made, Refused):
            self._store.note(made.kind, **about, reason=made.reason, prompt=made.prompt, answer=made.answer)
            self.events(made.kind, made.reason)
            return False
        problem = self._evaluator.refuses(made.tree)
        if problem:
            self._store.note("no_submission", **about, reason=problem, prompt=made.prompt, answer=made.answer)
            self.events("no_submission", problem)
            return False
        strategy = proposal.strategy.id if proposal.strategy else ""
        new = NewVariant(made.tree, number, self._proposer.name, proposal.step.parents, strategy, made.genes, made.prompt, made.answer, proposal.step.reason)
        variant = self._store.add(new)
        if made.edits:
            self._store.note("edits", **about, counts=dict(made.edits))
        if variant is None:
            twin = self._store.find(made.tree.source_digest)
            self._store.note("duplicate", **about, of=twin.id if twin else 0)
            self.events("duplicate", f"the same as variant {twin.id if twin else 0}: not evaluated")
            return False
        self.events("proposed", f"variant {variant.id}: {proposal.step.reason}")
        return True

    def _measure_waiting(self, plan: Plan) -> None:
        """Measure what waits; what is done when a stop comes is kept."""
        waiting = self._store.waiting()
        if not waiting:
            return
        with ThreadPoolExecutor(max_workers=max(plan.lanes, 1)) as pool:
            futures = [pool.submit(self._measure, item) for item in waiting]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                for future in futures:
                    future.cancel()
                raise

    def _measure(self, variant: Variant) -> None:
        measured = self._evaluator.measure(self._store.tree(variant.id))
        self._store.measure(variant.id, measured)
        ratio = "" if measured.ratio is None or not measured.is_right else f", {measured.ratio:.3f} T_HW"
        self.events("measured", f"variant {variant.id}: {measured.summary}{ratio}")

    def _shown(self, number: int) -> Shown:
        variant = next(item for item in self._store.variants() if item.id == number)
        feedback = feedback_of(self._result(number)) if variant.measured is not None else "It is not evaluated yet."
        ratio = ratio_of(variant) if is_right(variant) else None
        return Shown(number, self._store.tree(number), feedback, ratio, variant.genes)

    def _result(self, number: int) -> OperatorResult:
        """The operator's part of a measured variant's report."""
        report = Report.model_validate_json(self._store.report(number))
        return next(item for item in report.operators if item.operator == self._store.head.operator)

    def _ended(self, state: State, reason: str) -> str:
        self._store.set_state(state, reason)
        self.events(state.value, reason)
        return reason
