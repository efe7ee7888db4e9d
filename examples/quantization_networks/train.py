"""Train a small network's weights and activations to few bits with Quantization Networks, and compare with full precision and plain rounding.

    python examples/quantization_networks/train.py

Prints the accuracy on held-out digits, mean and spread over seeds. Needs scikit-learn for its digits (`pip install 'piton[examples]'`); nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch
from network import Digits, Network, accuracy, full_precision, harden, load, take_over, train
from quantizers import LearnedQuantization, Rounding
from rich.console import Console
from rich.progress import Progress, TextColumn
from rich.table import Table

EPOCHS, TUNING_EPOCHS = 30, 60
RATE, TUNING_RATE = 3e-3, 1e-3
FIRST_TEMPERATURE, LAST_TEMPERATURE = 2.0, 40.0
HEATING = 0.7
"""Part of the epochs in which the temperature grows from the first to the last one, by the same factor each; a unit step is 1 wide."""
Tick = Callable[[str], None]


def ignore(epoch: int) -> None:
    """Nothing has to happen before an epoch."""


def full(data: Digits, seed: int, epochs: int) -> tuple[Network, float]:
    """The network in full precision, which all others start from, and its accuracy."""
    torch.manual_seed(seed)
    network = Network(full_precision)
    train(network, data, epochs, RATE, seed, ignore)
    return network, accuracy(network, data)


def post_training(trained: Network, data: Digits, bits: int) -> float:
    """Accuracy after plain rounding of the trained network; nothing is trained further."""
    return accuracy(take_over(Network(partial(Rounding, bits)), trained, data), data)


def straight_through(trained: Network, data: Digits, bits: int, seed: int, epochs: int) -> float:
    """Accuracy of plain rounding when training goes on through it, as if rounding had the derivative 1."""
    network = take_over(Network(partial(Rounding, bits)), trained, data)
    train(network, data, epochs, TUNING_RATE, seed, ignore)
    return accuracy(network, data)


def learned(trained: Network, data: Digits, bits: int, seed: int, epochs: int) -> float:
    """Accuracy of Quantization Networks: trained softly while the temperature grows epoch by epoch, evaluated as staircases."""
    network = take_over(Network(partial(LearnedQuantization, bits)), trained, data)

    def heat(epoch: int) -> None:
        share = min(1.0, epoch / max(1.0, HEATING * epochs))
        for quantizer in network.quantizers():
            assert isinstance(quantizer, LearnedQuantization)
            quantizer.temperature = FIRST_TEMPERATURE * (LAST_TEMPERATURE / FIRST_TEMPERATURE) ** share

    train(network, data, epochs, TUNING_RATE, seed, heat)
    harden(network)
    return accuracy(network, data)


def run(seed: int, bits: Sequence[int], scale: float, tick: Tick) -> dict[str, float]:
    """Accuracies in percent by method, for one seed; `scale` shortens the trainings."""
    data = load(seed)
    epochs, tuning = max(1, round(EPOCHS * scale)), max(1, round(TUNING_EPOCHS * scale))
    trained, value = full(data, seed, epochs)
    results = {"full precision": value}
    tick(f"seed {seed}, full precision")
    for number in bits:
        methods: dict[str, Callable[[], float]] = {
            "rounding after training": partial(post_training, trained, data, number),
            "rounding, straight-through": partial(straight_through, trained, data, number, seed, tuning),
            "Quantization Networks": partial(learned, trained, data, number, seed, tuning),
        }
        for name, method in methods.items():
            results[f"{number} bits: {name}"] = method()
            tick(f"seed {seed}, {number} bits, {name}")
    return results


def table(results: dict[str, list[float]]) -> Table:
    """Mean, least and greatest accuracy by method."""
    made = Table(title="accuracy on held-out digits, percent")
    for name, side in (("method", "left"), ("mean", "right"), ("least", "right"), ("most", "right"), ("to full precision", "right")):
        made.add_column(name, justify=side)  # type: ignore[arg-type]  # one of rich's words
    base = statistics.mean(results["full precision"])
    for name, values in results.items():
        mean = statistics.mean(values)
        made.add_row(name, f"{mean:.2f}", f"{min(values):.2f}", f"{max(values):.2f}", f"{mean - base:+.2f}")
    return made


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="seeds of the split, the weights and the order (0 1 2)")
    parser.add_argument("--bits", type=int, nargs="+", default=[4, 2], choices=range(2, 9), metavar="B", help="bits of weights and activations (4 2)")
    parser.add_argument("--scale", type=float, default=1.0, help="part of the epochs to train; less is for a quick look")
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else")
    return parser.parse_args()


def main() -> int:
    """Exit status 0, or 2 when scikit-learn is missing."""
    given = options()
    try:
        import sklearn  # noqa: F401  # to say so at once
    except ImportError:
        sys.stderr.write("scikit-learn is missing, whose digits this example learns; to do: pip install 'piton[examples]', or pip install scikit-learn\n")
        return 2
    start = time.monotonic()
    results: dict[str, list[float]] = {}
    columns = (*Progress.get_default_columns(), TextColumn("{task.fields[now]}"))
    with Progress(*columns, console=Console(stderr=True), disable=given.json) as progress:
        task = progress.add_task("training", total=len(given.seeds) * (1 + 3 * len(given.bits)), now="")
        for seed in given.seeds:
            for name, value in run(seed, given.bits, given.scale, lambda now: progress.update(task, advance=1, now=now)).items():
                results.setdefault(name, []).append(round(value, 3))
    seconds = time.monotonic() - start
    if given.json:
        report = {"seeds": given.seeds, "accuracy_percent": results, "seconds": round(seconds, 1), "load": os.getloadavg()[0]}
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
        return 0
    console = Console()
    console.print(table(results))
    console.print(f"{len(given.seeds)} seeds, {seconds:.0f} s on {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
