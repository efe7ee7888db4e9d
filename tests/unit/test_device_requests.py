"""The parent's requests to a device process: several in one exchange, the opening of a call without waiting, answers always read in order."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from piton.core.errors import EvaluatorError
from piton.core.protocols import Limits, ProcessJob, Runner
from piton.targets.vnpu import wire
from piton.targets.vnpu.device_messages import CallOptions, DeviceForgedError, Wanted
from piton.targets.vnpu.device_process import DeviceProcess, DeviceProgram
from piton.targets.vnpu.wire import Type

OPTIONS = CallOptions(auto_sync=True, is_timing_only=False, is_pessimistic=False, budget_cycles=7, memory_bytes=1 << 30, chip_table="clock 1\n")
LOG = (
    b'{"launches": [], "notices": [], "modified_inputs": [], "launch_count": 0, "total_cycles": 0, "host_to_device_bytes": 0, "device_to_host_bytes": 0, '
    b'"device_to_device_bytes": 0, "launch_seconds": 0.0, "is_cut": false, "is_code_gone": false, "engine_failure": ""}'
)
Answer = Callable[[int, bytes], tuple[Type, bytes]]


def honest(kind: int, body: bytes) -> tuple[Type, bytes]:
    """What an engine of ours says; an allocation lies at a thousand times its size."""
    if kind == Type.ALLOCATE:
        return Type.ANSWER, struct.pack("<Q", 1000 * struct.unpack("<QBB", body)[0])
    if kind == Type.DESCRIBE:
        address, nbytes = struct.unpack("<QQ", body)
        return Type.ANSWER, wire.DESCRIPTION.pack(1, address, nbytes, 1, 0, address + nbytes, address + nbytes)
    return Type.ANSWER, LOG if kind == Type.END_CALL else b""


class Device:
    """The other end of the channel, in a thread; notes what it is asked."""

    isolation = ()
    pid = 1

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[tuple[int, bytes]] = []
        self.threads: list[threading.Thread] = []

    def start(self, job: ProcessJob) -> Device:
        channel = socket.socket(fileno=os.dup(job.pass_fds[1]))
        self.threads.append(threading.Thread(target=self._serve, args=(channel,), daemon=True))
        self.threads[-1].start()
        return self

    def wait(self, timeout_s: float) -> object:
        return SimpleNamespace(is_flooded=False, stderr="", exit_code=0, signal=None)

    kill = wait

    def _serve(self, channel: socket.socket) -> None:
        with channel:
            wire.send_frames(channel, [(Type.READY, struct.pack("<I", wire.VERSION))])
            try:
                while True:
                    kind, body = wire.receive_frame(channel, 20.0)
                    self.asked.append((kind, body))
                    wire.send_frames(channel, [self._answer(kind, body)])
            except (wire.ChannelClosedError, wire.ChannelTimeoutError):
                pass


@pytest.fixture
def opened() -> Iterator[Callable[[Answer], tuple[DeviceProcess, Device]]]:
    made: list[DeviceProcess] = []

    def open_device(answer: Answer) -> tuple[DeviceProcess, Device]:
        device = Device(answer)
        _, theirs = socket.socketpair()
        process = DeviceProcess(DeviceProgram("vnpu-device", "device.so", 0, theirs, Limits()), cast(Runner, device))
        process.wait_until_ready()
        made.append(process)
        return process, device

    yield open_device
    for process in made:
        process.close()


Opened = Callable[[Answer], tuple[DeviceProcess, Device]]


def test_a_case_is_opened_in_order_and_every_allocation_has_its_address(opened: Opened) -> None:
    process, device = opened(honest)
    sizes = range(1, 1001)  # more than one burst: neither side may wait for the other with a full buffer
    assert process.open_case(OPTIONS, [Wanted(size, is_mutable=False, is_defined=True) for size in sizes]) == [1000 * size for size in sizes]
    assert [kind for kind, _ in device.asked] == [Type.CONFIGURE, Type.BEGIN_CASE, *[Type.ALLOCATE] * 1000]


def test_the_table_of_the_chip_is_sent_once(opened: Opened) -> None:
    process, device = opened(honest)
    process.open_case(OPTIONS, ())
    process.open_case(OPTIONS, ())
    bodies = [body for kind, body in device.asked if kind == Type.CONFIGURE]
    assert [OPTIONS.chip_table.encode() in body for body in bodies] == [True, False]


def test_the_answer_to_the_opening_of_a_call_is_not_taken_for_another(opened: Opened) -> None:
    process, _ = opened(honest)
    for _ in range(3):
        process.begin_call(4096)
        log, known = process.end_call(ranges=[(5, 10), (50, 20)])
        assert log.launch_count == 0
        assert [(item.address, item.nbytes, item.first_undefined) for item in known] == [(5, 10, 15), (50, 20, 70)]


@pytest.mark.parametrize(("refused", "expected"), [(Type.CONFIGURE, EvaluatorError), (Type.BEGIN_CALL, EvaluatorError), (Type.DESCRIBE, DeviceForgedError)])
def test_a_refusal_is_found_whatever_it_was_sent_together_with(opened: Opened, refused: Type, expected: type[Exception]) -> None:
    process, _ = opened(lambda kind, body: (Type.REFUSED, b"\4\0\0\0why?") if kind == refused else honest(kind, body))

    def whole_call() -> None:
        process.open_case(OPTIONS, [Wanted(1, is_mutable=False, is_defined=True)])
        process.begin_call(0)
        process.end_call(ranges=[(5, 10)])

    with pytest.raises(expected, match=r"why|refusal"):
        whole_call()


def test_an_address_of_another_size_is_forged(opened: Opened) -> None:
    process, _ = opened(lambda kind, body: (Type.ANSWER, b"\0" * 9) if kind == Type.ALLOCATE else honest(kind, body))
    with pytest.raises(DeviceForgedError, match="9 bytes"):
        process.open_case(OPTIONS, [Wanted(1, is_mutable=False, is_defined=True)])
