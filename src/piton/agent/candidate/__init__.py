"""Candidates: submissions as trees of texts, what makes two of them the same, and edits that models write."""

from piton.agent.candidate.edits import Applied, Edit, EditResult, apply_edits, parse_edits
from piton.agent.candidate.tree import Tree, TreeError, read_tree

__all__ = ["Applied", "Edit", "EditResult", "Tree", "TreeError", "apply_edits", "parse_edits", "read_tree"]
