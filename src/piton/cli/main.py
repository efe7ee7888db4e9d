"""The command line: parse, call one function, print. Heavy imports wait until a command needs them."""

from __future__ import annotations

import errno
import io
import sys
from typing import Annotated, NoReturn

import typer

import piton
from piton.cli.baseline_app import baseline_app
from piton.cli.calibrate_app import calibrate_app
from piton.cli.compare_app import compare_app
from piton.cli.completion import complete_operator, complete_suite, complete_target
from piton.cli.deliver_app import deliver_app
from piton.cli.evolve_app import evolve_app
from piton.cli.hap_app import hap_app
from piton.cli.integrity_app import integrity_app
from piton.cli.metrics_app import metrics_app
from piton.cli.options import (
    AccuracyOption,
    EngineOption,
    HostDeadlineOption,
    IntegrityOption,
    IsolationOption,
    SuiteFormatOption,
    SuiteMemoryOption,
    SuiteWorkOption,
    TrustOption,
)
from piton.cli.runs_app import runs_app
from piton.cli.serve_app import serve_app
from piton.cli.start import STOPPED, stop_at_once, until_stopped
from piton.cli.suite_app import suite_app
from piton.core.errors import PitonError, TargetUnavailableError, UsageError
from piton.core.visible import visible

PASSED, FAILED, USAGE, UNAVAILABLE, INTERRUPTED = 0, 1, 2, 3, STOPPED
"""Exit statuses: all cases passed; some did not; wrong use; the target or this machine lacks something; stopped by the user."""

_IS_FULL = (errno.ENOSPC, errno.EDQUOT)
_IS_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ENOENT)

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=piton.__doc__, context_settings={"help_option_names": ["-h", "--help"]})

app.add_typer(suite_app, name="suite")
app.add_typer(hap_app, name="hap")
app.add_typer(baseline_app, name="baseline")
app.add_typer(integrity_app, name="integrity")
app.add_typer(metrics_app)
app.add_typer(compare_app)
app.add_typer(calibrate_app)
app.add_typer(deliver_app)
app.add_typer(evolve_app)
app.add_typer(runs_app, name="runs")
app.add_typer(serve_app)


@app.command("eval")
def evaluate_command(  # noqa: PLR0913 - one parameter per option of the command
    submission: Annotated[str, typer.Argument(help="Folder of the submission, or a single .asc or .cpp file.")],
    suite: Annotated[str, typer.Option(help="A suite of Piton's by name, or a folder of a suite.", autocompletion=complete_suite)] = "piton",
    suite_format: SuiteFormatOption = "",
    suite_memory: SuiteMemoryOption = 8.0,
    suite_work: SuiteWorkOption = 10.0,
    target: Annotated[str, typer.Option(help="Where it runs, such as ascend910b2-sim.", autocompletion=complete_target)] = "ascend910b2-sim",
    op: Annotated[list[str] | None, typer.Option(help="Only this operator; may be repeated.", autocompletion=complete_operator)] = None,
    level: Annotated[list[int] | None, typer.Option(help="Only operators of this level; may be repeated. With --op: those in both.")] = None,
    case: Annotated[list[str] | None, typer.Option(help="Of these operators, only this case (`3` or `exp/3`); may be repeated.")] = None,
    max_elements: Annotated[int | None, typer.Option(min=1, help="Of these cases, only those whose inputs together have at most this many elements.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Of what is left, three telling cases per operator. Cases left out are listed as not run.")] = False,
    keep_failures: Annotated[bool, typer.Option("--keep-failures", help="Write tensors and a rerun script of each failed case to failures/.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Write a timeline of every launch to traces/, for Perfetto and MindStudio Insight.")] = False,
    trace_cores: Annotated[str, typer.Option(help="Blocks in the timelines, such as 0,5,40-47; fewer blocks, more of each. Implies --trace.")] = "",
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Cases that run at the same time; results do not depend on it.")] = 1,
    ray: Annotated[str, typer.Option(help="Evaluate the cases on the Ray cluster at this address (host:port, or auto); --jobs then counts per worker.")] = "",
    out: Annotated[str, typer.Option(help="Folder of the run; by default runs/<submission>-<time>.")] = "",
    trust: TrustOption = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all inputs.")] = 0,
    trials: Annotated[int, typer.Option(min=1, max=2, help="Trials a case has to pass: 2 adds one with a fresh seed and shifted inputs.")] = 1,
    profile: Annotated[str, typer.Option(help="Precision profile: strict or cann-bench.")] = "strict",
    accuracy: AccuracyOption = "exact",
    auto_sync: Annotated[bool | None, typer.Option("--auto-sync/--no-auto-sync", help="Compiler's auto-sync; by default as the submission says.")] = None,
    engine: EngineOption = "in-process",
    isolation: IsolationOption = 0,
    integrity: IntegrityOption = "standard",
    host_deadline: HostDeadlineOption = 300.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json instead of tables.")] = False,
    baseline: Annotated[str, typer.Option(help="A baseline file (piton baseline refresh): its T_baseline goes before all other.")] = "",
    hidden_key_file: Annotated[str, typer.Option(help="Evaluate the hidden cases of this secret key instead of the public ones.")] = "",
    hidden_count: Annotated[int, typer.Option(min=1, max=2000, help="Hidden cases per operator.")] = 80,
    list_failures: Annotated[bool, typer.Option("--list-failures", help="Of hidden cases, say by id which ones failed, and how.")] = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="Of hidden cases, write everything into the report.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the interrupted run in --out.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
) -> None:
    """Build, run, check, time and score a submission.

    Filters narrow one after the other: --op and --level choose operators, --case chooses among their cases, --max-elements drops large ones of these, --fast
    takes three telling ones per operator of what is left. A report of part of a suite does not rank; --resume without the filters runs the rest.
    """
    from piton.cli.evaluation import EvaluationOptions, hidden_request, run_evaluation

    options = EvaluationOptions(
        submission=submission,
        suite=suite,
        suite_format=suite_format,
        suite_memory_gib=suite_memory,
        suite_work_gflop=suite_work,
        target=target,
        operators=tuple(op or ()),
        levels=tuple(level or ()),
        cases=tuple(case or ()),
        max_elements=max_elements,
        is_fast=fast,
        keeps_failures=keep_failures,
        traces=trace,
        trace_cores=trace_cores,
        jobs=jobs,
        out=out,
        is_trusted=trust,
        seed=seed,
        trials=trials,
        profile=profile,
        accuracy=accuracy,
        auto_sync=auto_sync,
        engine=engine,
        isolation=isolation,
        integrity=integrity,
        host_deadline_s=host_deadline,
        prints_json=as_json,
        is_resumed=resume,
        overwrites=overwrite,
        hidden=hidden_request(hidden_key_file, hidden_count, lists_failures=list_failures, reveals=reveal),
        baseline=baseline,
        ray=ray,
    )
    raise typer.Exit(until_stopped(lambda: run_evaluation(options)))


@app.command("run")
def run_command(  # noqa: PLR0913 - one parameter per option of the command
    program: Annotated[str, typer.Argument(help="Source file with main(), such as add.asc.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments of the program, after --.")] = None,
    target: Annotated[str, typer.Option(help="Where it runs, such as ascend910b2-sim.", autocompletion=complete_target)] = "ascend910b2-sim",
    out: Annotated[str, typer.Option(help="Folder that the files it writes are brought to.")] = "",
    define: Annotated[list[str] | None, typer.Option("--define", "-D", help="A macro, NAME or NAME=VALUE; may be repeated.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="A further source to compile and link with it; may be repeated.")] = None,
    folder: Annotated[str, typer.Option(help="Folder that belongs to the program; by default the one it lies in.")] = "",
    timeout: Annotated[float, typer.Option(min=1, help="Wall-clock seconds after which it is ended.")] = 300.0,
    auto_sync: Annotated[bool, typer.Option("--auto-sync/--no-auto-sync", help="The compiler's own synchronisation.")] = True,
    timing_only: Annotated[bool, typer.Option("--timing-only", help="Time launches without computing data: no results to check.")] = False,
    accuracy: AccuracyOption = "exact",
    engine: EngineOption = "in-process",
    isolation: IsolationOption = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON instead of the program's output and tables.")] = False,
) -> None:
    """Compile a whole program with main() and run it on the virtual NPU."""
    from piton.cli.evaluation import accuracy_mode, cache_dir
    from piton.cli.program import run_and_show
    from piton.evaluate.engine_place import engine_place
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
        is_timing_only=timing_only,
        accuracy=accuracy_mode(accuracy),
        engine=engine_place(engine, isolation),
        isolation=isolation,
        out=out,
        deadline_s=timeout,
    )
    raise typer.Exit(until_stopped(lambda: run_and_show(request, prints_json=as_json)))


@app.command("new")
def new_command(  # noqa: PLR0913 - one parameter per option of the command
    operator: Annotated[str, typer.Argument(help="Operator to implement, such as softmax.", autocompletion=complete_operator)],
    out: Annotated[str, typer.Option(help="Folder to write, which must not exist; by default one named like the operator.")] = "",
    suite: Annotated[
        str, typer.Option(help="The operator's suite: one of Piton's by name, or a folder in the published layout.", autocompletion=complete_suite)
    ] = "piton",
    package: Annotated[str, typer.Option(help="Name of the Python package and of the torch.ops namespace.")] = "cann_bench",
    suite_format: SuiteFormatOption = "",
    trust: TrustOption = False,
    op_layout: Annotated[str, typer.Option(help="folders (kernel, launcher, binding apart), or single (one .asc file).")] = "folders",
) -> None:
    """Write a submission to start from: a plain kernel with tiling, its torch binding and package."""
    from piton.cli.new import NewOptions, start_submission

    options = NewOptions(operator=operator, out=out, suite=suite, package=package, layout=op_layout, suite_format=suite_format, is_trusted=trust)
    raise typer.Exit(start_submission(options))


@app.command("report")
def report_command(
    runs: Annotated[list[str], typer.Argument(help="Folder of a run, or a report.json; several are compared with the first.")],
    html: Annotated[str, typer.Option(help="Write the page to this file.")] = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the re-scored report as JSON.")] = False,
    update: Annotated[bool, typer.Option("--update", help="Write report.json and report.html of the run again, re-scored.")] = False,
    fair: Annotated[bool, typer.Option("--fair", help="Show the fair-reporting record instead; also as --json or --markdown.")] = False,
) -> None:
    """Show a report again, scored anew, or several side by side; needs no device."""
    from piton.cli.reporting import ReportOptions, show_reports

    options = ReportOptions(html=html, prints_markdown=markdown, prints_json=as_json, updates=update, shows_fair=fair)
    raise typer.Exit(until_stopped(lambda: show_reports(runs, options)))


@app.command("doctor")
def doctor_command(as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False) -> None:
    """Say what this machine has and lacks, and how to get what is missing."""
    from piton.cli.doctor import run_doctor

    raise typer.Exit(until_stopped(lambda: run_doctor(as_json=as_json)))


@app.command("schema", hidden=True)
def schema_command(of: Annotated[str, typer.Argument(help="report, run or compare; report-fields and compare-fields for tables.")] = "report") -> None:
    """Print the JSON schema of report.json, or of what `piton run --json` or `piton compare --json` prints."""
    from piton.cli.schemas import text_of

    sys.stdout.write(text_of(of))


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"piton {piton.__version__}")
        raise typer.Exit


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    del version


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
        action = "choose another folder: --out for the run, --html for the page, --state for a server, PITON_CACHE_DIR for the cache"
        return UsageError("can't read or write here", where=where, found=found, action=action)
    return None


def run() -> None:
    """Entry point: a PitonError is a message and its exit status, never a traceback."""
    stop_at_once()
    _write_what_fits()
    try:
        app()
    except PitonError as error:
        _end(error)
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
