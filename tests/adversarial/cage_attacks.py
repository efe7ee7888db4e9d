"""Attacks from inside a sandboxed process: what one is, and the programs that try them. The list is in cage_list.py.

Each is the body of a Python function that gets `w`, what an attacker may know (paths, process ids, names), and returns something true when it got through.
Those that end their process, or take minutes to be stopped, are run alone; the others one after the other in one process. What shows only when the job is
over (something that it left) has an `aftermath`, which the rig looks at then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ALL = ("host", "device", "build")
INSIDE = ("host", "device")


@dataclass(frozen=True)
class Attack:
    """One attempt."""

    name: str
    body: str
    roles: tuple[str, ...] = ALL
    runs_alone: bool = False
    aftermath: str = ""
    """Name of the trace (cage_rig.py) that is there afterwards when it got through; empty: the program says so itself."""
    fails_everywhere: str = ""
    """Why it gets through nowhere, not even where nothing isolates; such a row shows a promise of something else than the cage."""


PRELUDE = r"""
import ctypes, fcntl, glob, json, mmap, os, socket, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
buffer = ctypes.create_string_buffer(4096)
handle = ctypes.create_string_buffer(struct.pack("<Ii", 128, 0), 256)
counter = ctypes.create_string_buffer(struct.pack("<IIQ", 1, 112, 0) + bytes(24) + struct.pack("<Q", 0x61), 4096)
def syscall(x86, arm, *arguments):
    number = x86 if os.uname().machine == "x86_64" else arm
    return libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)) >= 0
def vectors(address):
    here = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    there = (ctypes.c_void_p * 2)(address, 8)
    vectors.kept = here, there
    return ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1)
def empty_filter():
    code = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7fff0000))
    empty_filter.kept = code, ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 1, ctypes.addressof(code)))
    return empty_filter.kept[1]
def mounts():
    where = (os.environ["TMPDIR"].encode(), 2)
    return libc.mount(b"none", where[0], b"tmpfs", 0, None) == 0 and libc.umount2(*where) == 0
def compiles(text, *options):
    return subprocess.run(["g++", *options, "-x", "c++", "-c", "-o", "/dev/null", "-"], input=text, text=True, capture_output=True).returncode == 0
def linked(script):
    name = os.environ["TMPDIR"] + "/script"
    open(name, "w").write(script)
    subprocess.run(["ld", "-r", "-o", name + ".o", name], capture_output=True)
    return open(name + ".o", "rb").read()
def become_shell(text):
    os.execv("/bin/sh", ["sh", "-c", text])
w = json.loads(sys.argv[1])
"""
"""What the bodies use."""


def together(attacks: Sequence[Attack]) -> str:
    """A program that tries one after the other and prints the indices of those that got through."""
    parts = [PRELUDE, "through = []"]
    for index, attack in enumerate(attacks):
        parts.append(f"def attack():\n    {attack.body}\ntry:\n    if attack(): through.append({index})\nexcept Exception: pass")
    return "\n".join([*parts, "print(json.dumps(through))"])


def alone(attack: Attack) -> str:
    """A program that tries this one and prints `as a shell` when it got through."""
    return f"{PRELUDE}\ndef attack():\n    {attack.body}\nif attack(): print('as a shell', flush=True)"
