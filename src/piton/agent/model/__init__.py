"""The model layer: one small protocol, clients behind it, typed errors, budgets, a ledger, and models that need no network."""

from piton.agent.model.budget import Budget, BudgetStopError, Limits, Spending
from piton.agent.model.config import ModelOptions, ModelSettings, resolve
from piton.agent.model.errors import ModelError
from piton.agent.model.ledger import Ledger
from piton.agent.model.opening import Accounts, open_model
from piton.agent.model.protocol import Answer, Finish, Message, Model, Request, Sampling, Speaker, Usage

__all__ = [
    "Accounts",
    "Answer",
    "Budget",
    "BudgetStopError",
    "Finish",
    "Ledger",
    "Limits",
    "Message",
    "Model",
    "ModelError",
    "ModelOptions",
    "ModelSettings",
    "Request",
    "Sampling",
    "Speaker",
    "Spending",
    "Usage",
    "open_model",
    "resolve",
]
