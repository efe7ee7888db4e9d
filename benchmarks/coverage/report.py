"""The coverage page and the summary on the terminal, made of results."""

from __future__ import annotations

import json
import subprocess
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from measure import Effort, Result
from programs import RIGHT, Entry, Program, Programs
from selection import Selection

SHOWN_NAMES = 40
_COLUMNS = "tried | linked | % of tried | in some rows only | rows tried | rows linked"
_HEAD = """# Coverage of public kernels

How many kernel files of public operator repositories compile for the Ascend 910B against our headers, instantiated and linked, and which of their whole
programs and operators of torch run right. Made by

    COMMAND

Nothing of these repositories is kept here. What counts as a kernel file, and what is left out, follows from their own words (benchmarks/coverage/selection.py).
Each kernel is compiled as a build of an operator project compiles it ([formats.md](formats.md#operator-projects)): with the element types that its
definition allows for the 910B, the tiling structures of its host code and the combinations of its template table, all tiling keys in one compile. A kernel
counts as linked when all that was tried links as in an evaluation, where device code may call what an AI core has and nothing else
([processes.md](processes.md)); our headers have no functions that only abort. Whether it then computes the right thing is another question, which the second
part and [public-kernels.md](public-kernels.md) answer for those that could be run.
"""

_PROGRAMS = """## Whole programs and operators of torch

Every file of the checkouts with a `main()` that launches kernels for the 910B, and every file that registers operators with torch and holds or launches such
kernels. What came of each was seen by running it and is written down in benchmarks/coverage/programs.json; a file without an entry fails the command.
"""


@dataclass(frozen=True)
class Report:
    """What a page is made of."""

    selections: Sequence[Selection]
    results: Sequence[Result]
    effort: Effort
    command: str
    """As it was given, with the folders of the machine by their last names."""
    programs: Programs
    note: str = ""
    """What else a reader has to know of this run."""


def summary(results: Sequence[Result]) -> str:
    """Counts, kinds of failures and missing names."""
    linked = sum(item.is_linked for item in results)
    partly = sum(item.is_partly_linked for item in results)
    lines = [f"{linked} of {len(results)} linked ({_percent(linked, len(results))}), {partly} in some rows only"]
    lines += [f"{count:5} {kind}" for kind, count in Counter(item.kind for item in results if not item.is_linked).most_common()]
    return "\n".join([*lines, "", *(f"{count:5} {name}" for name, count in missing(results)[:SHOWN_NAMES])])


def missing(results: Sequence[Result]) -> list[tuple[str, int]]:
    """Missing names by number of kernels."""
    return Counter(name for item in results for name in item.names).most_common()


def listed(report: Report) -> str:
    """Every result as JSON, one per line."""
    rows = ({"repository": item.repository, "path": item.path, "linked": item.is_linked, "what": item.kind, "missing": item.names} for item in report.results)
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def markdown(report: Report) -> str:
    """The whole page."""
    head = _HEAD.replace("COMMAND", report.command)
    parts = [head, _state(report), _totals(report), _groups(report), _left_out(report), _kinds(report), _names(report), _failures(report), _programs(report)]
    return "\n".join(parts)


def _state(report: Report) -> str:
    commits = ", ".join(f"{item.root.name} `{commit_of(item.root)}`" for item in report.selections)
    effort, day = report.effort, datetime.now(tz=timezone.utc).date().isoformat()
    tried, files = len(report.results), sum(len(item.kernels) for item in report.selections)
    sample = "" if tried == files else f" Of the {files} kernel files {tried} were tried."
    return (
        f"State: {day}; {commits}; our headers {_headers(report)}. At most {effort.rows} rows of element types per kernel and {effort.combinations} template "
        f"combinations per row, spread over all.{sample} {report.note}\n"
    )


def _headers(report: Report) -> str:
    """Commits of our headers; several where what had linked was not tried again with newer ones."""
    counted = Counter(item.headers for item in report.results).most_common()
    return f"`{counted[0][0]}`" if len(counted) == 1 else ", ".join(f"`{commit}` for {count} of the results" for commit, count in counted)


def commit_of(root: Path) -> str:
    """Short, of a working copy."""
    result = subprocess.run(["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    return result.stdout.strip() or "of an unknown commit"


def _totals(report: Report) -> str:
    rows = []
    for item in report.selections:
        results = [result for result in report.results if result.repository == item.root.name]
        rows.append(_row(f"{item.root.name} | {len(item.kernels)}", results))
    files = sum(len(item.kernels) for item in report.selections)
    return _table(f"repository | kernel files | {_COLUMNS}", [*rows, _row(f"all | {files}", report.results)])


def _groups(report: Report) -> str:
    groups: dict[str, list[Result]] = defaultdict(list)
    for item in report.results:
        groups[f"{item.repository} {item.group}"].append(item)
    files = Counter(f"{item.root.name} {kernel.group}" for item in report.selections for kernel in item.kernels)
    rows = [_row(f"{name} | {files[name]}", items) for name, items in sorted(groups.items())]
    return "## By group of operators\n\n" + _table(f"group | kernel files | {_COLUMNS}", rows)


def _row(name: str, results: Sequence[Result]) -> str:
    linked = sum(item.is_linked for item in results)
    rows = [row for item in results for row in item.rows]
    partly = sum(item.is_partly_linked for item in results)
    return f"{name} | {len(results)} | {linked} | {_percent(linked, len(results))} | {partly} | {len(rows)} | {sum(row.is_linked for row in rows)}"


def _left_out(report: Report) -> str:
    rows = [f"{item.root.name} | {reason} | {count}" for item in report.selections for reason, count in item.left_out.most_common()]
    return "## Files that are left out\n\n" + _table("repository | why | files", rows)


def _kinds(report: Report) -> str:
    counted = Counter(item.kind for item in report.results if not item.is_linked).most_common()
    return "## Why the others do not link\n\nBy the first failure of each kernel.\n\n" + _table("what | kernel files", [f"{k} | {n}" for k, n in counted])


def _names(report: Report) -> str:
    rows = [f"`{name}` | {count}" for name, count in missing(report.results)[:SHOWN_NAMES]]
    text = "## What is missing\n\nBy number of kernel files that ask for it; a name with `(...)` is there, but not in the form that is called.\n\n"
    return text + _table("name | kernel files", rows)


def _failures(report: Report) -> str:
    rows = [f"{item.repository} `{item.path}` | {item.kind} | {_shown(item.message)}" for item in report.results if not item.is_linked]
    return "## Every kernel that does not link\n\n" + _table("kernel | what | first message", rows)


def _programs(report: Report) -> str:
    """The second part, and the files that a rule decides or leaves out."""
    found = report.programs
    judged = [_program_row(item, entry) for item, entry in found.judged]
    decided = [f"{entry.repository} `{entry.path}` | {entry.verdict}" for entry in found.decided]
    left = [f"{name} | {count}" for name, count in sorted(found.left_out.items())]
    parts = [
        _PROGRAMS,
        f"{sum(entry.verdict == RIGHT for _, entry in found.judged)} of {len(judged)} run right.\n",
        _table("file | kind | verdict | how it was checked, or what was seen | when, with which commit", judged),
        "### Operators of torch that call the vendor's library\n",
        _table("file | why it cannot run here", decided),
        "### Files with `main()` that are left out\n",
        _table("repository and why | files", left),
    ]
    return "\n".join(parts)


def _program_row(item: Program, entry: Entry) -> str:
    kind = "torch" if item.operators else "program"
    return f"{item.repository} `{item.path}` | {kind} | {entry.verdict} | {entry.how} | {entry.origin}"


def _shown(message: str) -> str:
    """One line for a cell: without folders of this machine and without bars."""
    words = [word.rpartition("/")[2] if word.startswith(("/", "'/")) else word for word in message.split()]
    return " ".join(words).replace("|", "\\|").replace("<", "&lt;")[:160]


def _table(head: str, rows: Sequence[str]) -> str:
    columns = head.count("|") + 1
    return "\n".join([f"| {head} |", "|" + "---|" * columns, *(f"| {row} |" for row in rows)]) + "\n"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
