"""Words for the shell's completion: found from names of files and tables, without loading a suite, numpy or torch.

A completion that fails says nothing: the person is in the middle of a line.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import typer

from piton.core.errors import PitonError

_DEFAULT_SUITE = "piton"


def complete_suite(incomplete: str) -> list[str]:
    """Names of Piton's suites, and folders."""
    from piton.catalog import suite_names

    return [name for name in suite_names() if name.startswith(incomplete)] + _folders(incomplete)


def complete_target(incomplete: str) -> list[str]:
    """Names of targets."""
    from piton.targets.cpu.host import NAME as CPU
    from piton.targets.registry import target_names

    return [name for name in (*target_names(), CPU) if name.startswith(incomplete)]


def complete_hardware(incomplete: str) -> list[str]:
    """Names of hardware files."""
    from piton.catalog.hardware import hardware_names

    return [name for name in hardware_names() if name.startswith(incomplete)]


def complete_operator(context: typer.Context, incomplete: str) -> list[str]:
    """Operators of the suite that is on the line already, by default Piton's."""
    return [name for name in operators_of(str(context.params.get("suite") or _DEFAULT_SUITE)) if name.startswith(incomplete)]


def complete_suite_or_operator(incomplete: str) -> list[str]:
    """First word of `piton suite show`: a suite, or an operator of Piton's."""
    return [*complete_suite(incomplete), *(name for name in operators_of(_DEFAULT_SUITE) if name.startswith(incomplete))]


def operators_of(suite: str) -> list[str]:
    """Names of the operators of a suite, in its order; none when there is no such suite."""
    from piton.catalog.suite import operator_names

    with contextlib.suppress(PitonError, OSError):
        return list(operator_names(suite))
    return _tasks_of(suite)


def _tasks_of(suite: str) -> list[str]:
    """Names that the tasks of another benchmark's suite get."""
    from piton.catalog.adapters.recognise import find_suite

    with contextlib.suppress(PitonError, OSError):
        found = find_suite(suite)
        return [task.name for task in found.tasks] if found else []
    return []


def _folders(incomplete: str) -> list[str]:
    """Folders whose path begins with what was typed, each with a slash; nothing before a path is begun, where every folder would fit."""
    return list(_matching(incomplete)) if "/" in incomplete or incomplete.startswith((".", "~")) else []


def _matching(incomplete: str) -> Iterator[str]:
    typed, slash, prefix = incomplete.rpartition("/")
    with contextlib.suppress(OSError, RuntimeError):
        for entry in sorted(Path(typed + slash or ".").expanduser().iterdir()):
            if entry.is_dir() and entry.name.startswith(prefix) and (prefix.startswith(".") or not entry.name.startswith(".")):
                yield f"{typed}{slash}{entry.name}/"
