"""Every rendering of a run in the pessimistic accuracy mode says so, and none of a run in the usual one mentions a mode."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from metrics_world import run

from piton.core.report import Report
from piton.report.html import html_text
from piton.report.markdown import markdown_text
from piton.report.metrics_text import metrics_markdown
from piton.report.metrics_view import ViewOptions, view_metrics
from piton.report.samples import MethodSamples, Run, Sample
from piton.report.terminal import terminal_text

MODE = "pessimistic accuracy mode"


def metrics_of(report: Report) -> str:
    return metrics_markdown(view_metrics([MethodSamples("m", (Sample((Run("r", report),)),))], ViewOptions()))


@pytest.mark.parametrize("text_of", [terminal_text, html_text, markdown_text, metrics_of])
def test_a_run_names_its_accuracy_mode_when_it_is_not_the_usual_one(text_of: Callable[[Report], str]) -> None:
    assert MODE in text_of(run("a", {"exp": (2.0, 2.0)}, accuracy="pessimistic"))
    assert "accuracy mode" not in text_of(run("a", {"exp": (2.0, 2.0)}))
