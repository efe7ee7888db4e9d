"""One kernel: its rows and combinations built one after the other, and the result as data.

Approach: the entry that a build of an operator project would generate (piton.targets.vnpu.project) instantiates the kernel for a row of element types and all
its template combinations. Limits: `Effort` bounds how many of both are tried; what was tried and what there is stands in the result.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from builder import Builder, Built
from classify import Failure, Kind, classify
from definition import DefinitionError, Described910b, describe, included_headers
from pydantic import BaseModel, ConfigDict
from selection import Kernel
from structures import Index

from piton.core.protocols import Runner
from piton.targets.vnpu.project import Sources, depends_on_row, find_kernel, keys_apart
from piton.targets.vnpu.project_described import Template
from piton.targets.vnpu.rewrite import rewrite

T = TypeVar("T")


class Effort(BaseModel):
    """How much of each kernel is tried."""

    model_config = ConfigDict(frozen=True)

    rows: int = 4
    """Rows of element types, spread over all."""
    combinations: int = 12
    """Template combinations per row, spread over all."""


class Row(BaseModel):
    """One row of element types."""

    types: tuple[str, ...]
    is_linked: bool
    kind: str = ""
    message: str = ""
    names: tuple[str, ...] = ()


class Result(BaseModel):
    """One kernel file."""

    repository: str
    path: str
    group: str
    key: str
    """Digest of headers, the kernel's files and the effort: equal means that nothing needs to be tried again."""
    headers: str = ""
    """Commit of our headers that it was tried with."""
    operator: str = ""
    rows_in_all: int = 0
    combinations_in_all: int = 0
    combinations_tried: int = 0
    rows: tuple[Row, ...] = ()
    kind: str = ""
    """Class of the first failure; empty when every row that was tried is linked."""
    message: str = ""

    @property
    def is_linked(self) -> bool:
        """Does everything that was tried link?"""
        return bool(self.rows) and all(row.is_linked for row in self.rows)

    @property
    def is_partly_linked(self) -> bool:
        """Does some row link, but not all?"""
        return not self.is_linked and any(row.is_linked for row in self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """What is missing, over all rows."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.names))


class Headers(BaseModel):
    """Ours."""

    model_config = ConfigDict(frozen=True)

    folder: str
    commit: str
    names: frozenset[str]
    """Every identifier in them."""


class Measurer:
    """Builds kernels and says what came of it."""

    def __init__(self, builder: Builder, runner: Runner, effort: Effort, headers: Headers) -> None:
        self._builder = builder
        self._runner = runner
        self._effort = effort
        self._headers = headers

    def key(self, kernel: Kernel) -> str:
        """What the result depends on."""
        made = hashlib.sha256(f"{self._builder.identity} {self._effort.model_dump_json()}".encode())
        for path in [kernel.file, *included_headers(kernel), *kernel.definitions]:
            made.update(path.read_bytes())
        return made.hexdigest()[:20]

    def measure(self, kernel: Kernel, index: Index) -> Result:
        """Try one kernel."""
        empty = Result(repository=kernel.root.name, path=kernel.path, group=kernel.group, key=self.key(kernel), headers=self._headers.commit)
        try:
            found = describe(kernel, index, self._builder, self._runner)
        except DefinitionError as error:
            if not kernel.definitions:
                return self._alone(kernel, empty)
            return empty.model_copy(update={"kind": Kind.DEFINITION.value, "message": str(error)})
        name = find_kernel([kernel.file.read_text("utf-8", errors="replace")], found.described) or ""
        if not name:
            return empty.model_copy(update={"kind": Kind.DEFINITION.value, "message": f"no kernel function for {found.described.type} in this file"})
        return self._tried(kernel, empty, found, name)

    def _tried(self, kernel: Kernel, empty: Result, found: Described910b, name: str) -> Result:
        described = found.described
        texts = [path.read_text("utf-8", errors="replace") for path in [kernel.file, *included_headers(kernel)]]
        rows = described.rows if depends_on_row(texts) else described.rows[:1]
        combinations = described.template.combinations if described.template else ()
        tried = _spread(combinations, self._effort.combinations)
        template = _with_combinations(described.template, tried, self._effort.combinations) if described.template else None
        chosen = described.model_copy(update={"rows": tuple(_spread(rows, self._effort.rows)), "template": template})
        tiling = f"#define PitonTilingData {described.structure}\n" if described.structure else ""  # named after the precompiled header, which has no structure
        keys = keys_apart(texts)
        sources = Sources(chosen, found.project, name, per_row=True, keys=keys).entries([str(self._builder.placed(kernel))])
        types = [row.types for row in chosen.rows for _ in keys or (None,)]
        results = [self._row(kernel, row, tiling + source) for row, source in zip(types, sources.values(), strict=True)]
        return _summed(
            empty.model_copy(
                update={"operator": described.type, "rows_in_all": len(rows), "combinations_in_all": len(combinations), "combinations_tried": len(tried)}
            ),
            results,
        )

    def _alone(self, kernel: Kernel, empty: Result) -> Result:
        """A file that launches its own kernels: what it instantiates is what it launches."""
        text = rewrite(kernel.file.read_text("utf-8", errors="replace"), str(kernel.file))
        return _summed(empty.model_copy(update={"rows_in_all": 1}), [self._row(kernel, (), text)])

    def _row(self, kernel: Kernel, types: tuple[str, ...], source: str) -> Row:
        built = self._builder.kernel(kernel, source, is_entry=bool(types), name=hashlib.sha256(f"{kernel.root} {kernel.path}".encode()).hexdigest()[:16])
        if built.is_linked:
            return Row(types=types, is_linked=True)
        failure = self._failure(built)
        return Row(types=types, is_linked=False, kind=failure.kind.value, message=failure.message[:400], names=failure.names)

    def _failure(self, built: Built) -> Failure:
        return classify(built, self._headers.names, self._headers.folder)


def _with_combinations(template: Template, tried: Sequence[tuple[int, ...]], count: int) -> Template:
    """The template with these of its combinations, and their kernel types."""
    return template.model_copy(update={"combinations": tuple(tried), "kernel_types": tuple(_spread(template.kernel_types, count))})


def _summed(empty: Result, rows: Sequence[Row]) -> Result:
    failed = next((row for row in rows if not row.is_linked), None)
    return empty.model_copy(update={"rows": tuple(rows), "kind": failed.kind if failed else "", "message": failed.message if failed else ""})


def _spread(items: Sequence[T], count: int) -> list[T]:
    """At most `count` items, first and last among them."""
    if len(items) <= count:
        return list(items)
    return [items[round(place * (len(items) - 1) / (count - 1))] if count > 1 else items[0] for place in range(count)]
