"""The attacks once more, as system calls that native device code makes: what cage_list.py does in Python cannot be done where only a device library runs."""

from __future__ import annotations

import os
import platform
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from glob import glob

from piton.evaluate.sandbox import syscall_table

_NUMBERS = syscall_table.numbers(
    """
openat=257/56 read=0/63 write=1/64 getdents64=217/61 newfstatat=262/79 fchmodat=268/53 mknodat=259/33 nanosleep=35/101 mmap=9/222 ioctl=16/29
socket=41/198 connect=42/203 ptrace=101/117 process_vm_readv=310/270 process_vm_writev=311/271 pidfd_open=434/434 pidfd_getfd=438/438 kill=62/129
getppid=110/173 getpriority=140/141 setpriority=141/140 sched_setaffinity=203/122 prlimit64=302/261 kcmp=312/272 shmget=29/194 uname=63/160
mount=165/40 umount2=166/39 add_key=248/217 bpf=321/280 perf_event_open=298/241 io_uring_setup=425/425 userfaultfd=323/282 name_to_handle_at=303/264
open_by_handle_at=304/265 mq_open=240/180 inotify_init1=294/26 syslog=103/116 personality=135/92 setresuid=117/147 unshare=272/97 chroot=161/51
clone=56/220 memfd_create=319/279 execve=59/221
""",
    platform.machine(),
)
_OWN = {"touch": -1, "find": -2, "count_descriptors": -3}
_HERE, _SIZE = -100, 1 << 16
_MAGIC = b"PITONCAG"
Knows = Mapping[str, object]


@dataclass(frozen=True)
class At:
    """An offset in the script's memory."""

    offset: int


@dataclass(frozen=True)
class Result:
    """What an earlier step returned."""

    step: int


class Script:
    """System calls, one after another; cpp/cage_script.cpp makes them."""

    def __init__(self) -> None:
        self._steps: list[bytes] = []
        self._fixups: list[bytes] = []
        self._blob = bytearray()

    def call(self, name: str, *arguments: int | At | Result, times: int = 1) -> Result:
        """One step."""
        kinds = sum((1 if isinstance(item, At) else 2 if isinstance(item, Result) else 0) << 4 * index for index, item in enumerate(arguments))
        values = [item.offset if isinstance(item, At) else item.step if isinstance(item, Result) else item for item in arguments]
        number = _OWN[name] if name in _OWN else _NUMBERS[name]
        self._steps.append(struct.pack("<qQQ6q", number, times, kinds, *values, *[0] * (6 - len(values))))
        return Result(len(self._steps) - 1)

    def memory(self, content: bytes | str) -> At:
        """These bytes, with a zero behind."""
        at = At(len(self._blob))
        self._blob += (content.encode() if isinstance(content, str) else content) + b"\0"
        self._blob += bytes(-len(self._blob) % 8)
        return at

    def vector(self, address: int | At) -> At:
        """An iovec of 8 bytes there."""
        at = self.memory(struct.pack("<QQ", 0 if isinstance(address, At) else address, 8))
        if isinstance(address, At):
            self._fixups.append(struct.pack("<QQ", at.offset, address.offset))
        return at

    def pointers(self, *texts: str) -> At:
        """An array of these texts, with a null behind."""
        targets = [self.memory(text) for text in texts]
        at = self.memory(bytes(8 * len(texts) + 8))
        self._fixups += [struct.pack("<QQ", at.offset + 8 * index, target.offset) for index, target in enumerate(targets)]
        return at

    def open(self, path: object, flags: int = os.O_RDONLY) -> Result:
        """Open a file by name."""
        return self.call("openat", _HERE, self.memory(str(path)), flags, 0o644)

    def read(self, path: object) -> At:
        """What is in a file."""
        room = self.memory(bytes(_SIZE))
        self.call("read", self.open(path), room, _SIZE)
        return room

    def find(self, where: At, text: object) -> None:
        """Go on only where it is."""
        self.call("find", where, _SIZE, self.memory(str(text)), len(str(text)))

    def packed(self) -> bytes:
        """What is put behind the library."""
        head = struct.pack("<QQQ", len(self._steps), len(self._fixups), len(self._blob))
        body = b"".join([head, *self._steps, *self._fixups, bytes(self._blob)])
        return body + struct.pack("<Q", len(body)) + _MAGIC


_Form = Callable[[Script, Knows], object]
_NEW = os.O_WRONLY | os.O_CREAT


def _reads(key: str) -> _Form:
    return lambda s, w: s.read(w[key])


def _lists(key: str) -> _Form:
    return lambda s, w: s.call("getdents64", s.open(w[key], os.O_DIRECTORY), s.memory(bytes(_SIZE)), _SIZE)


def _makes(key: str, rest: str) -> _Form:
    return lambda s, w: s.open(str(w[key]) + rest, _NEW)


def _traces(key: str) -> _Form:
    return lambda s, w: s.call("ptrace", 0x4206, _number(w, key), 0, 0)


def _connects(family: int, address: Callable[[Knows], bytes]) -> _Form:
    return lambda s, w: s.call("connect", s.call("socket", family, 1, 0), s.memory(address(w)), len(address(w)))


def _maps(bytes_: int, protection: int, flags: int) -> _Form:
    return lambda s, w: s.call("touch", s.call("mmap", 0, bytes_, protection, flags, -1, 0), bytes_)


def _prints(fd: int) -> _Form:
    return lambda s, w: (s.call("write", fd, s.memory(bytes(_SIZE)), _SIZE, times=64), s.call("nanosleep", s.memory(struct.pack("<QQ", 0, 200_000_000)), 0))


def _number(w: Knows, key: str) -> int:
    value = w[key]
    assert isinstance(value, int)
    return value


def _port(w: Knows) -> bytes:
    return struct.pack("<H", socket.AF_INET) + struct.pack(">H", _number(w, "port")) + socket.inet_aton("127.0.0.1") + bytes(8)


FORMS: Mapping[str, _Form] = {
    "use a descriptor that it was not given": lambda s, w: s.call("count_descriptors", _number(w, "given")),
    "read the golden": _reads("golden"),
    "read the journal": _reads("journal"),
    "read the hidden key": _reads("key"),
    "read the golden of a suite of ours": _reads("own_golden"),
    "read a file that its owner has closed, in a folder that is shown": _reads("closed"),
    "list the run folder of another submission": _lists("run"),
    "read what another job keeps in its /tmp": lambda s, w: s.read(next(iter(glob(str(w["sibling_tmp"]))), "/tmp/sibling")),
    "read the cache": _lists("cache"),
    "ask whether a hidden case exists and how large it is": lambda s, w: s.call("newfstatat", _HERE, s.memory(str(w["golden"])), s.memory(bytes(256)), 0),
    "read the passwords of the machine": lambda s, w: s.read("/etc/shadow"),
    "write outside its folders": _makes("outside", "/mark"),
    "write to the cache": _makes("cache", "/mark"),
    "forge a result": _makes("run", "/report.json"),
    "append to the journal": lambda s, w: s.open(w["journal"], os.O_RDWR | os.O_APPEND),
    "change the mode of the golden": lambda s, w: s.call("fchmodat", _HERE, s.memory(str(w["golden"])), 0o644),
    "leave its control group": lambda s, w: s.call("write", s.open(f"{w['group']}/cgroup.procs", os.O_WRONLY), s.memory("0"), 1),
    "leave a named pipe": lambda s, w: s.call("mknodat", _HERE, s.memory(f"{w['scratch']}/pipe"), 0o10644, 0),
    "leave something in /dev/shm": lambda s, w: s.open(f"/dev/shm/{w['mark']}", _NEW),
    "leave something in /tmp": lambda s, w: s.open(f"/tmp/{w['mark']}", _NEW),
    "connect to a port of the machine": _connects(socket.AF_INET, _port),
    "connect to an abstract socket": _connects(socket.AF_UNIX, lambda w: struct.pack("<H", socket.AF_UNIX) + b"\0" + str(w["abstract"]).encode()),
    "open a netlink socket": lambda s, w: s.call("socket", socket.AF_NETLINK, 3, 0),
    "see the sockets of the machine": lambda s, w: s.find(s.read("/proc/net/unix"), w["abstract"]),
    "learn the name of the machine": lambda s, w: s.find(_after(s, "uname"), w["name"]),
    "trace the parent": _traces("parent"),
    "read the parent's memory": lambda s, w: _copies(s, w, "process_vm_readv", "address"),
    "write the parent's memory": lambda s, w: _copies(s, w, "process_vm_writev", "spare"),
    "take a descriptor of the parent": lambda s, w: s.call("pidfd_getfd", s.call("pidfd_open", _number(w, "parent"), 0), _number(w, "descriptor"), 0),
    "signal the parent": lambda s, w: s.call("kill", _number(w, "parent"), 0),
    "read the parent's command line": lambda s, w: s.read(f"/proc/{w['parent']}/cmdline"),
    "read the parent's environment": lambda s, w: s.read(f"/proc/{w['parent']}/environ"),
    "slow the parent down": lambda s, w: s.call("setpriority", 0, _number(w, "parent"), 0),
    "pin the parent to a core": lambda s, w: _pins(s, _number(w, "parent")),
    "limit the parent": lambda s, w: s.call("prlimit64", _number(w, "parent"), 4, s.memory(bytes(16)), 0),
    "compare with the parent": lambda s, w: s.call("kcmp", _number(w, "parent"), _number(w, "parent"), 1, 0, 0),
    "signal its supervisor": lambda s, w: s.call("kill", s.call("getppid"), 0),
    "read its supervisor's memory": lambda s, w: s.open(f"/proc/{w['first']}/mem"),
    "signal another job": lambda s, w: s.call("kill", _number(w, "sibling"), 0),
    "trace another job": _traces("sibling"),
    "write another job's memory": lambda s, w: s.open(f"/proc/{w['sibling']}/mem", os.O_RDWR),
    "put input into a terminal": lambda s, w: s.call("ioctl", s.open(w["terminal"], os.O_RDWR), 0x5412, s.memory("x")),
    "attach shared memory of others": lambda s, w: s.call("shmget", _number(w, "shm_key"), 0, 0),
    "see the shared memory of others": lambda s, w: s.find(s.read("/proc/sysvipc/shm"), w["shm_key"]),
    "read secrets in its environment, or in that of what started it": lambda s, w: s.find(s.read("/proc/self/environ"), w["secret"]),
    "write to its own code by /proc/self/mem": lambda s, w: s.open("/proc/self/mem", os.O_RDWR),
    "choose when it is ended for memory": lambda s, w: s.open("/proc/self/oom_score_adj", os.O_WRONLY),
    "mount a file system": lambda s, w: _mounts(s, s.memory(str(w["outside"]))),
    "keep a key in the kernel": lambda s, w: s.call("add_key", s.memory("user"), s.memory("piton"), s.memory("x"), 1, -2),
    "load a bpf program": lambda s, w: s.call("bpf", 0, s.memory(struct.pack("<IIII", 2, 4, 4, 1) + bytes(112)), 72),
    "open a performance counter": lambda s, w: s.call("perf_event_open", s.memory(_COUNTER), 0, -1, -1, 0),
    "make an io_uring": lambda s, w: s.call("io_uring_setup", 4, s.memory(bytes(256))),
    "handle page faults itself": lambda s, w: s.call("userfaultfd", 1),
    "open files by handle": lambda s, w: _by_handle(s, s.memory(struct.pack("<Ii", 128, 0) + bytes(128))),
    "make a message queue": lambda s, w: s.call("mq_open", s.memory(str(w["queue"])), 66, 0o600, 0),
    "watch files of others": lambda s, w: s.call("inotify_init1", 0),
    "read the log of the kernel": lambda s, w: s.call("syslog", 3, s.memory(bytes(64)), 64),
    "switch off the protections of addresses": lambda s, w: s.call("personality", 0x40000),
    "choose its cores": lambda s, w: _pins(s, 0),
    "change its priority": lambda s, w: s.call("setpriority", 0, 0, 0),
    "become root": lambda s, w: s.call("setresuid", 0, 0, 0),
    "map memory both writable and executable": _maps(4096, 7, 0x22),
    "leave into new namespaces": lambda s, w: s.call("unshare", 0x10000000),
    "chroot": lambda s, w: s.call("chroot", s.memory("/")),
    "start a process": lambda s, w: s.call("clone", 17, 0, 0, 0, 0),
    "run a program that it holds in memory": lambda s, w: s.call("memfd_create", s.memory("sh"), 0),
    "gain rights by a setuid program": lambda s, w: s.call("execve", s.memory(str(w["setuid"])), s.pointers("sh", "-c", "echo as a shell"), 0),
    "take all memory": _maps(320 << 20, 3, 0x22),
    "take all memory by shared pages": _maps(320 << 20, 3, 0x21),
    "take all threads": lambda s, w: s.call("clone", 0x10F00, s.memory(bytes(_SIZE)), 0, 0, 0),
    "print without end": _prints(1),
    "print errors without end": _prints(2),
    "leave a process behind": lambda s, w: s.call("clone", 17, 0, 0, 0, 0),
    "leave shared memory behind": lambda s, w: s.call("shmget", _number(w, "left_key"), 4096, 0o1666),
}
"""By the name of the attack."""
_COUNTER = struct.pack("<IIQ", 1, 112, 0) + bytes(24) + struct.pack("<Q", 0x61) + bytes(64)


def _after(s: Script, name: str) -> At:
    room = s.memory(bytes(_SIZE))
    s.call(name, room)
    return room


def _copies(s: Script, w: Knows, name: str, key: str) -> Result:
    return s.call(name, _number(w, "parent"), s.vector(s.memory(bytes(8))), 1, s.vector(_number(w, key)), 1, 0)


def _mounts(s: Script, where: At) -> Result:
    s.call("mount", s.memory("none"), where, s.memory("tmpfs"), 0, 0)
    return s.call("umount2", where, 2)


def _pins(s: Script, pid: int) -> Result:
    return s.call("sched_setaffinity", pid, 8, s.memory(struct.pack("<Q", (1 << len(os.sched_getaffinity(0))) - 1)))


def _by_handle(s: Script, handle: At) -> Result:
    s.call("name_to_handle_at", _HERE, s.memory("/"), handle, s.memory(bytes(8)), 0)
    return s.call("open_by_handle_at", s.open("/"), handle, 0)
