"""Is a level what its mechanisms make it, and does a demand that is not met say what lacks? Are the filter's tables those of the kernel?"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from piton.core.errors import UsageError
from piton.evaluate.engine_place import engine_place
from piton.evaluate.sandbox import allow_list, control_groups, syscall_table
from piton.evaluate.sandbox.levels import HIGHEST, LEVELS, check_number, demand, reached
from piton.evaluate.sandbox.probe import ALWAYS, Mechanisms, reasons

GROUPS = [value for name, value in vars(syscall_table).items() if name.isupper() and isinstance(value, str)]


def names_up_to(number: int) -> tuple[str, ...]:
    return tuple(name for level in LEVELS[: number + 1] for name in level.mechanisms)


@pytest.mark.parametrize("number", range(HIGHEST + 1))
def test_a_level_is_reached_with_all_its_mechanisms_and_not_without_one(number: int) -> None:
    names = names_up_to(number)
    assert reached(names) == number
    for lacking in LEVELS[number].mechanisms if number else ():
        assert reached(name for name in names if name != lacking) == number - 1


def test_a_demand_that_is_not_met_says_what_lacks_and_why() -> None:
    with pytest.raises(UsageError) as told:
        demand(3, names_up_to(1), {"separate_users": "needs root"})
    text = str(told.value)
    assert "level 3" in text
    assert "level 1" in text
    assert "separate_users: needs root" in text
    assert "pid_namespace: not chosen" in text
    demand(1, names_up_to(1), {})


def test_a_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="no such level"):
        check_number(HIGHEST + 1)


def test_the_highest_level_puts_the_engine_apart() -> None:
    assert [engine_place("in-process", level) for level in (0, 3, 4)] == ["in-process", "in-process", "own-process"]


def test_every_mechanism_that_is_not_in_force_has_a_reason() -> None:
    told = reasons(Mechanisms(), {Mechanisms(users=True): "forbidden"}, is_root=False)
    assert set(told) == set(names_up_to(3)) - set(ALWAYS)
    assert told["separate_users"] == "needs root"


@pytest.mark.parametrize(("machine", "header"), [("x86_64", "x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", "asm-generic/unistd.h")])
def test_the_numbers_of_system_calls_are_the_kernel_s(machine: str, header: str) -> None:
    path = Path("/usr/include") / header
    if not path.exists():
        pytest.skip("the kernel's headers are not installed")
    known = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", path.read_text())}
    known.setdefault("newfstatat", known.get("fstatat", -1))
    ours = {name: number for group in GROUPS for name, number in syscall_table.numbers(group, machine).items()}
    assert {name: known.get(name) for name in ours} == ours


def answer(code: bytes, machine: int, number: int, *arguments: int) -> int:
    """What the filter says to one call: an interpreter of the few instructions it is made of, written from the description of classic BPF."""
    data = struct.pack("<IIQ6Q", number, machine, 0, *(*arguments, *[0] * (6 - len(arguments))))
    lines = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    at = held = 0
    while True:
        kind, if_true, if_false, constant = lines[at]
        at += 1
        if kind == 0x20:
            held = struct.unpack_from("<I", data, constant)[0]
        elif kind == 0x54:
            held &= constant
        elif kind == 0x06:
            return constant
        else:
            is_true = {0x15: held == constant, 0x35: held >= constant, 0x45: bool(held & constant)}[kind]
            at += if_true if is_true else if_false


ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
X86, ARM = 0xC000003E, 0xC00000B7


@pytest.mark.parametrize(
    ("machine", "audit", "read", "ptrace", "execve", "kill", "mmap", "seccomp"),
    [("x86_64", X86, 0, 101, 59, 62, 9, 317), ("aarch64", ARM, 63, 117, 221, 129, 222, 277)],
)
def test_the_filter_answers_as_its_lists_say(machine: str, audit: int, read: int, ptrace: int, execve: int, kill: int, mmap: int, seccomp: int) -> None:
    host = allow_list.assemble(machine, allow_list.needs_of("host", starts_processes=False, is_program=False, pid=2))
    device = allow_list.assemble(machine, allow_list.needs_of("device", starts_processes=False, is_program=True, pid=2))
    build = allow_list.assemble(machine, allow_list.needs_of("build", starts_processes=True, is_program=True, pid=2))
    assert [answer(code, audit, read) for code in (host, device, build)] == [ALLOW] * 3
    assert [answer(code, audit, ptrace) for code in (host, device, build)] == [EPERM] * 3
    assert [answer(code, audit, execve) for code in (host, device, build)] == [EPERM, ALLOW, ALLOW]
    assert [answer(code, audit, kill, 2, 9) for code in (host, device, build)] == [ALLOW] * 3
    assert [answer(code, audit, kill, 1, 9) for code in (host, device, build)] == [EPERM, EPERM, ALLOW]
    assert [answer(code, audit, mmap, 0, 4096, 7) for code in (host, device, build)] == [ALLOW, EPERM, ALLOW]
    assert [answer(code, audit, mmap, 0, 4096, 5) for code in (host, device, build)] == [ALLOW] * 3
    assert [answer(code, audit, seccomp) for code in (host, device, build)] == [EPERM, ALLOW, EPERM]


@pytest.mark.parametrize(("machine", "audit", "fcntl", "ioctl"), [("x86_64", X86, 72, 16), ("aarch64", ARM, 25, 29)])
def test_a_file_cannot_be_made_to_signal_another_process(machine: str, audit: int, fcntl: int, ioctl: int) -> None:
    host = allow_list.assemble(machine, allow_list.needs_of("host", starts_processes=False, is_program=False, pid=2))
    build = allow_list.assemble(machine, allow_list.needs_of("build", starts_processes=True, is_program=True, pid=2))
    owners = [(fcntl, 8), (fcntl, 10), (fcntl, 15), (ioctl, 0x8901), (ioctl, 0x8902)]  # F_SETOWN, F_SETSIG, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP
    assert [answer(host, audit, number, 5, command) for number, command in owners] == [EPERM] * 5
    assert [answer(build, audit, number, 5, command) for number, command in owners] == [ALLOW] * 5
    assert [answer(host, audit, fcntl, 5, command) for command in (0, 1, 2, 3, 4, 9, 11)] == [ALLOW] * 7
    assert answer(host, audit, ioctl, 5, 0x5421) == ALLOW  # FIONBIO


def test_the_filter_ends_calls_of_another_architecture_and_knows_no_newer_ones() -> None:
    build = allow_list.assemble("x86_64", allow_list.needs_of("build", starts_processes=True, is_program=True, pid=2))
    assert answer(build, ARM, 63) == KILL
    assert answer(build, X86, 0x40000000) == KILL
    assert answer(build, X86, 9999) == ENOSYS
    assert answer(build, X86, 435) == ENOSYS
    assert [answer(build, X86, 56, flags) for flags in (17, 0x10000011)] == [ALLOW, EPERM]


V1 = "4:memory:/box/a\n8:pids:/\n0::/\n"
V1_MOUNTS = "30 1 0:1 /box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n31 1 0:2 / /sys/fs/cgroup/pids rw shared:1 - cgroup cgroup rw,pids\n"


def test_the_groups_of_version_1_are_found_below_what_a_mount_shows() -> None:
    memory, pids = control_groups.find(V1, V1_MOUNTS)
    assert (memory.folder, memory.controllers, memory.is_unified) == ("/sys/fs/cgroup/memory/a", ("memory",), False)
    assert pids.folder == "/sys/fs/cgroup/pids"


def test_the_group_of_version_2_is_found_and_nothing_is_an_error() -> None:
    (unified,) = control_groups.find("0::/user.slice/x\n", "30 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    assert (unified.folder, unified.is_unified) == ("/sys/fs/cgroup/user.slice/x", True)
    for own, folder in (("/user.slice/x/piton-main-7", "/sys/fs/cgroup/user.slice/x"), ("/piton-main-7", "/sys/fs/cgroup")):  # has moved itself before
        (moved,) = control_groups.find(f"0::{own}\n", "30 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        assert moved.folder == folder
    with pytest.raises(OSError, match="no hierarchy"):
        control_groups.find("0::/\n", "30 1 0:1 / / rw - ext4 /dev/vda rw\n")


def test_a_group_of_version_2_gets_its_bounds_and_nothing_is_left_of_one_that_fails(tmp_path: Path) -> None:
    hierarchy = control_groups.Hierarchy(str(tmp_path), ("memory", "pids"), is_unified=True)
    group = control_groups.Group.make((hierarchy,), 1 << 20, 7)
    (folder,) = map(Path, group.folders)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"memory.max": "1048576", "pids.max": "7", "memory.swap.max": "0"}
    with pytest.raises(FileNotFoundError):
        control_groups.Group.make((hierarchy, control_groups.Hierarchy(str(tmp_path / "absent"), ("pids",), is_unified=False)), 1, 1)
