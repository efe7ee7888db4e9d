"""What a job finds out about its own confinement: a mechanism counts as in force when the job at the start has seen it work."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from piton.evaluate.sandbox.probe import Mechanisms

CHECK = """
import ctypes, json, os, sys
sys.path.insert(0, sys.argv[1])
import piton
from importlib.util import find_spec
assert find_spec("torch")
libc = ctypes.CDLL(None, use_errno=True)
def can_write(path):
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return False
    return True
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
facts = {
    "uid": os.getuid(),
    "pid": os.getpid(),
    "processes": sum(name.isdigit() for name in os.listdir("/proc")),
    "networks": sorted(line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]),
    "name": os.uname().nodename,
    "top": sorted(os.listdir("/")) if os.access("/", os.R_OK) else [],
    "filters": int(status.get("Seccomp_filters", "9")),
    "capabilities": int(status["CapEff"], 16),
    "no_new_privs": int(status["NoNewPrivs"]),
    "is_refused_by_filter": libc.ptrace(0, 0, 0, 0) != 0,
    "can_write_own_memory": can_write("/proc/self/mem"),
    "groups": open("/proc/self/cgroup").read(),
}
print(json.dumps(facts))
"""
"""A program for the interpreter; its argument is where Piton's package lies.
ptrace(PTRACE_TRACEME) is harmless and works for everybody, unless it is filtered."""


def problems(answer: str, mechanisms: Mechanisms) -> list[str]:
    """Which of `mechanisms` are not in force, by the job's answer."""
    facts = json.loads(answer)
    checks = {
        "no_new_privs": facts["no_new_privs"] == 1,
        "no_capabilities": facts["capabilities"] == 0,
        "separate_users": not mechanisms.users or facts["uid"] != 0,
        **_namespaces(facts, mechanisms),
        "no_new_processes": not mechanisms.no_new_processes or facts["filters"] >= 1,
        "system_call_filter": not mechanisms.allow_list or facts["is_refused_by_filter"],
        "landlock": not mechanisms.landlock or not facts["can_write_own_memory"],
        "control_group": not mechanisms.control_group or "/piton-" in facts["groups"],
    }
    return [f"{name} has no effect" for name, is_good in checks.items() if not is_good]


def _namespaces(facts: Mapping[str, object], mechanisms: Mechanisms) -> dict[str, bool]:
    held = mechanisms.namespaces
    top = facts["top"]
    return {
        "read_only_view": "mount" not in held or (isinstance(top, list) and "sys" not in top and "home" not in top),
        "net_namespace": "net" not in held or facts["networks"] == ["lo"],
        "uts_namespace": "uts" not in held or facts["name"] == "piton",
        "pid_namespace": "pid" not in held or (facts["pid"] == 2 and facts["processes"] == 2),
    }
