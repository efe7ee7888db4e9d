"""The measured addition: `torch.ops.piton_fidelity.add_high_performance(x, y, variant)`."""

from . import _C  # noqa: F401 - loading the library registers the operator
