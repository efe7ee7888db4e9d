"""A small network whose hidden layers have quantisers, its data, and its training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from quantizers import LearnedQuantization, Quantizer
from torch import nn
from torch.nn import functional

MakeQuantizer = Callable[[bool], Quantizer]
"""Makes a quantiser for values with a sign (weights) or without one (activations)."""
BATCH = 64
LEVEL_RATE = 0.1
"""Learning rate of thresholds and factors, as a part of the others': each of them moves many values of a layer."""
LARGEST_GRADIENT = 1.0
"""Longer gradients are shortened to this norm: near a threshold a steep sigmoid has a derivative of a quarter of the temperature, and layers multiply."""


@dataclass(frozen=True)
class Digits:
    """Images of handwritten digits, [n, 64] from 0 to 1, with their labels [n]; a quarter of them is held out."""

    train_x: torch.Tensor
    train_y: torch.Tensor
    test_x: torch.Tensor
    test_y: torch.Tensor


def load(seed: int) -> Digits:
    """scikit-learn's 1,797 digits of 8 x 8 pixels, which its package ships; the split follows the seed. Raises ImportError without scikit-learn."""
    from sklearn.datasets import load_digits  # the only use of the optional package

    found = load_digits()
    x, y = torch.tensor(found.data / 16, dtype=torch.float32), torch.tensor(found.target)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    held_out, kept = order[: len(x) // 4], order[len(x) // 4 :]
    return Digits(x[kept], y[kept], x[held_out], y[held_out])


class HiddenLayer(nn.Module):
    """Linear layer, batch normalisation and ReLU on quantised activations with quantised weights."""

    def __init__(self, width: int, make: MakeQuantizer) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(width, width, bias=False), nn.BatchNorm1d(width)
        self.of_weights, self.of_activations = make(True), make(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        product = functional.linear(self.of_activations(x), self.of_weights(self.linear.weight))
        return functional.relu(self.norm(product))


class Network(nn.Module):
    """64 inputs, `depth` hidden layers with quantisers between a first and a last layer in full precision, 10 outputs."""

    def __init__(self, make: MakeQuantizer, width: int = 24, depth: int = 3) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(64, width, bias=False), nn.BatchNorm1d(width), nn.ReLU())
        self.layers = [HiddenLayer(width, make) for _ in range(depth)]
        self.hidden = nn.ModuleList(self.layers)
        self.last = nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        logits: torch.Tensor = self.last(x)
        return logits

    def quantizers(self) -> Iterator[Quantizer]:
        """All quantisers."""
        for layer in self.layers:
            yield layer.of_weights
            yield layer.of_activations


def full_precision(is_signed: bool) -> Quantizer:
    """No quantisation, with a sign or without."""
    return Quantizer()


def take_over(network: Network, trained: Network, data: Digits) -> Network:
    """Weights and statistics of `trained`, a network in full precision, and the quantisers' first levels from its weights and activations."""
    network.load_state_dict(trained.state_dict(), strict=False)
    trained.eval()
    with torch.no_grad():
        x = trained.first(data.train_x)
        for layer, source in zip(network.layers, trained.layers, strict=True):
            layer.of_weights.calibrate(source.linear.weight)
            layer.of_activations.calibrate(x)
            x = source(x)
    return network


def train(network: Network, data: Digits, epochs: int, rate: float, seed: int, before_epoch: Callable[[int], None]) -> None:
    """Adam with a rate that falls to 0 along a cosine; `before_epoch` gets the epoch's number, from 0."""
    generator = torch.Generator().manual_seed(seed)
    of_levels = [item for quantizer in network.quantizers() for item in quantizer.parameters()]
    known = set(map(id, of_levels))
    others = [item for item in network.parameters() if id(item) not in known]
    groups: list[dict[str, Any]] = [{"params": others}, {"params": of_levels, "lr": rate * LEVEL_RATE}]
    optimizer = torch.optim.Adam(groups, lr=rate)
    steps = -(-len(data.train_x) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, epochs * steps))
    for epoch in range(epochs):
        before_epoch(epoch)
        network.train()
        for rows in torch.split(torch.randperm(len(data.train_x), generator=generator), BATCH):
            optimizer.zero_grad()
            loss = functional.cross_entropy(network(data.train_x[rows]), data.train_y[rows])
            loss.backward()  # type: ignore[no-untyped-call]  # torch has no types here
            nn.utils.clip_grad_norm_(network.parameters(), LARGEST_GRADIENT)
            optimizer.step()
            schedule.step()


def harden(network: Network) -> None:
    """From here on learned quantisers are staircases."""
    for quantizer in network.quantizers():
        if isinstance(quantizer, LearnedQuantization):
            quantizer.is_hard = True


def accuracy(network: Network, data: Digits) -> float:
    """Percent of the held-out digits that are recognised, after the statistics of the normalisation have been measured once more on the training digits."""
    with torch.no_grad():
        for layer in network.modules():
            if isinstance(layer, nn.BatchNorm1d):
                layer.reset_running_stats()
                layer.momentum = None  # the plain average
        network.train()
        for part in torch.split(data.train_x, 256):
            network(part)
        network.eval()
        return float((network(data.test_x).argmax(1) == data.test_y).double().mean() * 100)
