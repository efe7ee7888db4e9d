"""Runs inside the host process: sets up the torch device "npu", imports the submission's package, calls its operator.

Problem: the submission's own code shares this process, so nothing here is trusted with more than passing messages on.
Approach: the parent names arguments by device address; the outputs are described, not copied; the parent checks every claim against device memory.
Limits: a submission can replace anything in this process; all it can reach is a wrong claim.
"""

from __future__ import annotations

import ctypes
import faulthandler
import importlib
import inspect
import json
import os
import signal
import socket
import sys
import traceback
import types
from collections.abc import Callable, Mapping

import torch
from torch.utils.backend_registration import generate_methods_for_privateuse1_backend, rename_privateuse1_backend

from piton.targets.vnpu import wire

_DESCRIBE = (torch.Tensor.data_ptr, torch.Tensor.stride, torch.Tensor.device.__get__, torch.Tensor.dtype.__get__, torch.Tensor.shape.__get__)  # type: ignore[attr-defined]
"""Taken before a submission can replace them: an honest mistake must not come from a patched method."""


class LookupFailedError(Exception):
    """The package has no such operator, or one with another signature."""


def serve(arguments: Mapping[str, str], fds: Mapping[str, int]) -> None:
    """Answer calls on `fds["parent"]` until it is closed."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    set_deadline = _open_device(arguments, fds)
    channel = socket.socket(fileno=fds["parent"])
    wire.send_json(channel, {"ready": True})
    worker = _Worker(arguments["package_folder"], arguments["package"], arguments["operator"], fds["status"])
    while True:
        try:
            request = json.loads(wire.receive_json(channel, None))
        except wire.ChannelClosedError:
            return
        set_deadline(request["deadline_s"])
        answer = worker.answer(request["arguments"])
        set_deadline(0.0)
        wire.send_json(channel, {"id": request["id"], **answer})


class _Worker:
    """One operator of one package."""

    def __init__(self, folder: str, package: str, operator: str, status: int) -> None:
        self._folder = folder
        self._package = package
        self._operator = operator
        self._status = status
        self._function: Callable[..., object] | None = None
        self._kept: object = None
        """The last results; dropping them would free their memory before the parent has read it."""

    def answer(self, arguments: list[dict[str, object]]) -> dict[str, object]:
        """Call the operator: its outputs described, or the failure."""
        phase = "import"
        try:
            if self._function is None:
                module = self._import()
                phase = "lookup"
                self._function = find_operator(module, self._package, self._operator)
            phase = "lookup"
            names = [str(argument["name"]) for argument in arguments]
            check_signature(self._function, names, f"{self._package}.{self._operator}")
            phase = "call"
            self._kept = None
            self._kept = invoke(self._function, names, [_value(argument) for argument in arguments])
            return {"outputs": [describe(value) for value in flatten(self._kept)]}
        except LookupFailedError as error:
            return {"failure": {"phase": "lookup", "type_name": "LookupError", "message": _sendable(str(error), 2000)}}
        except SystemExit as error:
            place = self._place(error)
            os.write(self._status, f'  File "{self._folder}/{place["file"]}", line {place["line"]} in {place["function"]}\n'.encode() if place else b"")
            raise
        except Exception as error:  # noqa: BLE001 - whatever the submission raises is reported
            return {
                "failure": {"phase": phase, "type_name": _sendable(type(error).__name__, 200), "message": _sendable(str(error), 2000), **self._place(error)}
            }

    def _import(self) -> types.ModuleType:
        sys.path.insert(0, self._folder)
        return importlib.import_module(self._package)

    def _place(self, error: BaseException) -> dict[str, object]:
        """The innermost frame inside the submission."""
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(self._folder)]
        if not frames:
            return {}
        return {
            "file": _sendable(os.path.relpath(frames[-1].filename, self._folder), 500),
            "line": frames[-1].lineno or 0,
            "function": _sendable(frames[-1].name, 200),
        }


def _sendable(text: str, limit: int) -> str:
    """The first `limit` characters; halves of surrogate pairs, which JSON cannot carry, become question marks."""
    return text[:limit].encode(errors="replace").decode()


def find_operator(module: types.ModuleType, package: str, operator: str) -> Callable[..., object]:
    """torch.ops.<package>.<operator> if it is registered, else <package>.<operator>. Raises LookupFailedError."""
    registered = getattr(getattr(torch.ops, package), operator, None)
    found = registered if registered is not None else getattr(module, operator, None)
    if not callable(found):
        raise LookupFailedError(f"neither torch.ops.{package}.{operator} nor {package}.{operator} exists after `import {package}`")
    return found  # type: ignore[no-any-return]


def check_signature(function: Callable[..., object], names: list[str], title: str) -> None:
    """Raise LookupFailedError when the function cannot take as many arguments as the operator's schema has."""
    schemas = [getattr(function, overload)._schema for overload in function.overloads()] if hasattr(function, "overloads") else []
    if schemas:
        counts = sorted({len(schema.arguments) for schema in schemas})
        if len(names) not in counts:
            raise LookupFailedError(f"{title} takes {counts[0]} arguments ({schemas[0]}), the operator has {len(names)}: {', '.join(names)}")
        return
    try:
        inspect.signature(function).bind(*names)
    except TypeError as error:
        raise LookupFailedError(f"{title}{inspect.signature(function)} cannot be called with ({', '.join(names)}): {error}") from None
    except ValueError:  # a builtin without a signature: the call itself will tell
        return


def invoke(function: Callable[..., object], names: list[str], values: list[object]) -> object:
    """Call in schema order; what a registered schema allows by keyword only is given by name."""
    if not hasattr(function, "overloads"):
        return function(*values)
    schema = next(getattr(function, name)._schema for name in function.overloads() if len(getattr(function, name)._schema.arguments) == len(values))
    by_name = {item.name: value for item, value in zip(schema.arguments, values, strict=True) if item.kwarg_only}
    return function(*values[: len(values) - len(by_name)], **by_name)


def flatten(returned: object) -> list[object]:
    """The returned values in order; lists and tuples are opened."""
    if returned is None:
        return []
    if isinstance(returned, (list, tuple)):
        return [item for member in returned for item in flatten(member)]
    return [returned]


def describe(value: object) -> dict[str, object]:
    """The claim about one returned value."""
    name = f"{type(value).__module__}.{type(value).__qualname__}"[:200]
    if type(value) is not torch.Tensor:  # a subclass is refused anyway, and can answer for its shape whatever it likes
        return {"type_name": name, "is_plain": False}
    data_ptr, stride, device, dtype, shape = _DESCRIBE
    return {
        "type_name": name,
        "is_plain": not vars(value),
        "device": str(device(value).type),
        "dtype": str(dtype(value)).removeprefix("torch."),
        "shape": list(shape(value)),
        "strides": list(stride(value)),
        "address": data_ptr(value),
    }


def _value(argument: dict[str, object]) -> object:
    """One argument as the operator gets it."""
    kind, value = argument["kind"], argument["value"]
    if kind == "tensor":
        return _adopt(value)
    if kind == "tensors":
        return [_adopt(item) for item in value]  # type: ignore[attr-defined]
    if kind == "dtype":
        return getattr(torch, str(value))
    return value


def _adopt(tensor: object) -> torch.Tensor:
    """A tensor over memory that the parent allocated."""
    assert isinstance(tensor, dict)
    return torch.ops.piton.adopt(tensor["address"], tensor["shape"], getattr(torch, tensor["dtype"]))  # type: ignore[no-any-return]


def _open_device(arguments: Mapping[str, str], fds: Mapping[str, int]) -> Callable[[float], None]:
    """Make torch's device "npu"; returns what has the place of the code told after so many seconds (0: not any more)."""
    platform = json.loads(arguments["platform"])
    rename_privateuse1_backend("npu")
    torch._register_device_module("npu", _device_module())  # type: ignore[no-untyped-call]
    handle = ctypes.CDLL(arguments["library"], mode=ctypes.RTLD_GLOBAL)
    generate_methods_for_privateuse1_backend(for_tensor=True, for_module=True, for_storage=True)
    figures = (ctypes.c_uint64 * len(platform))(*platform)
    package = os.fsencode(arguments["package_folder"])
    if handle.piton_host_open(fds["device"], fds["status"], package, figures, len(platform)) != 0:
        raise RuntimeError("the host library could not be set up")
    shim = types.ModuleType("torch_npu")
    shim.npu = torch.npu  # type: ignore[attr-defined]
    shim.__version__ = torch.__version__  # type: ignore[attr-defined]
    sys.modules["torch_npu"] = shim
    sys.modules["torch_npu.npu"] = torch.npu  # type: ignore[attr-defined]
    faulthandler.register(signal.SIGALRM, file=fds["status"], all_threads=False, chain=True)  # lines of Python, then the library's own handler
    handle.piton_host_deadline.argtypes, handle.piton_host_deadline.restype = (ctypes.c_double,), None
    return handle.piton_host_deadline


class _Stream:
    """The one stream of the device; work on it is done when the call returns."""

    npu_stream = 0
    device = "npu:0"

    def synchronize(self) -> None:
        """Nothing is ever in flight."""


def _device_module() -> types.ModuleType:
    """What torch.npu offers: enough for code that asks before it launches."""
    module = types.ModuleType("torch.npu")
    stream = _Stream()
    functions: dict[str, Callable[..., object]] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "_lazy_init": lambda: None,
        "_is_in_bad_fork": lambda: False,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "empty_cache": lambda: None,
        "manual_seed": lambda seed: None,
        "manual_seed_all": lambda seed: None,
        "get_device_name": lambda device=None: "Piton virtual NPU",
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
    }
    for name, function in functions.items():
        setattr(module, name, function)
    return module
