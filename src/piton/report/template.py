"""How pages are made: jinja2 with every text escaped, one style sheet in two schemes, one script that a page names by digest."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from piton.core.visible import visible
from piton.report.rows import NONE

STYLE, DARK, SCRIPT = "style.css", "dark.css", "script.js"


def render(name: str, **content: object) -> str:
    """The page of a template; the same bytes for the same content."""
    style, dark, script = (_source(part) for part in (STYLE, DARK, SCRIPT))
    page = _environment().get_template(name)
    return page.render(style=Markup(style), dark=Markup(dark), script=Markup(script), policy=_policy(script), **content)


def _policy(script: str) -> str:
    """Content security policy: no loading of anything, and no script but this text."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@lru_cache
def _environment() -> Environment:
    loader = PackageLoader("piton.report")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_seen)
    environment.filters["figure"] = lambda value, digits=3: NONE if value is None else f"{value:.{digits}f}"
    return environment


def _seen(value: object) -> object:
    """Every text on its way to the page, with characters that turn or hide writing written out."""
    return value if isinstance(value, Markup) else visible(str(value))


def _source(name: str) -> str:
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
