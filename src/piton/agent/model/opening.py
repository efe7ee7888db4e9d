"""From settings to a model that is held to a budget and written into a ledger."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from piton.agent.model.budget import Budget
from piton.agent.model.cassette import RecordingModel, ReplayedModel
from piton.agent.model.config import ModelSettings
from piton.agent.model.ledger import Ledger
from piton.agent.model.metered import MeteredModel
from piton.agent.model.protocol import Model
from piton.agent.model.refused import RefusedParameters
from piton.agent.model.retry import RetryingModel
from piton.agent.model.scripted import ScriptedModel

_REFUSED = "refused-parameters.json"


@dataclass(frozen=True)
class Accounts:
    """Whom calls are charged to."""

    budget: Budget
    ledger: Ledger


def open_model(settings: ModelSettings, accounts: Accounts, cache_dir: Path, record: Path | None = None) -> Model:
    """The model: every try of a call is reserved, settled and written down; passing errors are tried again; `record` is a cassette to write.

    Raises UsageError for a budget in money without a price, MissingLibraryError, FormatError for a wrong script or cassette.
    """
    client = _client(settings, cache_dir)
    recorded = client if record is None else RecordingModel(client, record)
    return RetryingModel(MeteredModel(recorded, accounts.budget, accounts.ledger, settings.price), settings.patience)


def _client(settings: ModelSettings, cache_dir: Path) -> Model:
    if settings.provider == "scripted" and settings.file is not None:
        return ScriptedModel(settings.file)
    if settings.provider == "cassette" and settings.file is not None:
        return ReplayedModel(settings.file)
    refused = RefusedParameters(cache_dir / _REFUSED)
    if settings.provider == "anthropic":
        from piton.agent.model.anthropic_client import AnthropicModel

        return AnthropicModel(settings.endpoint, refused)
    if settings.provider == "litellm":
        from piton.agent.model.litellm_client import LiteLlmModel

        return LiteLlmModel(settings.endpoint, refused)
    from piton.agent.model.openai_client import OpenAiModel

    return OpenAiModel(settings.endpoint, refused)
