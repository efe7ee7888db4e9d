"""Room on the disk for a file that grows, taken ahead of its end, so that what is finished can still be written when the disk turns out to be full.

Linux's fallocate with FALLOC_FL_KEEP_SIZE: the file's size stays what was written. File systems that cannot do it (NFS, 9p) give no room ahead; a full disk
is then noticed by the write itself.
"""

from __future__ import annotations

import ctypes
import errno
import os

_KEEP_SIZE = 1
_CANNOT = frozenset({errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.ENODEV, errno.EINTR})

_libc = ctypes.CDLL(None, use_errno=True)


def take_room(descriptor: int, start: int, nbytes: int) -> bool:
    """Make `nbytes` from `start` on the file's own; False where the file system cannot. Raises OSError when there is no room."""
    call = getattr(_libc, "fallocate", None)
    if call is None:
        return False
    if call(descriptor, _KEEP_SIZE, ctypes.c_int64(start), ctypes.c_int64(nbytes)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number))


def give_back(descriptor: int, size: int) -> None:
    """End the file at `size`, with no room beyond."""
    os.ftruncate(descriptor, size)
