"""Does the example of Quantization Networks train, quantise to as few levels as it says, and say what is missing?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "quantization_networks"


def python(*arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join(filter(None, [path, str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run([sys.executable, *arguments], env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True, check=False)


def test_a_short_training_of_all_methods_learns_the_digits() -> None:
    pytest.importorskip("sklearn")
    done = python(str(EXAMPLE / "train.py"), "--seeds", "3", "--bits", "2", "--scale", "0.1", "--json")
    assert done.returncode == 0, done.stderr
    accuracy = json.loads(done.stdout)["accuracy_percent"]
    assert set(accuracy) == {
        "full precision",
        *(f"2 bits: {name}" for name in ("rounding after training", "rounding, straight-through", "Quantization Networks")),
    }
    assert all(len(values) == 1 and values[0] > 60 for values in accuracy.values()), accuracy


def test_a_missing_scikit_learn_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "sklearn.py").write_text("raise ImportError('not here')\n")
    done = python(str(EXAMPLE / "train.py"), path=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith("scikit-learn is missing")
    assert "Traceback" not in done.stderr


@pytest.fixture
def quantizers(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return __import__("quantizers")


@pytest.mark.parametrize("is_signed", [True, False])
def test_before_training_the_staircase_is_plain_rounding(quantizers: object, is_signed: bool) -> None:
    sample = torch.randn(1000, generator=torch.Generator().manual_seed(5))
    sample = sample if is_signed else sample.relu()
    learned, rounding = quantizers.LearnedQuantization(2, is_signed), quantizers.Rounding(2, is_signed)  # type: ignore[attr-defined]
    for quantizer in (learned, rounding):
        quantizer.calibrate(sample)
    learned.is_hard = True
    torch.testing.assert_close(learned(sample), rounding(sample), rtol=1e-5, atol=1e-6)
    assert len(learned(sample).unique()) == 4


def test_every_learned_quantity_gets_its_gradient(quantizers: object) -> None:
    learned = quantizers.LearnedQuantization(2, is_signed=False)  # type: ignore[attr-defined]
    x = torch.linspace(0, 3, 50, requires_grad=True)
    weights = torch.linspace(-1, 2, 50)
    (learned(x) * weights).sum().backward()
    got = (x.grad, learned.thresholds.grad, learned.alpha.grad, learned.beta.grad)
    y = learned.alpha * torch.sigmoid(learned.beta * x.unsqueeze(-1) - learned.thresholds).sum(-1)
    wanted = torch.autograd.grad(y, (x, learned.thresholds, learned.alpha, learned.beta), weights)
    for mine, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)


def test_rounding_passes_gradients_inside_its_range_only(quantizers: object) -> None:
    rounding = quantizers.Rounding(2, is_signed=False)  # type: ignore[attr-defined]
    rounding.step = 0.5
    x = torch.tensor([-0.2, 0.3, 1.2, 1.9], requires_grad=True)
    rounding(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 1, 1, 0]
    assert rounding(x).tolist() == [0, 0.5, 1, 1.5]
