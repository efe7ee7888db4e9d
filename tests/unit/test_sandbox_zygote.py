"""Does the starter of sandboxed processes end quietly when its parent is gone?"""

from __future__ import annotations

import socket
import subprocess
import sys

from piton.evaluate.sandbox import wire

START = "import sys; from piton.evaluate.sandbox.zygote import main; main(int(sys.argv[1]), ())"


def test_a_starter_whose_parent_is_gone_ends_without_a_word() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        done = subprocess.run([sys.executable, "-c", START, str(theirs.fileno())], pass_fds=(theirs.fileno(),), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_message_to_a_parent_that_was_killed_is_dropped() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        wire.tell(theirs, {"pid": 1})
