"""The timeline of one launch: what each recorded instruction did, when, and what it waited for. All times are core cycles since the launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

WAIT_REASONS = (
    "flag_s",
    "flag_v",
    "flag_m",
    "flag_mte1",
    "flag_mte2",
    "flag_mte3",
    "flag_fix",
    "barrier",
    "full_queue",
    "sync_all",
    "cross_flag",
    "end",
    "idle",
    "launch",
    "tail",
)
"""Why a pipe did nothing, as in `LaunchRecord.wait_cycles`; the order is that of the engine's enum WaitReason."""
LOSS_REASONS = ("bandwidth_share", "small_blocks", "latency", "bank_conflict", "cache_miss", "scalar_code")
"""What made an instruction slower, as in `LaunchRecord.lost_cycles`; the order is that of the engine's enum LossReason."""

MOST_BLOCKS = 64
"""Blocks of a launch that are recorded at most."""

SliceKind = Literal["run", "issue", "loss", "wait"]
InstructionKind = Literal["work", "load", "store", "set_flag", "wait_flag", "barrier", "sync_all", "cross_set", "cross_wait"]


@dataclass(frozen=True)
class TimelineRequest:
    """Which part of a launch is recorded."""

    blocks: tuple[int, ...] = ()
    """Only these blocks; empty records all of up to 64, and of more the first and the last 32."""
    instructions: int = 24_000
    """Most instructions per launch, in equal parts for the recorded blocks; of a block with more, the first and the last are kept. A trace file of this many
    takes about 15 MB."""


class Operand(NamedTuple):
    """What an instruction reads or writes."""

    role: Literal["dst", "src0", "src1"]
    space: str
    """GM, UB, L1 ..."""
    dtype: str
    address: int
    """Byte offset on chip, device address in GM."""
    nbytes: int
    """Extent; 0 when it is not known."""


class Instruction(NamedTuple):
    """One entry of a block's program."""

    name: str
    """The API call, such as DataCopyPad."""
    file: str
    """Inside the submission."""
    line: int
    kind: InstructionKind
    pipe: str
    flag: str
    """Of a flag: `MTE2_V 0`; else empty."""
    is_auto_sync: bool
    """Inserted by the compiler, not written by the user."""
    is_queue: bool
    """Issued by TQue or TPipe."""
    bypasses_l2: bool
    cycles: int
    """Cost that does not depend on other instructions; of a transfer only its set-up."""
    repeats: int
    """V: repeats of 256 bytes."""
    elements: int
    """Of the count form, else 0."""
    mask: tuple[int, int]
    blocks: int
    """Transfers: number of blocks, bytes of each, and bytes between them in GM."""
    block_bytes: int
    gm_gap: int
    operands: tuple[Operand, ...]


class Slice(NamedTuple):
    """A stretch of time of one pipe; slices of a pipe do not overlap."""

    begin: int
    end: int
    pipe: str
    kind: SliceKind
    reason: str
    """Of a loss one of `LOSS_REASONS`, of a wait one of `WAIT_REASONS`."""
    instruction: int | None
    """Index in the block's instructions; None at the end of the program."""
    cause: int | None
    """Of a wait: index in PIPES of the pipe that is waited for; in SyncAll the block that came last."""
    queued: int
    """Cycles between issue and start."""
    l2_bytes: int
    hbm_bytes: int


class Arrow(NamedTuple):
    """From the instruction before a SetFlag to the wait for it or, where nobody had to wait, to the instruction after the WaitFlag: indices of slices."""

    source: int
    target: int
    flag: str


class UbUse(NamedTuple):
    """Bytes of the unified buffer when the scalar unit gets there."""

    time: int
    given_out: int
    """By InitBuffer."""
    in_use: int
    """Between AllocTensor and FreeTensor."""


class TrafficBin(NamedTuple):
    """Bytes moved in one stretch of `LaunchTimeline.bin_cycles`."""

    hbm_read: int
    hbm_written: int
    l2_read: int
    l2_written: int
    same_address: int
    """Past L2, of what another core has just read; part of no other figure here."""
    hit: int
    """Of the loads that started in it: bytes served by L2, and all."""
    loaded: int


@dataclass(frozen=True)
class BlockTimeline:
    """One recorded core: a block, where a block is one core."""

    block: int
    """Number of the core: those of a block follow one another, the cube core first."""
    begin: int
    end: int
    total: int
    """Instructions of the block, flags and barriers included."""
    left_out: int
    gap: tuple[int, int]
    """When the scalar unit reached the first instruction that is left out, and the first kept one after it."""
    instructions: tuple[Instruction, ...]
    slices: tuple[Slice, ...]
    arrows: tuple[Arrow, ...]
    ub: tuple[UbUse, ...]


@dataclass(frozen=True)
class LaunchTimeline:
    """One recorded launch."""

    kernel: str
    number: int
    """Of this launch among those of the call, from 1; device copies do not count."""
    launches: int
    """Launches of the call; only the first few are recorded."""
    core_kind: str
    """AIV, AIC, or the cube and vector cores of a block: MIX 1:1, MIX 1:2."""
    blocks: int
    cycles: int
    clock_hz: int
    tracks: tuple[BlockTimeline, ...]
    bin_cycles: int
    traffic: tuple[TrafficBin, ...]

    @property
    def cores_per_block(self) -> int:
        """1, or 2 and 3 in mixed launches."""
        return {"MIX 1:1": 2, "MIX 1:2": 3}.get(self.core_kind, 1)

    def core_name(self, core: int) -> str:
        """Such as `block 3 (AIV)`; in a mixed launch `block 3 (AIC)`, `block 3 (AIV 1)`."""
        members = self.cores_per_block
        if members == 1:
            return f"block {core} ({self.core_kind})"
        block, member = divmod(core, members)
        kind = "AIC" if member == 0 else "AIV" if members == 2 else f"AIV {member - 1}"
        return f"block {block} ({kind})"
