"""A private view of the file system and of the network, by namespaces.

Problem: an unprivileged process still reads every world-readable file (goldens, hidden cases, other submissions), and the project may lie below a folder
that only its owner may enter.
Approach: unshare, build a root of bind mounts that holds only what the job needs, pivot into it. A bind mount is reached through folders that we made, so
the permissions of the folders above the original do not matter.
Limits: /proc is the machine's own where there is no namespace of process ids; without namespaces nothing here applies.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass

CLONE_FLAGS = {"mount": 0x00020000, "uts": 0x04000000, "ipc": 0x08000000, "pid": 0x20000000, "net": 0x40000000}
_CLONE_NEWUSER = 0x10000000

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT = 1, 2, 4, 8, 32
_MS_NOATIME, _MS_NODIRATIME, _MS_BIND, _MS_REC, _MS_PRIVATE, _MS_RELATIME = 1024, 2048, 4096, 16384, 1 << 18, 1 << 21
_MNT_DETACH = 2
_SYSCALL_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41}

_KEPT = {os.ST_NOSUID: _MS_NOSUID, os.ST_NODEV: _MS_NODEV, os.ST_NOEXEC: _MS_NOEXEC, os.ST_NOATIME: _MS_NOATIME, os.ST_NODIRATIME: _MS_NODIRATIME}
"""Flags that a user namespace may not clear when it remounts; dropping one of them makes the kernel refuse."""

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_NAME = b"piton"
_COPY_LIMIT_BYTES = 64 << 20
_CHILDREN_LIMIT = 4096

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class View:
    """What a caged process sees."""

    scaffold: str
    """Empty folder to build the new root on; it stays empty for everybody else."""
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    tmp_bytes: int
    """Size of the private /tmp (and of /dev/shm)."""
    uid: int | None
    """The user the process will have; None when it keeps its own."""
    has_own_processes: bool = False
    """It is in a namespace of process ids, so /proc can be one that shows nothing else."""


def unshare(namespaces: Iterable[str], with_user_namespace: bool) -> None:
    """Leave the machine's namespaces; with a user namespace of its own an ordinary user may do so too. Raises OSError."""
    uid, gid = os.getuid(), os.getgid()
    flags = sum(CLONE_FLAGS[name] for name in namespaces) | (_CLONE_NEWUSER if with_user_namespace else 0)
    _check(_libc.unshare(flags), "unshare")
    if with_user_namespace:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")


def hide_name() -> None:
    """Give the machine another name for this job; needs a uts namespace of one's own. Raises OSError."""
    _check(_libc.sethostname(_NAME, ctypes.c_size_t(len(_NAME))), "sethostname")


def enter(view: View) -> None:
    """Build the view and make it the root; needs a mount namespace of one's own. Raises OSError naming the mount that failed."""
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    root = view.scaffold
    _mount("tmpfs", root, "tmpfs", _MS_NOSUID | _MS_NODEV, f"size={_COPY_LIMIT_BYTES},mode=755")
    _system(root, view.tmp_bytes)
    _show_processes(root, view.has_own_processes)
    for path in _outermost(view.readable):
        _show(root, path, view.uid)
    for path in view.writable:
        _bind(root, path, is_writable=True)
    _pivot(root)


def _system(root: str, tmp_bytes: int) -> None:
    for path in ("/tmp", "/dev/shm"):
        os.makedirs(root + path)
        _mount("tmpfs", root + path, "tmpfs", _MS_NOSUID | _MS_NODEV, f"size={tmp_bytes},mode=1777")
    for path in _DEVICES:
        _bind(root, path, is_writable=True)


def _show_processes(root: str, are_own: bool) -> None:
    os.makedirs(root + "/proc")
    if are_own:
        _mount("proc", root + "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    else:
        _mount("/proc", root + "/proc", "", _MS_BIND | _MS_REC)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Parents before children; a path below one that is listed already is left out (also where it is a link)."""
    chosen: list[str] = []
    for path in sorted({os.path.normpath(path) for given in paths for path in (given, os.path.realpath(given))}):
        if os.path.lexists(path) and not any(path.startswith(parent.rstrip("/") + "/") for parent in chosen):
            chosen.append(path)
    return chosen


def _show(root: str, path: str, uid: int | None, depth: int = 0) -> None:
    """Make `path` readable below `root` for `uid`, also where its own permission bits keep others out."""
    if os.path.islink(path):
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        os.symlink(os.readlink(path), root + path)
    elif uid is None or _others_may_enter(path):
        _bind(root, path, is_writable=False)
    elif os.path.isdir(path):
        _show_children(root, path, uid, depth)
    elif os.path.getsize(path) <= _COPY_LIMIT_BYTES:
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        shutil.copyfile(path, root + path)
        os.chmod(root + path, 0o555 if os.access(path, os.X_OK) else 0o444)


def _show_children(root: str, path: str, uid: int, depth: int) -> None:
    os.makedirs(root + path, exist_ok=True)
    names = os.listdir(path)
    if depth > 8 or len(names) > _CHILDREN_LIMIT:
        raise OSError(f"{path} is closed to other users and too large to show piece by piece")
    for name in names:
        _show(root, os.path.join(path, name), uid, depth + 1)


def _others_may_enter(path: str) -> bool:
    mode = os.stat(path).st_mode
    wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & wanted == wanted


def _bind(root: str, path: str, *, is_writable: bool) -> None:
    target = root + path
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "ab"):
            pass
    _mount(path, target, "", _MS_BIND | _MS_REC)
    flags = sum(flag for held, flag in _KEPT.items() if os.statvfs(target).f_flag & held)
    if not is_writable:
        _mount("none", target, "", _MS_REMOUNT | _MS_BIND | _MS_RDONLY | flags)


def _pivot(root: str) -> None:
    os.chdir(root)
    number = _SYSCALL_PIVOT_ROOT[os.uname().machine]
    _check(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", _MNT_DETACH), "umount of the old root")
    os.chdir("/")
    _mount("none", "/", "", _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    result = _libc.mount(source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None)
    _check(result, f"mount {source} on {target}")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _write(path: str, text: str) -> None:
    with contextlib.suppress(FileNotFoundError), open(path, "w") as file:  # no setgroups file on kernels before 3.19
        file.write(text)
