"""Are the kernels that a host object launches found, and those that generated functions launch?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.targets.vnpu.launchers import find_launchers, launched_by_name
from piton.targets.vnpu.launches import launched_kernels, names_in, registrations

SIGNATURE = (
    "static const char* piton::Launch<Unit, void (*)(P ...), kernel>::Pretty() "
    "[with Unit = piton::{{anonymous}}::ThisUnit; P = {{int}}; void (* kernel)(P ...) = {}]"
)


def kernels_in(tmp_path: Path, *kernels: str) -> list[str]:
    path = tmp_path / "unit.o"
    path.write_bytes(b"\x7fELF\0" + b"\0".join(SIGNATURE.format(kernel).encode() for kernel in kernels) + b"\0more")
    return launched_kernels(path)


def test_each_launched_kernel_is_found_once_with_its_template_arguments(tmp_path: Path) -> None:
    assert kernels_in(tmp_path, "ns::k<float, 64>", "plain", "ns::k<float, 64>") == ["ns::k<float, 64>", "plain"]


def test_a_kernel_in_a_nameless_namespace_is_spelled_as_a_source_can(tmp_path: Path) -> None:
    assert kernels_in(tmp_path, "ns::{anonymous}::k<{anonymous}::Policy>") == ["ns::k<Policy>"]


def test_a_kernel_may_have_letters_of_any_script(tmp_path: Path) -> None:
    assert kernels_in(tmp_path, "größe::кернел<плитка>") == ["größe::кернел<плитка>"]
    assert names_in(["größe::кернел<плитка>"]) == {"größe", "кернел", "плитка"}
    assert launched_by_name("ACLRT_LAUNCH_KERNEL(größe)(8, stream, x);") == {"größe"}


@pytest.mark.parametrize("name", ["k; int x", 'k"', "k{}", "k#include", "k\\"])
def test_what_is_no_name_does_not_get_into_a_source(tmp_path: Path, name: str) -> None:
    assert kernels_in(tmp_path, name) == []


def test_registrations_begin_on_a_line_of_their_own_with_a_name_that_explains_them() -> None:
    assert registrations(["ns::k<float, 64>"], "op.asc") == '\n#line 1 "(launches of op.asc)"\nPITON_REGISTER_KERNEL(0, ns::k<float, 64>)\n'


def test_names_that_kernels_mention_are_wanted() -> None:
    assert names_in(["ns::k<float, Policy<3>>"]) == {"ns", "k", "float", "Policy"}


def test_names_of_generated_launchers_are_found_in_calls_and_includes() -> None:
    text = '#include "aclrtlaunch_add_custom.h"\nACLRT_LAUNCH_KERNEL( mul )(8, stream, x);\naclrtlaunch_sub(8, stream);\n'
    assert launched_by_name(text) == {"add_custom", "mul", "sub"}


KERNEL = 'extern "C" __global__ __aicore__ void add(GM_ADDR x, __gm__ float *y, const Tiling tiling, uint32_t n, unsigned int m, float = 1.0f) { f(x); }\n'


def test_a_launcher_takes_pointers_as_void_and_the_rest_as_declared() -> None:
    (launcher,) = find_launchers(KERNEL, {"add", "other"})
    assert launcher.parameters == ("void *", "void *", "const Tiling", "uint32_t", "unsigned int", "float")
    assert not launcher.is_plain
    assert launcher.header == "aclrtlaunch_add.h"
    assert "uint32_t aclrtlaunch_add(uint32_t piton_blocks, void *piton_stream, void * piton_0," in launcher.declaration()


@pytest.mark.parametrize(
    "text", ["template <typename T> __global__ void add(T x) {}", "void add(int x) {}", "__global__ void add(int x);", "__global__ void sub() {}"]
)
def test_templates_declarations_and_host_functions_get_no_launcher(text: str) -> None:
    assert find_launchers(text, {"add"}) == []
