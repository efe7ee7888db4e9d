"""What an evaluation says about where time goes, and what to try against it."""

from piton.agent.analysis.hints import Hint, hints_of
from piton.agent.analysis.profile import CaseProfile, Profile, profile_of
from piton.agent.analysis.review import Reviewed, review
from piton.agent.analysis.signatures import Signature, signatures_of
from piton.agent.analysis.stopping import stop_reason
from piton.agent.analysis.strategies import Strategy, StrategyClass, assign, load_strategies

__all__ = [
    "CaseProfile",
    "Hint",
    "Profile",
    "Reviewed",
    "Signature",
    "Strategy",
    "StrategyClass",
    "assign",
    "hints_of",
    "load_strategies",
    "profile_of",
    "review",
    "signatures_of",
    "stop_reason",
]
