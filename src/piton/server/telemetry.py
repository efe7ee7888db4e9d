"""What a server says of itself: figures in the text form of Prometheus, and the state of its process that a leak would show in."""

from __future__ import annotations

import os
import time
from pathlib import Path

from piton.server.service import EvaluationService

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def process_figures() -> dict[str, int]:
    """Resident bytes, open descriptors and threads of this process, and the processes below it."""
    return {
        "resident_bytes": int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
        "processes": len(_descendants(os.getpid())),
    }


def metrics_text(service: EvaluationService) -> str:
    """All figures; names and meanings are in docs/serve.md."""
    lines = ["# TYPE piton_jobs gauge"]
    lines += [f'piton_jobs{{state="{state.value}"}} {count}' for state, count in service.board.counts().items()]
    lines += ["# TYPE piton_jobs_ended_total counter"]
    lines += [f'piton_jobs_ended_total{{state="{state.value}"}} {count}' for state, count in service.board.ended().items()]
    lines += ["# TYPE piton_requests_total counter"]
    lines += [f'piton_requests_total{{status="{status}"}} {count}' for status, count in sorted(service.requests.items())]
    lines += ["# TYPE piton_job_seconds_total counter", f"piton_job_seconds_total {service.seconds:.3f}"]
    lines += ["# TYPE piton_uptime_seconds gauge", f"piton_uptime_seconds {time.time() - service.started:.0f}"]
    for name, value in process_figures().items():
        lines += [f"# TYPE piton_process_{name} gauge", f"piton_process_{name} {value}"]
    return "\n".join(lines) + "\n"


def _descendants(pid: int) -> list[int]:
    """Processes that this one started, and theirs, as far as they still hang on it."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    return [int(word) for file in Path(f"/proc/{pid}/task").glob("*/children") for word in _text(file).split()]


def _text(file: Path) -> str:
    """What a file of a process says; nothing once that has ended."""
    try:
        return file.read_text()
    except OSError:
        return ""
