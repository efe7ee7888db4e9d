"""report.html: one self-contained page. No network; its own small script is named by digest, so that no other can run; texts of submissions are escaped."""

from __future__ import annotations

from piton.core.report import Report
from piton.report import failures, lanes, plot, rows, trust
from piton.report.fair_record import fair_summary
from piton.report.lanes import Timelines
from piton.report.method_text import method_pairs
from piton.report.page import build_page, provenance_labels
from piton.report.speedup import speedup_text
from piton.report.template import render


def html_text(report: Report, timelines: Timelines | None = None) -> str:
    """The page of a scored report, with the timelines that its run kept; the same bytes for the same report and timelines."""
    page = build_page(report, timelines or Timelines())
    return render(
        "report.html.j2",
        page=page,
        report=report,
        rows=rows,
        speedup_text=speedup_text,
        failures=failures,
        plot=plot,
        lanes=lanes,
        trust=trust,
        labels=provenance_labels(page.origins),
        tags=method_pairs(report.method),
        fair_summary=fair_summary(page.fair),
    )
