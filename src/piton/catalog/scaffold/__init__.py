"""`piton new`: a submission to start from, for any operator of a suite."""

from piton.catalog.scaffold.plan import Kind, Layout
from piton.catalog.scaffold.write import Scaffold, write_scaffold

__all__ = ["Kind", "Layout", "Scaffold", "write_scaffold"]
