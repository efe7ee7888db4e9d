"""Builds an operator project: host code first, which then says what else there is to compile.

Approach: the host code is compiled and linked to a program that describes it; that program runs in the sandbox of a build. From the description entries and a
binding are generated (project.py), written beside the sources and compiled like any other.
"""

from __future__ import annotations

import json

from pydantic import ValidationError

from piton.core.operator import Operator
from piton.core.protocols import Limits, ProcessJob, Role, Runner
from piton.core.submission import Manifest, OperatorSources
from piton.core.verdict import Cause, Outcome, Place, outcome
from piton.targets.vnpu.project import BINDING, DESCRIBER, DESCRIBER_TEXT, Sources, depends_on_row, find_kernel, keys_apart
from piton.targets.vnpu.project_described import Project
from piton.targets.vnpu.project_match import NoMatchError, match
from piton.targets.vnpu.source_build import SourceBuild
from piton.targets.vnpu.sources import EXTENSION, add_files
from piton.targets.vnpu.steps import NOTHING, OperatorSteps

_LIMITS = Limits(wall_s=30.0, cpu_s=20, memory_bytes=2 << 30, processes=16)
"""Of the describing program, which takes milliseconds."""
Objects = dict[str, list[str]]


class ProjectBuild:
    """One operator project."""

    def __init__(self, job: SourceBuild, steps: OperatorSteps, manifest: Manifest, sources: OperatorSources) -> None:
        self._job = job
        self._manifest = manifest
        self._sources = sources
        self._steps = steps
        self._tree = job.tree

    def compile(self, operator: Operator, runner: Runner) -> tuple[Outcome | None, Objects]:
        """The objects by side, or the failure that counts."""
        objects: Objects = {"host": [], "device": []}
        self._add({DESCRIBER: DESCRIBER_TEXT})
        failure, _ = self._job.compile_units([self._steps.project_host(path) for path in self._sources.hosts], objects)
        if failure:
            return failure, objects
        failure, project = self._describe(objects["host"], runner)
        if project is None:
            return failure, objects
        failure = self._generate(project, operator)
        if failure:
            return failure, objects
        binding = [self._steps.project_binding(BINDING), *([self._steps.project_host(EXTENSION)] if self._tree.has_extension else [])]
        paths = [item.path for item in self._tree.files if item.path.startswith("piton_entry_")]
        entries = [unit for path in paths for unit in self._steps.project_entry(path)]
        failure, _ = self._job.compile_units([*binding, *entries], objects)
        return failure, objects

    def _add(self, texts: dict[str, str]) -> None:
        self._tree = add_files(self._tree, texts)
        self._steps = OperatorSteps(self._job.own, self._manifest, self._sources, self._tree)

    def _describe(self, host_objects: list[str], runner: Runner) -> tuple[Outcome | None, Project | None]:
        """Run the host code's registration."""
        made: Objects = {"host": [], "device": []}
        failure, _ = self._job.compile_units([self._steps.project_frame(DESCRIBER)], made)
        if failure:
            return failure, None
        failure, program = self._job.link(self._steps.project_describer([*host_objects, *made["host"]]), NOTHING)
        if failure:
            return failure, None
        readable = (program,)
        result = runner.run(ProcessJob(role=Role.BUILD, argv=(program,), cwd=str(self._tree.root), readable=(*readable, str(self._tree.root)), limits=_LIMITS))
        if result.exit_code != 0:
            return self._refused(f"the host code ended before it had registered the operator: {(result.stderr or 'no message').strip()[-500:]}"), None
        try:
            return None, Project.model_validate(json.loads(result.stdout))
        except (ValueError, ValidationError, RecursionError) as error:
            return self._refused(f"the definition of the operator cannot be read: {str(error)[:300]}"), None

    def _generate(self, project: Project, operator: Operator) -> Outcome | None:
        described = project.find(operator.name)
        if described is None:
            found = ", ".join(item.type for item in project.operators) or "none"
            return self._refused(f"op_host defines no operator {operator.name}: OP_ADD(...) found for {found}", Cause.OPERATOR_MISSING)
        try:
            matched = match(described, operator)
        except NoMatchError as error:
            place = Place(file=described.file if self._tree.contains(described.file) else "", line=described.line)
            return outcome(Cause.LOAD_FAILED, str(error), place=place)
        texts = [self._tree.text(path) for path in self._sources.kernels]
        kernel = find_kernel(texts, described)
        if kernel is None:
            return self._refused(f"op_kernel has no kernel for {described.type}: a __global__ function of its name in snake case", Cause.OPERATOR_MISSING)
        seen = {path for source in self._sources.kernels for path in self._tree.included_by(source)}
        everything = [self._tree.text(path) for path in sorted(seen)]
        sources = Sources(described, project, kernel, per_row=depends_on_row(everything), keys=keys_apart(everything))
        self._add({**sources.entries(self._sources.kernels), BINDING: sources.binding(operator, self._manifest.package, matched)})
        return None

    def _refused(self, text: str, cause: Cause = Cause.COMPILE_ERROR) -> Outcome:
        return outcome(cause, text, place=Place(file=self._sources.hosts[0]))
