"""The engine as a shared library under ctypes: tests build the records of every core and look at memory, diagnostics and trace.

Compiled once per session against a stand-in for the timing code (`cpp/engine_timing_double.cpp`).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[2]
VNPU = ROOT / "src" / "piton" / "vnpu_cpp"
HERE = Path(__file__).resolve().parent / "cpp"
NOT_ENGINE = {"device_main.cpp"}

S, V, M, MTE1, MTE2, MTE3, FIX, ALL = range(8)
GM, UB, L1 = 1, 2, 3
AIV, AIC, MIX = range(3)
F16, BF16, F32, I8, U8, I16, U16, I32, U32, I64 = range(1, 11)
I4 = 13
SIZE = {F16: 2, BF16: 2, F32: 4, I8: 1, U8: 1, I16: 2, U16: 2, I32: 4, U32: 4, I64: 8}
NUMPY = {
    F16: np.float16,
    BF16: np.uint16,
    F32: np.float32,
    I8: np.int8,
    U8: np.uint8,
    I16: np.int16,
    U16: np.uint16,
    I32: np.int32,
    U32: np.uint32,
    I64: np.int64,
}

ADD, SUB, MUL, DIV, MAX, MIN, AND, OR = range(1, 9)
ADD_RELU, SUB_RELU, FUSED_MUL_ADD, MUL_ADD_RELU, MUL_ADD_DST, ADD_RELU_CAST, SUB_RELU_CAST, MUL_CAST = range(9, 17)
ADD_DEQ_RELU, CAST_DEQUANT = 17, 18
ADDS, MULS, MAXS, MINS, LEAKY_RELU, SHIFT_LEFT, SHIFT_RIGHT, AXPY = range(32, 40)
EXP, LN, SQRT, RSQRT, RECIPROCAL, ABS, RELU, NOT, CAST, COPY, DUPLICATE = range(64, 75)
COMPARE, SELECT = 96, 97
REDUCE_SUM, REDUCE_MAX, REDUCE_MIN, WHOLE_REDUCE_SUM, WHOLE_REDUCE_MAX, WHOLE_REDUCE_MIN = range(128, 134)
BLOCK_REDUCE_SUM, BLOCK_REDUCE_MAX, BLOCK_REDUCE_MIN, BRCB, GATHER, CREATE_VEC_INDEX, PAIR_REDUCE_SUM, GATHER_MASK = range(134, 142)
GATHER_BLOCKS, GET_CMP_MASK, SET_CMP_MASK, GET_REDUCE_SUM = 142, 143, 144, 358
SORT32, MRG_SORT, TRANS_5HD, TRANSPOSE = range(145, 149)
DATA_COPY, DATA_COPY_PAD, DATA_COPY_ND2NZ = 192, 193, 194
SCALAR_LOAD, SCALAR_STORE, CACHE_CLEAN = 224, 225, 226
SET_FLAG, WAIT_FLAG, BARRIER, SYNC_ALL, CROSS_SET, CROSS_WAIT, SOFT_SET, SOFT_WAIT = range(256, 264)
SET_MASK, SET_MASK_MODE, SET_ATOMIC, SET_PAD_VALUE, SET_DEQ_SCALE, SET_CTRL, SET_ADDRESSES = range(288, 295)
GET_REDUCE_BEST, GET_MRG_RESULT, GET_CTRL = 359, 360, 361
BUFFER_INIT, FAULT, TASK_TYPE = 320, 325, 328
GET_BLOCK_IDX, GET_BLOCK_NUM, GET_SYSTEM_CYCLE, GET_CAPACITY, GET_CORE_KIND = 352, 353, 356, 357, 363
THROW = 1000

F_COUNT, F_SET_MASK, F_KEEP_MASK, F_QUEUE = 1, 2, 4, 8
UNBOUNDED = 0xFFFFFFFF
FULL = (1 << 64) - 1
NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = range(7)

# enum TraceKind
WORK, GM_READ, GM_WRITE, T_SET, T_WAIT, T_BARRIER, T_SYNC_ALL = range(7)


class Operand(ctypes.Structure):
    """`vnpu_operand`."""

    _fields_ = [
        ("addr", ctypes.c_uint64),
        ("limit", ctypes.c_uint32),
        ("blk", ctypes.c_uint16),
        ("rep", ctypes.c_uint16),
        ("space", ctypes.c_uint8),
        ("dtype", ctypes.c_uint8),
        ("reserved", ctypes.c_uint8 * 6),
    ]


class Record(ctypes.Structure):
    """`vnpu_record`."""

    _fields_ = [
        ("opcode", ctypes.c_uint16),
        ("pipe", ctypes.c_uint8),
        ("flags", ctypes.c_uint8),
        ("line", ctypes.c_uint32),
        ("file", ctypes.c_char_p),
        ("dst", Operand),
        ("src0", Operand),
        ("src1", Operand),
        ("scalar", ctypes.c_uint64),
        ("mask", ctypes.c_uint64 * 2),
        ("p", ctypes.c_uint32 * 4),
    ]


FILE = b"kernel.cpp"
Operands = tuple[Operand, ...]


def ub(addr: int, dtype: int = F32, *, limit: int = UNBOUNDED, blk: int = 1, rep: int = 8) -> Operand:
    """An operand in the unified buffer at byte `addr`."""
    return Operand(addr, limit, blk, rep, UB, dtype)


def l1(addr: int, dtype: int = F32, *, limit: int = UNBOUNDED) -> Operand:
    """An operand in L1 at byte `addr`."""
    return Operand(addr, limit, 1, 8, L1, dtype)


def gm(addr: int, dtype: int = F32) -> Operand:
    """An operand in global memory."""
    return Operand(addr, UNBOUNDED, 1, 8, GM, dtype)


def record(opcode: int, pipe: int, *, line: int = 0, flags: int = 0, p: tuple[int, ...] = (), scalar: int = 0) -> Record:
    """A record without operands."""
    made = Record(opcode=opcode, pipe=pipe, flags=flags, line=line, file=FILE, scalar=scalar)
    for at, value in enumerate(p):
        made.p[at] = value
    return made


def _with(made: Record, operands: Operands) -> Record:
    for name, operand in zip(("dst", "src0", "src1"), operands, strict=False):
        setattr(made, name, operand)
    return made


def count(opcode: int, operands: Operands, n: int, *, line: int = 0, scalar: int = 0, mode: int = 0) -> Record:
    """A vector instruction in count form."""
    return _with(record(opcode, V, line=line, flags=F_COUNT, p=(n, 0, 0, mode), scalar=scalar), operands)


def strided(opcode: int, operands: Operands, mask: tuple[int, int] | None, repeats: int, *, line: int = 0, scalar: int = 0, mode: int = 0) -> Record:
    """A vector instruction in mask/repeat form; `mask` None uses the register."""
    made = record(opcode, V, line=line, flags=F_SET_MASK if mask else F_KEEP_MASK, p=(repeats, 0, 0, mode), scalar=scalar)
    if mask:
        made.mask[0], made.mask[1] = mask
    return _with(made, operands)


def load(to: Operand, source: Operand, nbytes: int, *, line: int = 0, blocks: int = 1, gaps: tuple[int, int] = (0, 0)) -> Record:
    """DataCopy from global memory."""
    return _with(record(DATA_COPY, MTE2, line=line, p=(blocks, nbytes, *gaps)), (to, source))


def store(to: Operand, source: Operand, nbytes: int, *, line: int = 0, blocks: int = 1, gaps: tuple[int, int] = (0, 0)) -> Record:
    """DataCopy to global memory."""
    return _with(record(DATA_COPY, MTE3, line=line, p=(blocks, nbytes, *gaps)), (to, source))


def pad(to: Operand, source: Operand, nbytes: int, *, line: int = 0, blocks: int = 1, gaps: tuple[int, int] = (0, 0), sides: int = 0, value: int = 0) -> Record:
    """DataCopyPad either way; `sides` = left | right << 8 | is_pad << 16."""
    pipe = MTE2 if source.space == GM else MTE3
    made = _with(record(DATA_COPY_PAD, pipe, line=line, p=(blocks, nbytes, *gaps), scalar=value), (to, source))
    made.mask[0] = sides
    return made


def nd2nz(to: Operand, source: Operand, shape: tuple[int, int, int], pitch: int, chip: tuple[int, int], between: tuple[int, int] = (0, 0)) -> Record:
    """DataCopy with Nd2NzParams. `shape` = matrices, rows, bytes per row; `pitch` bytes from row to row; `chip` bytes between units and between rows; `between`
    bytes between matrices in global memory and on chip."""
    matrices, rows, row_bytes = shape
    made = _with(record(DATA_COPY_ND2NZ, MTE2, p=(rows, row_bytes, pitch, matrices)), (to, source))
    made.mask[0] = chip[0] | chip[1] << 32
    made.mask[1] = between[0] | between[1] << 32
    return made


def set_flag(a: int, b: int, event: int = 0, *, line: int = 0, flags: int = 0) -> Record:
    """SetFlag<a_b>(event)."""
    return record(SET_FLAG, a, line=line, flags=flags, p=(a, b, event))


def wait_flag(a: int, b: int, event: int = 0, *, line: int = 0, flags: int = 0) -> Record:
    """WaitFlag<a_b>(event)."""
    return record(WAIT_FLAG, b, line=line, flags=flags, p=(a, b, event))


def flag(a: int, b: int, event: int = 0) -> list[Record]:
    """SetFlag and WaitFlag back to back."""
    return [set_flag(a, b, event), wait_flag(a, b, event)]


def barrier(pipe: int) -> Record:
    """PipeBarrier."""
    return record(BARRIER, pipe, p=(pipe,))


def sync_all(line: int = 0) -> Record:
    """SyncAll()."""
    return record(SYNC_ALL, S, line=line)


def get_value(source: Operand, nbytes: int = 4, *, line: int = 0) -> Record:
    """GetValue."""
    made = record(SCALAR_LOAD, S, line=line, p=(nbytes,))
    made.src0 = source
    return made


def set_value(to: Operand, value: int, nbytes: int = 4, *, line: int = 0) -> Record:
    """SetValue."""
    made = record(SCALAR_STORE, S, line=line, p=(nbytes,), scalar=value)
    made.dst = to
    return made


@dataclass
class Report:
    """LaunchReport, with the trace the replay got."""

    is_cut: bool
    instructions: int
    cycles: int
    diagnostics: list[dict[str, Any]]
    trace: list[list[list[int]]]
    answers: list[int] = field(default_factory=list)

    def causes(self) -> list[str]:
        """Causes of the violations, in order."""
        return [found["cause"] for found in self.diagnostics if not found["is_finding"]]

    def findings(self) -> list[str]:
        """Kinds of the findings, in order."""
        return [found["cause"] for found in self.diagnostics if found["is_finding"]]

    def first(self, cause: str) -> dict[str, Any]:
        """The first diagnostic of a cause or kind."""
        return next(found for found in self.diagnostics if found["cause"] == cause)

    def kinds(self, core: int = 0) -> list[int]:
        """Kinds of the trace entries of a core."""
        return [entry[0] for entry in self.trace[core]]


class Rig:
    """One engine with its device memory."""

    def __init__(self, *, ub_bytes: int = 196608, cores: int = 48) -> None:
        self._library = engine_library()
        self._rig = ctypes.c_void_p(self._library.rig_open(ctypes.c_uint64(ub_bytes), cores))
        assert self._rig.value, "memfd of the device memory could not be made"
        self.configure()

    def __enter__(self) -> Rig:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Unmap the device memory."""
        self._library.rig_close(self._rig)

    def configure(
        self, *, auto_sync: bool = True, timing_only: bool = False, pessimistic: bool = False, budget: int = 10**10, max_diagnostics: int = 32
    ) -> None:
        """EngineOptions."""
        self._library.rig_configure(self._rig, int(auto_sync), timing_only | pessimistic << 1, ctypes.c_uint64(budget), max_diagnostics)

    def reset(self) -> None:
        """Free all device memory."""
        self._library.rig_reset(self._rig)

    def allocate(self, nbytes: int, *, is_mutable: bool = True) -> int:
        """Device address of new memory; 0 when there is none."""
        return int(self._library.rig_allocate(self._rig, ctypes.c_uint64(nbytes), int(is_mutable)))

    def release(self, address: int) -> bool:
        """Free one allocation."""
        return bool(self._library.rig_release(self._rig, ctypes.c_uint64(address)))

    def upload(self, data: npt.NDArray[Any], *, is_mutable: bool = False) -> int:
        """A new allocation that holds `data`."""
        address = self.allocate(data.nbytes, is_mutable=is_mutable)
        self._library.rig_upload(self._rig, ctypes.c_uint64(address), np.ascontiguousarray(data).ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(data.nbytes))
        return address

    def copy_in(self, address: int, data: npt.NDArray[Any]) -> None:
        """A copy of the host's into memory of its own."""
        self._library.rig_copy_in(self._rig, ctypes.c_uint64(address), np.ascontiguousarray(data).ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(data.nbytes))

    def download(self, address: int, shape: int, dtype: Any) -> npt.NDArray[Any]:
        """Bytes of device memory as an array."""
        data = np.empty(shape, dtype)
        self._library.rig_download(self._rig, ctypes.c_uint64(address), data.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(data.nbytes))
        return data

    def stored(self, address: int) -> str:
        """Byte ranges of the allocation that kernels have stored."""
        return str(self._library.rig_stored(self._rig, ctypes.c_uint64(address)).decode()).strip()

    def run_kernel(self, name: str, source: int, out: int, a: int, b: int = 0, *, blocks: int = 1) -> Report:
        """A kernel of `cpp/engine_kernels.cpp` with two addresses and two numbers."""
        arguments = struct.pack("<QQII", source, out, a, b)
        text = self._library.rig_run(self._rig, name.encode(), arguments, len(arguments), blocks)
        return Report(**json.loads(text.decode()))

    def launch(self, *programs: list[Record], core_kind: int = 0, spins: bool = False) -> Report:
        """Run one program per core."""
        flat = [one for program in programs for one in program]
        records = (Record * max(len(flat), 1))(*flat)
        starts = np.cumsum([0] + [len(program) for program in programs]).astype(np.uint32)
        answers = (ctypes.c_uint64 * max(len(flat), 1))()
        text = self._library.rig_launch(
            self._rig, records, starts.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32)), answers, len(programs), core_kind, int(spins)
        )
        return Report(**json.loads(text.decode()), answers=list(answers))


def _digested_headers(part: str) -> list[bytes]:
    """What a source of the library may include: the engine's headers, those below `part` of the device headers."""
    folders = (VNPU / "engine", VNPU / "include" / part, HERE)
    return [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.h"))]


def _compile(jobs: list[tuple[Path, Path]], command: list[str]) -> None:
    """Objects from sources, two compilers at a time; loops over elements as the product has them, vectorised (under a sanitizer that would take minutes)."""
    fast = [] if os.environ.get("PITON_ENGINE_ASAN") else ["-O3"]
    waiting = list(jobs)
    running: list[tuple[subprocess.Popen[bytes], Path, Path]] = []
    while waiting or running:
        while waiting and len(running) < 2:
            source, target = waiting.pop()
            unfinished = target.with_suffix(f".{os.getpid()}.o")
            is_loops = source.name.startswith("path_")
            running.append((subprocess.Popen([*command, *(fast if is_loops else []), "-c", str(source), "-o", str(unfinished)]), unfinished, target))
        process, unfinished, target = running.pop(0)
        assert process.wait() == 0, "the engine does not compile"
        unfinished.replace(target)


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _flags() -> list[str]:
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-g"] if os.environ.get("PITON_ENGINE_ASAN") else []
    return ["-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wall", "-Wextra", "-Werror", *sanitizers]


@functools.cache
def engine_library() -> ctypes.CDLL:
    """Engine, driver and timing stand-in as a shared library; objects lie in Piton's cache, named by all that goes into them."""
    engine = [path for path in (VNPU / "engine").glob("*.cpp") if path.name not in NOT_ENGINE]
    sources = [*sorted([*engine, *(VNPU / "engine" / "remote").glob("*.cpp")]), *sorted(HERE.glob("engine_*.cpp"))]
    return _open(build(sources, [], ["-shared", "-Wl,--wrap=vnpu_submit,--wrap=vnpu_fetch"], "engine.so"))


def build(sources: list[Path], flags: list[str], link: list[str], name: str) -> Path:
    """A library or program of these sources."""
    include = [f"-I{VNPU / 'engine'}", f"-I{VNPU / 'include'}", f"-I{HERE}"]
    command = ["g++", "-std=c++17", "-O1", *_flags(), *include, *flags]
    headers = {False: _digested_headers("vnpu"), True: _digested_headers("")}
    cache = Path(os.environ.get("PITON_CACHE_DIR") or Path.home() / ".cache" / "piton") / "test-engine"
    cache.mkdir(parents=True, exist_ok=True)
    parts = [path.read_bytes() for path in sorted((VNPU / "code").glob("*.h"))] if flags else []
    keys = {source: _digest(command, headers[source.name.startswith("engine_kernels")], parts, source.name, source.read_bytes()) for source in sources}
    objects = {source: cache / f"{key}.o" for source, key in keys.items()}
    _compile([(source, target) for source, target in objects.items() if not target.exists()], command)
    made = cache / f"{_digest(*objects.values(), link)}-{name}"
    if not made.exists():
        unfinished = made.with_suffix(f".{os.getpid()}")
        subprocess.run(["g++", *_flags(), "-o", str(unfinished), *map(str, objects.values()), *link], check=True)
        unfinished.replace(made)
    return made


def _open(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    library.rig_open.restype = ctypes.c_void_p
    library.rig_allocate.restype = ctypes.c_uint64
    library.rig_stored.restype = ctypes.c_char_p
    library.rig_launch.restype = ctypes.c_char_p
    library.rig_run.restype = ctypes.c_char_p
    library.rig_run_apart.restype = ctypes.c_char_p
    library.rig_connect.restype = ctypes.c_char_p
    return library
