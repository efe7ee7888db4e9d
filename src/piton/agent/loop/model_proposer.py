"""A proposer that asks a model, and turns its edits into a candidate.

One prompt says everything: the operator as its suite describes it, how submissions look, the candidate's files with what its evaluation said, what to try, what
others did. Edits that do not come to their place are told to the model once; what still does not is refused, and counted.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, replace

from piton.agent.candidate import Applied, EditResult, Tree, TreeError, apply_edits, parse_edits
from piton.agent.loop.proposals import Proposal, Proposed, Refused, Shown
from piton.agent.model import Finish, Message, Model, ModelError, Request, Sampling, Speaker
from piton.agent.model.errors import ContextOverflowError, NoKeyError, QuotaError, RefusedKeyError, UnknownModelError
from piton.agent.search import Action

ENDS_A_RUN = (NoKeyError, RefusedKeyError, QuotaError, UnknownModelError)
"""Errors that no further call would not meet."""
_SHORTER = (None, 4000, 1200)
"""Characters that each inspiration may have: after an overflow the next call shows less."""

_RULES = """You write kernels in Ascend C for the Ascend 910B. A submission holds device code, host tiling and a torch binding; you change its files.

Answer with edits only, and one sentence before them that says what they do. An edit is either a block

path/of/file.cpp
<<<<<<< SEARCH
lines as they are in the file, enough to be in it once
=======
lines to put there
>>>>>>> REPLACE

or a whole file, with its path behind the language of the fence:

```cpp path/of/file.cpp
...
```

What counts is an evaluation on many shapes and element types, odd sizes among them: every output against a float64 reference, hazards between pipes, and time.
Do not write code that looks at case sizes to choose precomputed results, and do not leave work to the host or to torch operators."""

_GOALS = {
    Action.FRESH: "Write this operator; the files below are a start.",
    Action.REPAIR: "Mend what the evaluation found, without making it slower.",
    Action.IMPROVE: "Make it faster and keep it right.",
    Action.CROSS: "Join what the two candidates do well.",
}


@dataclass(frozen=True)
class Task:
    """The operator, as prompts tell it."""

    operator: str
    schema: str
    description: str
    """desc.md."""
    golden: str
    """golden.py."""


class ModelProposer:
    """Makes candidates with a model."""

    def __init__(self, model: Model, task: Task, sampling: Sampling) -> None:
        self._model = model
        self._task = task
        self._sampling = sampling
        self._edits: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's."""
        return self._model.name

    @property
    def edits(self) -> dict[str, int]:
        """How many edits came to their place in which way, over all proposals."""
        with self._lock:
            return dict(self._edits)

    def propose(self, proposal: Proposal) -> Proposed | Refused:
        """A candidate from the model's edits; edits that failed are asked for once more."""
        prompt = ""
        for most in _SHORTER:
            prompt = self._prompt(proposal, most)
            try:
                return self._with_edits(proposal, prompt)
            except ContextOverflowError as error:
                if most == _SHORTER[-1]:
                    return Refused(error.problem, error.kind, prompt)
            except ENDS_A_RUN:
                raise
            except ModelError as error:
                return Refused(f"{error.problem}: {error.found}", error.kind, prompt)
        raise AssertionError("the last length has returned")

    def _with_edits(self, proposal: Proposal, prompt: str) -> Proposed | Refused:
        messages = [Message(Speaker.SYSTEM, _RULES), Message(Speaker.USER, prompt)]
        tree = proposal.parents[0].tree
        counts: Counter[str] = Counter()
        answers: list[str] = []
        reason = ""
        for purpose in ("propose", "place edits"):
            sampling = replace(self._sampling, seed=None if self._sampling.seed is None else self._sampling.seed + proposal.seed)
            answer = self._model.ask(Request(tuple(messages), sampling, purpose))
            answers.append(answer.text)
            tree, results, problem = _applied(tree, answer.text)
            counts.update(result.applied.value for result in results)
            with self._lock:
                self._edits.update(result.applied.value for result in results)
            failed = [result for result in results if not result.applied.is_done]
            if results and not failed and not problem:
                return Proposed(tree, prompt, "\n\n".join(answers), edits=dict(counts))
            reason = problem or _complaint(failed, was_cut=answer.finish is Finish.CUT)
            messages += [Message(Speaker.ASSISTANT, answer.text), Message(Speaker.USER, f"{reason}\n\nAnswer with the edits that are still missing only.")]
        return Refused(reason, "edit_failed" if counts else "no_edit", prompt, "\n\n".join(answers))

    def _prompt(self, proposal: Proposal, most: int | None) -> str:
        task = self._task
        parts = [
            f"# Operator {task.operator}\n\n{task.schema}\n\n{task.description}\n\nIts reference, in torch:\n\n```python\n{task.golden}\n```",
            f"# What to do\n\n{_GOALS[proposal.step.action]}",
        ]
        if proposal.strategy is not None:
            parts.append(f"Follow this strategy: {proposal.strategy.title}. {proposal.strategy.advice}")
        if proposal.hints:
            parts.append("# Hints from the profile\n\n" + "\n".join(f"- {hint.text}" for hint in proposal.hints))
        parts += [_candidate("The candidate to change" if place == 0 else "The other candidate", shown, None) for place, shown in enumerate(proposal.parents)]
        parts += [_candidate(f"Another candidate, {tier} among those that are right", shown, most) for tier, shown in proposal.inspirations]
        return "\n\n".join(parts)


def _applied(tree: Tree, answer: str) -> tuple[Tree, tuple[EditResult, ...], str]:
    """The tree with the answer's edits, what became of them, and a problem of the whole."""
    try:
        changed, results = apply_edits(tree, parse_edits(answer))
    except TreeError as error:
        return tree, (), f"{error.problem}: {error.found}"
    return changed, results, ""


def _complaint(failed: list[EditResult], *, was_cut: bool) -> str:
    """What is wrong with the edits of an answer."""
    if not failed:
        return "The answer was cut off before an edit ended." if was_cut else "The answer holds no edit of the form that was asked for."
    lines = [f"- {result.edit.path or '(no path)'}: {result.applied.value}: {result.detail}" for result in failed[:4]]
    return "These edits could not be applied:\n" + "\n".join(lines)


def _candidate(title: str, shown: Shown, most: int | None) -> str:
    """A candidate's files with what its evaluation said; cut to `most` characters of files."""
    ratio = "" if shown.ratio is None else f" (T_cand is {shown.ratio:.2f} T_HW)"
    files = "\n\n".join(f"{path}\n```\n{text}\n```" for path, text in sorted(shown.tree.files.items()) if not path.endswith((".md", ".txt")))
    if most is not None and len(files) > most:
        files = files[:most] + "\n(cut)"
    return f"# {title}{ratio}\n\n{shown.feedback}\n\n{files}"


def edits_failed(counts: dict[str, int]) -> float | None:
    """The share of edits that did not come to their place; None of none."""
    total = sum(counts.values())
    return sum(counts.get(item.value, 0) for item in Applied if not item.is_done) / total if total else None
