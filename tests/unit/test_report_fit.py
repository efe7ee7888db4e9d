"""Do tables stay readable at every width?"""

from __future__ import annotations

import pytest
from rich.console import Console

from piton.report.fit import Column, Listing

COLUMNS = (Column("choice"), Column("read", is_right=True, wraps=False, leaves=1), Column("T_HW\nquoted", is_right=True, leaves=2), Column("bound by"))
ROWS = [("float32 arithmetic", "4.12 MB", "2.58 modelled", "mte2"), ("published count", "12.6 MB", "–", "vector")]


def drawn(width: int, columns: tuple[Column, ...] = COLUMNS, rows: list[tuple[str, ...]] = ROWS, *, turns: bool = False) -> list[str]:
    console = Console(width=width, no_color=True, force_terminal=False)
    with console.capture() as capture:
        console.print(Listing(columns, rows, "a title", turns=turns))
    lines = capture.get().splitlines()
    assert all(len(line) <= width for line in lines)
    return lines


def words(lines: list[str]) -> list[str]:
    return " ".join(lines).split()


@pytest.mark.parametrize("width", range(21, 80))
def test_no_word_is_broken_at_any_width(width: int) -> None:
    found = " ".join(drawn(width)).partition("not shown")[0].split()
    shown = [index for index, column in enumerate(COLUMNS) if column.name.split()[0] in found]
    for row in (*ROWS, *[tuple(column.name for column in COLUMNS)]):
        assert {word for index in shown for word in row[index].split()} <= set(found)


def test_with_room_every_cell_stands_in_one_line() -> None:
    text = "\n".join(drawn(80))
    assert all(cell in text for row in ROWS for cell in row)
    assert "not shown" not in text


@pytest.mark.parametrize(("width", "left"), [(40, []), (39, ["T_HW quoted"]), (30, ["T_HW quoted"]), (29, ["read, T_HW quoted"])])
def test_what_matters_least_leaves_first_and_that_is_said(width: int, left: list[str]) -> None:
    assert " ".join(line.strip() for line in drawn(width)).split("not shown at this width: ")[1:] == left


def test_few_rows_of_many_figures_turn_instead() -> None:
    lines = drawn(38, rows=ROWS[:1], turns=True)
    assert words(lines)[2:] == [*words(["choice float32 arithmetic"]), words(lines)[5], *words(["read 4.12 MB T_HW quoted 2.58 modelled bound by mte2"])]
    assert not any("not shown" in line for line in lines)
    assert drawn(39, rows=ROWS[:1], turns=True) == drawn(39, rows=ROWS[:1])


def test_a_path_is_folded_where_it_has_no_room_and_whole_where_it_has() -> None:
    path = "/a/very/long/" + "x" * 60
    assert path in "".join(words(drawn(50, (Column("found"), Column("needed")), [(path, "")])))
    assert any(path in line for line in drawn(100, (Column("found"), Column("needed")), [(path, "any")]))


def test_cells_are_text_and_never_markup() -> None:
    assert "[bold]x[/bold] [1, 2]" in "\n".join(drawn(80, (Column("[a]"),), [("[bold]x[/bold] [1, 2]",)]))
