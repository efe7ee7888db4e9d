"""The same submission under other names and texts: whoever judges by what a file says, and not by what it does, gives it another verdict.

Python: every name that a module or function binds is renamed, docstrings and comments go, every text is put together from two halves, and code that is never
called is added. C++: every declared name is renamed, comments go. Names that others look up stay: the operator, modules, attributes, macros, APIs.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator
from pathlib import Path

_KEPT = {"exp", "Exp", "honest", "run"}
"""The operator, a class that is found by the operator's name, and what one file of a package takes from another."""
_CPP_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*|\b[A-Za-z_]\w*\b', re.DOTALL | re.MULTILINE)
_CPP_DECLARED = re.compile(
    r"\b(?:class|struct|void|auto|float|double|bool|int|int32_t|uint32_t|int64_t|GM_ADDR|half|Tensor|AscendC::\w+(?:<[^;()]*>)?|[A-Z]\w*Kernel)"
    r"\s+[*&]?\s*([A-Za-z_]\w*)\s*(?=[;,=({\[):])"
)
_CPP_MEMBER = re.compile(r"(?:\.|->|::)\s*([A-Za-z_]\w*)")
"""Names of members, and of what other namespaces have, may be those of an API."""
_CPP_KEPT = {"operator", "PyInit__C", "main"}


def rename_all(submission: Path) -> None:
    """Rewrite every source below a folder in place."""
    for path in sorted(submission.rglob("*.py")):
        path.write_text(renamed_python(path.read_text()))
    sources = [path for path in sorted(submission.rglob("*")) if path.suffix in (".cpp", ".h")]
    members = {name for path in sources for name in _CPP_MEMBER.findall(path.read_text())}
    new = _fresh({name for path in sources for name in _declared(path.read_text())} - members)
    for path in sources:
        path.write_text(_renamed_cpp(path.read_text(), new))


def renamed_python(text: str) -> str:
    """The module with other names and texts, which does the same."""
    tree = ast.parse(text)
    tree.body = tree.body[ast.get_docstring(tree) is not None :]
    new = _fresh(set(_bound(symtable.symtable(text, "module", "exec"))))
    tree = ast.fix_missing_locations(_Renamer(new).visit(tree))
    return '"""Rows and tiles."""\n' + ast.unparse(tree) + "\n\ndef rows_of_tile(count):\n    return [count // 8, count % 8]\n"


def _bound(table: symtable.SymbolTable) -> Iterator[str]:
    """Names bound in a module and its functions; those of a class are attributes, which others look up."""
    for symbol in table.get_symbols():
        is_bound = symbol.is_assigned() or symbol.is_parameter() or symbol.is_imported() or symbol.is_namespace()
        if table.get_type() != "class" and is_bound and not symbol.get_name().startswith("__") and symbol.get_name() not in _KEPT:
            yield symbol.get_name()
    for child in table.get_children():
        yield from _bound(child)


def _fresh(names: set[str]) -> dict[str, str]:
    return {name: f"tile{number}" for number, name in enumerate(sorted(names))}


class _Renamer(ast.NodeTransformer):
    def __init__(self, new: dict[str, str]) -> None:
        self._new = new
        self._in_class = False

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_attribute = self._in_class and isinstance(node.ctx, ast.Store)
        return node if is_attribute else ast.Name(self._new.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._new.get(node.arg, node.arg))

    def visit_alias(self, node: ast.alias) -> ast.AST:
        bound = node.asname or node.name.partition(".")[0]
        is_plain = node.asname is not None or "." not in node.name
        return ast.alias(node.name, self._new[bound]) if is_plain and bound in self._new else node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        name, outer, self._in_class = self._new.get(node.name, node.name), self._in_class, True
        made = self._visit_body(node)
        self._in_class = outer
        made.name = name
        return made

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        is_method, self._in_class = self._in_class, False
        made = self._visit_body(node)
        self._in_class = is_method
        if not is_method:
            made.name = self._new.get(node.name, node.name)
        return made

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        node.name = self._new.get(node.name, node.name) if node.name else None
        return node

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return ast.Global([self._new.get(name, name) for name in node.names])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        node.values = [self.visit(value) if isinstance(value, ast.FormattedValue) else value for value in node.values]
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, (str, bytes)) and len(node.value) > 1:
            middle = len(node.value) // 2
            return ast.BinOp(ast.Constant(node.value[:middle]), ast.Add(), ast.Constant(node.value[middle:]))
        return node

    def _visit_body(self, node: ast.AST) -> ast.AST:
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)


def _declared(text: str) -> Iterator[str]:
    code = _CPP_TOKEN.sub(lambda match: " " if match[0].startswith(("//", "/*", '"')) else match[0], text)
    yield from (name for name in _CPP_DECLARED.findall(code) if name not in _CPP_KEPT and not name.startswith("acl") and not name.isupper())


def _renamed_cpp(text: str, new: dict[str, str]) -> str:
    def other(match: re.Match[str]) -> str:
        token = match[0]
        return "\n" * token.count("\n") if token.startswith(("//", "/*")) else new.get(token, token)

    return _CPP_TOKEN.sub(other, text)
