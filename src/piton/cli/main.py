"""The command line: parse, call one function, print. Heavy imports wait until a command needs them."""

from __future__ import annotations

import errno
import io
import signal
import sys
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

import piton
from piton.core.errors import PitonError, TargetUnavailableError, UsageError
from piton.core.visible import visible

PASSED, FAILED, USAGE, UNAVAILABLE, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses: all cases passed; some did not; wrong use; the target or this machine lacks something; stopped by the user."""

_IS_FULL = (errno.ENOSPC, errno.EDQUOT)
_IS_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG)

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=piton.__doc__, context_settings={"help_option_names": ["-h", "--help"]})


@app.command("eval")
def evaluate_command(  # noqa: PLR0913 - one parameter per option of the command
    submission: Annotated[str, typer.Argument(help="Folder of the submission (direct-launch layout).")],
    suite: Annotated[str, typer.Option(help="A suite of Piton's by name, or a folder in the published layout.")] = "piton",
    target: Annotated[str, typer.Option(help="Where it runs, such as ascend910b2-sim.")] = "ascend910b2-sim",
    op: Annotated[list[str] | None, typer.Option(help="Only this operator; may be repeated.")] = None,
    case: Annotated[list[str] | None, typer.Option(help="Only this case (`3` or `exp/3`); may be repeated. The others are listed as not run.")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Cases that run at the same time; results do not depend on it.")] = 1,
    out: Annotated[str, typer.Option(help="Folder of the run; by default runs/<submission>-<time>.")] = "",
    trust: Annotated[bool, typer.Option("--trust", help="Run the golden.py files of a suite from outside Piton.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all inputs.")] = 0,
    trials: Annotated[int, typer.Option(min=1, max=2, help="Trials a case has to pass: 2 adds one with a fresh seed and shifted inputs.")] = 1,
    profile: Annotated[str, typer.Option(help="Precision profile: strict or cann-bench.")] = "strict",
    auto_sync: Annotated[bool | None, typer.Option("--auto-sync/--no-auto-sync", help="Compiler's auto-sync; by default as the submission says.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json instead of tables.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the interrupted run in --out.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
) -> None:
    """Build, run, check, time and score a submission."""
    from piton.cli.evaluation import EvaluationOptions, run_evaluation

    options = EvaluationOptions(
        submission=submission,
        suite=suite,
        target=target,
        operators=tuple(op or ()),
        cases=tuple(case or ()),
        jobs=jobs,
        out=out,
        is_trusted=trust,
        seed=seed,
        trials=trials,
        profile=profile,
        auto_sync=auto_sync,
        prints_json=as_json,
        is_resumed=resume,
        overwrites=overwrite,
    )
    raise typer.Exit(_until_stopped(lambda: run_evaluation(options)))


@app.command("run")
def run_command(  # noqa: PLR0913 - one parameter per option of the command
    program: Annotated[str, typer.Argument(help="Source file with main(), such as add.asc.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments of the program, after --.")] = None,
    target: Annotated[str, typer.Option(help="Where it runs, such as ascend910b2-sim.")] = "ascend910b2-sim",
    out: Annotated[str, typer.Option(help="Folder that the files it writes are brought to.")] = "",
    define: Annotated[list[str] | None, typer.Option("--define", "-D", help="A macro, NAME or NAME=VALUE; may be repeated.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="A further source to compile and link with it; may be repeated.")] = None,
    folder: Annotated[str, typer.Option(help="Folder that belongs to the program; by default the one it lies in.")] = "",
    timeout: Annotated[float, typer.Option(min=1, help="Wall-clock seconds after which it is ended.")] = 300.0,
    auto_sync: Annotated[bool, typer.Option("--auto-sync/--no-auto-sync", help="The compiler's own synchronisation.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON instead of the program's output and tables.")] = False,
) -> None:
    """Compile a whole program with main() and run it on the virtual NPU."""
    from piton.cli.evaluation import cache_dir
    from piton.cli.program import run_and_show
    from piton.evaluate.program import ProgramRequest

    request = ProgramRequest(
        program=program,
        cache_dir=str(cache_dir().absolute()),
        folder=folder,
        sources=tuple(source or ()),
        defines=tuple(define or ()),
        arguments=tuple(arguments or ()),
        target=target,
        is_auto_sync=auto_sync,
        out=out,
        deadline_s=timeout,
    )
    raise typer.Exit(run_and_show(request, prints_json=as_json))


@app.command("report")
def report_command(
    run: Annotated[str, typer.Argument(help="Folder of a run, or a report.json.")],
    html: Annotated[str, typer.Option(help="Write the page to this file.")] = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the re-scored report as JSON.")] = False,
) -> None:
    """Show a report again, scored anew; needs no device."""
    from piton.cli.reporting import show_report

    raise typer.Exit(show_report(run, html=html, markdown=markdown, as_json=as_json))


@app.command("doctor")
def doctor_command(as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False) -> None:
    """Say what this machine has and lacks, and how to get what is missing."""
    from piton.cli.doctor import run_doctor

    raise typer.Exit(run_doctor(as_json=as_json))


@app.command("schema", hidden=True)
def schema_command(of: Annotated[str, typer.Argument(help="report, or run.")] = "report") -> None:
    """Print the JSON schema of report.json, or of what `piton run --json` prints."""
    from piton.report.program import program_schema_text
    from piton.report.schema import schema_text

    sys.stdout.write(program_schema_text() if of == "run" else schema_text())


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"piton {piton.__version__}")
        raise typer.Exit


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    del version


def _until_stopped(work: Callable[[], int]) -> int:
    """The exit status of `work`. Here and not in `run`, since the command framework ends the program without a word for Ctrl-C."""
    try:
        return work()
    except KeyboardInterrupt:
        typer.echo("piton: stopped; finished cases are kept, go on with --resume", err=True)
        return INTERRUPTED


def _stop(number: int, frame: object) -> None:
    del number, frame
    raise KeyboardInterrupt


def _write_what_fits() -> None:
    """Print a question mark for what the terminal's encoding lacks: a report must not be lost to a dash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def as_piton_error(error: OSError) -> PitonError | None:
    """The message for a file system that is full or closed to us; None for anything else, which would be a defect of ours."""
    where, found = str(error.filename2 or error.filename or ""), error.strerror or str(error)
    if error.errno in _IS_FULL:
        action = "make room there; finished cases of a run are kept (--resume). --out and PITON_CACHE_DIR choose other folders"
        return TargetUnavailableError("no room left to write", where=where, found=found, action=action)
    if error.errno in _IS_CLOSED:
        action = "choose another folder: --out for the run, --html for the page, PITON_CACHE_DIR for the cache"
        return UsageError("can't read or write here", where=where, found=found, action=action)
    return None


def run() -> None:
    """Entry point: a PitonError is a message and its exit status, never a traceback."""
    signal.signal(signal.SIGTERM, _stop)
    _write_what_fits()
    try:
        app()
    except PitonError as error:
        _end(error)
    except KeyboardInterrupt:
        typer.echo("piton: stopped", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(FAILED)
    except OSError as error:
        known = as_piton_error(error)
        if known is None:
            raise
        _end(known)


def _end(error: PitonError) -> NoReturn:
    typer.echo(f"piton: {visible(str(error))}", err=True)
    sys.exit(error.exit_status)


if __name__ == "__main__":
    run()
