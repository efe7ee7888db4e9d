"""Broken submissions: the plain exp beside this file with one defect each, and the small suite they are judged on.

A defect is an exact replacement: the text it replaces has to occur once, so that a change of that kernel can't quietly make a broken submission whole.
Defects show in case 1 (float32) only, unless they break the build; cases 2 and 3 prove that the run went on.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUBJECT = Path(__file__).resolve().parent / "exp"
SUITE_OPERATOR = ROOT / "src" / "piton" / "suites" / "piton" / "level1" / "exp"
KERNEL = "csrc/ops/exp/op_kernel/exp_kernel.cpp"
PLUGIN = "csrc/ops/exp/op_plugin/exp_plugin.cpp"
MARK = "/* defect */"
"""Stands in the line that a report has to name."""


@dataclass(frozen=True)
class Edit:
    """Replace `old`, which occurs exactly once in `path`, by `new`."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Case:
    """One row of the suite written by `write_suite`."""

    id: str
    shape: tuple[int, ...]
    dtype: str
    scale: float = 1.0
    note: str = ""


@dataclass(frozen=True)
class Broken:
    """A submission with one defect and what has to be reported for it."""

    name: str
    edits: tuple[Edit, ...]
    verdict: str
    cause: str
    numbers: tuple[str, ...] = ()
    """Names of figures that the outcome has to carry."""
    file: str = ""
    """File that the place has to name; the line is that of MARK. Without one, output and index are the place."""
    breaks_build: bool = False


SMALL_CASES = (Case("1", (70_001,), "float32"), Case("2", (4099,), "float16"), Case("3", (3, 1021), "bfloat16"))

BROKEN = (
    Broken(
        name="does_not_compile",
        edits=(Edit(KERNEL, "AscendC::Exp(y, x, count);", f"AscendC::Exp(y, x, cuont); {MARK}"),),
        verdict="build_failed",
        cause="compile_error",
        numbers=("errors",),
        file=KERNEL,
        breaks_build=True,
    ),
    Broken(
        name="wrong_by_little",
        edits=(Edit(KERNEL, "AscendC::Exp(y, x, count);", "AscendC::Exp(y, x, count);\n        AscendC::Muls(y, y, kIsFloat ? 1.01f : 1.0f, 1);"),),
        verdict="wrong_value",
        cause="max_error",
        numbers=("output", "worst_index", "positions", "elements", "max_error", "max_bound", "tau"),
    ),
    Broken(
        name="v_to_mte3_order_removed",
        edits=(
            Edit(KERNEL, "out_.EnQue(y);", "if (kIsFloat) { unordered_ = y; } else { out_.EnQue(y); }"),
            Edit(KERNEL, "auto y = out_.template DeQue<T>();", "auto y = kIsFloat ? unordered_ : out_.template DeQue<T>();"),
            Edit(KERNEL, "AscendC::DataCopyPad(y_[start], y, ", f"AscendC::DataCopyPad(y_[start], y, {MARK} "),
            Edit(KERNEL, "    int64_t length_;\n", "    AscendC::LocalTensor<T> unordered_;\n    int64_t length_;\n"),
        ),
        verdict="hazard",
        cause="missing_sync",
        numbers=("begin", "end", "overlap_bytes", "earlier_line", "earlier_pipe", "later_pipe"),
        file=KERNEL,
    ),
    Broken(
        name="ub_overflow",
        edits=(Edit(KERNEL, "pipe_.InitBuffer(out_, kBuffers, perTile * sizeof(T));", f"pipe_.InitBuffer(out_, kBuffers, kIsFloat ? 131072 : 32768); {MARK}"),),
        verdict="resource_exceeded",
        cause="ub_overflow",
        numbers=("used_bytes", "available_bytes"),
        file=KERNEL,
    ),
    Broken(
        name="endless_device_loop",
        edits=(
            Edit(
                KERNEL,
                "        CopyIn(0);\n",
                f"        volatile bool isStuck = kIsFloat;\n        while (isStuck) {{ {MARK}\n        }}\n        CopyIn(0);\n",
            ),
        ),
        verdict="timed_out",
        cause="device_budget",
        numbers=("used_cycles", "budget_cycles", "instructions"),
        file=KERNEL,
    ),
    Broken(
        name="host_crash",
        edits=(
            Edit(
                PLUGIN,
                "auto y = at::empty_like(x);\n    const",
                f"auto y = at::empty_like(x);\n    volatile int *nowhere = nullptr;\n    if (x.scalar_type() == at::kFloat) *nowhere = 1; {MARK}\n    const",
            ),
        ),
        verdict="crashed",
        cause="host_signal",
        numbers=("signal", "fault_address"),
        file=PLUGIN,
    ),
)
"""The six of the acceptance: six different verdicts."""


DEVICE_FAULTS = (
    Edit(
        KERNEL,
        "        CopyIn(0);\n",
        "        if (kIsFloat) {\n            *nowhere = 1; /* null */\n        }\n"
        "        if (!std::is_same_v<T, half>) {\n            reinterpret_cast<void (*)()>(const_cast<int *>(nowhere))(); /* call */\n        }\n"
        "        *(volatile __gm__ int16_t *)y_.GetPhyAddr() = 0; /* raw */\n        CopyIn(0);\n",
    ),
    Edit(KERNEL, "    int64_t length_;\n", "    volatile int *nowhere = nullptr;\n    int64_t length_;\n"),
)
"""Case 1 stores to nowhere, case 2 to global memory through a raw pointer, case 3 calls code that is not there."""


def write_submission(folder: Path, edits: tuple[Edit, ...], package: str | None = None) -> Path:
    """Copy the exp to `folder` and apply `edits`; `package` replaces the text of cann_bench/__init__.py."""
    shutil.copytree(SUBJECT, folder, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for edit in edits:
        path = folder / edit.path
        text = path.read_text()
        assert text.count(edit.old) == 1, f"{edit.path}: {edit.old!r} occurs {text.count(edit.old)} times, expected once"
        path.write_text(text.replace(edit.old, edit.new))
    if package is not None:
        (folder / "cann_bench" / "__init__.py").write_text(package)
    return folder


def marked_line(submission: Path, path: str, mark: str = MARK) -> int:
    """1-based number of the first line that carries `mark`."""
    lines = (submission / path).read_text().splitlines()
    return next(number for number, line in enumerate(lines, start=1) if mark in line)


def write_suite(folder: Path, cases: tuple[Case, ...]) -> Path:
    """A suite of one operator, Piton's exp, with these small cases; it counts as foreign, so evaluating it takes --trust."""
    operator = folder / "level1" / "exp"
    operator.mkdir(parents=True)
    shutil.copy(SUITE_OPERATOR / "golden.py", operator)
    proto = (SUITE_OPERATOR / "proto.yaml").read_text().split("  degenerate:")[0]
    (operator / "proto.yaml").write_text(proto)
    rows = ["operator,case_id,input_shape,dtype,attrs,value_range,note", *(_row(case) for case in cases)]
    (operator / "cases.csv").write_text("\n".join(rows) + "\n")
    _write_anchors(folder / "metadata", cases)
    return folder


def _write_anchors(folder: Path, cases: tuple[Case, ...]) -> None:
    """Quoted anchors: with a T_baseline known, an endless kernel is cut after a hundred times that instead of seconds of simulated time."""
    folder.mkdir()
    quoted = {case.id: {"baseline_perf_us": 20.0, "t_hw_us": 1.0} for case in cases}
    (folder / "910b2.json").write_text(json.dumps({"level1": {"exp": quoted}}))


def _row(case: Case) -> str:
    attributes = {"base": -1.0, "scale": case.scale, "shift": 0.0}
    cells = [json.dumps([list(case.shape)]), json.dumps([case.dtype]), json.dumps(attributes), json.dumps([[-1, 1]]), case.note]
    return ",".join(["Exp", case.id, *('"' + cell.replace('"', '""') + '"' for cell in cells)])
