"""Piton measures how good an accelerator kernel is against what the hardware allows."""

__version__ = "0.1.0"
