"""`piton hap`: a group whose unknown first word is an operator to explain, and whose other commands have a name of their own.

`piton hap exp` was there before `piton hap audit`; both stay. Without a word it is an overview of the suite.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from piton.cli.completion import complete_hardware, complete_operator, complete_suite, complete_target
from piton.cli.options import SuiteFormatOption, TrustOption
from piton.cli.start import until_stopped

_SHOW = "show"


class ShowByDefault(TyperGroup):
    """A group that gives a line without one of its commands to `show`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The line with `show` in front, unless it names a command or asks for help."""
        is_ours = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        is_completed = ctx.resilient_parsing and not args
        return super().parse_args(ctx, args if is_ours or is_completed else [_SHOW, *args])

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Help of the group, then that of `show`: its options are what most people look for."""
        super().format_help(ctx, formatter)
        command = self.commands[_SHOW]
        command.format_help(command.context_class(command, info_name=ctx.info_name, parent=ctx.parent), formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Commands of the group, and what may follow `show`."""
        command = self.commands[_SHOW]
        words = self._first_words(command.context_class(command, info_name=_SHOW, parent=ctx), incomplete)
        return [*super().shell_complete(ctx, incomplete), *words]

    def _first_words(self, ctx: Any, incomplete: str) -> list[Any]:
        command = self.commands[_SHOW]
        if incomplete.startswith("-"):
            return command.shell_complete(ctx, incomplete)
        return command.params[0].shell_complete(ctx, incomplete)


hap_app = typer.Typer(
    cls=ShowByDefault,
    help="Limits of the hardware, explained: `piton hap OPERATOR` (the same as `piton hap show OPERATOR`), and `piton hap audit` for published ones.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

SuiteOption = Annotated[str, typer.Option(help="A suite of Piton's by name, or a folder.", autocompletion=complete_suite)]
HardwareOption = Annotated[str, typer.Option(help="A chip by name or YAML file instead of a target.", autocompletion=complete_hardware)]


@hap_app.command(_SHOW)
def show_command(  # noqa: PLR0913 - one parameter per option of the command
    operator: Annotated[str, typer.Argument(help="Operator of the suite; without one, an overview of all.", autocompletion=complete_operator)] = "",
    case: Annotated[list[str] | None, typer.Option(help="Only this case (one alone is shown in full); may be repeated.")] = None,
    shape: Annotated[str, typer.Option(help='Shapes of a case of your own: "x=1024x1024:float16,gamma=1024", or in the order of the schema.')] = "",
    attr: Annotated[list[str] | None, typer.Option(help="An attribute, name=value, of a case of your own or of the one --case; may be repeated.")] = None,
    suite: SuiteOption = "piton",
    target: Annotated[str, typer.Option(help="Target whose anchors count; by default ascend910b2-sim.", autocompletion=complete_target)] = "",
    hardware: HardwareOption = "",
    suite_format: SuiteFormatOption = "",
    trust: TrustOption = False,
    baseline: Annotated[str, typer.Option(help="A baseline file (piton baseline refresh): its T_baseline goes before all other.")] = "",
    time_us: Annotated[float | None, typer.Option("--time-us", min=1e-6, max=1e12, help="Time of a kernel: show its HAP and points.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain the anchors of an operator's cases: the work, each unit's time, what binds, T_HW in both profiles and why they differ, T_baseline, HAP.

    With --shape a case that no suite has; with --case and --shape or --attr that case, changed. Without an operator an overview of the suite.
    """
    from piton.cli.anchors import HapOptions, show_anchors

    options = HapOptions(
        operator=operator,
        cases=tuple(case or ()),
        shapes=shape,
        attributes=tuple(attr or ()),
        suite=suite,
        suite_format=suite_format,
        is_trusted=trust,
        target=target,
        hardware=hardware,
        time_us=time_us,
        prints_json=as_json,
        baseline=baseline,
    )
    raise typer.Exit(until_stopped(lambda: show_anchors(options)))


@hap_app.command("audit")
def audit_command(  # noqa: PLR0913 - one parameter per option of the command
    suite: Annotated[str, typer.Option(help="A checkout that quotes anchors (metadata/*.json); none of its code is run.", autocompletion=complete_suite)] = "",
    cases: Annotated[str, typer.Option(help="Or a table of published cases, one JSON object per line.")] = "",
    op: Annotated[list[str] | None, typer.Option(help="Only this operator; may be repeated.", autocompletion=complete_operator)] = None,
    hardware: Annotated[str, typer.Option(help="Only this chip, by name or YAML file.", autocompletion=complete_hardware)] = "",
    show_all: Annotated[bool, typer.Option("--all", help="Show every case, not only those that differ.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit status 1 when a published T_HW is not the derived one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare published anchors with derived ones: equal, stale, floored, tied, capped, impossible, each with its reason."""
    from piton.cli.hap_audit import AuditOptions, audit_anchors

    options = AuditOptions(suite, cases, tuple(op or ()), hardware, shows_all=show_all, is_strict=strict, prints_json=as_json)
    raise typer.Exit(until_stopped(lambda: audit_anchors(options)))
