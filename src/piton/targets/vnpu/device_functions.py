"""What device code may link with: the engine's calls, what the language itself needs, and scalar maths.

Problem: device code is compiled as C++ for this machine, so that it could call all of its C and C++ libraries, which an AI core does not have.
Approach: the device library is linked without them; every symbol that is then undefined has to be in one of the lists here, and is found at run time in the
process that loads it. What is in none of them fails the build, with the line that uses it.
Limits: a symbol tells no purpose: `operator new` and strings are needed by the registration of kernels, so that device code could use them as well. Code that
is no call (inline assembly, intrinsics, a raw pointer) is not seen here; docs/processes.md says what catches it.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache

SCALAR_MATHS = (
    *("abs", "fabs", "labs", "fmin", "fmax", "fmod", "remainder", "copysign", "fma", "fdim"),
    *("sqrt", "cbrt", "hypot", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "ldexp", "frexp", "modf", "scalbn", "ilogb", "logb"),
    *("floor", "ceil", "trunc", "round", "rint", "nearbyint", "lround", "llround", "lrint", "llrint"),
    *("sin", "cos", "sincos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma"),
)
"""Scalar functions of <cmath> that device code may call, for double; the same names with `f` for float. Public kernels use some of them. The compiler makes one
call of `sincos` of a sine and a cosine of the same value."""

_CALLS = ("vnpu_submit", "vnpu_fetch", "vnpu_register_kernel")
_LANGUAGE = (
    *("memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcmp", "strncmp", "strchr", "strrchr", "strstr", "abort", "snprintf", "vsnprintf"),
    *("__assert_fail", "__stack_chk_fail", "__stack_chk_guard", "__gxx_personality_v0", "__dso_handle"),
)
"""What compilers make of plain code, of assertions, and what the registration of kernels and `printf` of our headers use."""
_LANGUAGE_PATTERNS = (
    r"__sanitizer_cov_\w+",
    r"__cxa_\w+",
    r"_Unwind_\w+",
    r"_ITM_\w+",
    r"__cxxabiv1::.*",
    r"(?:vtable|typeinfo(?: name)?) for (?:__cxxabiv1|std)::.*",
    r"operator (?:new|delete)(?:\[\])?\(.*\)",
    r"std::(?:__throw_\w+|terminate|__cxx11::basic_string<|basic_string_view<|ios_base::Init::|exception::|bad_\w+::|logic_error::|runtime_error::|nothrow\b).*",
    r"std::(?:invalid_argument|out_of_range|length_error|domain_error|range_error|overflow_error)::.*",
)
ALLOWED = re.compile(
    "(?:" + "|".join([*map(re.escape, (*_CALLS, *_LANGUAGE)), *(f"{name}f?" for name in SCALAR_MATHS), "isnan|isinf|finite", *_LANGUAGE_PATTERNS]) + r")\Z"
)
"""Symbols, demangled, that a device library may leave undefined."""
_WORDS = {"__tls_get_addr": "a thread_local variable: an AI core has no threads"}
"""Symbols that nobody writes, and what leads to them."""
_LIBRARIES = ("libc.so.6", "libm.so.6", "libstdc++.so.6")


def refusal(symbol: str) -> str | None:
    """Why device code cannot have `symbol`, where it is one of the machine's libraries; None for a symbol that is simply not defined."""
    if symbol in _WORDS:
        return f"device code uses {_WORDS[symbol]}"
    if not _is_of_a_library(symbol):
        return None
    return (
        f"device code calls {symbol}, a function of this machine's libraries: an AI core has no files, memory allocator, threads or system to call; "
        "it may call Ascend C and scalar maths (docs/ascendc-api.md)"
    )


def _is_of_a_library(symbol: str) -> bool:
    name = symbol.partition("(")[0]
    if not name.isidentifier():
        return name.startswith("std::")
    return any(hasattr(library, name) for library in _libraries())


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    return tuple(library for library in map(_opened, _LIBRARIES) if library is not None)


def _opened(name: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None  # another C library: its functions are then named as undefined ones
