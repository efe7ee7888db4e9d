"""What the process tests share: programs built once, a session around a submission that is a few lines of Python."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import piton
from piton.core.canonical import digest, digest_bytes
from piton.core.dtype import DType
from piton.core.execution import CaseCall, Execution, TensorArgument
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.core.protocols import Limits, Runner
from piton.targets.vnpu.session import SessionPlan, VnpuSession

CPP = Path(piton.__file__).parent / "vnpu_cpp"
HERE = Path(__file__).parent / "cpp"
PLATFORM = (48, 24, 196608, 524288, 65536, 65536, 131072, 1024, 201326592)

PRELUDE = """
import ctypes, os, struct, time, torch, torch_npu
_launch = ctypes.CDLL(None).piton_host_launch
def launch(kernel, tensor, nbytes=None):
    block = struct.pack("<QQ", tensor.data_ptr(), tensor.nbytes if nbytes is None else nbytes)
    return _launch(kernel.encode(), 1, block, len(block), None)
def filled(x):
    y = torch.empty_like(x)
    launch("fill", y)
    return y
"""
"""Every test submission begins with this; `filled` is the honest kernel."""


@dataclass(frozen=True)
class Programs:
    """Paths of what was built."""

    device: str
    host: str
    library: str
    code: str
    """`piton-code`."""
    script: str
    """A device library that does what is written behind it (cage_native.py)."""


def cached_programs(cache: Path) -> Programs:
    """The programs below `cache`, built when their sources or torch have changed."""
    sources = sorted([*(CPP / "host").glob("*"), *(CPP / "engine").rglob("*"), *(CPP / "include/vnpu").glob("*"), *(CPP / "code").glob("*"), *HERE.glob("*")])
    key = digest([torch.__version__, [digest_bytes(path.read_bytes()) for path in sources if path.is_file()]])[:16]
    folder = cache / key
    if not folder.exists():
        unfinished = Path(tempfile.mkdtemp(dir=cache))
        build_programs(unfinished)
        try:
            unfinished.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(unfinished)
    return Programs(*(str(folder / name) for name in ("vnpu-device", "libpiton_npu.so", "device.so", "piton-code", "script.so")))


def build_programs(folder: Path) -> None:
    """The host library, a device process around a fake engine, and a device library."""
    include = [f"-I{CPP / 'include'}", f"-I{CPP / 'engine'}"]
    engine = [
        CPP / "engine" / name
        for name in ("device_main.cpp", "diagnostics.cpp", "memory.cpp", "interval.cpp", "registry.cpp", "static_data.cpp", "remote/remote.cpp")
    ]
    sources = [*engine, *(CPP / "engine" / "device").glob("*.cpp"), HERE / "fake_engine.cpp"]
    device, host, library = folder / "vnpu-device", folder / "libpiton_npu.so", folder / "device.so"
    _compile([*map(str, sources), *include, "-std=c++17", "-O0", "-rdynamic", "-ldl", "-o", str(device)])
    _compile([str(HERE / "device_library.cpp"), *include, "-std=c++17", "-O0", "-shared", "-fPIC", "-o", str(library)])
    _build_code(folder, include)
    torch_root = Path(torch.__file__).parent
    headers = [f"-isystem{torch_root / 'include'}", f"-isystem{torch_root / 'include/torch/csrc/api/include'}"]
    libraries = [f"-L{torch_root / 'lib'}", f"-Wl,-rpath,{torch_root / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    hosts = [str(path) for path in (CPP / "host").glob("*.cpp")]
    _compile([*hosts, *include, *headers, "-std=c++20", "-O0", "-shared", "-fPIC", "-o", str(host), *libraries])
    folder.chmod(0o755)


def _build_code(folder: Path, include: list[str]) -> None:
    """The process that device code has for itself, and a library for it."""
    shared = [CPP / "engine" / name for name in ("block_locals.cpp", "fibre.cpp", "registry.cpp", "static_data.cpp", "device/signals.cpp")]
    sources = [*sorted((CPP / "code").glob("*.cpp")), *shared]
    _compile([*map(str, sources), *include, f"-I{CPP / 'code'}", "-std=c++17", "-O0", "-rdynamic", "-ldl", "-o", str(folder / "piton-code")])
    _compile([str(HERE / "cage_script.cpp"), "-std=c++17", "-O1", "-shared", "-fPIC", "-o", str(folder / "script.so")])


def _compile(arguments: list[str]) -> None:
    done = subprocess.run(["g++", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


class Rig:
    """A session around one submission, called like a pipeline would."""

    def __init__(self, programs: Programs, runner: Runner, folder: Path, source: str, *, has_scale: bool = False) -> None:
        package = folder / "sub"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(PRELUDE + source)
        scale = (AttrSpec(name="scale", type="float"),) if has_scale else ()
        spec = TensorSpec(name="x", dtypes=(DType.FLOAT32,))
        operator = Operator(
            name="op",
            title="Op",
            level=1,
            category="test",
            schema_text="op(Tensor x) -> Tensor y",
            inputs=(spec,),
            outputs=(TensorSpec(name="y", dtypes=(DType.FLOAT32,)),),
            attributes=scale,
        )
        self.plan = SessionPlan(
            operator,
            str(folder),
            "sub",
            programs.library,
            programs.device,
            programs.host,
            PLATFORM,
            "clock 1\n",
            1.8e9,
            1 << 30,
            True,
            str(folder),
            Limits(may_start_processes=False, cpu_s=60),
        )
        self.runner = runner
        self.session = VnpuSession(self.plan, runner)

    def call(self, elements: int = 4096, *, deadline_s: float = 20.0, **attributes: float) -> Execution:
        """One case with `elements` float32 numbers."""
        data = np.arange(elements, dtype=np.float32)
        tensor = TensorArgument("x", (elements,), DType.FLOAT32, memoryview(data))
        return self.session.call(CaseCall("1", (tensor,), ("x", *attributes), dict(attributes), deadline_s=deadline_s))


Make = Callable[..., Rig]
"""Makes a rig around the given source of a submission."""


@contextmanager
def rigs(programs: Programs, runner: Runner, folder: Path) -> Iterator[Make]:
    """A maker of rigs below `folder`; all are closed at the end."""
    made: list[Rig] = []

    def make(source: str, **options: bool) -> Rig:
        made.append(Rig(programs, runner, folder / f"rig{len(made)}", source, **options))
        return made[-1]

    yield make
    for rig in made:
        rig.session.close()
