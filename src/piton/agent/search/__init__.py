"""Search among candidates: one ask, one tell, and four control loops on it."""

from piton.agent.search.controllers import CONTROLLERS, Controller, controller_of
from piton.agent.search.steps import Action, Finished, Inspiration, Step
from piton.agent.search.tiers import Tier, tiers_of

__all__ = ["CONTROLLERS", "Action", "Controller", "Finished", "Inspiration", "Step", "Tier", "controller_of", "tiers_of"]
