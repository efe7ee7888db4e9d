"""`piton evolve`: make a right submission faster, or a wrong one right, with a model."""

from __future__ import annotations

from typing import Annotated

import typer

from piton.cli.completion import complete_operator, complete_suite, complete_target
from piton.cli.start import until_stopped

evolve_app = typer.Typer()


@evolve_app.command("evolve")
def evolve_command(  # noqa: PLR0913 - one parameter per option of the command
    submission: Annotated[str, typer.Argument(help="Folder of the submission to start from.")],
    op: Annotated[str, typer.Option(help="The operator to work on.", autocompletion=complete_operator)],
    model: Annotated[str, typer.Option(help="Who proposes: a table of the configuration, provider:name, scripted:FILE or cassette:FILE.")] = "",
    controller: Annotated[str, typer.Option(help="Control loop: direct, feedback, evolution, tree or adaptive.")] = "evolution",
    rounds: Annotated[int, typer.Option(min=1, max=10_000, help="Rounds at most.")] = 20,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Candidates of a round.")] = 3,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Candidates that are measured at the same time.")] = 1,
    tolerance: Annotated[float, typer.Option(min=0.0, help="Headroom over T_HW at which the search is over.")] = 0.1,
    target_gain: Annotated[float | None, typer.Option(min=1.0, help="Stop when the best is so many times as fast as the start.")] = None,
    budget_usd: Annotated[float | None, typer.Option(help="US dollars at most; needs a price.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="Tokens at most, input and output together.")] = None,
    budget_calls: Annotated[int | None, typer.Option(help="Calls to the model at most.")] = None,
    budget_minutes: Annotated[float | None, typer.Option(help="Wall time at most.")] = None,
    budget_device_minutes: Annotated[float | None, typer.Option(help="Time of evaluations at most.")] = None,
    base_url: Annotated[str, typer.Option(help="Address of the model's server, such as http://localhost:8000/v1.")] = "",
    price_input: Annotated[float | None, typer.Option(min=0.0, help="US dollars per million input tokens.")] = None,
    price_output: Annotated[float | None, typer.Option(min=0.0, help="US dollars per million output tokens.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0.0, help="Of the model; by default its own.")] = None,
    record: Annotated[str, typer.Option(help="Write what the model answers to this cassette.")] = "",
    suite: Annotated[str, typer.Option(help="Suite of the operator.", autocompletion=complete_suite)] = "piton",
    target: Annotated[str, typer.Option(help="Where candidates are measured.", autocompletion=complete_target)] = "ascend910b2-sim",
    case: Annotated[list[str] | None, typer.Option(help="Only this case; may be repeated.")] = None,
    max_elements: Annotated[int | None, typer.Option(min=1, help="Only cases whose inputs together have at most this many elements.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Three telling cases only.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of every choice that is made by chance.")] = 0,
    out: Annotated[str, typer.Option(help="Folder of the run; by default runs/evolve-<operator>-<time>.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out; nothing that was measured is measured again.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Run the golden code of a suite that is not Piton's.")] = False,
) -> None:
    """Ask a model for faster candidates, measure each with Piton's evaluation, and go on from what the measurements say.

    Only measurements count, never what a model says. Stop with Ctrl-C, go on with --resume; `piton runs` shows what was tried.
    """
    from piton.cli.evolving import EvolveOptions, evolve

    options = EvolveOptions(
        submission=submission,
        operator=op,
        model=model,
        controller=controller,
        rounds=rounds,
        parallel=parallel,
        jobs=jobs,
        tolerance=tolerance,
        target_gain=target_gain,
        budget={
            "usd": budget_usd,
            "tokens": budget_tokens,
            "calls": budget_calls,
            "wall_s": _seconds(budget_minutes),
            "device_s": _seconds(budget_device_minutes),
        },
        base_url=base_url,
        price_input=price_input,
        price_output=price_output,
        temperature=temperature,
        record=record,
        suite=suite,
        target=target,
        cases=tuple(case or ()),
        max_elements=max_elements,
        is_fast=fast,
        seed=seed,
        out=out,
        is_resumed=resume,
        is_trusted=trust,
    )
    raise typer.Exit(until_stopped(lambda: evolve(options)))


def _seconds(minutes: float | None) -> float | None:
    return None if minutes is None else minutes * 60.0
