"""The attacks: against files, the network and other processes; against the kernel; and those that take more than a job may have, or outlive it."""

from __future__ import annotations

from cage_attacks import INSIDE, Attack


def _read(name: str, path: str) -> Attack:
    return Attack(name, f"return open(w[{path!r}]).read()")


def _call(name: str, arguments: str, **options: object) -> Attack:
    """A system call: its numbers on x86-64 and aarch64, then what it is given."""
    return Attack(name, f"return syscall({arguments})", **options)  # type: ignore[arg-type]


FILES = (
    Attack("use a descriptor that it was not given", "return any(os.path.exists(f'/proc/self/fd/{n}') for n in range(3, 1024))"),
    _read("read the golden", "golden"),
    _read("read the journal", "journal"),
    _read("read the hidden key", "key"),
    _read("read the golden of a suite of ours", "own_golden"),
    _read("read a file that its owner has closed, in a folder that is shown", "closed"),
    Attack("list the run folder of another submission", "os.listdir(w['run']); return True"),
    Attack("read what another job keeps in its /tmp", "return [open(name).read() for name in glob.glob(w['sibling_tmp'], recursive=True)]"),
    Attack("read the cache", "os.listdir(w['cache']); return True"),
    Attack("ask whether a hidden case exists and how large it is", "return os.stat(w['golden']).st_size"),
    Attack("read the passwords of the machine", "return open('/etc/shadow').read()"),
    Attack("write outside its folders", "open(w['outside'] + '/mark', 'w').write('x'); return True"),
    Attack("write to the cache", "open(w['cache'] + '/mark', 'w').write('x'); return True"),
    Attack("forge a result", "open(w['run'] + '/report.json', 'w').write('{}'); return True"),
    Attack("append to the journal", "open(w['journal'], 'r+').write('{}'); return True"),
    Attack("change the mode of the golden", "os.chmod(w['golden'], 0o644); return True"),
    Attack("leave its control group", "open(w['group'] + '/cgroup.procs', 'w').write('0'); return True"),
    Attack("leave a named pipe", "os.mkfifo(os.environ['TMPDIR'] + '/pipe'); return True"),
    Attack("leave something in /dev/shm", "open('/dev/shm/' + w['mark'], 'w').write('x'); return os.stat('/dev/shm').st_dev == w['shm_device']"),
    Attack("leave something in /tmp", "open('/tmp/' + w['mark'], 'w').write('x'); return os.stat('/tmp').st_dev == w['tmp_device']"),
    Attack("include the golden", "return compiles('#include \"' + w['golden'] + '\"\\n')", ("build",)),
    Attack("take in the golden by the assembler", "return compiles('asm(\".incbin \\\\\"' + w['golden'] + '\\\\\"\");')", ("build",)),
    Attack("take in the golden by a script of the linker", "return b'int golden' in linked(f\"TARGET(binary)\\nINPUT({w['golden']})\")", ("build",)),
    Attack(
        "load a plug-in into the compiler from a source",
        "p = w['golden']; return compiles(f'#pragma GCC optimize(\"fplugin={p}\")\\nint x;', '-Werror')",
        ("build",),
        fails_everywhere="the compiler takes optimisations only from a source",
    ),
)
"""Reading and writing what is not theirs. What they leave counts when it lies where others see it. Descriptors come first: later attacks leave some open."""

OTHERS = (
    Attack("connect to a port of the machine", "socket.create_connection(('127.0.0.1', w['port']), 2); return True"),
    Attack("connect to an abstract socket", "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + w['abstract']); return True"),
    Attack("open a netlink socket", "return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).fileno()"),
    Attack("see the sockets of the machine", "return w['abstract'] in open('/proc/net/unix').read()"),
    Attack("learn the name of the machine", "return os.uname().nodename == w['name']"),
    _call("trace the parent", "101, 117, 0x4206, w['parent'], 0, 0"),
    Attack("read the parent's memory", "return libc.process_vm_readv(w['parent'], *vectors(w['address']), 0) > 0"),
    Attack("write the parent's memory", "return libc.process_vm_writev(w['parent'], *vectors(w['spare']), 0) > 0"),
    Attack("take a descriptor of the parent", "p = os.pidfd_open(w['parent']); return syscall(438, 438, p, w['descriptor'], 0)"),
    Attack("signal the parent", "os.kill(w['parent'], 0); return True"),
    Attack("read the parent's command line", "return open(f\"/proc/{w['parent']}/cmdline\").read()"),
    Attack("read the parent's environment", "return open(f\"/proc/{w['parent']}/environ\").read()"),
    Attack("slow the parent down", "os.setpriority(os.PRIO_PROCESS, w['parent'], os.getpriority(os.PRIO_PROCESS, w['parent'])); return True"),
    Attack("pin the parent to a core", "os.sched_setaffinity(w['parent'], os.sched_getaffinity(0)); return True"),
    Attack("limit the parent", "import resource; resource.prlimit(w['parent'], resource.RLIMIT_CORE, (0, 0)); return True"),
    _call("compare with the parent", "312, 272, w['parent'], os.getpid(), 1, 0, 0"),
    Attack("signal its supervisor", "return os.getppid() and os.kill(os.getppid(), 0) is None"),
    Attack("read its supervisor's memory", "return open(f'/proc/{os.getppid()}/mem', 'rb').fileno() if os.getppid() else 0"),
    Attack("signal another job", "os.kill(w['sibling'], 0); return True"),
    _call("trace another job", "101, 117, 0x4206, w['sibling'], 0, 0"),
    Attack("write another job's memory", "return open(f\"/proc/{w['sibling']}/mem\", 'r+b', buffering=0).fileno()"),
    Attack("put input into a terminal", "fcntl.ioctl(os.open(w['terminal'], os.O_RDWR), 0x5412, b'x'); return True"),
    _call("attach shared memory of others", "29, 194, w['shm_key'], 0, 0"),
    Attack("see the shared memory of others", "return str(w['shm_key']) in open('/proc/sysvipc/shm').read()"),
    Attack(
        "read secrets in its environment, or in that of what started it",
        "return w['secret'] in str(os.environ) or w['secret'] in open(f'/proc/{os.getppid()}/environ').read()",
    ),
)
"""The network, the parent, other jobs."""

KERNEL = (
    Attack("write to its own code by /proc/self/mem", "return open('/proc/self/mem', 'r+b', buffering=0).fileno()"),
    Attack("choose when it is ended for memory", "return open('/proc/self/oom_score_adj', 'w').write(open('/proc/self/oom_score_adj').read())"),
    Attack("mount a file system", "return mounts()"),
    _call("keep a key in the kernel", "248, 217, b'user', b'piton', b'x', 1, -2"),
    _call("load a bpf program", "321, 280, 0, struct.pack('<IIII', 2, 4, 4, 1) + bytes(112), 72"),
    _call("open a performance counter", "298, 241, counter, 0, -1, -1, 0"),
    _call("make an io_uring", "425, 425, 4, ctypes.create_string_buffer(4096)"),
    _call("handle page faults itself", "323, 282, 1"),
    Attack("open files by handle", "return syscall(303, 264, -100, b'/', handle, buffer, 0) and syscall(304, 265, os.open('/', 0), handle, 0)"),
    _call("make a message queue", "240, 180, w['queue'].encode(), 66, 384, None"),
    _call("watch files of others", "294, 26, 0"),
    _call("read the log of the kernel", "103, 116, 3, buffer, 64"),
    _call("switch off the protections of addresses", "135, 92, 0x40000"),
    Attack("filter system calls of its own", "return libc.prctl(22, 2, empty_filter(), 0, 0) == 0", ("host", "build")),
    Attack("choose its cores", "os.sched_setaffinity(0, os.sched_getaffinity(0)); return True"),
    Attack("change its priority", "os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)); return True"),
    Attack("become root", "os.setresuid(0, 0, 0); return True"),
    Attack("map memory both writable and executable", "return len(mmap.mmap(-1, 4096, prot=7))", ("device",)),
    _call("leave into new namespaces", "272, 97, 0x10000000"),
    Attack("chroot", "os.chroot(os.environ.get('TMPDIR', '/')); return True"),
)
"""What the kernel offers beyond what a job needs."""


def _bomb(name: str, body: str, roles: tuple[str, ...] = ("host", "device", "build")) -> Attack:
    """One that says itself that it got to the end."""
    return Attack(
        name, f"{body}\n    for stream in (sys.stdout, sys.stderr): print('as a shell', file=stream, flush=True)\n    os._exit(0)", roles, runs_alone=True
    )


_CAPABLE = '[ "$n" = CapEff: ] && [ "$real" != 0000000000000000 ] && echo as a shell; [ "$n" = Uid: ] && [ "$real" != "$e" ] && echo as a shell'
ALONE = (
    Attack("start a shell in its place", "become_shell('echo as a shell')", ("host",), runs_alone=True),
    Attack("start a process", "os.fork(); print('as a shell', flush=True); os._exit(0)", INSIDE, runs_alone=True),
    Attack(
        "run a program that it holds in memory",
        "f = os.memfd_create('sh'); os.write(f, open('/bin/sh', 'rb').read()); os.execv(f'/proc/self/fd/{f}', ['sh', '-c', 'echo as a shell'])",
        runs_alone=True,
    ),
    Attack(
        "gain rights by a setuid program",
        f"os.execv(w['setuid'], ['sh', '-p', '-c', 'while read n real e rest; do {_CAPABLE}; done < /proc/self/status; true'])",
        runs_alone=True,
    ),
    _bomb("take all memory", "m = bytearray(320 << 20)"),
    _bomb("take all memory by shared pages", "m = mmap.mmap(-1, 320 << 20)\n    for n in range(320): m[n << 20 : n + 1 << 20] = b'x' * (1 << 20)"),
    _bomb(
        "take all process numbers",
        "end, held = os.pipe()\n    for _ in range(300): os.fork() or (os.close(held), os.read(end, 1), os._exit(0))",
        ("build",),
    ),
    _bomb(
        "take all threads",
        "threading.stack_size(65536); end = threading.Event()\n    for _ in range(300): threading.Thread(target=end.wait, daemon=True).start()",
        INSIDE,
    ),
    _bomb("fill the private /tmp", "for n in range(96): open(f\"{os.environ['TMPDIR']}/{n}\", 'wb').write(b'x' * (1 << 20))", ("host", "build")),
    _bomb(
        "fill the disk with many files",
        "for n in range(64): open(f\"{w['scratch']}/{os.getpid()}-{n}\", 'wb').write(b'x' * (1 << 20)); time.sleep(0.012)",
        ("build",),
    ),
    _bomb("write one file without end", "open(os.environ['TMPDIR'] + '/one', 'wb').write(bytes(24 << 20))", ("host", "build")),
    _bomb(
        "let the compiler write without end",
        "subprocess.run(['g++', '-x', 'c++', '-c', '-o', os.environ['TMPDIR'] + '/big.o', '-'], input=b'char big[24 << 20] = {1};', check=True)",
        ("build",),
    ),
    _bomb("print without end", "for n in range(64): os.write(1, bytes(1 << 16))\n    time.sleep(0.2)"),
    _bomb("print errors without end", "for n in range(64): os.write(2, bytes(1 << 16))\n    time.sleep(0.2)"),
    Attack(
        "leave a process behind",
        "os.fork() and (time.sleep(0.2), os._exit(0)); os.setsid(); os.fork() and os._exit(0); os.closerange(0, 9); time.sleep(60)",
        runs_alone=True,
        aftermath="a process",
    ),
    Attack("leave shared memory behind", "syscall(29, 194, w['left_key'], 4096, 0o1666)", runs_alone=True, aftermath="shared memory"),
)
"""Those that end their process, and those that show when it is over."""

ATTACKS: tuple[Attack, ...] = (*FILES, *OTHERS, *KERNEL, *ALONE)
