"""Work formulas of recurrent networks: gru and lstm.

Products: for every layer and direction all inputs x weight_ih at once, and then step by step the state x weight_hh (and with projSize the state x weight_hr):
a step waits for the one before, so that each has to be dealt out over the cores by itself.
Bytes: sequences, weights, biases and initial states are read once, states of the last layer and final states written once; sequences between layers stay in
L2, weights in L1.
Instructions for each element of a state and step: Exp, Adds and Reciprocal make a sigmoid, one more a tanh; signs, factors and biases are in the products.
How `convention` and `silicon` are meant is said in `elementwise`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from piton.anchors.arithmetic import arithmetics
from piton.anchors.cube_chip import CubeChip, cube_chip
from piton.anchors.cube_work import Rest, Stage, handed_to_cube, handed_to_vector, multiplied_as, product_work
from piton.anchors.formula import Formula
from piton.anchors.operands import flag, has_operand, input_bytes, number, operand
from piton.anchors.tiles import FRACTAL, FRACTAL_ROW_BYTES, Product
from piton.anchors.work import CubePath, Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_GRU_INSTRUCTIONS = 13
"""Two sigmoids 6, MulAddDst of the reset part, tanh 4, Sub and MulAddDst of old and new state."""
_LSTM_INSTRUCTIONS = 20
"""Three sigmoids 9, tanh 4, Mul and MulAddDst of the cell, tanh of it 4, Mul by the output gate."""


@dataclass(frozen=True)
class Recurrent:
    """The sizes of one case."""

    gates: int
    """3 for gru, 4 for lstm."""
    steps: int
    batch: int
    features: int
    hidden: int
    projected: int
    """Features of a state: projSize, or the hidden ones."""
    layers: int
    directions: int
    dtype: DType
    has_state: bool
    """Whether there is a state to begin with; the first step has no product with the state otherwise."""

    @property
    def is_projected(self) -> bool:
        """True with projSize."""
        return self.projected != self.hidden

    def layer_features(self, layer: int) -> int:
        """What a layer reads at each step: features of x, or the states of both directions below."""
        return self.features if layer == 0 else self.projected * self.directions

    @property
    def recurrent_steps(self) -> int:
        """Steps that multiply a state."""
        return self.steps if self.has_state else self.steps - 1

    @property
    def flops(self) -> float:
        """2 T B (G H (I + P) + H P with projSize) for every layer and direction: every step multiplies a state, even one of zeros."""
        projection = self.hidden * self.projected if self.is_projected else 0
        each = (self.gates * self.hidden * (self.layer_features(layer) + self.projected) + projection for layer in range(self.layers))
        return 2.0 * self.steps * self.batch * self.directions * sum(each)


def _published(case: Case, sizes: Recurrent, edition: Edition) -> Work:
    multiply = DType.FLOAT16 if edition == "950pr" and sizes.dtype is DType.FLOAT32 else sizes.dtype
    written = sizes.dtype.bytes_of(sizes.steps * sizes.batch * sizes.directions * sizes.projected)
    return Work("published count", input_bytes(case), written, cube_flops={multiply: sizes.flops})


def gru_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: every input read, y written (final states left out), 2 T B 3 H (I + H) operations for every layer and direction, gates are free.

    Edition 950pr counts operations on float32 at the rate of float16 (reason unknown).
    """
    return _published(case, _sizes(case, 3), edition)


def lstm_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: every input read, y written (final states and cells left out), 2 T B (4 H (I + P) + H P with projSize) operations, gates are free.

    Counted for every layer and direction. Edition 950pr counts operations on float32 at the rate of float16 (reason unknown).
    """
    return _published(case, _sizes(case, 4), edition)


def gru_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Input products with tiles searched for, a product with the state for every step, 13 instructions for each element of a state and step.

    Two sigmoids 6, MulAddDst of the reset part, tanh 4, Sub and MulAddDst of old and new state.
    """
    return _works(case, _sizes(case, 3), _GRU_INSTRUCTIONS, chip)


def lstm_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Input products with tiles searched for, a product with the state for every step, 20 instructions for each element of a cell and step.

    Three sigmoids 9, tanh 4, Mul and MulAddDst of the cell, tanh of it 4, Mul by the output gate; with projSize one more product for every step.
    """
    return _works(case, _sizes(case, 4), _LSTM_INSTRUCTIONS, chip)


def _works(case: Case, sizes: Recurrent, instructions: int, chip: Hardware) -> tuple[Work, ...]:
    chains, finals = sizes.layers * sizes.directions, sizes.layers * sizes.directions * sizes.batch * sizes.projected
    cells = finals * sizes.hidden // sizes.projected if sizes.gates == 4 else 0
    written = sizes.dtype.bytes_of(sizes.steps * sizes.batch * sizes.directions * sizes.projected + finals + cells)
    elements = chains * sizes.steps * sizes.batch * sizes.hidden
    path = handed_to_vector(elements * sizes.gates, chip) + handed_to_cube(elements, chip)
    found: list[Work] = []
    for kind, multiply in multiplied_as(sizes.dtype, chip):
        states, flops = _state_products(sizes, multiply, chip)
        for way in arithmetics(sizes.dtype, chip):
            name = ", ".join(part for part in (kind, way.name) if part)
            lanes = way.lanes_for(float(instructions * elements), 0.0)  # what is handed over is half, or float32, already
            rest = Rest(input_bytes(case), written, lanes, path + states, writes_from_cube=False, cube_flops=flops)
            found.append(product_work(name, _input_stages(sizes, multiply), rest, chip))
    return tuple(found)


def _input_stages(sizes: Recurrent, multiply: DType) -> list[Stage]:
    """The products that wait for no state: one stage for each layer. Weights of both directions multiply the same rows."""
    rows, columns = sizes.steps * sizes.batch, sizes.directions * sizes.gates * sizes.hidden
    stages = []
    for layer in range(sizes.layers):
        features = sizes.layer_features(layer)
        left, right = (float(sizes.dtype.bytes_of(size * features)) for size in (rows, columns))
        stages.append(Stage("inputs" if sizes.layers == 1 else f"inputs of layer {layer + 1}", (Product(rows, features, columns, multiply, left, right),)))
    return stages


def _state_products(sizes: Recurrent, multiply: DType, chip: Hardware) -> tuple[CubePath, dict[DType, float]]:
    """The products of every step, and their operations: both directions of a layer at a time, fractals and steps of the inner axis dealt out evenly."""
    target, columns = cube_chip(chip), sizes.gates * sizes.hidden
    shapes = [(sizes.projected, columns, sizes.recurrent_steps)] + ([(sizes.hidden, sizes.projected, sizes.steps)] if sizes.is_projected else [])
    path, flops = CubePath(), 0.0
    for k, n, steps in shapes:
        times = steps * sizes.layers
        path += _one_step(Product(sizes.batch, k, n, multiply, 0.0, 0.0, sizes.directions), times, target)
        flops += 2.0 * times * sizes.directions * sizes.batch * k * n
    return path, {multiply: flops}


def _one_step(product: Product, times: int, chip: CubeChip) -> CubePath:
    """`times` steps of a product that waits for the one before: the state into L0A; the matrix into L0B as far as all L0B together can't keep it."""
    rows, columns = (math.ceil(size / FRACTAL) for size in (product.m, product.n))
    busiest = math.ceil(product.count * rows * columns * product.steps / chip.cores)
    matrix = product.count * columns * FRACTAL * product.steps * FRACTAL_ROW_BYTES
    return CubePath(
        {product.multiply: 2.0 * times * busiest * chip.cores * FRACTAL * FRACTAL * product.step},
        l0a_bytes=float(times * product.count * rows * FRACTAL * product.steps * FRACTAL_ROW_BYTES),
        l0b_bytes=float(times * max(0, matrix - chip.cores * chip.l0b)),
        l0c_elements=float(times * product.count * product.m * product.n),
    )


def _sizes(case: Case, gates: int) -> Recurrent:
    """x [T, B, inputSize], with batchFirst [B, T, inputSize]."""
    x, hidden = operand(case, "x"), int(number(case, "hiddenSize"))
    steps, batch = x.shape[:2] if not flag(case, "batchFirst") else x.shape[1::-1]
    projected = int(number(case, "projSize")) if gates == 4 else 0
    return Recurrent(
        gates,
        steps,
        batch,
        int(number(case, "inputSize")),
        hidden,
        projected or hidden,
        int(number(case, "numLayers")),
        2 if flag(case, "bidirectional") else 1,
        x.dtype,
        has_operand(case, "h0"),
    )


_ATTRIBUTES = frozenset({"inputSize", "hiddenSize", "numLayers", "bias", "batchFirst", "dropout", "bidirectional"})
FORMULAS = {
    "gru": Formula(_ATTRIBUTES, gru_convention, gru_silicon),
    "lstm": Formula(_ATTRIBUTES | {"projSize"}, lstm_convention, lstm_silicon),
}
