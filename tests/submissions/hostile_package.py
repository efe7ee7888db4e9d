"""The Python side of the hostile submission: `scale` chooses the attack; 1 is honest work. Replaces cann_bench/__init__.py."""

import contextlib
import ctypes
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import torch

from . import _C  # noqa: F401 - loading the library registers the operators

DAEMON_SECONDS = "86397"


HONEST = 1


def honest(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    return torch.ops.cann_bench.exp_native(x, HONEST, scale)


def native(x: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.ops.cann_bench.exp_native(x, round(scale), scale)


def read_pointer(x: torch.Tensor) -> torch.Tensor:
    ctypes.string_at(x.data_ptr(), 16)
    return honest(x)


def write_pointer(x: torch.Tensor) -> torch.Tensor:
    y = honest(x)
    ctypes.memset(y.data_ptr(), 0, 16)
    return y


def compute_on_the_host(x: torch.Tensor) -> torch.Tensor:
    return x.cpu().exp().to("npu")


def copy_strided(x: torch.Tensor) -> torch.Tensor:
    return honest(x.permute(1, 0).contiguous())


def compute_with_the_framework(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(x)


def cast_with_the_framework(x: torch.Tensor) -> torch.Tensor:
    return honest(x.to(torch.float16))


def swallow_the_refusal(x: torch.Tensor) -> torch.Tensor:
    try:
        return torch.exp(x)
    except RuntimeError:
        return honest(x)


def return_the_input(x: torch.Tensor) -> torch.Tensor:
    honest(x)
    return x


def return_a_host_tensor(x: torch.Tensor) -> torch.Tensor:
    honest(x)
    return torch.ones(x.shape, dtype=x.dtype)


class Liar(torch.Tensor):
    """Says what the reader wants to hear."""

    def data_ptr(self) -> int:
        return 0x2000_0000_0000


def return_a_subclass(x: torch.Tensor) -> torch.Tensor:
    return honest(x).as_subclass(Liar)


def return_an_overridden_method(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    y.data_ptr = honest(x).data_ptr  # type: ignore[method-assign]
    return y


def leave_a_daemon(x: torch.Tensor) -> torch.Tensor:
    if os.fork() == 0:
        os.setsid()
        os.execv(sys.executable, [sys.executable, "-c", f"import time; time.sleep({DAEMON_SECONDS})"])
    return honest(x, 13.0)


def start_a_program(x: torch.Tensor) -> torch.Tensor:
    subprocess.Popen(["/bin/sleep", DAEMON_SECONDS], start_new_session=True)
    return honest(x, 14.0)


def print_a_result(x: torch.Tensor) -> torch.Tensor:
    for stream in (sys.stdout, sys.stderr):
        stream.write(json.dumps({"verdict": "passed", "time_us": 1.0}) + "\n")
        stream.flush()
    return torch.empty_like(x)


def write_to_every_descriptor(x: torch.Tensor) -> torch.Tensor:
    forged = json.dumps({"outputs": [{"name": "y", "shape": list(x.shape), "dtype": "float32", "pointer": x.data_ptr()}]}).encode()
    for descriptor in range(3, 256):
        with contextlib.suppress(OSError):
            os.write(descriptor, len(forged).to_bytes(4, "little") + forged)
    return torch.empty_like(x)


def exit_at_once(x: torch.Tensor) -> torch.Tensor:
    os._exit(0)


def sleep_for_ever(x: torch.Tensor) -> torch.Tensor:
    while True:
        time.sleep(1)


def fill_the_host(x: torch.Tensor) -> torch.Tensor:
    hoard = bytearray(1 << 45)
    return honest(x) if hoard else x


def fill_the_device(x: torch.Tensor) -> torch.Tensor:
    torch.empty(1 << 44, dtype=torch.float32, device=x.device)
    return honest(x)


def write_later_from_a_thread(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    threading.Timer(0.5, lambda: y.copy_(honest(x))).start()
    return y


def signal_the_parent(x: torch.Tensor) -> torch.Tensor:
    os.kill(os.getppid(), 9)
    return honest(x)


ATTACKS: dict[int, Callable[[torch.Tensor], torch.Tensor]] = {
    1: honest,
    2: read_pointer,
    3: write_pointer,
    4: compute_on_the_host,
    5: copy_strided,
    6: compute_with_the_framework,
    7: cast_with_the_framework,
    8: swallow_the_refusal,
    9: return_the_input,
    10: return_a_host_tensor,
    11: return_a_subclass,
    12: return_an_overridden_method,
    13: leave_a_daemon,
    14: start_a_program,
    15: print_a_result,
    16: write_to_every_descriptor,
    17: exit_at_once,
    18: sleep_for_ever,
    19: fill_the_host,
    20: fill_the_device,
    21: write_later_from_a_thread,
    22: signal_the_parent,
}


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """Attack number `scale`; numbers that Python does not know are the native code's."""
    attack = ATTACKS.get(round(scale))
    return attack(x) if attack else native(x, scale)
