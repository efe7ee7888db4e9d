"""The honest submission that those of the corpus are made from: each replaces some of its files."""

from .honest import honest as exp

__all__ = ["exp"]
