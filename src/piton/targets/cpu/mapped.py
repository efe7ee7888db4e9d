"""Which code a kernel's process has in its memory, and whether it may.

Problem: a library of ready-made operators does the work of a kernel, whatever its file is called: a copy under another name is one, too.
Approach: the system's own list of the process's memory. A file that is mapped to be executed is the program itself, or lies in a folder of the system's or of
Python's, which the cage keeps read-only; and in these folders it is no framework.
Limits: it is one look after the calls: a library that was taken out of memory before is not seen, nor is code without a file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy

import piton
from piton.core.verdict import Cause, Outcome, outcome

_FRAMEWORKS = ("libtorch_cpu", "libjax", "xla_extension", "_tensorflow")
"""Names in the files of libraries that have the suite's operators ready-made."""
_FIELDS = 6
"""Of a line of /proc/PID/maps with a name: addresses, permissions, offset, device, inode, name (proc_pid_maps(5))."""


def code_of(pid: int) -> tuple[str, ...] | None:
    """Paths of the files that a process has mapped to be executed, but for its own program; None where this process may not see them."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
        program = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None
    parts = [fields for line in lines if len(fields := line.split(maxsplit=_FIELDS - 1)) == _FIELDS]
    named = dict.fromkeys(fields[-1] for fields in parts if "x" in fields[1] and not fields[-1].startswith("["))
    return tuple(path for path in named if path != program)


def refusal(code: Sequence[str]) -> tuple[Outcome, ...]:
    """The verdict on a process with code that it may not have; nothing for another one."""
    roots = _roots()
    for path in code:
        if any(name in path for name in _FRAMEWORKS):
            text = f"the kernel's process has loaded {Path(path).name}: a framework's operators are not the submission's own"
            return (outcome(Cause.FRAMEWORK_COMPUTE, text),)
        if not path.startswith(roots):
            text = f"the kernel's process has loaded {Path(path).name}, which is neither of its build nor of the system or Python: code that was not built here"
            return (outcome(Cause.FRAMEWORK_COMPUTE, text),)
    return ()


def _roots() -> tuple[str, ...]:
    """Folders of the system and of this Python, as they are called and as they are found; each with a slash behind it."""
    python = (sys.prefix, sys.base_prefix, str(Path(numpy.__file__).parent.parent), str(Path(piton.__file__).parent.parent))
    named = ("/usr", "/lib", "/lib64", "/opt", *python)
    return tuple(dict.fromkeys(f"{root.rstrip('/')}/" for name in named for root in (name, os.path.realpath(name))))
