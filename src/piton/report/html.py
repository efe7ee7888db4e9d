"""The report as one self-contained page: no script, no network, everything escaped (texts come from submissions)."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from piton.core.report import Report
from piton.report import rows


def html_text(report: Report) -> str:
    """The page."""
    environment = Environment(loader=PackageLoader("piton.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    found = rows.columns(report)
    return environment.get_template("report.html.j2").render(report=report, rows=rows, found=found, head=rows.headers(found))
