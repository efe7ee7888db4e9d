"""`piton calibrate`: fit the constants of a hardware file to measured kernels."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from piton.cli.start import until_stopped

calibrate_app = typer.Typer()


@calibrate_app.command("calibrate")
def calibrate_command(  # noqa: PLR0913 - one parameter per option of the command
    profile: Annotated[str, typer.Argument(help="op_summary_*.csv or kernel_details.csv of msprof, or a CSV with a name and a duration.")],
    mapping: Annotated[str, typer.Option("--map", help="TOML file: which rows are which launch of which program (docs/calibrate.md).")],
    hardware: Annotated[str, typer.Option(help="Where to start: a shipped chip, or a hardware file.")] = "ascend910b2",
    out: Annotated[str, typer.Option(help="Hardware file to write, such as mychip.yaml. Without it nothing is fitted: only compared.")] = "",
    hold_out: Annotated[int, typer.Option(min=0, max=90, help="Per cent of the kernels that the fit does not see; chosen by a hash.")] = 30,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file of --out when it is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON instead of tables.")] = False,
) -> None:
    """Compare simulated with measured kernels, fit the free constants of a hardware file, and say how well. Goes on where it was stopped."""
    from piton.cli.evaluation import cache_dir
    from piton.evaluate.calibration.run import CalibrationRequest

    request = CalibrationRequest(profile, mapping, hardware, out, str(cache_dir().absolute()), hold_out, overwrite)
    raise typer.Exit(until_stopped(lambda: _show(request, prints_json=as_json)))


def _show(request: object, *, prints_json: bool) -> int:
    from piton.cli.printing import open_console
    from piton.evaluate.calibration.run import CalibrationRequest, calibrate
    from piton.report.calibration import calibration_json, render_calibration

    assert isinstance(request, CalibrationRequest)
    console = open_console(is_error=True)
    report = calibrate(request, lambda text: console.print(f"  {text}", style="dim", markup=False, highlight=False))
    if prints_json:
        sys.stdout.write(calibration_json(report))
    else:
        open_console().print(render_calibration(report))
    return 0
