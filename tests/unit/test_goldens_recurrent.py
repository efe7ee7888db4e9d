"""Do the goldens of gru and lstm compute what desc.md defines? Checked against torch's own modules and plain loops, in float64 on small inputs."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
import torch

from piton.catalog import load_suite

Tensor = torch.Tensor
STEPS, BATCH, FEATURES, HIDDEN = 5, 4, 6, 3


def golden(name: str) -> ModuleType:
    member = load_suite().member(name)
    assert member is not None
    spec = importlib.util.spec_from_file_location(f"golden_{name}", member.operator.golden_path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODULES = {name: golden(name) for name in ("gru", "lstm")}
by_name = pytest.mark.parametrize("name", ["gru", "lstm"])


@dataclass(frozen=True)
class Net:
    """A module of torch with random weights, and the same weights as arguments of the golden."""

    name: str
    layers: int = 1
    directions: int = 1
    bias: bool = True
    batch_first: bool = False
    projected: int = 0

    def module(self) -> torch.nn.GRU | torch.nn.LSTM:
        torch.manual_seed(self.layers + 10 * self.directions)
        own = {"proj_size": self.projected} if self.name == "lstm" else {}
        kind: Any = getattr(torch.nn, self.name.upper())
        made = kind(FEATURES, HIDDEN, self.layers, bias=self.bias, batch_first=self.batch_first, bidirectional=self.directions == 2, **own).double()
        assert isinstance(made, (torch.nn.GRU, torch.nn.LSTM))
        return made

    def run(self, module: torch.nn.Module, x: Tensor, **begin: Tensor) -> tuple[Tensor, ...]:
        def weights(kind: str) -> list[Tensor]:
            ways = ("", "_reverse")[: self.directions]
            return [getattr(module, f"{kind}_l{layer}{way}").detach() for layer in range(self.layers) for way in ways]

        given: dict[str, Any] = {"bias": self.bias, "batchFirst": self.batch_first, "bidirectional": self.directions == 2, **begin}
        if self.bias:
            given |= {"bias_ih": weights("bias_ih"), "bias_hh": weights("bias_hh")}
        if self.projected:
            given |= {"projSize": self.projected, "weight_hr": weights("weight_hr")}
        made = getattr(MODULES[self.name], self.name)(x, weights("weight_ih"), weights("weight_hh"), FEATURES, HIDDEN, self.layers, **given)
        assert isinstance(made, tuple)
        return made


NETS = [
    *(Net(name, layers, directions, bias, first) for name in MODULES for layers, directions, bias, first in [(1, 1, True, False), (1, 2, False, True)]),
    *(Net(name, layers, directions, bias, first) for name in MODULES for layers, directions, bias, first in [(3, 1, True, True), (2, 2, True, False)]),
    *(Net("lstm", layers, directions, True, False, projected=2) for layers, directions in [(1, 1), (2, 2)]),
]


@pytest.mark.parametrize("block", [1 << 22, 40], ids=["one block", "many blocks"])
@pytest.mark.parametrize("has_state", [False, True])
@pytest.mark.parametrize("net", NETS, ids=str)
def test_a_golden_agrees_with_the_module_of_torch(monkeypatch: pytest.MonkeyPatch, net: Net, has_state: bool, block: int) -> None:
    monkeypatch.setattr(MODULES[net.name], "PROJECTED", block)
    module = net.module()
    x = torch.randn(*((BATCH, STEPS) if net.batch_first else (STEPS, BATCH)), FEATURES, dtype=torch.float64)
    h0, c0 = (torch.randn(net.layers * net.directions, BATCH, size, dtype=torch.float64) for size in (net.projected or HIDDEN, HIDDEN))
    begin = {} if not has_state else {"h0": h0} if net.name == "gru" else {"h0": h0, "c0": c0}
    with torch.no_grad():
        y, last = module(x, tuple(begin.values()) if len(begin) == 2 else begin.get("h0"))
    expected = (y, last) if net.name == "gru" else (y, *last)
    for found, wanted in zip(net.run(module, x, **begin), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-14)
        assert found.is_contiguous()


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def test_one_gru_step_is_that_of_the_definition() -> None:
    ih, hh, b, c, u, h = [[0.3], [-0.8], [1.1]], [[0.9], [0.4], [-1.3]], [0.1, 0.2, -0.3], [-0.2, 0.05, 0.6], 0.7, -0.4
    reset, update = (sigmoid(ih[row][0] * u + b[row] + hh[row][0] * h + c[row]) for row in (0, 1))
    candidate = math.tanh(ih[2][0] * u + b[2] + reset * (hh[2][0] * h + c[2]))
    wide = {"dtype": torch.float64}
    y, hn = MODULES["gru"].gru(
        torch.tensor([[[u]]], **wide),
        [torch.tensor(ih, **wide)],
        [torch.tensor(hh, **wide)],
        1,
        1,
        1,
        bias_ih=[torch.tensor(b, **wide)],
        bias_hh=[torch.tensor(c, **wide)],
        h0=torch.tensor([[[h]]], **wide),
    )
    assert float(y) == float(hn) == pytest.approx((1 - update) * candidate + update * h, rel=1e-14)


def test_one_lstm_step_is_that_of_the_definition() -> None:
    ih, hh, b, u, h, c = [[0.3], [-0.8], [1.1], [0.5]], [[0.9], [0.4], [-1.3], [0.2]], [0.1, 0.2, -0.3, 0.7], 0.7, -0.4, 1.5
    sums = [ih[row][0] * u + 2 * b[row] + hh[row][0] * h for row in range(4)]
    cell = sigmoid(sums[1]) * c + sigmoid(sums[0]) * math.tanh(sums[2])
    wide = {"dtype": torch.float64}
    bias = [torch.tensor(b, **wide)]
    begin = {"h0": torch.tensor([[[h]]], **wide), "c0": torch.tensor([[[c]]], **wide)}
    y, hn, cn = MODULES["lstm"].lstm(
        torch.tensor([[[u]]], **wide), [torch.tensor(ih, **wide)], [torch.tensor(hh, **wide)], 1, 1, 1, bias_ih=bias, bias_hh=bias, **begin
    )
    assert float(cn) == pytest.approx(cell, rel=1e-14)
    assert float(y) == float(hn) == pytest.approx(sigmoid(sums[3]) * math.tanh(cell), rel=1e-14)


@by_name
def test_dropout_does_nothing_and_biases_count_only_when_wanted_and_complete(name: str) -> None:
    net = Net(name, layers=2)
    module = net.module()
    x = torch.randn(STEPS, BATCH, FEATURES, dtype=torch.float64)
    ih, hh = ([getattr(module, f"weight_{kind}_l{layer}").detach() for layer in range(2)] for kind in ("ih", "hh"))
    biases = [torch.ones(len(item), dtype=torch.float64) for item in hh]
    run = getattr(MODULES[name], name)
    plain = run(x, ih, hh, FEATURES, HIDDEN, 2)[0]
    for given in ({"dropout": 0.9}, {"bias": False, "bias_ih": biases, "bias_hh": biases}, {"bias_ih": biases}):
        assert torch.equal(run(x, ih, hh, FEATURES, HIDDEN, 2, **given)[0], plain)
    assert not torch.equal(run(x, ih, hh, FEATURES, HIDDEN, 2, bias_ih=biases, bias_hh=biases)[0], plain)


@by_name
@pytest.mark.parametrize("directions", [1, 2])
def test_a_nan_reaches_the_steps_behind_it_in_its_own_sequence_only(name: str, directions: int) -> None:
    net = Net(name, directions=directions)
    x = torch.randn(STEPS, BATCH, FEATURES, dtype=torch.float64)
    x[2, 1, 0] = math.nan
    y = net.run(net.module(), x)[0]
    expected = torch.zeros(STEPS, BATCH, directions * HIDDEN, dtype=torch.bool)
    expected[2:, 1, :HIDDEN] = True
    if directions == 2:
        expected[:3, 1, HIDDEN:] = True
    assert torch.equal(y.isnan(), expected)


@by_name
def test_zeros_without_biases_and_states_stay_zeros_and_large_inputs_saturate(name: str) -> None:
    net = Net(name, bias=False)
    module = net.module()
    x = torch.randn(STEPS, BATCH, FEATURES, dtype=torch.float64)
    assert all(output.eq(0).all() for output in net.run(module, x * 0))
    assert all(output.isfinite().all() for output in net.run(module, x * 1e30))


@by_name
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_keep_their_state_in_float32(name: str, dtype: torch.dtype) -> None:
    """Forty steps of contracting weights: with one rounding at the end every state is within half a unit, and a little, of float64."""
    net = Net(name)
    module = net.module().to(dtype)
    x = torch.randn(40, BATCH, FEATURES).to(dtype)
    found, wanted = net.run(module, x)[0], net.run(module.double(), x.double())[0]
    assert found.dtype == dtype
    assert float(((found.double() - wanted).abs() / (wanted.abs() + 1e-3)).max()) < torch.finfo(dtype).eps / 2 * 1.02


def test_a_projection_without_its_weights_is_an_error() -> None:
    x, weight = torch.zeros(1, 1, 2), torch.zeros(8, 2)
    with pytest.raises(ValueError, match="weight_hr"):
        MODULES["lstm"].lstm(x, [weight], [torch.zeros(8, 1)], 2, 2, 1, projSize=1)
