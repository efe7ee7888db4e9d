"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

AccuracyOption = Annotated[str, typer.Option(help="Exp, Ln, Div, Rsqrt, Reciprocal: exact, or pessimistic (off by one unit in the last place).")]
EngineOption = Annotated[
    str, typer.Option("--engine", help="Of a virtual NPU: in-process (fast), or own-process: device code reaches neither engine nor device memory.")
]
HostDeadlineOption = Annotated[float, typer.Option("--host-deadline", min=1.0, max=86400.0, help="Seconds the host code of one call may take.")]
IntegrityOption = Annotated[
    str, typer.Option("--integrity", help="standard, or full: two trials, fresh processes, kernels disabled, cases in another order (docs/integrity.md).")
]
IsolationOption = Annotated[
    int, typer.Option("--isolation", min=0, max=4, help="Least level of isolation, 0 to 4; 4 puts the engine apart. Not reached: an error.")
]
SuiteFormatOption = Annotated[
    str, typer.Option("--suite-format", help="Form of the suite: cann-bench, kernelbench, multikernelbench, npukernelbench or user; by default recognised.")
]
SuiteMemoryOption = Annotated[float, typer.Option("--suite-memory", min=0.01, max=4096, help="GiB that one golden run of another benchmark's task may need.")]
SuiteWorkOption = Annotated[float, typer.Option("--suite-work", min=0.001, help="GFLOP that one such run may take; larger tasks are scaled down.")]
TrustOption = Annotated[bool, typer.Option("--trust", help="Run the code of a suite from outside Piton (in a sandbox).")]
