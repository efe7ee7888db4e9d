"""The loop of a run: ask the controller, propose, refuse duplicates, evaluate, advise, stop."""

from piton.agent.loop.driver import Driver, Plan
from piton.agent.loop.evaluation import Evaluator, PitonEvaluator, measured_of
from piton.agent.loop.feedback import feedback_of
from piton.agent.loop.model_proposer import ModelProposer, Task
from piton.agent.loop.proposals import Proposal, Proposed, Proposer, Refused

__all__ = [
    "Driver",
    "Evaluator",
    "ModelProposer",
    "PitonEvaluator",
    "Plan",
    "Proposal",
    "Proposed",
    "Proposer",
    "Refused",
    "Task",
    "feedback_of",
    "measured_of",
]
