"""From claims and logs to outcomes: what a host process says about its outputs, checked against device memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from piton.core.execution import OutputBuffer
from piton.core.verdict import Cause, Outcome, outcome
from piton.targets.vnpu.device_messages import Description
from piton.targets.vnpu.host_process import OutputClaim
from piton.targets.vnpu.memory import ARENA_BYTES

_ITEM_BYTES = {
    **dict.fromkeys(("bool", "int8", "uint8", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"), 1),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("float32", "int32", "uint32", "complex32"), 4),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
    "complex128": 16,
}
"""Bytes of one element by torch's name."""

Describe = Callable[[int, int], Description]
Read = Callable[[int, int], memoryview]


@dataclass(frozen=True)
class Judged:
    """One output: what the harness found, and what is wrong with it."""

    buffer: OutputBuffer
    outcomes: tuple[Outcome, ...]
    """Empty when its bytes may be compared."""


@dataclass(frozen=True)
class Evidence:
    """Where claims are checked."""

    describe: Describe
    read: Read
    mutable: frozenset[int]
    """Addresses of the parent's allocations that the operator may return."""
    is_timing_only: bool


def claimed_range(claim: OutputClaim) -> tuple[int, int] | None:
    """Address and bytes that `judge_output` will want described; None for a claim that fails before."""
    return None if _form("", claim) is not None else (claim.address, _nbytes(claim))


def judge_output(name: str, claim: OutputClaim, evidence: Evidence) -> Judged:
    """Check one claim: a plain tensor on the device, contiguous, in memory of its own, every byte stored by a kernel."""
    problem = _form(name, claim)
    if problem is not None:
        return Judged(_buffer(name, claim, None), (problem,))
    nbytes = _nbytes(claim)
    described = evidence.describe(claim.address, nbytes)
    problem = _location(name, claim, described, evidence.mutable)
    if problem is not None:
        return Judged(_buffer(name, claim, None), (problem,))
    data = None if evidence.is_timing_only else evidence.read(claim.address, nbytes)
    found = () if evidence.is_timing_only or not described.is_host_made else _stores(name, claim.address, nbytes, described)
    return Judged(_buffer(name, claim, data), found)


def output_names(declared: Sequence[tuple[str, bool]], count: int) -> list[str] | None:
    """A name for each returned value, given the declared (name, is_list); None when the count does not fit."""
    lists = [name for name, is_list in declared if is_list]
    if not lists:
        return [name for name, _ in declared] if count == len(declared) else None
    surplus = count - (len(declared) - 1)
    if len(lists) > 1 or surplus < 0:
        return [f"output{index}" for index in range(count)] if surplus >= 0 else None
    return [item for name, is_list in declared for item in ([f"{name}[{index}]" for index in range(surplus)] if is_list else [name])]


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """True when elements lie in C order without gaps; dimensions of one element do not count."""
    if 0 in shape:
        return True
    expected = 1
    for size, stride in reversed(list(zip(shape, strides, strict=True))):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def _form(name: str, claim: OutputClaim) -> Outcome | None:
    """What is wrong with the value itself."""
    if not claim.is_plain:
        return outcome(Cause.NOT_A_TENSOR, f"{name} is a {claim.type_name}; a plain torch.Tensor is expected")
    if claim.device not in ("npu", "privateuseone"):
        return outcome(Cause.WRONG_DEVICE, f"{name} lies on {claim.device}, not on the npu device")
    if claim.dtype not in _ITEM_BYTES:
        return outcome(Cause.DTYPE_MISMATCH, f"{name} has the element type {claim.dtype}, which no operator has")
    if len(claim.shape) != len(claim.strides) or min(claim.shape, default=0) < 0 or math.prod(claim.shape) * _ITEM_BYTES[claim.dtype] > ARENA_BYTES:
        return outcome(Cause.ILLEGAL_REPLY, f"{name} has shape {claim.shape} with strides {claim.strides}, which no tensor on this device has")
    if not is_contiguous(claim.shape, claim.strides):
        return outcome(Cause.NOT_CONTIGUOUS, f"{name} has strides {claim.strides} for shape {claim.shape}; a contiguous tensor is expected")
    return None


def _nbytes(claim: OutputClaim) -> int:
    return math.prod(claim.shape) * _ITEM_BYTES[claim.dtype]


def _location(name: str, claim: OutputClaim, described: Description, mutable: frozenset[int]) -> Outcome | None:
    """What is wrong with where it lies."""
    if not described.is_live:
        text = f"{name} at {claim.address:#x} is not inside one allocation of this call; tensors of earlier calls do not live on"
        return outcome(Cause.PROTOCOL_VIOLATION, text, address=f"{claim.address:#x}")
    if not described.is_host_made and described.address not in mutable:
        return outcome(Cause.ALIASES_INPUT, f"{name} shares its memory with an input")
    return None


def _stores(name: str, address: int, nbytes: int, described: Description) -> tuple[Outcome, ...]:
    """Every byte has to come from a simulated store; bytes that hold nothing at all are a wrong value, others are unattributed."""
    end = address + nbytes
    if described.first_undefined < end:
        first = described.first_undefined - address
        return (outcome(Cause.UNWRITTEN_OUTPUT, f"{name} is not written completely: byte {first} of {nbytes} holds nothing", first_byte=first, bytes=nbytes),)
    if described.first_unstored < end:
        first = described.first_unstored - address
        text = f"byte {first} of {nbytes} of {name} was put there by a copy, not by a store of a kernel"
        return (outcome(Cause.NOT_STORED_BY_KERNEL, text, first_byte=first, bytes=nbytes),)
    return ()


def _buffer(name: str, claim: OutputClaim, data: memoryview | None) -> OutputBuffer:
    return OutputBuffer(
        name=name,
        shape=tuple(claim.shape),
        dtype_name=claim.dtype,
        strides=tuple(claim.strides),
        is_on_device=claim.device in ("npu", "privateuseone"),
        data=data,
    )
