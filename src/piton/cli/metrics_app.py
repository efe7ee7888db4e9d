"""`piton metrics`: the command and its options; the work is in metrics.py, which loads when the command is used."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from piton.cli.completion import complete_suite
from piton.cli.options import SuiteFormatOption
from piton.cli.start import until_stopped


class Selection(str, Enum):
    """What --select takes."""

    LAST = "last"
    AVERAGE = "average"
    BEST = "best"


class Estimator(str, Enum):
    """What --estimator takes."""

    UNBIASED = "unbiased"
    FIRST = "first"


class TaskUnit(str, Enum):
    """What --task takes."""

    OPERATOR = "operator"
    CASE = "case"


class Grouping(str, Enum):
    """What --group-by takes."""

    LEVEL = "level"
    CATEGORY = "category"
    OPERATOR = "operator"


metrics_app = typer.Typer()


@metrics_app.command("metrics")
def metrics_command(  # noqa: PLR0913 - one parameter per option of the command
    runs: Annotated[list[str], typer.Argument(help="Runs (folders or report.json), each one sample of its submission; or a samples.toml or its folder.")],
    k: Annotated[str, typer.Option(help="Values of k, such as 1,5,10; by default those of these that there are samples for.")] = "",
    p: Annotated[str, typer.Option(help="Speed-ups p of fast_p, which are the alpha of SU_alpha@k.")] = "0.5,1,2",
    select: Annotated[Selection, typer.Option(help="Which turn of a trajectory counts.")] = Selection.LAST,
    estimator: Annotated[Estimator, typer.Option(help="Mean over all k-subsets of the samples, or the first k of them.")] = Estimator.UNBIASED,
    task: Annotated[TaskUnit, typer.Option(help="What a task is: an operator, right when all its cases pass, or a case.")] = TaskUnit.OPERATOR,
    suite: Annotated[str, typer.Option(help="All operators of this suite count; those that no run has are failures.", autocompletion=complete_suite)] = "",
    suite_format: SuiteFormatOption = "",
    group_by: Annotated[Grouping | None, typer.Option(help="Metrics of each group as well.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the resamples behind the intervals.")] = 0,
    fair: Annotated[bool, typer.Option("--fair", help="Show the fair-reporting record of each method too; JSON and Markdown always have it.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Metrics over many samples: pass@k, Compilation@k, fast_p@k, speed-up, HAP, with intervals; needs no device."""
    from piton.cli.metrics import MetricsOptions, show_metrics

    options = MetricsOptions(
        runs=tuple(runs),
        k=k,
        p=p,
        selection=select.value,
        is_unbiased=estimator is Estimator.UNBIASED,
        unit=task.value,
        suite=suite,
        suite_format=suite_format,
        group_by=group_by.value if group_by else None,
        seed=seed,
        shows_fair=fair,
        prints_markdown=markdown,
        prints_json=as_json,
    )
    raise typer.Exit(until_stopped(lambda: show_metrics(options)))
