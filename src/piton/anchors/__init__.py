"""Anchors: T_HW from work formulas, and the choice of T_baseline."""

from piton.anchors.baseline import choose_baseline
from piton.anchors.limit import Block, Candidate, candidates, has_formula, t_hw

__all__ = ["Block", "Candidate", "candidates", "choose_baseline", "has_formula", "t_hw"]
