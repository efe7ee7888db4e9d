"""RMS norm for the target `cpu`, in NumPy: `piton eval examples/cpu/python --target cpu --op rms_norm --case 13`."""

import numpy as np


def rms_norm(x, gamma, epsilon, y):
    """Fill `y`; x / sqrt(mean of squares over the last axis + epsilon) * gamma, in float32."""
    wide = x.astype(np.float32)
    scale = 1.0 / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + np.float32(epsilon))
    y[...] = (wide * scale * gamma.astype(np.float32)).astype(y.dtype)
