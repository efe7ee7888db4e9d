"""What `piton runs` does and prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from piton.agent.model.ledger import money_of, read_rows
from piton.agent.runs import RunStore, Variant
from piton.agent.runs.store import NAME
from piton.agent.search import tiers_of
from piton.agent.search.steps import Asked, best, is_right, ratio_of
from piton.cli.printing import safe
from piton.core.errors import PitonError, UsageError
from piton.core.visible import visible

FORM = 1
_RIGHT, _NONE_RIGHT = 0, 1


def list_runs(folder: str, *, prints_json: bool) -> int:
    """One line per run below `folder`; one that cannot be read is named with the reason."""
    found = sorted(Path(folder).glob(f"*/{NAME}"))
    rows = [_summary(path.parent) for path in found]
    if prints_json:
        sys.stdout.write(json.dumps({"piton_runs": FORM, "runs": rows}, indent=1) + "\n")
        return 0
    console = Console(highlight=False)
    if not rows:
        console.print(f"no runs in {visible(folder)}", markup=False)
        return 0
    table = Table("run", "kind", "operator", "state", "variants", "right", "best", "gain", box=None)
    for row in rows:
        table.add_row(*(_cell(row.get(name)) for name in ("folder", "kind", "operator", "state", "variants", "right", "best", "gain")))
    console.print(table)
    return 0


def show_stored(run: str, variant: int | None, *, prints_json: bool) -> int:
    """Show a run, or one variant of it."""
    store = RunStore.open(Path(run))
    try:
        if variant is not None:
            return _show_variant(store, variant, prints_json=prints_json)
        if prints_json:
            rows = [_variant(item) for item in store.variants()]
            events = [asdict(event) for event in store.events()]
            record = {"piton_run": FORM, "head": asdict(store.head), **_summary(Path(run)), "list": rows, "events": events}
            sys.stdout.write(json.dumps(record, indent=1, default=str) + "\n")
            return 0
        return show_run(store, Console(highlight=False))
    finally:
        store.close()


def show_run(store: RunStore, console: Console) -> int:
    """The table of a run's variants, the best one last; the exit status: 0 when one is right."""
    variants = store.variants()
    asked = Asked(variants, store.head.seed)
    tiers = tiers_of([item.id for item in asked.right])
    table = Table("variant", "round", "from", "strategy", "T_cand / T_HW", "tier", "evaluation", box=None)
    for item in variants:
        ratio = f"{ratio_of(item):.3f}" if is_right(item) else "-"
        said = item.measured.summary if item.measured else "waits"
        parents = ",".join(map(str, item.parents)) or item.origin
        tier = tiers[item.id].value if item.id in tiers else "-"
        table.add_row(*map(safe, (str(item.id), str(item.round), parents, item.strategy or "-", ratio, tier, said)))
    console.print(table)
    state, reason = store.state
    rows = read_rows(store.path)
    tokens = sum((row.input_tokens or 0) + (row.output_tokens or 0) for row in rows)
    console.print(f"{state.value}: {visible(reason)}", soft_wrap=True, markup=False)
    console.print(f"{len(rows)} calls, {tokens} tokens, {money_of(rows)}", soft_wrap=True, markup=False)
    fastest = best(variants)
    if fastest is None:
        console.print("no variant is right", markup=False)
        return _NONE_RIGHT
    gain = f", {ratio_of(variants[0]) / ratio_of(fastest):.2f} times as fast as the start" if is_right(variants[0]) else ""
    console.print(
        f"best: variant {fastest.id}, {ratio_of(fastest):.3f} T_HW{gain}; take it out: piton runs export {visible(str(store.path.parent))} --out FOLDER",
        soft_wrap=True,
        markup=False,
    )
    return _RIGHT


def export_variant(run: str, out: str, variant: int | None) -> int:
    """Write the files of a variant, by default the best one. Raises UsageError when nothing is right, or the folder exists."""
    store = RunStore.open(Path(run))
    try:
        fastest = best(store.variants())
        number = variant if variant is not None else fastest.id if fastest else None
        if number is None:
            raise UsageError("no variant of the run is right", action="name one with --variant")
        target = Path(out).expanduser()
        if target.exists():
            raise UsageError("the folder exists", expected="one that is not there yet", found=str(target), action="give another --out")
        store.tree(number).write(target)
        Console(highlight=False).print(f"{visible(str(target))}: variant {number}", markup=False)
        return 0
    finally:
        store.close()


def _show_variant(store: RunStore, number: int, *, prints_json: bool) -> int:
    item = next((found for found in store.variants() if found.id == number), None)
    if item is None:
        raise UsageError(f"there is no variant {number}", expected=f"1 to {len(store.variants())}", action="check --variant")
    record = {**_variant(item), "prompt": store.prompt(number), "answer": store.answer(number), "files": dict(store.tree(number).files)}
    if prints_json:
        sys.stdout.write(json.dumps({"piton_variant": FORM, **record}, indent=1) + "\n")
        return 0
    console = Console(highlight=False)
    for name in ("id", "round", "origin", "parents", "strategy", "summary", "ratio"):
        console.print(f"{name}: {visible(str(record[name]))}", soft_wrap=True, markup=False)
    for name in ("prompt", "answer"):
        console.print(f"\n--- {name}\n{visible(record[name]) if record[name] else '(none)'}", soft_wrap=True, markup=False)
    return 0


def _variant(item: Variant) -> dict[str, Any]:
    measured = item.measured
    return {
        "id": item.id,
        "round": item.round,
        "origin": item.origin,
        "parents": list(item.parents),
        "strategy": item.strategy,
        "genes": dict(item.genes),
        "source_digest": item.source_digest,
        "note": item.note,
        "is_right": is_right(item),
        "passed": measured.passed if measured else None,
        "cases": measured.cases if measured else None,
        "ratio": measured.ratio if measured else None,
        "summary": measured.summary if measured else "waits",
        "seconds": measured.seconds if measured else None,
    }


def _summary(folder: Path) -> Mapping[str, Any]:
    try:
        store = RunStore.open(folder)
        try:
            return _summary_of(store, folder)
        finally:
            store.close()
    except PitonError as error:
        return {"folder": str(folder), "state": f"cannot be read: {error.problem}"}


def _summary_of(store: RunStore, folder: Path) -> Mapping[str, Any]:
    variants = store.variants()
    fastest = best(variants)
    gain = ratio_of(variants[0]) / ratio_of(fastest) if fastest and variants and is_right(variants[0]) else None
    return {
        "folder": str(folder),
        "kind": store.head.kind,
        "operator": store.head.operator,
        "state": store.state[0].value,
        "reason": store.state[1],
        "variants": len(variants),
        "right": sum(map(is_right, variants)),
        "best": round(ratio_of(fastest), 4) if fastest else None,
        "gain": round(gain, 4) if gain else None,
    }


def _cell(value: object) -> Text:
    return safe("-" if value is None else str(value))
