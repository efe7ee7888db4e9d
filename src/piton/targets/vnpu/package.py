"""The importable package of a built operator: the submission's Python files with the built module beside them."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

from piton.core.submission import Submission

DEFAULT_MODULE = "_C"
"""Name of the extension module in CANN Bench's direct-launch layout."""
_LOADS = """from pathlib import Path

import torch

torch.ops.load_library(str(Path(__file__).with_name("{module}.abi3.so")))
"""
_SKIPPED = (".so", ".pyc", ".pyd")


def module_name(submission: Submission) -> str:
    """Name of the extension module: what the package imports from itself and does not contain, else `_C`."""
    package = submission.manifest.package
    present = {Path(item.path).stem for item in submission.files if item.path.startswith(f"{package}/") and item.path.endswith(".py")}
    wanted = [name for name in _own_imports(Path(submission.root) / package / "__init__.py") if name not in present]
    return DEFAULT_MODULE if not wanted or DEFAULT_MODULE in wanted else wanted[0]


def _own_imports(init: Path) -> list[str]:
    """Names that `__init__` imports with `from . import name`; empty when it cannot be read or parsed."""
    try:
        tree = ast.parse(init.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module is None]
    return [alias.name for node in imports for alias in node.names]


def assemble_package(submission: Submission, library: Path, module: str, folder: Path) -> Path:
    """Write the package below `folder`, which is then what belongs on `sys.path`.

    A submission without a package gets one that loads the library; only a library with csrc/extension.cpp is a Python module.
    """
    package = submission.manifest.package
    shutil.rmtree(folder, ignore_errors=True)
    target = folder / package
    target.mkdir(parents=True)
    made_here = (f"{package}/__init__.py/", f"{package}/{module}.abi3.so/")  # folders with the names of files that have to be there
    for item in submission.files:
        if item.path.startswith(f"{package}/") and not item.path.endswith(_SKIPPED) and not item.path.startswith(made_here):
            copy = folder / item.path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path(submission.root) / item.path, copy)
    if not (target / "__init__.py").is_file():
        has_module = any(item.path == "csrc/extension.cpp" for item in submission.files)
        (target / "__init__.py").write_text(f"from . import {module}\n" if has_module else _LOADS.format(module=module), "utf-8")
    shutil.copyfile(library, target / f"{module}.abi3.so")
    return folder
