"""The build's own files: rendered from templates, the same for every submission."""

from __future__ import annotations

import json

from jinja2 import Environment, PackageLoader, StrictUndefined

from piton.core.submission import Submission
from piton.deliver.plan import Plan

EXECUTABLE = "build.sh"
_FILES = ("CMakeLists.txt", "build.sh", "setup.py", "README.md")


def render_files(plan: Plan, submission: Submission) -> dict[str, str]:
    """Texts by path; the package's `__init__.py`, csrc/extension.cpp and piton.yaml where the submission brings none."""
    loader = PackageLoader("piton.deliver", "templates")
    environment = Environment(loader=loader, undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True)
    values = {
        "package": plan.package,
        "module": plan.module,
        "auto_sync": plan.auto_sync,
        "operators": plan.operators,
        "packages": sorted({path.rpartition("/")[0].replace("/", ".") for path in plan.files if _is_module(path, plan.package)} | {plan.package}),
        "source": submission.manifest.name or "a submission",
        "digest": submission.digest(),
        "titles": ["".join(word.capitalize() for word in part.name.split("_")) for part in plan.operators],
    }
    names = {name: name for name in _FILES}
    names.update({path: name for path, name in (("csrc/extension.cpp", "extension.cpp"), (f"{plan.package}/__init__.py", "init.py")) if path not in plan.files})
    texts = {path: environment.get_template(f"{name}.j2").render(values) for path, name in names.items()}
    return {**texts, "piton.yaml": _manifest(submission)}


def _is_module(path: str, package: str) -> bool:
    return path.startswith(f"{package}/") and path.endswith(".py")


def _manifest(submission: Submission) -> str:
    manifest = submission.manifest
    lines = [f"name: {json.dumps(manifest.name)}"] if manifest.name else []
    return "\n".join([*lines, f"track: {manifest.track}", f"package: {manifest.package}", f"auto_sync: {str(manifest.auto_sync).lower()}"]) + "\n"
