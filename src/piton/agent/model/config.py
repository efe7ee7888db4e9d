"""Which model, where, with which key and how: from options, the environment and a configuration file, in this order.

```toml
# $PITON_CONFIG, else $XDG_CONFIG_HOME/piton/config.toml, else ~/.config/piton/config.toml
model = "big"                        # the default of --model

[models.big]
provider = "openai"                  # openai, anthropic or litellm
name = "some-model"
base_url = "http://localhost:8000/v1"
key_variable = "MY_KEY"              # the variable with the key, by default the provider's own
price_input = 2.5                    # US dollars per million tokens; without them the price is unknown
price_output = 10.0
price_cached = 0.25
temperature = 0.7                    # and top_p, seed, effort, max_output_tokens, timeout_s, attempts, longest_wait_s
```

A model is named on the command line by its table, or as `provider:name`, `scripted:FILE`, `cassette:FILE`. A key is never in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from pydantic import Field

from piton.agent.model.errors import NoKeyError
from piton.agent.model.http_client import Endpoint
from piton.agent.model.prices import FREE, Price
from piton.agent.model.protocol import Sampling
from piton.agent.model.retry import Patience
from piton.catalog.toml_file import TomlForm, one_of, read_toml
from piton.core.errors import UsageError

Provider = Literal["openai", "anthropic", "litellm"]
FILES = ("scripted", "cassette")
"""Providers that are a file: nothing is asked over a network, and nothing costs."""
KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "litellm": ""}
MODEL_VARIABLE, BASE_URL_VARIABLE, KEY_VARIABLE, CONFIG_VARIABLE = "PITON_MODEL", "PITON_MODEL_BASE_URL", "PITON_MODEL_KEY", "PITON_CONFIG"


class ModelForm(TomlForm):
    """One model of the file."""

    provider: Provider
    name: str = Field(min_length=1)
    base_url: str = ""
    key_variable: str = ""
    price_input: float | None = Field(default=None, ge=0)
    price_output: float | None = Field(default=None, ge=0)
    price_cached: float | None = Field(default=None, ge=0)
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = None
    effort: str | None = None
    max_output_tokens: int = Field(default=Sampling().max_output_tokens, ge=1)
    timeout_s: float = Field(default=600.0, gt=0)
    attempts: int = Field(default=Patience().attempts, ge=1)
    longest_wait_s: float = Field(default=Patience().longest_wait_s, gt=0)


class ConfigForm(TomlForm):
    """The part of the configuration file that is about models."""

    model: str = ""
    models: dict[str, ModelForm] = Field(default_factory=dict)


@dataclass(frozen=True)
class ModelOptions:
    """What was typed; empty and None leave it to the environment and the file."""

    model: str = ""
    base_url: str = ""
    price_input: float | None = None
    price_output: float | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Fields of Sampling by name."""


@dataclass(frozen=True)
class ModelSettings:
    """Everything that decides how a model is asked."""

    provider: str
    endpoint: Endpoint
    sampling: Sampling
    patience: Patience
    price: Price | None
    """None is unknown."""
    file: Path | None = None
    """Of a scripted model or a cassette."""


def config_path(environment: Mapping[str, str]) -> Path:
    """Where the configuration file is looked for."""
    if environment.get(CONFIG_VARIABLE):
        return Path(environment[CONFIG_VARIABLE])
    folder = environment.get("XDG_CONFIG_HOME") or str(Path(environment.get("HOME", "~")).expanduser() / ".config")
    return Path(folder) / "piton" / "config.toml"


def read_config(environment: Mapping[str, str]) -> ConfigForm:
    """The configuration file; an empty one where there is none, unless $PITON_CONFIG names it. Raises UsageError, FormatError."""
    path = config_path(environment)
    return read_toml(path, ConfigForm) if path.is_file() or environment.get(CONFIG_VARIABLE) else ConfigForm()


def resolve(options: ModelOptions, environment: Mapping[str, str]) -> ModelSettings:
    """The settings of the model that is asked for. Raises UsageError for none and an unknown one, NoKeyError without a key that the provider needs."""
    config = read_config(environment)
    asked = options.model or environment.get(MODEL_VARIABLE, "") or config.model
    if not asked:
        raise UsageError("no model was chosen", expected="--model, $PITON_MODEL or `model` in the configuration file", found="none", action=_HOW)
    kind, _, rest = asked.partition(":")
    if asked in config.models:
        return _settings(config.models[asked], options, environment)
    if kind in FILES and rest:
        return _of_file(kind, Path(rest).expanduser(), options)
    if kind in get_args(Provider) and rest:
        return _settings(ModelForm(provider=cast("Provider", kind), name=rest), options, environment)
    known = [*config.models, *(f"{name}:NAME" for name in get_args(Provider)), *(f"{name}:FILE" for name in FILES)]
    raise UsageError(f"there is no model {asked!r}", expected=one_of(known, asked), action=_HOW)


_HOW = "name a model as provider:name (openai:..., anthropic:...), or put it into the configuration file"


def _settings(form: ModelForm, options: ModelOptions, environment: Mapping[str, str]) -> ModelSettings:
    base_url = options.base_url or environment.get(BASE_URL_VARIABLE, "") or form.base_url
    own = {name: getattr(form, name) for name in ("temperature", "top_p", "seed", "effort", "max_output_tokens")}
    sampling = Sampling(**{**own, **{name: value for name, value in options.sampling.items() if value is not None}})
    key = _key(form, base_url, environment)
    endpoint = Endpoint(form.provider, form.name, key, base_url, form.timeout_s)
    return ModelSettings(form.provider, endpoint, sampling, Patience(form.attempts, longest_wait_s=form.longest_wait_s), _price(form, options))


def _key(form: ModelForm, base_url: str, environment: Mapping[str, str]) -> str:
    """The key; a server of one's own (a base_url) may need none, and litellm finds its own."""
    variables = [form.key_variable] if form.key_variable else [KEY_VARIABLE, KEY_VARIABLES[form.provider]]
    key = next((environment[name] for name in variables if name and environment.get(name)), "")
    if not key and (form.key_variable or (form.provider != "litellm" and not base_url)):
        expected = " or ".join(f"${name}" for name in variables if name)
        raise NoKeyError(f"no key for {form.provider}:{form.name}", expected=expected, found="nothing in the environment", action="set the variable")
    if not (key.isascii() and key.isprintable() and " " not in key):  # errors of HTTP libraries quote a header that cannot be sent, and so the key
        found = "a line break, a blank or another character that no key has"
        raise NoKeyError(f"the key for {form.provider}:{form.name} cannot be sent", expected="one word", found=found, action="set the variable again")
    return key


def _price(form: ModelForm, options: ModelOptions) -> Price | None:
    price_input = form.price_input if options.price_input is None else options.price_input
    price_output = form.price_output if options.price_output is None else options.price_output
    if (price_input is None) != (price_output is None):
        raise UsageError(f"half a price for {form.provider}:{form.name}", expected="dollars for input and for output", found="one of them", action="give both")
    return None if price_input is None or price_output is None else Price(price_input, price_output, form.price_cached)


def _of_file(kind: str, path: Path, options: ModelOptions) -> ModelSettings:
    if not path.is_file():
        raise UsageError(f"the {kind} model has no file", expected="a file", found=f"no file at {path}", action="check the path after the colon")
    sampling = Sampling(**{name: value for name, value in options.sampling.items() if value is not None})
    return ModelSettings(kind, Endpoint(kind, path.name), sampling, Patience(), FREE, path)
