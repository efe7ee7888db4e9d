"""A page of its own for a comparison, built like report.html: one file, no network, its own script by digest, foreign texts escaped."""

from __future__ import annotations

from piton.report import compare_text, plot
from piton.report.comparison import Comparison
from piton.report.speedup_plot import anchors, speedup_figure
from piton.report.template import render


def comparison_html(found: Comparison) -> str:
    """The page; the same bytes for the same comparison."""
    pairs = [(pair, speedup_figure(pair, number), number) for number, pair in enumerate(found.pairs, start=1)]
    places = {number: anchors(pair, number) for pair, _, number in pairs}
    return render("compare.html.j2", found=found, pairs=pairs, places=places, texts=compare_text, plot=plot)
