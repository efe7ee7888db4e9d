"""Runs of the agents: every variant with its lineage, prompt, answer, cost and measurement, kept so that a kill loses nothing that was done."""

from piton.agent.runs.records import Event, Head, Measured, NewVariant, State, Variant
from piton.agent.runs.store import RunStore

__all__ = ["Event", "Head", "Measured", "NewVariant", "RunStore", "State", "Variant"]
