"""Does docs/cli.md name every command and every option of `piton eval`, and say when each exits with 1?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from piton.cli.main import app

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_group(app).commands


def section(title: str) -> str:
    """Text below a head up to the next one of its level."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if not command.hidden])
def test_the_table_of_commands_has_every_command(name: str) -> None:
    table = PAGE.partition("\n## ")[0]
    assert re.search(rf"^\| `piton {name}\b", table, flags=re.M)


def test_the_page_has_every_option_of_an_evaluation() -> None:
    text = section("piton eval")
    options = [option for item in COMMANDS["eval"].params for option in item.opts if option.startswith("--")]
    assert [option for option in options if not re.search(rf"`?{option}\b", text)] == []


@pytest.mark.parametrize("command", ["compare --fail-on", "hap audit --strict", "baseline refresh", "baseline list", "suite check", "suite lint", "deliver"])
def test_the_page_says_which_commands_exit_with_1(command: str) -> None:
    sentence = " ".join(PAGE.partition("Exit status:")[2].partition("\n\n")[0].split())
    assert f"{command}:" in sentence.partition("**2**")[0]
