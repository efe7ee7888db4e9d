"""What does `import piton` cost, and does it leave everything as it was?"""

from __future__ import annotations

import json
import subprocess
import sys

_LIMIT_S = 0.2
"""DESIGN: `import piton` takes under 200 ms. Processor time, least of three: what the machine does beside it does not count."""

_PROBE = """
import json, os, sys, threading, time
before = [dict(os.environ), os.getcwd(), list(sys.path), os.listdir("/proc/self/fd"), threading.active_count()]
known = set(sys.modules)
started = time.process_time()
import piton
spent = time.process_time() - started
after = [dict(os.environ), os.getcwd(), list(sys.path), os.listdir("/proc/self/fd"), threading.active_count()]
foreign = {name.partition(".")[0] for name in set(sys.modules) - known} - set(sys.stdlib_module_names)
print(json.dumps({"spent": spent, "is_same": before == after, "foreign": sorted(foreign)}))
"""


def probe() -> dict[str, object]:
    """One fresh interpreter that imports piton, and what it saw; anything else that it prints is not JSON."""
    done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_importing_piton_takes_less_than_200_ms() -> None:
    assert min(float(str(probe()["spent"])) for _ in range(3)) < _LIMIT_S


def test_importing_piton_changes_nothing_and_brings_in_no_other_package() -> None:
    found = probe()
    assert (found["is_same"], found["foreign"]) == (True, ["piton"])
