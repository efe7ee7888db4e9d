"""Comments and texts full of what sources may not contain."""

import torch

from .honest import honest


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> object:
    # asm volatile("nop"); torch.exp(x); os.fork(); aclnnExp(x); .incbin "golden.py"
    messages = ("ptrace(PTRACE_ATTACH)", "/proc/self/mem", "LD_PRELOAD", "subprocess.Popen", "eval(")
    assert all(messages)
    return honest(x, base, scale, shift)
