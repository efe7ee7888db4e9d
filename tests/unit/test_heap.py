"""What `piton.core.heap` changes is seen in the pages that the kernel had to make."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

import piton

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="switches of glibc")

TIMES = 10
PROGRAM = f"""
import resource, sys
from piton.core import heap
count, nbytes, name, *numbers = sys.argv[1:]
if name:
    getattr(heap, name)(*map(int, numbers))
def arrays():
    for _ in range({TIMES}):
        kept = [bytearray(int(nbytes)) for _ in range(int(count))]
        for array in kept:
            array[::4096] = bytes(len(array) // 4096)
arrays()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
arrays()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
heap.give_back()
print(int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize())
"""


def run(*arguments: str) -> tuple[int, int]:
    """Pages made for the second round of arrays, and bytes that are left after all was given back."""
    environment = {"PYTHONPATH": str(Path(piton.__file__).parents[1]), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], env=environment, check=True, capture_output=True, text=True, timeout=60)
    faults, left = map(int, done.stdout.split())
    return faults, left


@pytest.mark.parametrize(
    ("count", "nbytes", "switch"),
    [(3, 12 << 20, ("keep", str(128 << 20))), (1, 48 << 20, ("keep_all",))],
    ids=["several of middle size", "a large one"],
)
def test_arrays_are_made_of_the_memory_of_those_before(count: int, nbytes: int, switch: tuple[str, ...]) -> None:
    pages = count * nbytes // 4096
    assert run(str(count), str(nbytes), "")[0] > TIMES * pages // 2
    faults, left = run(str(count), str(nbytes), *switch)
    assert faults < pages
    assert left < 32 << 20
