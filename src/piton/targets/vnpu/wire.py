"""Messages between the parent, the host process and the device process; the C++ side is vnpu_cpp/engine/wire.h."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterable
from enum import IntEnum

VERSION = 5
MAX_BODY_BYTES = 1 << 26
MAX_REPLY_BYTES = 1 << 22
"""Bound of a host process's reply; a list of a hundred outputs takes some KiB."""

_HEADER = struct.Struct("<II")
_LENGTH = struct.Struct("<I")
FRAMES = 16
"""Places that last words have room for; vnpu_cpp/engine/frames.h."""
FAULT = struct.Struct(f"<iQBI{FRAMES}Q")
"""Last words of a host process: signal, address, whether it is a device address, number of frames, their offsets in the submission's library."""
DIED = struct.Struct(f"<iQBI{FRAMES}QI")
"""Last words of a device process: signal, address, what it was (RAW_STORE, FULL_STACK or 0), frames as above, length of the kernel's name that follows."""
RAW_STORE, FULL_STACK = 1, 2
DESCRIPTION = struct.Struct("<BQQBBQQ")


class Type(IntEnum):
    """Kinds of frames on the channel between parent and device."""

    CONFIGURE = 1
    BEGIN_CASE = 2
    ALLOCATE = 3
    BEGIN_CALL = 4
    END_CALL = 5
    DESCRIBE = 6
    RECORD = 7
    TIMELINE = 8
    READY = 64
    ANSWER = 65
    REFUSED = 66
    DIED = 96


class ChannelClosedError(Exception):
    """The other process is gone or has stopped making sense."""


class ChannelTimeoutError(Exception):
    """No complete message came in time."""


class IllegalMessageError(Exception):
    """A message that no honest process sends."""


def send_frames(sock: socket.socket, frames: Iterable[tuple[Type, bytes]]) -> None:
    """Send frames (kind, body) one behind the other. Raises ChannelClosedError when the other side is gone."""
    try:
        sock.sendall(b"".join(_HEADER.pack(kind, len(body)) + body for kind, body in frames))
    except OSError:
        raise ChannelClosedError from None


def receive_frame(sock: socket.socket, timeout_s: float) -> tuple[int, bytes]:
    """Receive one frame: kind and body. Raises ChannelClosedError, ChannelTimeoutError."""
    deadline = time.monotonic() + timeout_s
    kind, length = _HEADER.unpack(_exactly(sock, _HEADER.size, deadline))
    if length > MAX_BODY_BYTES:
        raise ChannelClosedError
    return kind, _exactly(sock, length, deadline)


def send_json(sock: socket.socket, message: object) -> None:
    """Send a length and JSON text. Raises ChannelClosedError when the other side is gone."""
    body = json.dumps(message).encode()
    try:
        sock.sendall(_LENGTH.pack(len(body)) + body)
    except OSError:
        raise ChannelClosedError from None


def receive_json(sock: socket.socket, timeout_s: float | None) -> bytes:
    """Receive the JSON text of one message, not parsed yet; None waits for ever.

    Raises ChannelClosedError, ChannelTimeoutError, and IllegalMessageError for a length beyond any honest reply.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    (length,) = _LENGTH.unpack(_exactly(sock, _LENGTH.size, deadline))
    if length > MAX_REPLY_BYTES:
        raise IllegalMessageError(f"a reply of {length} bytes; at most {MAX_REPLY_BYTES} make sense")
    return _exactly(sock, length, deadline)


def has_more(sock: socket.socket) -> bool:
    """True when bytes are waiting: after a complete reply an honest process is silent. The end of the stream is left for the next read to find."""
    sock.settimeout(0)
    try:
        return bool(sock.recv(1, socket.MSG_PEEK))
    except OSError:  # nothing there
        return False


def _exactly(sock: socket.socket, count: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        parts += _some(sock, count - len(parts), deadline)
    return bytes(parts)


def _some(sock: socket.socket, count: int, deadline: float | None) -> bytes:
    sock.settimeout(None if deadline is None else max(1e-3, deadline - time.monotonic()))
    try:
        part = sock.recv(min(count, 1 << 20))
    except TimeoutError:
        raise ChannelTimeoutError from None
    except OSError:
        raise ChannelClosedError from None
    if not part:
        raise ChannelClosedError
    return part
