"""A suite of one operator with small cases, which the kernel of `kernels/reference` solves: what the chaos tests evaluate."""

from __future__ import annotations

from pathlib import Path

_PROTO = """
operator:
  name: Exp
  category: Elementwise
  difficulty: L1
  formula: y = e^(x * scale + shift)
  description: a function for tests
  shape_support: any
  attrs:
  - {name: base, type: float, default: -1.0, description: base}
  - {name: scale, type: float, default: 1.0, description: factor}
  - {name: shift, type: float, default: 0.0, description: summand}
  inputs:
  - {name: x, description: input, dtype: [float16, float32, bfloat16]}
  outputs:
  - {name: y, description: output, dtype: [float16, float32, bfloat16]}
  schema: exp(Tensor x, float base=-1.0, float scale=1.0, float shift=0.0) -> Tensor y
"""
_GOLDEN = """import torch


def exp(x, base=-1.0, scale=1.0, shift=0.0):
    return torch.exp(x * scale + shift)
"""
SHAPES = ((64, 33), (128, 65), (7, 11), (301,), (32, 32), (5, 700), (1024,), (17, 4, 9))


def make_exp_suite(root: Path) -> Path:
    """Write it to `root`, a new folder."""
    folder = root / "level1" / "exp"
    folder.mkdir(parents=True)
    types = ("float16", "float32", "bfloat16")
    rows = [f'Exp,{number},"[{list(shape)}]",[\'{types[number % 3]}\'],{{}},"[-2, 2]",\n' for number, shape in enumerate(SHAPES, start=1)]
    (folder / "proto.yaml").write_text(_PROTO)
    (folder / "cases.csv").write_text("operator,case_id,input_shape,dtype,attrs,value_range,note\n" + "".join(rows))
    (folder / "golden.py").write_text(_GOLDEN)
    (folder / "desc.md").write_text("# exp\n")
    return root
