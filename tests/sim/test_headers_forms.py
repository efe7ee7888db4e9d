"""Does every documented form of the 120 most frequent names compile with the types of the Ascend 910B, and is every other type refused?"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from api_forms import FORMS, PRELUDE, counts, function, instance

INCLUDE = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp" / "include"
COMMAND = ["g++", "-std=c++17", "-w", f"-I{INCLUDE}", "-DPITON_DEVICE_PASS", "-fsyntax-only", "-fmax-errors=0", "-fno-diagnostics-show-caret"]
Row = tuple[int, str]
NAMES = 117
"""Of the 120 most frequent: Mutex, AllocMutexID and ReleaseMutexID are of later chips."""
PAGE = Path(__file__).parents[2] / "docs" / "ascendc-api.md"


def compiled(rows: list[Row], source: Path) -> dict[Row, list[str]]:
    """What the compiler says about each instance, errors only; rows without errors are not in it."""
    head = "\n".join([PRELUDE, *(function(number, FORMS[number]) for number in sorted({number for number, _ in rows}))])
    source.write_text(head + "\n" + "\n".join(instance(*row) for row in rows) + "\n")
    environment = {"LC_ALL": "C", "PATH": os.environ["PATH"]}
    text = subprocess.run([*COMMAND, str(source)], check=False, capture_output=True, text=True, timeout=300, env=environment).stderr
    first = head.count("\n") + 2
    errors: dict[Row, list[str]] = {}
    line = 0
    for said in text.splitlines():
        here = re.search(rf"{re.escape(source.name)}:(\d+):\d+:\s+required from here", said)
        line = int(here[1]) if here else line
        if " error: " in said:
            assert line >= first, said
            errors.setdefault(rows[line - first], []).append(said.partition(" error: ")[2])
    return errors


def shown(rows: Iterable[Row]) -> list[str]:
    return [f"{FORMS[number].statement} with {types}" for number, types in rows]


def test_every_documented_form_compiles_with_every_type_that_the_chip_has(tmp_path: Path) -> None:
    rows = [(number, types) for number, form in enumerate(FORMS) for types in form.instances()]
    errors = compiled(rows, tmp_path / "accepted.cpp")
    assert shown(errors) == []


def test_every_other_type_is_refused_by_a_message_of_ours(tmp_path: Path) -> None:
    """A refusal inside a function that two forms share is told once, so that what was not refused is compiled again without the rest."""
    rows = [(number, types) for number, form in enumerate(FORMS) for types in form.refused]
    while rows:
        errors = compiled(rows, tmp_path / "refused.cpp")
        assert shown(row for row, said in errors.items() if not any("static assertion failed" in text for text in said)) == []
        if not errors:
            break
        rows = [row for row in rows if row not in errors]
    assert shown(rows) == []


def test_the_table_has_all_of_the_names_and_the_page_tells_its_figures() -> None:
    told = counts()
    assert told["names"] == NAMES
    text = " ".join(PAGE.read_text("utf-8").split())
    said = re.search(r"have more than (\d+) documented forms .* more than ([\d,]+) pairs of a form and a type compile, and more than ([\d,]+) others", text)
    assert said is not None
    for figure, what in zip(said.groups(), ("forms", "accepted", "refused"), strict=True):
        assert int(figure.replace(",", "")) == (told[what] - 1) // 100 * 100


def test_every_one_of_the_names_has_a_row_of_its_own_on_the_page() -> None:
    rows = set(re.findall(r"^\| `([^`]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE))
    assert sorted({form.name for form in FORMS} - rows) == []


def test_no_type_is_both_accepted_and_refused() -> None:
    assert [form.statement for form in FORMS if set(form.accepted) & set(form.refused)] == []
