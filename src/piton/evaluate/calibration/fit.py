"""The fit: constants within bounds so that simulated times come near measured ones.

Problem: a simulation is a black box of whole cycles, so that small steps change nothing, some constants hardly matter to the rows given, and single rows are
far off for reasons that no constant can mend.
Approach: damped least squares (Levenberg and Marquardt) on ln(simulated / measured) with differences over a twentieth of each constant's range; a row counts
less the farther it is off (Huber's weights), and every group counts the same. Then each constant alone is tried a little higher and lower, in halving steps.
Limits: a local optimum near the start. A constant that the rows do not depend on stays where it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from piton.core.calibration import Constant, Observation

Simulate = Callable[[tuple[float, ...]], Sequence[float]]
"""Simulated times in us of all observations, for values of the constants."""
Vector = npt.NDArray[np.float64]

DIFFERENCE = 0.05
"""Of a constant's range, for its influence."""
HUBER = 0.1
"""Residual from which on a row counts less: 10 %."""
ROUNDS = 6
"""Of damped least squares."""
SMALLEST_STEP = 0.01
"""Of a constant's range, in the search of single constants."""
_GAIN = 0.002
"""Share of the loss below which a round has brought nothing."""


@dataclass
class Fit:
    """Where the search stands."""

    constants: Sequence[Constant]
    observations: Sequence[Observation]
    """Those it may see."""
    simulate: Simulate
    progress: Callable[[str], None]
    tried: int = 0
    influence: list[float] = field(default_factory=list)

    def run(self) -> tuple[float, ...]:
        """The best values found."""
        place = np.array([constant.place_of(constant.start) for constant in self.constants])
        residuals = self._residuals(place)
        place, residuals = self._least_squares(place, residuals)
        place = self._single_steps(place, self._loss(residuals))
        return self._values(place)

    def _values(self, place: Vector) -> tuple[float, ...]:
        return tuple(constant.at(float(at)) for constant, at in zip(self.constants, place, strict=True))

    def _residuals(self, place: Vector) -> Vector:
        self.tried += 1
        times = self.simulate(self._values(place))
        found = np.array([math.log(time / item.measured_us) for time, item in zip(times, self.observations, strict=True)])
        self.progress(f"try {self.tried}: median error {100 * float(np.median(np.abs(np.expm1(found)))):.1f} %")
        return found

    def _group_weights(self) -> Vector:
        groups = [item.group for item in self.observations]
        return np.array([1 / groups.count(group) for group in groups])

    def _loss(self, residuals: Vector) -> float:
        size = np.abs(residuals)
        huber = np.where(size <= HUBER, size**2 / 2, HUBER * (size - HUBER / 2))
        return float(np.sum(self._group_weights() * huber))

    def _jacobian(self, place: Vector, residuals: Vector) -> Vector:
        columns = []
        for index in range(len(place)):
            moved = place.copy()
            moved[index] += DIFFERENCE if place[index] + DIFFERENCE <= 1 else -DIFFERENCE
            columns.append((self._residuals(moved) - residuals) / (moved[index] - place[index]))
        jacobian = np.stack(columns, axis=1)
        self.influence = [float(math.sqrt(value)) for value in np.mean(jacobian**2, axis=0)]
        return jacobian

    def _least_squares(self, place: Vector, residuals: Vector) -> tuple[Vector, Vector]:
        damping = 1e-2
        for _ in range(ROUNDS):
            jacobian = self._jacobian(place, residuals)
            before = self._loss(residuals)
            place, residuals, damping = self._damped_step(place, residuals, jacobian, damping)
            if self._loss(residuals) >= before * (1 - _GAIN):
                break
        return place, residuals

    def _damped_step(self, place: Vector, residuals: Vector, jacobian: Vector, damping: float) -> tuple[Vector, Vector, float]:
        """The first step of growing damping that makes the loss smaller; none after five."""
        weights = self._group_weights() * np.minimum(1, HUBER / np.maximum(np.abs(residuals), 1e-12))
        square = jacobian.T @ (weights[:, None] * jacobian)
        slope = jacobian.T @ (weights * residuals)
        scale = np.diag(np.maximum(np.diag(square), 1e-9))
        for _ in range(5):
            moved = np.clip(place - np.linalg.solve(square + damping * scale, slope), 0, 1)
            found = self._residuals(moved)
            if self._loss(found) < self._loss(residuals):
                return moved, found, damping / 10
            damping *= 10
        return place, residuals, damping

    def _single_steps(self, place: Vector, loss: float) -> Vector:
        step = DIFFERENCE
        while step >= SMALLEST_STEP:
            best = loss
            for index in range(len(place)):
                place, loss = self._try_both_ways(place, loss, index, step)
            if loss >= best * (1 - _GAIN):
                step /= 2
        return place

    def _try_both_ways(self, place: Vector, loss: float, index: int, step: float) -> tuple[Vector, float]:
        for change in (step, -step):
            moved = place.copy()
            moved[index] = min(max(moved[index] + change, 0.0), 1.0)
            if self._values(moved) == self._values(place):
                continue
            found = self._loss(self._residuals(moved))
            if found < loss:
                return moved, found
        return place, loss
