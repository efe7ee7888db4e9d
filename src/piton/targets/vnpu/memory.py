"""The parent's view of device memory: a sparse memfd that it shares with the device process and never with the host process."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os

ARENA_BASE = 0x200000000000
"""First device address; engine/memory.h has the same."""
ARENA_BYTES = 1 << 36
_PR_SET_DUMPABLE = 4
_WRITE_BYTES = 1 << 30
"""Of one call; the kernel takes at most 2 GiB."""


class DeviceArena:
    """Owner of the memfd. Views stay valid until `close`; their bytes until the next case begins."""

    def __init__(self) -> None:
        self.fd = os.memfd_create("piton-device", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, ARENA_BYTES)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)

    def view(self, address: int, nbytes: int) -> memoryview:
        """The bytes [address, address + nbytes) of device memory, to read. Raises ValueError for a range outside the arena."""
        offset = self._offset(address, nbytes)
        if nbytes == 0:
            return memoryview(b"")
        start = offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        mapping = mmap.mmap(self.fd, offset - start + nbytes, access=mmap.ACCESS_READ, offset=start)
        return memoryview(mapping)[offset - start :]

    def write(self, address: int, data: memoryview) -> None:
        """Put `data` at `address`: by calls, which need no page tables, as a view would, and keep no other thread from running. Raises ValueError as `view`."""
        start = self._offset(address, data.nbytes)
        at, rest = start, data.cast("B")
        while rest.nbytes:
            written = os.pwrite(self.fd, rest[:_WRITE_BYTES], at)
            at, rest = at + written, rest[written:]

    def _offset(self, address: int, nbytes: int) -> int:
        offset = address - ARENA_BASE
        if offset < 0 or nbytes < 0 or offset + nbytes > ARENA_BYTES:
            raise ValueError(f"[{address:#x}, +{nbytes}) is not device memory")
        return offset

    def close(self) -> None:
        """Give up the memfd; views that are still held keep their pages."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


def hide_from_same_user() -> None:
    """Close this process's /proc entries (its descriptors, its memory) to other processes of the same user.

    Needed only where host processes run as the user that runs Piton; separate users cannot look anyway.
    """
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
