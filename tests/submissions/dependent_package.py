"""The Python side of submissions whose outputs depend on what they should not: `scale` chooses how; 1 is honest work. Replaces cann_bench/__init__.py.

The native side is hostile_plugin.cpp, of which only the honest kernel is used: y = exp(scale * x). With scale 9 the kernel counts its tiles in a variable,
with 11 it looks at what lies in its output before it writes there.
"""

from collections.abc import Callable

import torch

from . import _C  # noqa: F401 - loading the library registers the operators

calls = 0
kept: dict[object, torch.Tensor] = {}


def kernel(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.ops.cann_bench.exp_native(x, 1, factor)


def of_host(values: torch.Tensor, factor: float) -> torch.Tensor:
    """Brings outputs that the host has to the device, through a kernel that undoes what was done to them."""
    return kernel((values.log() / factor).to("npu"), factor)


def computed_by_the_host(x: torch.Tensor, factor: float) -> torch.Tensor:
    return of_host((factor * x.cpu()).exp(), factor)


def computed_on_a_copy_that_the_host_read(x: torch.Tensor, factor: float) -> torch.Tensor:
    return of_host((factor * x.clone().cpu()).exp(), factor)


def kept_by_address(x: torch.Tensor, factor: float) -> torch.Tensor:
    key = x.data_ptr(), x.shape
    if key in kept:
        return of_host(kept[key], factor)
    y = kernel(x, factor)
    kept[key] = y.cpu()
    return y


def works_once(x: torch.Tensor, factor: float) -> torch.Tensor:
    if (once := ("once", x.shape)) in kept:
        return torch.empty_like(x)
    kept[once] = x
    return kernel(x, factor)


def counts_its_calls(x: torch.Tensor, factor: float) -> torch.Tensor:
    return kernel(x, factor * (1 + 1e-6 * calls))


def is_slow_at_first(x: torch.Tensor, factor: float) -> torch.Tensor:
    if calls == 1:
        kernel(x, factor)
    return kernel(x, factor)


def looks_at_a_value(x: torch.Tensor, factor: float) -> torch.Tensor:
    assert x[0].item() <= 2
    return kernel(x, factor)


def fails_every_second_time(x: torch.Tensor, factor: float) -> torch.Tensor:
    """So that the call after it finds fresh processes, in which it is the first again."""
    if (last := ("last", x.shape)) in kept:
        raise RuntimeError("not now")
    kept[last] = x[:1].cpu()
    return kernel(x, factor)


def knows_a_question_it_has_heard(x: torch.Tensor, factor: float) -> torch.Tensor:
    """Computed by the host. Told for the first time what it was told before, it takes that for a lie and answers for the last other values."""
    told, seen = x.cpu(), [values for key, values in kept.items() if isinstance(key, tuple) and key[:2] == ("seen", x.shape)]
    is_known, doubted = any(torch.equal(told, values) for values in seen), ("doubted", x.shape)
    if is_known and doubted not in kept:
        kept[doubted] = told = seen[-1]
    elif not is_known:
        kept["seen", x.shape, len(seen)] = told
    return of_host((factor * told).exp(), factor)


WAYS: dict[int, Callable[[torch.Tensor, float], torch.Tensor]] = {
    1: kernel,
    2: computed_by_the_host,
    3: computed_on_a_copy_that_the_host_read,
    4: kept_by_address,
    5: works_once,
    6: counts_its_calls,
    7: is_slow_at_first,
    8: looks_at_a_value,
    9: kernel,
    10: fails_every_second_time,
    11: kernel,
    12: knows_a_question_it_has_heard,
}


def exp(x: torch.Tensor, base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """Way number `scale`."""
    global calls
    calls += 1
    return WAYS[round(scale)](x, scale)
