"""Do the commands that the documentation shows work as they stand there?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs_commands import ROOT, Block, blocks, read_page

BLOCKS = blocks()
RUN = [block for block in BLOCKS if not block.reason]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with examples and reference kernels, as a reader has them, and `piton` on the path; commands of later blocks find what earlier ones made."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "kernels/reference", folder / "kernels/reference")
    (folder / "bin").mkdir()
    command = folder / "bin" / "piton"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m piton.cli.main "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.mark.parametrize("block", RUN, ids=lambda block: f"{block.page}:{block.line}")
def test_the_commands_of_a_page_end_as_it_says(block: Block, place: Path) -> None:
    environment = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "120"}
    for command in block.commands:
        done = subprocess.run(["bash", "-c", command.text], cwd=place, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == command.status, f"{block.page}:{block.line}: {command.text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def test_the_readme_shows_commands_that_run() -> None:
    assert sum(len(block.commands) for block in RUN if block.page == "README.md") >= 8


def test_a_block_that_is_not_run_says_why() -> None:
    (block,) = read_page("text\n```sh not-run: needs root\napt-get install x\n```\n", "page.md")
    assert block.reason == "needs root"
    with pytest.raises(ValueError, match="not-run: REASON"):
        read_page("```sh not-run:\nrm x\n```\n", "page.md")
    with pytest.raises(ValueError, match="not-run: REASON"):
        read_page("```sh later\nrm x\n```\n", "page.md")


def test_exit_status_and_continuation_lines_are_read() -> None:
    (block,) = read_page("# Title\n\n```sh\npiton a \\\n  b   # exit status 1\n\n# a comment\npiton c   # as it is\n```\n", "page.md")
    assert [(command.text.split("#")[0].split(), command.status) for command in block.commands] == [(["piton", "a", "b"], 1), (["piton", "c"], 0)]
    assert block.line == 4
