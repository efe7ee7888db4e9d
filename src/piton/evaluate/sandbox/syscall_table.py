"""The numbers of system calls that a sandboxed process may need, on both architectures.

Problem: a filter of system calls compares numbers, and they differ between x86-64 and aarch64; most machines with an Ascend chip are the latter.
Approach: a table, `name=x86-64/aarch64`, in groups by what the calls are for; `-` where an architecture has no such call (its C library uses another one).
Source: the kernel's asm/unistd_64.h and asm-generic/unistd.h; a test compares the table with the headers of the machine.
"""

from __future__ import annotations

HIGHEST_KNOWN = 451
"""Calls with greater numbers are newer than this table: they are answered as unknown, so that a C library falls back to older ones."""

READ = """
read=0/63 write=1/64 readv=19/65 writev=20/66 pread64=17/67 pwrite64=18/68 preadv=295/69 pwritev=296/70 preadv2=327/286 pwritev2=328/287 lseek=8/62
close=3/57 close_range=436/436 dup=32/23 dup2=33/- dup3=292/24 fstat=5/80 stat=4/- lstat=6/- newfstatat=262/79 statx=332/291
statfs=137/43 fstatfs=138/44 access=21/- faccessat=269/48 faccessat2=439/439 open=2/- openat=257/56 getdents=78/- getdents64=217/61 readlink=89/-
readlinkat=267/78 getcwd=79/17 chdir=80/49 fchdir=81/50 fadvise64=221/223 readahead=187/213 sendfile=40/71 copy_file_range=326/285 splice=275/76
getxattr=191/8 lgetxattr=192/9 fgetxattr=193/10
"""
"""Files that are open or may be opened (what may be opened is the view's and landlock's to say), and what reads from them."""

MEMORY = """
munmap=11/215 mremap=25/216 madvise=28/233 brk=12/214 msync=26/227 mincore=27/232 membarrier=324/283 get_mempolicy=239/236
"""
"""Memory of one's own; mapping and protecting are looked at more closely."""

THREADS = """
rseq=334/293 set_robust_list=273/99 get_robust_list=274/100 futex=202/98 futex_waitv=449/449 set_tid_address=218/96 arch_prctl=158/- exit=60/93
exit_group=231/94 gettid=186/178 getpid=39/172 getppid=110/173 getuid=102/174 geteuid=107/175 getgid=104/176 getegid=108/177 getresuid=118/148
getresgid=120/150 getgroups=115/158 getpgrp=111/- getpgid=121/155 getsid=124/156 sched_yield=24/124 sched_getaffinity=204/123 sched_getparam=143/121
sched_getscheduler=145/120 sched_get_priority_max=146/125 sched_get_priority_min=147/126 getpriority=140/141 getcpu=309/168 uname=63/160
sysinfo=99/179 getrlimit=97/163 getrusage=98/165 times=100/153 getrandom=318/278 wait4=61/260 waitid=247/95 umask=95/166
"""
"""Threads of one's own and questions about oneself."""

TIME = """
time=201/- gettimeofday=96/169 clock_gettime=228/113 clock_getres=229/114 nanosleep=35/101 clock_nanosleep=230/115 getitimer=36/102 setitimer=38/103
alarm=37/- timer_create=222/107 timer_settime=223/110 timer_gettime=224/108 timer_getoverrun=225/109 timer_delete=226/111 timerfd_create=283/85
timerfd_settime=286/86 timerfd_gettime=287/87
"""
"""Clocks and timers of one's own."""

SIGNALS = """
rt_sigaction=13/134 rt_sigprocmask=14/135 rt_sigreturn=15/139 rt_sigpending=127/136 rt_sigtimedwait=128/137 rt_sigsuspend=130/133 sigaltstack=131/132
pause=34/- restart_syscall=219/128
"""
"""Handling of signals."""

CHANNELS = """
poll=7/- ppoll=271/73 select=23/- pselect6=270/72 epoll_create=213/- epoll_create1=291/20 epoll_ctl=233/21 epoll_wait=232/- epoll_pwait=281/22
epoll_pwait2=441/441 eventfd=284/- eventfd2=290/19 pipe=22/- pipe2=293/59 signalfd4=289/74 socketpair=53/199 sendmsg=46/211 recvmsg=47/212
sendto=44/206 recvfrom=45/207 sendmmsg=307/269 recvmmsg=299/243 shutdown=48/210 getsockopt=55/209 setsockopt=54/208 getsockname=51/204
getpeername=52/205
"""
"""Waiting, pipes, and sockets that exist already: making or connecting one is not among them."""

CHANGE_OPEN = """
ftruncate=77/46 fallocate=285/47 flock=73/32 fsync=74/82 fdatasync=75/83 sync_file_range=277/84
"""
"""Changes to the length of files that are open already, and their way to the disk."""

CHANGE = """
creat=85/- mkdir=83/- mkdirat=258/34 rmdir=84/- unlink=87/- unlinkat=263/35 rename=82/- renameat=264/38 renameat2=316/276 link=86/- linkat=265/37
symlink=88/- symlinkat=266/36 chmod=90/- fchmod=91/52 fchmodat=268/53 chown=92/- fchown=93/55 lchown=94/- fchownat=260/54 truncate=76/45 utime=132/-
utimes=235/- utimensat=280/88 futimesat=261/-
"""
"""Changes to files by name. Not memfd_create: landlock lets a file be executed that has no name, so that a job could become another program."""

PROCESSES = """
fork=57/- vfork=58/- setpgid=109/154 setsid=112/157
"""
"""Further processes."""

EXEC = """
execve=59/221 execveat=322/281
"""
"""Another program in this process's place."""

LOOKED_AT = """
mmap=9/222 mprotect=10/226 clone=56/220 clone3=435/435 kill=62/129 tgkill=234/131 prctl=157/167 prlimit64=302/261 seccomp=317/277
fcntl=72/25 ioctl=16/29
"""
"""Allowed for some arguments only, see allow_list.py."""

_COLUMNS = {"x86_64": 0, "aarch64": 1}


def numbers(group: str, machine: str) -> dict[str, int]:
    """The calls of a group that `machine` has, by name. Raises KeyError for another architecture."""
    column = _COLUMNS[machine]
    entries = (entry.partition("=") for entry in group.split())
    found = {name: text.split("/")[column] for name, _, text in entries}
    return {name: int(text) for name, text in found.items() if text != "-"}
