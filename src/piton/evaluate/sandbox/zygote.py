"""The starter of sandboxed processes: an exec'd, single-threaded Python that forks on request.

Problem: forking the parent would hand its secrets to a submission, and a fresh Python with torch takes seconds.
Approach: `python -I zygote.py` with a clean environment preloads modules once; each request names what to run and carries its descriptors. The zygote forks
a supervisor (supervise.py), which forks, confines and watches the job.
Limits: one request at a time; modules preloaded here must not have started threads.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import sys
from typing import NoReturn

from piton.evaluate.sandbox import wire
from piton.evaluate.sandbox.supervise import supervise
from piton.evaluate.sandbox.users import PR_SET_DUMPABLE, name_process, prctl


def main(descriptor: int, preload: tuple[str, ...]) -> None:
    """Serve requests from `descriptor` until the parent closes it."""
    name_process("piton-zygote")
    prctl(PR_SET_DUMPABLE, 0)  # descriptors pass through here; a job of the same user must not find them in /proc
    gc.disable()
    for name in preload:
        importlib.import_module(name)
    gc.enable()
    gc.freeze()  # what is loaded is no garbage: no look for it in any child, which would copy every page that it looks at
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business; it closes the socket when it is done
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors report for themselves and need not be reaped
    sock = socket.socket(fileno=descriptor)
    wire.tell(sock, {"ready": True})
    while True:
        try:
            request, fds = wire.receive(sock)
        except (wire.ClosedError, OSError):
            return
        if os.fork() == 0:
            _become_supervisor(sock, request, fds)
        for fd in fds:
            os.close(fd)


def _become_supervisor(sock: socket.socket, request: dict[str, object], fds: list[int]) -> NoReturn:
    try:
        sock.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        supervise(request, fds)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), tuple(sys.argv[2:]))
