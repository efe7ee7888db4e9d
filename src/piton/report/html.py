"""report.html: one self-contained page. No network; its own small script is named by digest, so that no other can run; texts of submissions are escaped."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from piton.core.report import Report
from piton.core.visible import visible
from piton.report import failures, lanes, plot, rows
from piton.report.lanes import Timelines
from piton.report.page import build_page, provenance_labels

STYLE, DARK, SCRIPT = "style.css", "dark.css", "script.js"


def html_text(report: Report, timelines: Timelines | None = None) -> str:
    """The page of a scored report, with the timelines that its run kept; the same bytes for the same report and timelines."""
    environment = _environment()
    style, dark, script = (_source(environment, name) for name in (STYLE, DARK, SCRIPT))
    page = build_page(report, timelines or Timelines())
    return _template(environment).render(
        page=page,
        report=report,
        rows=rows,
        failures=failures,
        plot=plot,
        lanes=lanes,
        labels=provenance_labels(page.origins),
        style=Markup(style),
        dark=Markup(dark),
        script=Markup(script),
        policy=_policy(script),
    )


def _policy(script: str) -> str:
    """Content security policy: no loading of anything, and no script but this text."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@lru_cache
def _environment() -> Environment:
    loader = PackageLoader("piton.report")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_seen)
    environment.filters["figure"] = lambda value, digits=3: rows.NONE if value is None else f"{value:.{digits}f}"
    return environment


def _seen(value: object) -> object:
    """Every text on its way to the page, with characters that turn or hide writing written out."""
    return value if isinstance(value, Markup) else visible(str(value))


def _template(environment: Environment) -> Template:
    return environment.get_template("report.html.j2")


def _source(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
