"""Fit the polynomials of gelu_math.h: ln(2 q(2b)) on 0 <= b <= 4, q(a) = erfc(a / sqrt 2) / 2.

Method: Lawson's iteration (reweighted least squares that converges to the minimax polynomial) in the Chebyshev basis. An error in the logarithm is a relative
error of q; it is weighted with a q / (a q + 1e-7), its effect on the relative error by which results are judged. Prints float32 coefficients, constant first.
"""

import math

import numpy as np
from numpy.polynomial import Chebyshev

LARGEST_A = 8.0
DEGREES = {"float": 6, "half": 5, "bfloat16_t": 4}


def tail(a: np.ndarray) -> np.ndarray:
    """Phi(-a)."""
    return np.array([math.erfc(value / math.sqrt(2)) / 2 for value in a])


def weights(a: np.ndarray) -> np.ndarray:
    """Effect of a relative error of q on the relative error of a q with the floor 1e-7; towards a = 0 both vanish together."""
    size = a * tail(a)
    return np.where(a < 0.01, 1.0, size / (size + 1e-7))


def fit(degree: int, points: int = 3000, rounds: int = 1500) -> tuple[np.ndarray, float]:
    """Monomial coefficients in b and the largest weighted error."""
    a = LARGEST_A * (1 - np.cos(np.linspace(0, np.pi, points))) / 2
    basis = np.polynomial.chebyshev.chebvander(2 * a / LARGEST_A - 1, degree)
    wanted, weight = np.log(2 * tail(a)), weights(a)
    share = np.full(points, 1 / points)
    best, least = np.zeros(degree + 1), math.inf
    for _ in range(rounds):
        root = np.sqrt(share) * weight
        coefficients = np.linalg.lstsq(basis * root[:, None], wanted * root, rcond=None)[0]
        error = np.abs(basis @ coefficients - wanted) * weight
        if error.max() < least:
            best, least = coefficients, float(error.max())
        share = share * error / (share * error).sum()
    return Chebyshev(best, domain=[0, LARGEST_A / 2]).convert(kind=np.polynomial.Polynomial).coef, least


if __name__ == "__main__":
    for name, degree in DEGREES.items():
        terms, error = fit(degree)
        listed = ", ".join(f"{np.float32(term)!s}f" for term in terms)
        print(f"{name}: degree {degree}, largest weighted error {error:.1e}: {listed}")  # noqa: T201 - a script's result
