"""`piton serve`: the command and its options; the work is in serving.py, which loads when the command is used."""

from __future__ import annotations

from typing import Annotated

import typer

from piton.cli.completion import complete_operator, complete_suite, complete_target
from piton.cli.options import EngineOption, HostDeadlineOption, IntegrityOption, IsolationOption, TrustOption

serve_app = typer.Typer()


@serve_app.command("serve")
def serve_command(  # noqa: PLR0913 - one parameter per option of the command
    host: Annotated[str, typer.Option(help="Address to listen on; one that others reach needs --tokens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8765,
    state: Annotated[str, typer.Option(help="Folder of the server: log of jobs, uploads, results. A job survives a restart with the same one.")] = "runs/serve",
    tokens: Annotated[str, typer.Option(help="File with one `name token` a line, mode 600: who may use the server.")] = "",
    target: Annotated[
        list[str] | None, typer.Option(help="Target; repeated: clients may choose, the first is the default.", autocompletion=complete_target)
    ] = None,
    suite: Annotated[list[str] | None, typer.Option(help="Suite; may be repeated likewise.", autocompletion=complete_suite)] = None,
    op: Annotated[list[str] | None, typer.Option(help="Only these operators; may be repeated.", autocompletion=complete_operator)] = None,
    may_set: Annotated[str, typer.Option(help="What clients may choose, with commas; `none`. By default cases,levels,max_elements,is_fast,auto_sync.")] = "",
    path: Annotated[list[str] | None, typer.Option(help="Submissions below this folder may be named by path; may be repeated.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Jobs at the same time.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, max=256, help="Cases of one job at the same time.")] = 1,
    queue: Annotated[int, typer.Option(min=1, help="Jobs that may wait; more are told to come back.")] = 256,
    client_queue: Annotated[int, typer.Option(min=1, help="Jobs of one client that may wait.")] = 64,
    client_running: Annotated[int, typer.Option(min=1, help="Jobs of one client that may run at the same time.")] = 4,
    keep: Annotated[int, typer.Option(min=1, help="Results that are kept; the oldest go first.")] = 1000,
    keep_gib: Annotated[float, typer.Option(min=0, help="The same by size.")] = 2.0,
    job_deadline: Annotated[float, typer.Option(min=1, help="Seconds that one job may take.")] = 3600.0,
    host_deadline: HostDeadlineOption = 300.0,
    upload_mib: Annotated[float, typer.Option(min=0.001, max=1024, help="Largest upload, packed; four times as much unpacked.")] = 16.0,
    grace: Annotated[float, typer.Option(min=0, help="Seconds that running jobs have to end in after SIGTERM; the rest goes on at the next start.")] = 30.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all inputs.")] = 0,
    trials: Annotated[int, typer.Option(min=1, max=2, help="Trials that a case has to pass.")] = 1,
    integrity: IntegrityOption = "standard",
    engine: EngineOption = "in-process",
    isolation: IsolationOption = 0,
    trust: TrustOption = False,
) -> None:
    """Evaluate what clients send, for as long as it runs: submit, status, report, reward, cancel over HTTP (docs/serve.md)."""
    from piton.cli.serving import ServeOptions, run_server

    options = ServeOptions(
        host=host,
        port=port,
        state=state,
        tokens=tokens,
        targets=tuple(target or ()),
        suites=tuple(suite or ()),
        operators=tuple(op or ()),
        may_set=may_set,
        paths=tuple(path or ()),
        workers=workers,
        jobs=jobs,
        queue=queue,
        client_queue=client_queue,
        client_running=client_running,
        keep=keep,
        keep_gib=keep_gib,
        job_deadline_s=job_deadline,
        host_deadline_s=host_deadline,
        upload_mib=upload_mib,
        grace_s=grace,
        seed=seed,
        trials=trials,
        integrity=integrity,
        engine=engine,
        isolation=isolation,
        is_trusted=trust,
    )
    raise typer.Exit(run_server(options))
