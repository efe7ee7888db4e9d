"""Foreign tasks: what is found of other benchmarks without running anything, and what a describe step learned by running one in a sandbox.

A task of another benchmark is a module with a model, not a signature with cases. The adapter turns it into an Operator (docs/adr/0013): arguments of `forward`
become inputs or attributes, the model's parameters and buffers become further inputs, what `forward` returns becomes outputs.
"""

from __future__ import annotations

from enum import Enum

from pydantic import Field

from piton.core.case import Case
from piton.core.operator import AttrType, Frozen, Operator


class SuiteFormat(str, Enum):
    """Forms of suites that Piton reads; the values are what `--suite-format` takes."""

    CANN_BENCH = "cann-bench"
    """Four artifacts per operator (proto.yaml, cases.csv, golden.py, desc.md): Piton's own, CANN Bench and its bench_lab folders."""
    KERNELBENCH = "kernelbench"
    """level<n>/<number>_<name>.py with Model, get_inputs, get_init_inputs."""
    MULTIKERNELBENCH = "multikernelbench"
    """reference/<category>/<name>.py: the same module form, or get_input_groups with one JSON line per case."""
    NPUKERNELBENCH = "npukernelbench"
    """tasks/level<n>/<category>/<Name>/validation with module.py, prepare_inputs.py, test_cases.csv."""
    USER = "user"
    """A folder with suite.toml."""


class TaskForm(str, Enum):
    """How a task says what its inputs are."""

    MODULE = "module"
    """`get_inputs()` in the module: one case."""
    GROUPS = "groups"
    """`get_input_groups()` in the module, which reads a file beside it with one JSON line per case."""
    TABLE = "table"
    """`get_inputs(row)` in prepare_inputs.py, called with each row of test_cases.csv."""


class ForeignTask(Frozen):
    """One task as its files show it; nothing of it has run."""

    name: str
    """Name of the operator it becomes: its place in the benchmark in snake_case, such as `level1_19_relu`."""
    title: str
    """Its name in the benchmark."""
    level: int
    """0 where the benchmark has no levels."""
    category: str
    form: TaskForm
    folder: str
    files: tuple[str, ...]
    """Relative to `folder`; the first is the module with the model."""


class SizeBudget(Frozen):
    """How large a task may be before its sizes are halved (docs/adapters.md)."""

    memory_bytes: int = Field(default=8 << 30, ge=1 << 20)
    """Estimated peak of one golden run in float64."""
    work: float = Field(default=1e10, gt=0)
    """Estimated floating-point operations of one golden run: what one thread does in a few seconds."""


class StateTensor(Frozen):
    """A parameter, buffer or tensor attribute of the model that became an input."""

    path: str
    """Inside the model, such as `conv.weight`."""
    argument: str
    """Name of the input."""


class ScaledSize(Frozen):
    """One module-level size that was halved until the task fitted."""

    names: tuple[str, ...]
    """The names that one assignment gives this value."""
    before: int
    after: int


class TaskPlan(Frozen):
    """What the golden worker needs to run a described task again."""

    form: TaskForm
    module: str
    """File name of the module inside the task's folder."""
    arguments: tuple[str, ...]
    """Names of the arguments of `forward`, in order; one that no case gives anything for is None."""
    with_gradient: tuple[str, ...] = ()
    """Those that the task's own code marks for gradients: its `forward` differentiates."""
    attributes: dict[str, AttrType] = Field(default_factory=dict)
    """Those of them that are attributes, with their types."""
    state: tuple[StateTensor, ...] = ()
    scaled: tuple[ScaledSize, ...] = ()
    is_quiet: bool = False
    """Dropout is switched off, because the golden would be random with it."""


class TaskFacts(Frozen):
    """What the describe step learned; golden_path and golden_digest of the operator are filled in by who keeps it."""

    operator: Operator
    cases: tuple[Case, ...]
    plan: TaskPlan
    remarks: tuple[str, ...] = ()
    """What a reader has to know: scaled sizes, dropout switched off, cases left out."""
