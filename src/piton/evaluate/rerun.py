"""The script of a reproducer: one command that evaluates one case (or one operator) of a run again."""

from __future__ import annotations

import os
import shlex
import sys

from piton.catalog import suite_names
from piton.core.foreign import SizeBudget
from piton.evaluate.policy import Bounds, EvaluationRequest

_TEMPLATE = """#!/bin/sh
# Evaluates {what} again: same submission, seed and options as the run that this folder lies in.
#   sh rerun.sh                       the run's own copy of the submission
#   SUBMISSION=FOLDER sh rerun.sh     another one, for example with the mistake mended
#   PITON_PYTHON=PROGRAM sh rerun.sh  a Python that has Piton
# Further options are handed on to `piton eval`. The new report lies in rerun/.
here=$(cd "$(dirname "$0")" && pwd) || exit 2
submission=${{SUBMISSION:-"$here/../../submission/{digest}"}}
exec "${{PITON_PYTHON:-{python}}}" -m piton.cli.main eval "$submission" {options} --out "$here/rerun" --overwrite "$@"
"""


def rerun_script(request: EvaluationRequest, submission_digest: str, operator: str, case_id: str) -> str:
    """Text of rerun.sh; an empty `case_id` means the whole operator (its build failed)."""
    what = f"case {ascii(case_id)[1:-1]} of {operator}" if case_id else operator
    options = [*_options(request), "--op", operator, *(("--case", f"{operator}/{case_id}") if case_id else ())]
    return _TEMPLATE.format(what=what, digest=submission_digest, python=_quoted(sys.executable), options=shlex.join(options))


def _quoted(path: str) -> str:
    """`path` as it may stand inside double quotes."""
    return "".join(f"\\{sign}" if sign in '\\"$`' else sign for sign in path)


def _options(request: EvaluationRequest) -> list[str]:
    """What decides a result, as options of `piton eval`."""
    suite = request.suite if request.suite in suite_names() else os.path.abspath(os.path.expanduser(request.suite))
    target = os.path.abspath(request.target) if request.target.endswith((".yaml", ".yml")) else request.target
    options = ["--suite", suite, "--target", target, "--seed", str(request.seed), "--trials", str(request.trials)]
    options += ["--profile", request.precision_profile, *_suite_options(request)]
    options += ["--accuracy", request.accuracy] if request.accuracy != "exact" else []
    options += ["--integrity", request.integrity] if request.integrity != "standard" else []
    if request.auto_sync is not None:
        options.append("--auto-sync" if request.auto_sync else "--no-auto-sync")
    options += ["--engine", request.engine] if request.engine != "in-process" else []
    options += ["--isolation", str(request.isolation)] if request.isolation else []
    deadline_s = request.bounds.host_deadline_s
    options += ["--host-deadline", repr(deadline_s)] if deadline_s != Bounds().host_deadline_s else []
    if request.hidden is not None:
        options += ["--hidden-key-file", os.path.abspath(request.hidden.key_file), "--hidden-count", str(request.hidden.count), "--reveal"]
    options += ["--baseline", os.path.abspath(request.baseline)] if request.baseline else []  # it decides when device code is cut
    return options + (["--trust"] if request.is_trusted else [])


def _suite_options(request: EvaluationRequest) -> list[str]:
    """How a suite of another form is read, as far as it was said."""
    budget, usual = request.suite_budget, SizeBudget()
    options = ["--suite-format", request.suite_format] if request.suite_format else []
    options += ["--suite-memory", repr(budget.memory_bytes / 2**30)] if budget.memory_bytes != usual.memory_bytes else []
    return options + (["--suite-work", repr(budget.work / 1e9)] if budget.work != usual.work else [])
