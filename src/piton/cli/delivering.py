"""What `piton deliver` does and prints."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from piton.cli.evaluation import cache_dir
from piton.cli.printing import safe
from piton.core.visible import visible
from piton.deliver import Delivery, DeliveryRequest, deliver
from piton.deliver.checks import Status
from piton.deliver.deliver import RECORD

_STYLES = {Status.PASSED: "green", Status.FAILED: "red", Status.NOT_MADE: "yellow"}


@dataclass(frozen=True)
class DeliverOptions:
    """The options of `piton deliver` as they were typed."""

    submission: str
    out: str
    operators: tuple[str, ...]
    suite: str
    is_trusted: bool
    evaluates: bool
    builds: bool
    prints_json: bool


def deliver_and_show(options: DeliverOptions) -> int:
    """Write the delivery and print its checks; the exit status."""
    request = DeliveryRequest(
        submission=options.submission,
        out=options.out or f"{Path(options.submission).expanduser().resolve().stem}-delivery",
        cache_dir=str(cache_dir().absolute()),
        operators=options.operators,
        suite=options.suite,
        is_trusted=options.is_trusted,
        evaluates=options.evaluates,
        builds=options.builds,
    )
    with Console(stderr=True).status("reading the submission") as status:
        delivery = deliver(request, lambda text: status.update(visible(text)))
    if options.prints_json:
        sys.stdout.write((delivery.folder / RECORD).read_text("utf-8"))
    else:
        _show(delivery)
    return 0 if delivery.is_good else 1


def _show(delivery: Delivery) -> None:
    console = Console(highlight=False)
    names = ", ".join(part.name for part in delivery.plan.operators)
    console.print(f"{visible(str(delivery.folder))}: package {delivery.plan.package} with {names}; not verified on hardware", soft_wrap=True, markup=False)
    table = Table("check", "", "detail", box=None)
    for check in delivery.checks:
        table.add_row(safe(check.name), safe(check.status.value, _STYLES[check.status]), safe(check.detail))
    console.print(table)
    if delivery.plan.left_out:
        shown = ", ".join(delivery.plan.left_out[:8])
        more = f" and {len(delivery.plan.left_out) - 8} more" if len(delivery.plan.left_out) > 8 else ""
        console.print(f"not in it: {visible(shown)}{more}", soft_wrap=True, markup=False)
    console.print(f"on the machine with the NPU: cd {shlex.quote(delivery.folder.name)} && ./build.sh --install", soft_wrap=True, markup=False)
