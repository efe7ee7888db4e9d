"""A small foreign suite and scripted submissions for the null target; what the pipeline is tested with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

import piton as piton_package

CASES = 4
QUOTED_T_HW_US = 5.0
QUOTED_T_BASELINE_US = 20.0
_PROTO = """
operator:
  name: {title}
  category: Elementwise
  difficulty: L1
  formula: y = f(x)
  description: a function for tests
  shape_support: any
  attrs: []
  inputs:
  - {{name: x, description: input, dtype: [float16, float32, bfloat16]}}
  outputs:
  - {{name: y, description: output, dtype: [float16, float32, bfloat16]}}
  schema: {name}(Tensor x) -> Tensor y
"""
_CASES = """operator,case_id,input_shape,dtype,attrs,value_range,note
{title},1,"[[64, 33]]",['float16'],{{}},"[-1, 1]",
{title},2,"[[128, 65]]",['float32'],{{}},"[-2, 2]",
{title},3,"[[7, 11]]",['bfloat16'],{{}},"[-1, 1]",
{title},4,"[[301]]",['float32'],{{}},"[-1, 1]",
"""


def make_suite(root: Path, goldens: dict[str, str] | None = None) -> Path:
    """A suite with the operators `grow` and `twice`; `goldens` replaces the body of a golden."""
    bodies = {"grow": "return torch.exp(x)", "twice": "return 2 * x", **(goldens or {})}
    for name, body in bodies.items():
        folder = root / "level1" / name
        folder.mkdir(parents=True)
        (folder / "proto.yaml").write_text(_PROTO.format(title=name.capitalize(), name=name))
        (folder / "cases.csv").write_text(_CASES.format(title=name.capitalize()))
        (folder / "golden.py").write_text(f"import torch\n\n\ndef {name}(x):\n    {body}\n")
        (folder / "desc.md").write_text(f"# {name}\n")
    quoted = {str(number): {"baseline_perf_us": QUOTED_T_BASELINE_US, "t_hw_us": QUOTED_T_HW_US} for number in range(1, CASES + 1)}
    (root / "metadata").mkdir()
    (root / "metadata" / "null.json").write_text(json.dumps({"level1": dict.fromkeys(bodies, quoted)}))
    return root


def make_submission(root: Path, script: dict[str, object] | None = None, operators: tuple[str, ...] = ("grow", "twice")) -> Path:
    """A submission in the direct-launch layout whose `null.yaml` is `script` (by operator), on top of calls that are right."""
    right = {"grow": {"default": {"compute": "exp"}}, "twice": {"default": {"compute": "double"}}}
    for name in operators:
        for folder in ("op_kernel", "op_plugin"):
            place = root / "csrc" / "ops" / name / folder
            place.mkdir(parents=True)
            (place / f"{name}.cpp").write_text("// played by the null target\n")
    (root / "cann_bench").mkdir()
    (root / "cann_bench" / "__init__.py").write_text("")
    scripted = {name: {**right[name], **(script or {}).get(name, {})} for name in operators}
    (root / "null.yaml").write_text(yaml.safe_dump({"operators": scripted}))
    return root


def command(*arguments: str | Path) -> list[str]:
    """A command line of Piton in a process of its own."""
    return [sys.executable, "-m", "piton.cli.main", *map(str, arguments)]


def environment(root: Path) -> dict[str, str]:
    """The environment of such a process: everything it keeps lies under `root`."""
    source = str(Path(piton_package.__file__).resolve().parents[1])
    return {**os.environ, "PYTHONPATH": source, "PITON_CACHE_DIR": str(root / "cache"), "COLUMNS": "160", "NO_COLOR": "1"}


def piton(root: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Piton to its end in the folder `root`."""
    return subprocess.run(command(*arguments), cwd=root, env=environment(root), capture_output=True, text=True, timeout=120, check=False)
