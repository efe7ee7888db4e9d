"""Tiny imitations of other benchmarks' tasks, written for these tests: the forms are theirs, no line of code is."""

from __future__ import annotations

import json
from pathlib import Path

HEAD = "import torch\nimport torch.nn as nn\n\n"

EXP = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        return torch.exp(x)


rows = 4
width = columns = 3 * 5


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return []
"""
)

LAYER = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self, width, rate):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 4), nn.Dropout(rate))
        self.shift = torch.full((4,), 2.0)

    def forward(self, x, scale):
        return self.net(x) * scale + self.shift, [x, x]


batch = 8
width = 6


def get_inputs():
    return [torch.randn(batch, width), 0.5]


def get_init_inputs():
    return [width, 0.25]
"""
)

SCALED = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return (x.reshape(rows // 16, 16, -1, width) * self.weight).sum(dim=1)


rows = 64
depth = 4096
width = 512
unused = 1 << 20


def get_inputs():
    return [torch.rand(rows, depth, width)]


def get_init_inputs():
    return [width]
"""
)

GROUPS = (
    HEAD
    + """
import json
import os


class Model(nn.Module):
    def forward(self, x, offset: float = 0.0, mask=None):
        y = x + offset
        return y if mask is None else torch.where(mask, y, x)


def get_input_groups():
    path = os.path.join(os.path.dirname(__file__), "3_shift.json")
    groups = []
    for line in open(path):
        entry = json.loads(line)
        x = torch.randn(entry["shape"], dtype=getattr(torch, entry["dtype"]))
        mask = torch.ones(entry["shape"], dtype=torch.bool) if entry["mask"] else None
        groups.append([x, entry["offset"], mask])
    return groups


def get_init_inputs():
    return []
"""
)
GROUP_LINES = [
    {"shape": [3, 4], "dtype": "float16", "offset": 1, "mask": False},
    {"shape": [5], "dtype": "float32", "offset": 0.5, "mask": True},
    {"shape": [2], "dtype": "complex64", "offset": 0.5, "mask": False},
]

TABLE_MODULE = (
    HEAD
    + """
import torch_npu
from torch_npu.contrib import transfer_to_npu
from framework.utils import check_precision


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x, factor):
        return x * factor + self.size


class ModelNew(nn.Module):
    def forward(self, x, factor):
        import kernel_gen_ops
        return kernel_gen_ops.scale_add(x, factor)
"""
)
TABLE_PREPARE = """
import torch


def get_inputs(param, device=None):
    return torch.rand(eval(param["shape"]), device=device, dtype=getattr(torch, param["dtype"])), param["factor"]


def get_init_inputs(param, device=None):
    return [param["size"]]
"""
TABLE_ROWS = "case_id;shape;dtype;factor;size\n0;[2, 3];float32;1.5;3\n1;[7];float16;2;4\n"


def write_kernelbench(root: Path, **tasks: str) -> Path:
    """A checkout with these tasks in level 1, by default `1_Exp`."""
    folder = root / "KernelBench" / "level1"
    folder.mkdir(parents=True)
    for name, text in (tasks or {"1_Exp": EXP}).items():
        (folder / f"{name}.py").write_text(text)
    return root


def write_multikernelbench(root: Path) -> Path:
    """A checkout with one module task and one of groups."""
    for name, text in (("activation/exp.py", EXP), ("npukernelbench_level0/3_shift.py", GROUPS)):
        path = root / "reference" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    lines = "".join(f"{json.dumps(line)}\n" for line in GROUP_LINES)
    (root / "reference" / "npukernelbench_level0" / "3_shift.json").write_text(lines)
    return root


def write_npukernelbench(root: Path) -> Path:
    """A checkout with one task."""
    folder = root / "tasks" / "level2" / "Math" / "ScaleAddV2" / "validation"
    folder.mkdir(parents=True)
    for name, text in (("module.py", TABLE_MODULE), ("prepare_inputs.py", TABLE_PREPARE), ("test_cases.csv", TABLE_ROWS)):
        (folder / name).write_text(text)
    return root
