"""Example worker: runs the Python blocks of a desc.md with goldens in the place of the operators. That code is as foreign as golden.py: same sandbox.

`cann_bench` (or whatever package the example imports the operator from) is a module whose functions are goldens, and the device "npu" is the CPU: the text is
rewritten for that before it runs, nothing of torch is.
"""

from __future__ import annotations

import ast
import json
import socket
import sys
from collections.abc import Mapping
from types import ModuleType

from pydantic import BaseModel, ConfigDict

MESSAGE_BYTES = 1 << 17
_PACKAGE = "cann_bench"
_TEXT = 2000


class ExampleRequest(BaseModel):
    """One block of code and what it may call."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    goldens: dict[str, str]
    """Path of golden.py by operator."""
    file: str
    line: int
    """Where the block begins, for messages."""


def serve(arguments: Mapping[str, str], fds: Mapping[str, int]) -> None:
    """Answer requests until the parent closes the socket: `{}` for a block that ran, else its error and line."""
    del arguments
    with socket.socket(fileno=fds["control"]) as control:
        while text := control.recv(MESSAGE_BYTES):
            control.send(json.dumps(_run(ExampleRequest.model_validate_json(text))).encode())


def _run(request: ExampleRequest) -> dict[str, object]:
    from piton.numerics.golden_module import load_golden

    package = ModuleType(_PACKAGE)
    sys.modules[_PACKAGE] = package
    try:
        for name, path in request.goldens.items():
            setattr(package, name, load_golden(path).function(name))
        tree = ast.fix_missing_locations(_OnCpu().visit(ast.parse(request.code, request.file)))
        ast.increment_lineno(tree, request.line - 1)
        exec(compile(tree, request.file, "exec"), {"__name__": "__example__"})
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the example is foreign code and may raise anything
        return {"error": f"{type(error).__name__}: {error}"[:_TEXT], "line": _line(error, request)}
    return {}


def _line(error: BaseException, request: ExampleRequest) -> int:
    lines, trace = [request.line], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == request.file:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines[-1]


class _OnCpu(ast.NodeTransformer):
    """Texts that name the device."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """`"npu"` and `"npu:0"` become `"cpu"`."""
        is_device = isinstance(node.value, str) and (node.value == "npu" or node.value.startswith("npu:"))
        return ast.copy_location(ast.Constant("cpu"), node) if is_device else node
