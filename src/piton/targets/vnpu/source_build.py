"""Compiles and links of one tree of sources, with what the compiler said about them."""

from __future__ import annotations

import re
from pathlib import Path

from piton.core.execution import Diagnostic
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.vnpu.compiler import STEP_LIMITS, Step, StepResult, Workshop
from piton.targets.vnpu.diagnostics import Message, judge_compile, judge_link, parse_compiler
from piton.targets.vnpu.own import OwnParts
from piton.targets.vnpu.sources import SourceTree
from piton.targets.vnpu.steps import EXPECTED_ON_DEVICE, OperatorSteps, Unit, unexpected


class SourceBuild:
    """Compiles and links of one tree of sources, with what the compiler said about them."""

    def __init__(self, own: OwnParts, workshop: Workshop, tree: SourceTree) -> None:
        self.own = own
        self._workshop = workshop
        self.tree = tree
        self.diagnostics: list[Diagnostic] = []
        """What a user wants to read."""
        self.is_cached = True
        """Nothing had to be made."""

    def compile(self, steps: OperatorSteps) -> tuple[Outcome | None, dict[str, list[str]]]:
        """The objects by side, or the failure that counts."""
        objects: dict[str, list[str]] = {"host": [], "device": []}
        units = steps.units()
        failure, paths = self.compile_units(units, objects)
        later = [(unit, path) for unit, path in zip(units, paths, strict=True) if unit.has_device_pass_to_come]
        if failure or not later:
            return failure, objects
        failure, _ = self.compile_units([made for unit, path in later for made in steps.device_pass(unit, Path(path))], objects)
        return failure, objects

    def compile_units(self, units: list[Unit], objects: dict[str, list[str]]) -> tuple[Outcome | None, list[str]]:
        """The objects of some units, added to `objects` by side; in the order of the units besides."""
        results = self._workshop.make_all([unit.step for unit in units])
        failures = [self._note_compile(unit, result) for unit, result in zip(units, results, strict=True)]
        for unit, result in zip(units, results, strict=True):
            objects[unit.side].append(result.path)
        return next((failure for failure in failures if failure), None), [result.path for result in results]

    def _note_compile(self, unit: Unit, result: StepResult) -> Outcome | None:
        self.is_cached = self.is_cached and result.is_cached
        messages = parse_compiler(result.output, self.tree.contains)
        shown = [message.diagnostic for message in messages if message.diagnostic.severity == "error" or self.tree.contains(message.diagnostic.file)]
        self.diagnostics += [item for item in shown if item not in self.diagnostics]
        if result.path or result.is_skipped:
            return None
        if result.is_timed_out:
            return _timeout(unit.source)
        judged = judge_compile(messages, self.tree.line, self.own.known_names, result.output)
        return self._host_code(messages, unit.host_names) or judged

    def _host_code(self, messages: list[Message], host_names: frozenset[str]) -> Outcome | None:
        """The outcome when device code uses a function that was left out of the device pass."""
        error = next((message for message in messages if message.diagnostic.severity == "error"), None)
        if error is None or not error.is_own:
            return None
        line = self.tree.line(error.diagnostic.file, error.diagnostic.line)
        word = re.match(r"\w+", line[max(error.column - 1, 0) :])
        if word is None or word[0] not in host_names:
            return None
        text = f"{word[0]} needs torch, which kernels do not have: device code can't use it"
        return outcome(Cause.COMPILE_ERROR, text, place=Place(file=error.diagnostic.file, line=error.diagnostic.line))

    def link(self, step: Step, expected: re.Pattern[str]) -> tuple[Outcome | None, str]:
        """The linked file, or the failure; symbols that match `expected` are provided at run time."""
        result = self._workshop.make(step)
        self.is_cached = self.is_cached and result.is_cached
        if result.is_timed_out:
            return _timeout(step.name), ""
        if not result.path:
            missing = unexpected(result.output, expected)
            return judge_link(missing, result.output, self.tree.contains, is_device=expected is EXPECTED_ON_DEVICE), ""
        return None, result.path


def _timeout(what: str) -> Outcome:
    return outcome(Cause.BUILD_TIMEOUT, f"{what} was not done after {STEP_LIMITS.wall_s:.0f} s", place=Place(file=what), limit_s=STEP_LIMITS.wall_s)
