"""Anchors: T_HW from work formulas, and the choice of T_baseline."""

from piton.anchors.baseline import choose_baseline
from piton.anchors.limit import Block, Bottleneck, Candidate, bottleneck, candidates, fastest, has_formula, t_hw

__all__ = ["Block", "Bottleneck", "Candidate", "bottleneck", "candidates", "choose_baseline", "fastest", "has_formula", "t_hw"]
