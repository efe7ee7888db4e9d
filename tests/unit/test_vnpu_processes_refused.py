"""A machine that refuses to start a process of the virtual NPU keeps nothing of the attempt open, or a long-lived evaluator would run out of descriptors."""

from __future__ import annotations

import os
import socket
from types import SimpleNamespace
from typing import cast

import pytest

from piton.core.errors import ProcessLostError
from piton.core.protocols import Limits, Runner
from piton.targets.vnpu import device_process
from piton.targets.vnpu.code_process import CodeProcess, CodeProgram
from piton.targets.vnpu.device_process import DeviceProcess, DeviceProgram
from piton.targets.vnpu.host_process import HostProcess, HostProgram


def refuse(*_: object) -> None:
    raise ProcessLostError("no more processes")


REFUSING = cast(Runner, SimpleNamespace(start=refuse, fork_worker=refuse))


def start_host(channel: socket.socket) -> None:
    HostProcess(HostProgram(package_folder="p", package="p", operator="exp", library="l", platform=(), device_channel=channel), REFUSING)


def start_device(channel: socket.socket) -> None:
    DeviceProcess(DeviceProgram("e", "l", 0, channel, Limits()), REFUSING)


def start_code(channel: socket.socket) -> None:
    channel.close()
    CodeProcess(CodeProgram("e", "l", Limits()), REFUSING)


@pytest.mark.parametrize("start", [start_host, start_device, start_code])
def test_a_process_that_is_not_started_leaves_no_descriptor_open(start: object) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        before = len(os.listdir("/proc/self/fd"))
        with pytest.raises(ProcessLostError) as error:
            start(theirs)  # type: ignore[operator]
        assert len(os.listdir("/proc/self/fd")) == before - 1, "the other side's end is closed, as it is once a process has it"
        assert error.value.problem == "no more processes"


def test_device_code_that_runs_already_is_ended_when_its_engine_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    code = SimpleNamespace(fds=(), close=lambda: ended.append("code"))
    monkeypatch.setattr(device_process, "CodeProcess", lambda program, runner: code)
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(ProcessLostError):
        DeviceProcess(DeviceProgram("e", "l", 0, theirs, Limits(), "c"), cast(Runner, SimpleNamespace(start=refuse)))
    assert ended == ["code"]
