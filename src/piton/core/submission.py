"""Submission: immutable files plus manifest, named by a digest of all of it."""

from __future__ import annotations

from pathlib import PurePosixPath

from pydantic import Field

from piton.core.canonical import digest
from piton.core.method import Method, Reporting
from piton.core.operator import Frozen


class Manifest(Frozen):
    """What a submission says about itself (piton.yaml, all optional)."""

    name: str = ""
    track: str = "ascendc"
    """Kernel language with its rules: ascendc, triton, pypto, tilelang, cpp, python, cuda."""
    package: str = "cann_bench"
    """Python package and torch.ops namespace that carries the operators."""
    auto_sync: bool = True
    """The device compiler's own synchronisation (`--cce-auto-sync`), on by default as in the vendor's compiler."""


class SubmissionFile(Frozen):
    """One file of a submission."""

    path: str
    """POSIX path relative to the submission's root."""
    sha256: str
    size_bytes: int


class OperatorSources(Frozen):
    """Sources of one operator, as paths inside the submission; catalog.layout knows where they are looked for."""

    operator: str
    kernels: tuple[str, ...]
    """Device + tiling + launch sources (`csrc/ops/<op>/op_kernel/*.cpp`, `<op>.asc`), compiled in a host and a device pass."""
    plugins: tuple[str, ...]
    """torch bindings (`csrc/ops/<op>/op_plugin/*.cpp`), compiled for the host only."""
    hosts: tuple[str, ...] = ()
    """Of an operator project: definition, inference and tiling (`op_host/*.cpp`); its binding is generated."""

    def leaves_out(self, path: str) -> bool:
        """Is this a file of the operator project that the virtual NPU replaces: the vendor's interface of the operator, or the binding that calls it?"""
        above = PurePosixPath(self.hosts[0]).parts if self.hosts else ()
        folder = above[: above.index("op_host")] if "op_host" in above else ()
        return bool(above) and PurePosixPath(path).parts[: len(folder) + 1] in ((*folder, "op_api"), (*folder, "op_plugin"))


class Submission(Frozen):
    """An admitted submission; the files were copied before they were read and never change."""

    root: str
    """Folder of the immutable copy."""
    manifest: Manifest
    files: tuple[SubmissionFile, ...]
    operators: tuple[OperatorSources, ...] = Field(default=())
    notes: tuple[str, ...] = Field(default=())
    """What a reader of a report should know about how it was read; no part of its digest."""
    method: Method | None = None
    """[method] of its submission.toml; the file itself is in the digest."""
    reporting: Reporting | None = None
    """[reporting] of its submission.toml."""

    def digest(self) -> str:
        """Name of this submission: a digest of the manifest and every file."""
        return digest([self.manifest, [(item.path, item.sha256) for item in self.files]])
