"""No timer."""

from cann_bench.honest import honest as exp

__all__ = ["exp"]
