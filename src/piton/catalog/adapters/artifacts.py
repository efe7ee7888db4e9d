"""The folder that a described task is kept in: golden.py, desc.md, plan.json, facts.json, and the task's own files under task/."""

from __future__ import annotations

import shutil
from pathlib import Path

from pydantic import ValidationError

from piton.catalog.source import read_text
from piton.core.canonical import digest, digest_bytes
from piton.core.errors import FormatError
from piton.core.foreign import ForeignTask, SizeBudget, TaskFacts, TaskForm
from piton.core.operator import Operator
from piton.core.suite import SuiteOperator

FACTS, TASK, CASES = "facts.json", "task", "cases"
MAX_GROUPS = 1000
"""JSON lines of one task that are looked at; published tasks have 250 at most."""
_GOLDEN = '''"""The golden of {title}: written by Piton, which runs task/{module} as plan.json says (docs/adapters.md)."""

from piton.numerics.foreign.golden import make_golden

_golden = make_golden(__file__)
{name} = _golden.forward
get_input = _golden.get_input
'''


def task_key(task: ForeignTask, budget: SizeBudget, tools: object) -> str:
    """Name of the kept folder: everything that decides what is learned (the task's files, its name, the budget, and `tools`, what reads it)."""
    files = [[name, digest_bytes((Path(task.folder) / name).read_bytes())] for name in task.files]
    return digest([task.model_dump(mode="json", exclude={"folder"}), files, budget, tools])


def copy_task(task: ForeignTask, folder: Path) -> Path:
    """Copy the task's files to `folder`/task, one JSON line per case for a GROUPS task; returns that folder."""
    place = folder / TASK
    place.mkdir(parents=True)
    for name in task.files:
        shutil.copyfile(Path(task.folder) / name, place / name)
    if task.form is TaskForm.GROUPS:
        _split_cases(task, place)
    return place


def _split_cases(task: ForeignTask, place: Path) -> None:
    """The module reads the file beside it: each case gets a folder where that file has its line alone, so that only its tensors are made."""
    lines = [line for line in read_text(place / task.files[1]).splitlines() if line.strip()] if len(task.files) > 1 else [""]
    if not 0 < len(lines) <= MAX_GROUPS:
        raise FormatError("the file of cases has the wrong form", expected=f"1 to {MAX_GROUPS} lines", found=str(len(lines)), where=task.folder)
    for number, line in enumerate(lines, 1):
        case = place / CASES / str(number)
        case.mkdir(parents=True)
        for name in task.files[1:]:
            (case / name).write_text(f"{line}\n", encoding="utf-8")


def write_facts(task: ForeignTask, facts: TaskFacts, folder: Path) -> None:
    """Write what was learned beside task/."""
    plan = facts.plan.model_dump_json(indent=1)
    golden = _GOLDEN.format(title=task.title, module=facts.plan.module, name=task.name)
    (folder / "golden.py").write_text(golden, encoding="utf-8")
    (folder / "plan.json").write_text(plan, encoding="utf-8")
    (folder / "desc.md").write_text(_description(task, facts), encoding="utf-8")
    (folder / FACTS).write_text(facts.model_dump_json(), encoding="utf-8")


def read_member(task: ForeignTask, folder: Path) -> SuiteOperator | None:
    """The operator kept in `folder`, None when there is none or it is damaged."""
    try:
        facts = TaskFacts.model_validate_json((folder / FACTS).read_text(encoding="utf-8"))
        golden = _golden_digest(task, folder)
    except (OSError, ValidationError, ValueError):
        return None
    operator = facts.operator.model_copy(update={"golden_path": str(folder / "golden.py"), "golden_digest": golden})
    return SuiteOperator(operator=operator, cases=facts.cases, remarks=tuple(f"{operator.name}: {text}" for text in facts.remarks))


def _golden_digest(task: ForeignTask, folder: Path) -> str:
    names = ("golden.py", "plan.json", *(f"{TASK}/{name}" for name in task.files))
    return digest([[name, digest_bytes((folder / name).read_bytes())] for name in names])


def _description(task: ForeignTask, facts: TaskFacts) -> str:
    """What an implementer reads: where it comes from, how its arguments came about, and the defining code itself."""
    code = read_text(Path(task.folder) / task.files[0])
    lines = [f"# {task.title}", "", "Taken over from another benchmark; the model below defines it.", ""]
    lines += [
        *_input_lines(facts.operator, facts),
        "",
        "Inputs and parameters are drawn by the task's own code from the seed of the case. No T_HW and no thresholds are stated:",
    ]
    lines += ["T_HW is not known, and thresholds are the defaults of the precision standard.", ""]
    lines += [f"- {text}" for text in facts.remarks] + ([""] if facts.remarks else [])
    return "\n".join([*lines, "```python", code.rstrip(), "```", ""])


def _input_lines(operator: Operator, facts: TaskFacts) -> list[str]:
    paths = {item.argument: item.path for item in facts.plan.state}
    return [f"- `{item.name}`: {f'`{paths[item.name]}` of the model' if item.name in paths else 'argument of `forward`'}" for item in operator.inputs]
