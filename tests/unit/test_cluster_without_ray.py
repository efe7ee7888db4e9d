"""What `--ray` says on a machine without Ray, and that nothing else needs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import piton
from piton.core.errors import UsageError
from piton.evaluate.cluster.ray_fleet import connected

SOURCE = str(Path(piton.__file__).resolve().parents[1])


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as an import of what is not installed
    with pytest.raises(UsageError, match="--ray needs Ray") as caught, connected("127.0.0.1:6379"):
        pass
    assert 'pip install "piton[ray]"' in caught.value.action


@pytest.mark.parametrize("address", ["nonsense", "local", "ray://head:10001", "head:port"])
def test_an_address_that_is_none_is_refused_before_ray_looks_at_it(address: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'piton[ray]'")
    with pytest.raises(UsageError, match="no address of a Ray cluster"), connected(address):
        pass


def test_ray_is_loaded_only_when_a_run_asks_for_it() -> None:
    code = f"import sys; sys.path.insert(0, {SOURCE!r}); import piton.evaluate.pipeline, piton.evaluate.cluster.ray_fleet; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "False\n"
