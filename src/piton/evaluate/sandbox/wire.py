"""Messages between the parent, the zygote and the supervisors: a length, then JSON, with descriptors beside it."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
from collections.abc import Mapping, Sequence

_LENGTH = struct.Struct("<I")
MAX_MESSAGE_BYTES = 32 << 20
MAX_DESCRIPTORS = 64


class ClosedError(Exception):
    """The other side is gone."""


def send(sock: socket.socket, message: Mapping[str, object], fds: Sequence[int] = ()) -> None:
    """Send one message; the descriptors travel with its first bytes. Raises OSError when the other side is gone."""
    body = json.dumps(message).encode()
    head = _LENGTH.pack(len(body))
    socket.send_fds(sock, [head], list(fds))
    sock.sendall(body)


def tell(sock: socket.socket, message: Mapping[str, object]) -> None:
    """Like `send` to a parent that may have been killed: then nobody is left to tell, and the caller goes on to clean up."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        send(sock, message)


def receive(sock: socket.socket) -> tuple[dict[str, object], list[int]]:
    """Receive one message. Raises ClosedError at the end of the stream."""
    head, fds, _, _ = socket.recv_fds(sock, _LENGTH.size, MAX_DESCRIPTORS)
    head += _exactly(sock, _LENGTH.size - len(head)) if head else b""
    if len(head) < _LENGTH.size:
        raise ClosedError
    (length,) = _LENGTH.unpack(head)
    if length > MAX_MESSAGE_BYTES:
        raise ClosedError
    message: dict[str, object] = json.loads(_exactly(sock, length))
    return message, list(fds)


def _exactly(sock: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = sock.recv(count - len(parts))
        if not part:
            raise ClosedError
        parts += part
    return bytes(parts)
