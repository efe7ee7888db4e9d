"""Attacks from inside a sandboxed process, as data: what is tried, by whom, and which of its variants the levels of isolation stop.

Each is the body of a Python function that gets `w`, what an attacker may know (paths, process ids, names), and returns something true when it got through.
Those that end their process, or take minutes to be stopped, are run alone; the others one after the other in one process.
"""

from __future__ import annotations

from dataclasses import dataclass

ALL = ("host", "device", "build")
INSIDE = ("host", "device")


@dataclass(frozen=True)
class Attack:
    """One attempt."""

    name: str
    body: str
    roles: tuple[str, ...] = ALL
    runs_alone: bool = False


def _read(name: str, path: str) -> Attack:
    return Attack(name, f"return open(w[{path!r}]).read()")


def _syscall(name: str, x86: int, arm: int, arguments: str, roles: tuple[str, ...] = ALL) -> Attack:
    return Attack(name, f"return syscall({x86} if os.uname().machine == 'x86_64' else {arm}, {arguments})", roles)


_LINES = """import mmap, threading
    {}
    {}
    print('as a shell', flush=True)
    os._exit(0)"""

ATTACKS: tuple[Attack, ...] = (
    _read("read the golden", "golden"),
    _read("read the journal", "journal"),
    _read("read the hidden key", "key"),
    _read("read the golden of a suite of ours", "own_golden"),
    _read("read a file that its owner has closed, in a folder that is shown", "closed"),
    Attack("list the run folder of another submission", "os.listdir(w['run']); return True"),
    Attack("read the cache", "os.listdir(w['cache']); return True"),
    Attack("ask whether a hidden case exists and how large it is", "return os.stat(w['golden']).st_size"),
    Attack("read the passwords of the machine", "return open('/etc/shadow').read()"),
    Attack("write outside its folders", "open(w['outside'] + '/mark', 'w').write('x'); return True"),
    Attack("write to the cache", "open(w['cache'] + '/mark', 'w').write('x'); return True"),
    Attack("forge a result", "open(w['run'] + '/report.json', 'w').write('{}'); return True"),
    Attack("append to the journal", "open(w['journal'], 'r+').write('{}'); return True"),
    Attack("change the mode of the golden", "os.chmod(w['golden'], 0o644); return True"),
    Attack("connect to a port of the machine", "import socket; socket.create_connection(('127.0.0.1', w['port']), 2); return True"),
    Attack("connect to an abstract socket", "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0' + w['abstract']); return True"),
    Attack("open a netlink socket", "import socket; return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).fileno()"),
    Attack("see the sockets of the machine", "return w['abstract'] in open('/proc/net/unix').read()"),
    _syscall("trace the parent", 101, 117, "16, w['parent'], 0, 0"),
    Attack("read the parent's memory", "return libc.process_vm_readv(w['parent'], *vectors(w['address']), 0) > 0"),
    Attack("write the parent's memory", "return libc.process_vm_writev(w['parent'], *vectors(w['address']), 0) > 0"),
    Attack("take a descriptor of the parent", "p = os.pidfd_open(w['parent']); return libc.syscall(438, p, w['descriptor'], 0) >= 0"),
    Attack("signal the parent", "os.kill(w['parent'], 0); return True"),
    Attack("read the parent's command line", "return open(f\"/proc/{w['parent']}/cmdline\").read()"),
    Attack("read the parent's environment", "return open(f\"/proc/{w['parent']}/environ\").read()"),
    Attack("slow the parent down", "os.setpriority(os.PRIO_PROCESS, w['parent'], 0); return True"),
    Attack("pin the parent to a core", "os.sched_setaffinity(w['parent'], os.sched_getaffinity(0)); return True"),
    Attack("limit the parent", "import resource; resource.prlimit(w['parent'], resource.RLIMIT_CORE, (0, 0)); return True"),
    Attack("write to its own code by /proc/self/mem", "return open('/proc/self/mem', 'r+b', buffering=0).fileno()"),
    Attack("mount a file system", "return libc.mount(b'none', os.environ['TMPDIR'].encode(), b'tmpfs', 0, None) == 0"),
    _syscall("keep a key in the kernel", 248, 217, "b'user', b'piton', b'x', 1, -2"),
    _syscall("load a bpf program", 321, 280, "0, buffer, 72"),
    _syscall("open a performance counter", 298, 241, "counter, 0, -1, -1, 0"),
    _syscall("make an io_uring", 425, 425, "4, buffer"),
    _syscall("handle page faults itself", 323, 282, "1"),
    _syscall("compare with the parent", 312, 272, "os.getpid(), os.getpid(), 1, 0, 0"),
    _syscall("open files by handle", 303, 264, "-100, b'/', buffer, buffer, 0"),
    _syscall("make a message queue", 240, 180, "b'piton-mark', 66, 384, None"),
    Attack("filter system calls of its own", "return libc.prctl(22, 2, empty_filter(), 0, 0) == 0", ("host", "build")),
    Attack("choose its cores", "os.sched_setaffinity(0, os.sched_getaffinity(0)); return True"),
    Attack("change its priority", "os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)); return True"),
    Attack("become root", "os.setresuid(0, 0, 0); return True"),
    _syscall("attach shared memory of others", 29, 194, "w['shm_key'], 0, 0"),
    Attack("see the shared memory of others", "return str(w['shm_key']) in open('/proc/sysvipc/shm').read()"),
    Attack("leave something in /dev/shm", "open('/dev/shm/' + w['mark'], 'w').write('x'); return os.stat('/dev/shm').st_dev == w['shm_device']"),
    Attack("leave something in /tmp", "open('/tmp/' + w['mark'], 'w').write('x'); return os.stat('/tmp').st_dev == w['tmp_device']"),
    Attack("leave a named pipe", "os.mkfifo(os.environ['TMPDIR'] + '/pipe'); return True"),
    Attack("learn the name of the machine", "return os.uname().nodename == w['name']"),
    Attack("map memory both writable and executable", "import mmap; return len(mmap.mmap(-1, 4096, prot=7))", ("device",)),
    Attack("include the golden", "return compiles('#include \"' + w['golden'] + '\"\\n')", ("build",)),
    Attack("take in the golden by the assembler", "return compiles('asm(\".incbin \\\\\"' + w['golden'] + '\\\\\"\");')", ("build",)),
    _syscall("leave into new namespaces", 272, 97, "0x10000000"),
    Attack("chroot", "os.chroot(os.environ.get('TMPDIR', '/')); return True"),
    Attack("start a shell in its place", "print('got through', flush=True); os.execv('/bin/sh', ['sh', '-c', 'echo as a shell'])", ("host",), runs_alone=True),
    Attack("start a process", "os.fork(); print('as a shell', flush=True); os._exit(0)", INSIDE, runs_alone=True),
    Attack(
        "take all memory by shared pages",
        _LINES.format("m = mmap.mmap(-1, 320 << 20)", "for n in range(320): m[n << 20 : n + 1 << 20] = b'x' * (1 << 20)"),
        runs_alone=True,
    ),
    Attack("take all process numbers", _LINES.format("", "for _ in range(300): os.fork() or (time.sleep(1.5), os._exit(0))"), ("build",), runs_alone=True),
    Attack(
        "take all threads",
        _LINES.format("threading.stack_size(65536)", "for _ in range(300): threading.Thread(target=time.sleep, args=(1,), daemon=True).start()"),
        INSIDE,
        runs_alone=True,
    ),
    Attack(
        "fill the private /tmp",
        _LINES.format("", "for n in range(96): open(f\"{os.environ['TMPDIR']}/{n}\", 'wb').write(b'x' * (1 << 20))"),
        ("host", "build"),
        runs_alone=True,
    ),
    Attack(
        "fill the disk with many files",
        _LINES.format("", "for n in range(64): open(f\"{w['scratch']}/{os.getpid()}-{time.time()}\", 'wb').write(b'x' * (1 << 20)); time.sleep(0.03)"),
        ("build",),
        runs_alone=True,
    ),
)

PRELUDE = r"""
import ctypes, json, os, struct, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
buffer = ctypes.create_string_buffer(4096)
counter = ctypes.create_string_buffer(struct.pack("<IIQ", 1, 112, 0) + bytes(24) + struct.pack("<Q", 0x61), 4096)
def syscall(number, *arguments):
    return libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)) >= 0
def vectors(address):
    here = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    there = (ctypes.c_void_p * 2)(address, 8)
    vectors.kept = here, there
    return ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1)
def empty_filter():
    code = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7fff0000))
    empty_filter.kept = code, ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 1, ctypes.addressof(code)))
    return empty_filter.kept[1]
def compiles(text):
    return subprocess.run(["g++", "-x", "c++", "-c", "-o", "/dev/null", "-"], input=text, text=True, capture_output=True).returncode == 0
w = json.loads(sys.argv[1])
"""
"""What the bodies use."""


def together(attacks: list[Attack]) -> str:
    """A program that tries one after the other and prints the indices of those that got through."""
    parts = [PRELUDE, "through = []"]
    for index, attack in enumerate(attacks):
        parts.append(f"def attack():\n    {attack.body}\ntry:\n    if attack(): through.append({index})\nexcept Exception: pass")
    return "\n".join([*parts, "print(json.dumps(through))"])


def alone(attack: Attack) -> str:
    """A program that tries this one and prints `as a shell` when it got through."""
    return f"{PRELUDE}\ndef attack():\n    {attack.body}\nattack()"
