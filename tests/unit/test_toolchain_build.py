"""Does the toolchain build an operator, cache it, and blame the right line when it cannot?

Everything is real but the engine, the host library and torch's headers, for which small stand-ins are compiled: the device stand-in runs one kernel and prints
the scalars it submits, the host stand-in prints the launches it gets.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from piton.core.errors import TargetUnavailableError
from piton.core.execution import Build
from piton.core.hardware import Figure, Hardware, Peaks
from piton.core.operator import Operator
from piton.core.protocols import Limits, ProcessJob, ProcessResult, Role, RunningProcess
from piton.core.submission import Manifest, OperatorSources, Submission, SubmissionFile
from piton.core.verdict import Cause
from piton.targets.vnpu import compiler
from piton.targets.vnpu.own import Paths
from piton.targets.vnpu.sources import copy_sources
from piton.targets.vnpu.toolchain import VnpuToolchain

INCLUDE = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp" / "include"

ENGINE = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include "vnpu/abi.h"
static const vnpu_kernel *wanted;
static const char *name;
extern "C" void vnpu_register_kernel(const vnpu_kernel *kernel) { if (std::strcmp(kernel->name, name) == 0) wanted = kernel; }
extern "C" void vnpu_submit(const vnpu_record *record) { std::printf("%s:%u %lld\n", (const char *)record->file, record->line, (long long)record->scalar); }
extern "C" uint64_t vnpu_fetch(const vnpu_record *) { return 0; }
extern "C" void __sanitizer_cov_trace_pc() {}
int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    name = argv[2];
    if (dlopen(argv[1], RTLD_NOW) == nullptr) { std::puts(dlerror()); return 3; }
    if (wanted == nullptr) return 4;
    unsigned char block[256] = {};
    for (size_t i = 0; i < std::strlen(argv[3]) / 2; ++i) { unsigned byte; std::sscanf(argv[3] + 2 * i, "%2x", &byte); block[i] = byte; }
    std::printf("%u %s\n", wanted->argument_bytes, wanted->title);
    wanted->entry(block);
    return 0;
}
"""

HOST = r"""
#include <cstdio>
#include "vnpu/host_abi.h"
extern "C" int piton_host_launch(const char *kernel, uint32_t blocks, const void *arguments, uint32_t bytes, const void *)
{
    std::printf("%s|%u|", kernel, blocks);
    for (uint32_t i = 0; i < bytes; ++i) std::printf("%02x", static_cast<const unsigned char *>(arguments)[i]);
    std::printf("\n");
    std::fflush(stdout);
    return 0;
}
extern "C" uint64_t piton_host_platform(uint32_t what) { return what == PITON_PLATFORM_CORES_AIV ? 48 : what == PITON_PLATFORM_UB_BYTES ? 196608 : 0; }
"""

KERNEL = r"""#include "kernel_operator.h"
#include "platform/platform_ascendc.h"
#include "scale_launch.h"
#include <algorithm>

struct Tiling { int64_t total; uint8_t rest; };

template <typename T, int N>
__global__ __aicore__ void scale_kernel(GM_ADDR x, bool flag, Tiling tiling, float factor, int16_t shift)
{
    AscendC::SetPadValue(reinterpret_cast<int64_t>(x));
    AscendC::SetPadValue(tiling.total);
    AscendC::SetPadValue(tiling.rest);
    AscendC::SetPadValue(static_cast<int64_t>(factor * 2));
    AscendC::SetPadValue(static_cast<int64_t>(shift));
    AscendC::SetPadValue(static_cast<int64_t>(flag ? N : 0));
}

extern "C" __global__ __aicore__ void plain_kernel() { AscendC::SetPadValue(int64_t(7)); }

extern "C" void launch_scale(void *x, void *stream)
{
    int64_t blocks = platform_ascendc::PlatformAscendCManager::GetInstance()->GetCoreNumAiv();
    scale_kernel<half, 5><<<blocks, nullptr, stream>>>((GM_ADDR)x, true, Tiling{1000, 9}, 1.5f, -3);
    plain_kernel<<<1, 0, nullptr, stream>>>();
}
"""

PLUGIN = '#include "../op_kernel/scale_launch.h"\nextern "C" void scale(void *x) { launch_scale(x, nullptr); }\n'
EXTENSION = """#include <Python.h>
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_C", 0, -1, 0, 0, 0, 0, 0};
extern "C" PyObject *PyInit__C(void) { return PyModule_Create(&definition); }
"""
PLUGIN_PATH = "csrc/ops/scale/op_plugin/scale_plugin.cpp"
FILES = {
    "csrc/ops/scale/op_kernel/scale_kernel.cpp": KERNEL,
    "csrc/ops/scale/op_kernel/scale_launch.h": '#pragma once\nextern "C" void launch_scale(void *x, void *stream);\n',
    PLUGIN_PATH: PLUGIN,
    "csrc/ops/other/op_kernel/other_kernel.cpp": "this is not C++",
    "csrc/extension.cpp": EXTENSION,
    "cann_bench/__init__.py": "from . import _C\nfrom . import tools\n",
    "cann_bench/tools.py": "",
}
KERNEL_PATH = "csrc/ops/scale/op_kernel/scale_kernel.cpp"


class PlainRunner:
    """Runs jobs without isolation and counts them."""

    isolation: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.jobs: list[ProcessJob] = []

    def run(self, job: ProcessJob) -> ProcessResult:
        self.jobs.append(job)
        started = time.monotonic()
        environment = {"PATH": os.environ["PATH"], **job.environment}
        done = subprocess.run(job.argv, cwd=job.cwd, env=environment, capture_output=True, text=True, timeout=job.limits.wall_s, check=False)
        return ProcessResult(done.returncode, None, False, done.stdout, done.stderr, time.monotonic() - started)

    def start(self, job: ProcessJob) -> RunningProcess:
        raise NotImplementedError

    def fork_worker(
        self, role: Role, entry: str, arguments: Mapping[str, str], fds: Mapping[str, int], limits: Limits, readable: Sequence[str] = ()
    ) -> RunningProcess:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is kept."""


class StuckRunner(PlainRunner):
    """Every job runs out of time."""

    def run(self, job: ProcessJob) -> ProcessResult:
        return ProcessResult(None, 9, True, "", "", job.limits.wall_s)


def hardware() -> Hardware:
    one = Figure(value=1.0, source="test")
    peaks = Peaks(
        hbm_read_bytes_per_s=one, hbm_write_bytes_per_s=one, l2_write_bytes_per_s=one, l2_bytes=one, cube_flops={}, vector_lanes_per_s={}, floor_us=one
    )
    return Hardware(name="chip", arch="dav-2201", clock_hz=one, cores_aic=24, cores_aiv=48, memory_bytes={}, convention=peaks, silicon=peaks)


def submission(folder: Path, changes: Mapping[str, str | None] | None = None) -> Submission:
    """The test submission with some files replaced (None: left out)."""
    contents = {path: text for path, text in {**FILES, **(changes or {})}.items() if text is not None}
    for path, text in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    files = tuple(SubmissionFile(path=path, sha256=hashlib.sha256(text.encode()).hexdigest(), size_bytes=len(text)) for path, text in contents.items())
    sources = OperatorSources(operator="scale", kernels=(KERNEL_PATH,), plugins=(PLUGIN_PATH,))
    return Submission(root=str(folder), manifest=Manifest(), files=files, operators=(sources,))


def operator(name: str = "scale") -> Operator:
    return Operator(name=name, title=name, level=1, category="test", schema_text="", inputs=(), outputs=())


@pytest.fixture(scope="module")
def runner() -> PlainRunner:
    return PlainRunner()


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory, runner: PlainRunner) -> VnpuToolchain:
    root = tmp_path_factory.mktemp("own")
    shutil.copytree(INCLUDE, root / "include")
    (root / "include" / "host" / "piton_torch.h").write_text("#pragma once\n")
    for folder, text in (("engine", ENGINE), ("code", ENGINE), ("host", HOST)):
        (root / folder).mkdir()
        (root / folder / "stand_in.cpp").write_text(text)
    made = VnpuToolchain(hardware(), root / "cache", source_root=root)
    made.prepare(runner)
    return made


@pytest.fixture(scope="module")
def built(toolchain: VnpuToolchain, runner: PlainRunner, tmp_path_factory: pytest.TempPathFactory) -> Build:
    folder = tmp_path_factory.mktemp("build")
    build = toolchain.build(submission(folder / "submission"), operator(), runner, str(folder / "out"))
    assert build.outcome is None, build
    return build


@pytest.fixture(scope="module")
def launches(toolchain: VnpuToolchain, built: Build) -> list[list[str]]:
    """What the host stand-in printed: kernel, blocks and argument block of each launch."""
    host = built.artifacts["host"]
    code = f"from ctypes import *; CDLL({toolchain.host_library!r}, RTLD_GLOBAL); CDLL({host!r}).scale(c_void_p(0x200000001000))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60).stdout
    return [line.split("|") for line in output.splitlines()]


def run_on_device(toolchain: VnpuToolchain, built: Build, kernel: str, arguments: str) -> list[str]:
    command = [toolchain.device_program, built.artifacts["device"], kernel, arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()


def test_a_launch_names_a_kernel_that_the_device_library_has_and_its_arguments_arrive(
    toolchain: VnpuToolchain, built: Build, launches: list[list[str]]
) -> None:
    kernel, blocks, arguments = launches[0]
    assert (kernel, blocks) == (f"{KERNEL_PATH}: scale_kernel<_Float16, 5>", "48")
    first, *records = run_on_device(toolchain, built, kernel, arguments)
    assert (first, len(arguments)) == ("38 scale_kernel<_Float16, 5>", 2 * 38)  # 8 address, 1 flag, 7 to align, 16 tiling, 4 factor, 2 shift
    assert [int(record.split()[1]) for record in records] == [0x200000001000, 1000, 9, 3, -3, 5]


def test_a_kernel_without_arguments_or_template_runs_too(toolchain: VnpuToolchain, built: Build, launches: list[list[str]]) -> None:
    kernel, blocks, arguments = launches[1]
    assert (kernel, blocks, arguments) == (f"{KERNEL_PATH}: plain_kernel", "1", "")
    assert run_on_device(toolchain, built, kernel, arguments)[1].endswith(" 7")


def test_records_carry_the_path_inside_the_submission_and_the_line(toolchain: VnpuToolchain, built: Build, launches: list[list[str]]) -> None:
    line = 1 + KERNEL.splitlines().index("    AscendC::SetPadValue(tiling.total);")
    records = run_on_device(toolchain, built, launches[0][0], launches[0][2])
    assert records[2].startswith(f"{KERNEL_PATH}:{line} ")


def import_package(toolchain: VnpuToolchain, build: Build) -> None:
    code = f"from ctypes import *; CDLL({toolchain.host_library!r}, RTLD_GLOBAL); import cann_bench"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=build.artifacts["package"], timeout=60)


def test_the_package_holds_the_python_files_and_the_module(toolchain: VnpuToolchain, built: Build) -> None:
    folder = Path(built.artifacts["package"])
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()) == [
        "cann_bench/_C.abi3.so",
        "cann_bench/__init__.py",
        "cann_bench/tools.py",
    ]
    import_package(toolchain, built)


PAST_THE_CORE = {
    "a file": ("#include <unistd.h>", "write(1, &tiling, 1);", "write"),
    "the allocator": ("#include <cstdlib>", "AscendC::SetPadValue(reinterpret_cast<int64_t>(std::malloc(tiling.total)));", "malloc"),
    "a thread": ("#include <pthread.h>", "pthread_exit(nullptr);", "pthread_exit"),
    "a system call": ("#include <unistd.h>", "syscall(39);", "syscall"),
}
if platform.machine() == "x86_64":  # elsewhere compilers reach such a variable without a call
    PAST_THE_CORE["a thread_local variable"] = ("extern thread_local int kept;", "kept += 1;", "__tls_get_addr")
MATHS = "AscendC::SetPadValue(std::sqrt(factor) + std::pow(factor, 2.5f) + std::floor(std::log(factor)) + std::sin(factor) * std::cos(factor));"


def with_statement(statement: str, head: str) -> dict[str, str]:
    """The kernel with one more statement, and a line above it."""
    anchor = "    AscendC::SetPadValue(tiling.rest);\n"
    assert anchor in KERNEL
    return {KERNEL_PATH: f"{head}\n{KERNEL.replace(anchor, f'{anchor}    {statement}' + chr(10))}"}


@pytest.mark.parametrize(("head", "statement", "symbol"), PAST_THE_CORE.values(), ids=PAST_THE_CORE)
def test_device_code_that_calls_the_machines_libraries_is_refused_with_its_line(
    toolchain: VnpuToolchain, tmp_path: Path, head: str, statement: str, symbol: str
) -> None:
    changes = with_statement(statement, head)
    build = toolchain.build(submission(tmp_path / "submission", changes), operator(), PlainRunner(), str(tmp_path / "out"))
    assert build.outcome is not None
    assert build.outcome.cause is Cause.UNSUPPORTED_API
    assert build.outcome.numbers["api"] == symbol
    assert "an AI core has no" in build.outcome.message
    line = 1 + changes[KERNEL_PATH].splitlines().index(f"    {statement}")
    assert build.outcome.place is not None
    assert (build.outcome.place.file, build.outcome.place.line) in ((KERNEL_PATH, line), (KERNEL_PATH, line + 1))


def test_device_code_may_call_scalar_maths(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    changes = with_statement(MATHS, "#include <cmath>")
    build = toolchain.build(submission(tmp_path / "submission", changes), operator(), PlainRunner(), str(tmp_path / "out"))
    assert build.outcome is None, build.outcome


def test_a_second_build_runs_no_compiler_and_has_the_same_key(toolchain: VnpuToolchain, built: Build, tmp_path: Path) -> None:
    counting = PlainRunner()
    again = toolchain.build(submission(tmp_path / "submission"), operator(), counting, str(tmp_path / "out"))
    assert (again.outcome, again.is_cached, again.key, counting.jobs) == (None, True, built.key, [])
    assert not built.is_cached


def test_the_key_of_a_build_is_known_without_building(toolchain: VnpuToolchain, built: Build, tmp_path: Path) -> None:
    assert toolchain.key(submission(tmp_path / "same"), operator(), str(tmp_path / "scratch")) == built.key
    changed = submission(tmp_path / "changed", {KERNEL_PATH: KERNEL + "\n// another\n"})
    assert toolchain.key(changed, operator(), str(tmp_path / "scratch two")) != built.key
    assert toolchain.key(submission(tmp_path / "other"), operator("nosuch"), str(tmp_path / "scratch three")) == ""


def test_another_engine_compiles_nothing_and_is_in_the_key(toolchain: VnpuToolchain, built: Build, tmp_path: Path) -> None:
    own, copy = toolchain._ready(), tmp_path / "vnpu_cpp"
    shutil.copytree(own.paths.root, copy, ignore=shutil.ignore_patterns("cache"))
    (copy / "engine" / "more.h").write_text("// another cost\n")
    other = VnpuToolchain(hardware(), toolchain._store.root.parent, source_root=copy)
    other._own = replace(own, paths=Paths(copy))
    counting = PlainRunner()
    again = other.build(submission(tmp_path / "submission"), operator(), counting, str(tmp_path / "out"))
    assert (again.outcome, counting.jobs) == (None, [])
    assert again.key != built.key


def test_the_same_sources_in_another_folder_build_nothing_again(toolchain: VnpuToolchain, built: Build, tmp_path: Path) -> None:
    copy, counting = tmp_path / "vnpu_cpp", PlainRunner()
    shutil.copytree(toolchain._ready().paths.root, copy, ignore=shutil.ignore_patterns("cache"))
    other = VnpuToolchain(hardware(), toolchain._store.root.parent, source_root=copy)
    other.prepare(counting)
    again = other.build(submission(tmp_path / "submission"), operator(), counting, str(tmp_path / "out"))
    assert (counting.jobs, again.outcome, again.key) == ([], None, built.key)


def test_another_build_of_the_compiler_is_another_key(toolchain: VnpuToolchain, built: Build, tmp_path: Path) -> None:
    own = toolchain._ready()
    other = VnpuToolchain(hardware(), toolchain._store.root.parent, source_root=own.paths.root)
    other._own = replace(own, compiler=replace(own.compiler, identity="12.2.0 patched"))
    counting = PlainRunner()
    again = other.build(submission(tmp_path / "submission"), operator(), counting, str(tmp_path / "out"))
    assert again.key != built.key
    assert "scale_kernel.device.o" in {Path(job.argv[-1]).name for job in counting.jobs}


def test_a_change_in_the_python_package_is_in_the_key(toolchain: VnpuToolchain, built: Build, tmp_path: Path) -> None:
    changed = submission(tmp_path / "submission", {"cann_bench/tools.py": "MORE = 1\n"})
    assert toolchain.build(changed, operator(), PlainRunner(), str(tmp_path / "out")).key != built.key


def test_a_change_in_another_operator_s_unit_rebuilds_nothing(toolchain: VnpuToolchain, built: Build, tmp_path: Path) -> None:
    counting = PlainRunner()
    changed = submission(tmp_path / "submission", {"csrc/ops/other/op_kernel/other_kernel.cpp": "still not C++"})
    assert toolchain.build(changed, operator(), counting, str(tmp_path / "out")).key == built.key
    assert counting.jobs == []


def test_a_change_in_a_kernel_compiles_no_plugin(toolchain: VnpuToolchain, built: Build, tmp_path: Path) -> None:
    counting = PlainRunner()
    build = toolchain.build(submission(tmp_path / "submission", {KERNEL_PATH: KERNEL + "// more\n"}), operator(), counting, str(tmp_path / "out"))
    assert build.outcome is None
    assert build.key != built.key
    made = {Path(job.argv[-1]).name for job in counting.jobs}
    assert "scale_kernel.device.o" in made
    assert made.isdisjoint({"scale_plugin.host.o", "extension.host.o"})


def test_a_unit_that_includes_another_depends_on_it(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    inner = {"csrc/ops/scale/op_kernel/inner.cpp": "#define VALUE 1\n"}
    outer = {KERNEL_PATH: '#include "inner.cpp"\n' + KERNEL}
    first = toolchain.build(submission(tmp_path / "first", {**inner, **outer}), operator(), PlainRunner(), str(tmp_path / "a"))
    counting = PlainRunner()
    inner = {path: text.replace("1", "2") for path, text in inner.items()}
    second = toolchain.build(submission(tmp_path / "second", {**inner, **outer}), operator(), counting, str(tmp_path / "b"))
    assert (first.outcome, second.outcome) == (None, None)
    assert "scale_kernel.device.o" in {Path(job.argv[-1]).name for job in counting.jobs}


def test_jobs_are_build_jobs_that_write_into_one_folder_of_their_own(runner: PlainRunner, built: Build) -> None:
    assert built.outcome is None
    for job in runner.jobs:
        assert job.role is Role.BUILD
        assert job.writable == (job.cwd,)
        assert Path(job.argv[-1]).parent == Path(job.cwd)
    assert len({job.cwd for job in runner.jobs}) == len(runner.jobs)


def edited(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


SHIFT = "AscendC::SetPadValue(static_cast<int64_t>(shift));"
SHIFT_LINE = 1 + KERNEL.splitlines().index(f"    {SHIFT}")
TENSOR = "AscendC::LocalTensor<bfloat16_t> t; "


@pytest.mark.parametrize(
    ("statement", "cause", "text", "instruction"),
    [
        ("AscendC::SetPadValue(shiift);", Cause.COMPILE_ERROR, "shiift", ""),
        ("AscendC::BilinearInterpolation(x, x);", Cause.UNSUPPORTED_API, "BilinearInterpolation is not part", "BilinearInterpolation"),
        ("using namespace AscendC; RpSort16<float>(x, 8);", Cause.UNSUPPORTED_API, "RpSort16 is not part", "RpSort16"),
        ("AscendC::TPipe p; p.InitSpmBuffer(x, 8);", Cause.UNSUPPORTED_API, "InitSpmBuffer is not part", "InitSpmBuffer"),
        ("AscendC::SetPadValue(1, 2, 3);", Cause.COMPILE_ERROR, "no matching function", ""),
        (TENSOR + "AscendC::Exp(t, t, 8);", Cause.UNSUPPORTED_DTYPE, "Exp does not support bfloat16_t", ""),
        ("int v[2][2]; std::sort(v, v + 2, [](char *a, int b) { return b; });", Cause.COMPILE_ERROR, "", ""),
    ],
)
def test_a_compile_failure_has_its_cause_and_the_user_s_line(
    toolchain: VnpuToolchain, tmp_path: Path, statement: str, cause: Cause, text: str, instruction: str
) -> None:
    source = submission(tmp_path / "submission", {KERNEL_PATH: edited(KERNEL, SHIFT, statement)})
    build = toolchain.build(source, operator(), PlainRunner(), str(tmp_path / "out"))
    assert build.outcome is not None
    assert (build.outcome.cause, build.outcome.place.file, build.outcome.place.line) == (cause, KERNEL_PATH, SHIFT_LINE), build.outcome
    assert text in build.outcome.message
    assert build.outcome.place.instruction == instruction
    assert build.artifacts == {}
    assert any(item.severity == "error" and item.file == KERNEL_PATH and item.line == SHIFT_LINE for item in build.diagnostics)


LAUNCH_HEADER = "csrc/ops/scale/op_kernel/scale_launch.h"
MACROS = "#define INNER(x) AscendC::SetPadValue(x, x, x)\n#define OUTER(x) INNER(x)\n"


def test_an_error_in_a_macro_is_placed_where_the_macro_is_used_and_says_where_it_is_defined(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    changes = {KERNEL_PATH: edited(KERNEL, SHIFT, "OUTER(shift);"), LAUNCH_HEADER: FILES[LAUNCH_HEADER] + MACROS}
    build = toolchain.build(submission(tmp_path / "submission", changes), operator(), PlainRunner(), str(tmp_path / "out"))
    assert build.outcome is not None
    assert (build.outcome.place.file, build.outcome.place.line) == (KERNEL_PATH, SHIFT_LINE)
    assert build.outcome.message.startswith("no matching function for call to")
    assert build.outcome.message.endswith(f"(in macro INNER, defined at {LAUNCH_HEADER}:3)")


@pytest.mark.parametrize(
    ("launch", "text"),
    [
        ("plain_kernel<<<1, 0, nullptr, stream>>>(5);", "the launch of plain_kernel passes (int), the kernel takes ()"),
        ("plain_kernel<<<1>>>();", "the launch of plain_kernel is configured with <<<int>>>, expected <<<blocks, L2 descriptor or nullptr, stream>>>"),
        (
            "[stream](void (*f)()) { f<<<1, 0, nullptr, stream>>>(); }(&plain_kernel);",
            "a launch through a pointer that is known only at run time: name the kernel before <<<, or hand it on as a template argument",
        ),
    ],
)
def test_a_launch_that_does_not_fit_its_kernel_is_told_in_words_of_the_user(toolchain: VnpuToolchain, tmp_path: Path, launch: str, text: str) -> None:
    old = "plain_kernel<<<1, 0, nullptr, stream>>>();"
    line = 1 + KERNEL.splitlines().index(f"    {old}")
    source = submission(tmp_path / "submission", {KERNEL_PATH: edited(KERNEL, old, launch)})
    build = toolchain.build(source, operator(), PlainRunner(), str(tmp_path / "out"))
    assert build.outcome is not None
    assert (build.outcome.message, build.outcome.place.line) == (text, line)


def test_a_pointer_to_a_kernel_that_is_a_constant_launches_it(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    source = submission(tmp_path / "submission", {KERNEL_PATH: edited(KERNEL, "    plain_kernel<<<", "    constexpr auto pointer = &plain_kernel; pointer<<<")})
    assert toolchain.build(source, operator(), PlainRunner(), str(tmp_path / "out")).outcome is None


def test_a_warning_is_shown_once_and_by_a_cached_build_too(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    source = {KERNEL_PATH: edited(KERNEL, SHIFT, f"char narrow = 300; {SHIFT} (void)narrow;")}
    for name, is_cached in (("first", False), ("again", True)):
        build = toolchain.build(submission(tmp_path / name, source), operator(), PlainRunner(), str(tmp_path / f"out-{name}"))
        assert (build.outcome, build.is_cached) == (None, is_cached)
        (warning,) = build.diagnostics
        assert (warning.severity, warning.file, warning.line) == ("warning", KERNEL_PATH, SHIFT_LINE)
        assert "overflow in conversion" in warning.message


@pytest.mark.parametrize(("header", "cause"), [("lib/hccl/hccl.h", Cause.UNSUPPORTED_API), ("no_such_header.h", Cause.COMPILE_ERROR)])
def test_a_vendor_header_that_is_missing_is_an_unsupported_api(toolchain: VnpuToolchain, tmp_path: Path, header: str, cause: Cause) -> None:
    source = submission(tmp_path / "submission", {KERNEL_PATH: f'#include "{header}"\n{KERNEL}'})
    build = toolchain.build(source, operator(), PlainRunner(), str(tmp_path / "out"))
    assert build.outcome is not None
    assert (build.outcome.cause, build.outcome.place.line) == (cause, 1)


def test_a_function_that_no_source_defines_is_a_link_error_every_time(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    changes = {PLUGIN_PATH: 'extern "C" void absent(void *); extern "C" void scale(void *x) { absent(x); }\n'}
    for attempt in ("first", "second"):
        build = toolchain.build(submission(tmp_path / attempt, changes), operator(), PlainRunner(), str(tmp_path / f"out-{attempt}"))
        assert build.outcome is not None
        assert (build.outcome.cause, build.outcome.numbers["symbol"]) == (Cause.LINK_ERROR, "absent")
        assert (build.outcome.place.file, build.outcome.place.line) == (PLUGIN_PATH, 1)


def test_an_undefined_function_of_cpp_is_named_as_the_source_names_it(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    text = 'namespace ns { template <typename T> int absent(T *); }\n\nextern "C" int scale(float *x) { return ns::absent(x); }\n'
    build = toolchain.build(submission(tmp_path / "submission", {PLUGIN_PATH: text}), operator(), PlainRunner(), str(tmp_path / "out"))
    assert build.outcome is not None
    assert (build.outcome.numbers["symbol"], build.outcome.place.line) == ("int ns::absent<float>(float*)", 3)
    assert "define it under op_kernel/ or op_plugin/" in build.outcome.message


def test_a_function_that_two_sources_define_is_named_with_a_place(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    changes = {PLUGIN_PATH: PLUGIN + "int twice(int x) { return x; }\n", KERNEL_PATH: KERNEL + "int twice(int x) { return x + 1; }\n"}
    build = toolchain.build(submission(tmp_path / "submission", changes), operator(), PlainRunner(), str(tmp_path / "out"))
    assert build.outcome is not None
    assert (build.outcome.cause, build.outcome.numbers["symbol"]) == (Cause.LINK_ERROR, "twice(int)")
    assert build.outcome.place.file in (PLUGIN_PATH, KERNEL_PATH)
    assert str(tmp_path) not in build.outcome.message


def test_torch_is_found_behind_a_quoted_include(tmp_path: Path) -> None:
    files = {"csrc/common/bind.h": '#include "deeper.h"\n', "csrc/common/deeper.h": "#include <ATen/ATen.h>\n", LAUNCH_HEADER: "int x;\n"}
    source = submission(tmp_path / "submission", {**files, PLUGIN_PATH: '#include "../../../common/bind.h"\n'})
    tree = copy_sources(source, source.operators[0], tmp_path / "copy")
    assert (tree.mentions_torch(PLUGIN_PATH), tree.mentions_torch(KERNEL_PATH)) == (True, False)


@pytest.mark.parametrize(
    ("text", "is_told_apart"),
    [
        ("#ifdef __DAV_C220_CUBE__\n#endif\n", True),
        ("  #  if defined(A) || \\\n    defined(__DAV_VEC__)\n#endif\n", True),
        ("#if 0\n#elif defined(__DAV_C220_VEC__)\n#endif\n", True),
        ("if constexpr (AscendC::g_coreType == AscendC::AIV) {\n}\n", True),
        ("// compiled for __DAV_C220_CUBE__\nint x;\n", False),
        ("if (g_coreType == AscendC::AIC) {\n}\nif ASCEND_IS_AIC {\n}\n", False),
        ("#include <a.h>\nint __DAV_CUBE__;\n", False),
    ],
)
def test_a_source_that_asks_the_preprocessor_for_the_kind_of_core_is_found(tmp_path: Path, text: str, is_told_apart: bool) -> None:
    source = submission(tmp_path / "submission", {LAUNCH_HEADER: text})
    tree = copy_sources(source, source.operators[0], tmp_path / "copy")
    assert tree.tells_cores_apart(KERNEL_PATH) is is_told_apart


def test_a_hostile_line_is_looked_through_at_once() -> None:
    code = r"""from piton.targets.vnpu.sources import _BY_CORE; assert not _BY_CORE.search(b"#if x" + b"\\\r" * 64)"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)


def test_an_operator_without_sources_is_missing(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    build = toolchain.build(submission(tmp_path / "submission"), operator("gelu"), PlainRunner(), str(tmp_path / "out"))
    assert build.outcome is not None
    assert build.outcome.cause is Cause.OPERATOR_MISSING
    assert "csrc/ops/gelu" in build.outcome.message


def test_a_compiler_that_does_not_end_is_a_build_timeout(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    changed = submission(tmp_path / "submission", {KERNEL_PATH: KERNEL + "// another key\n"})
    build = toolchain.build(changed, operator(), StuckRunner(), str(tmp_path / "out"))
    assert build.outcome is not None
    assert build.outcome.cause is Cause.BUILD_TIMEOUT


def test_a_package_without_extension_source_gets_a_module_name_from_its_imports(toolchain: VnpuToolchain, tmp_path: Path) -> None:
    changes = {
        "cann_bench/__init__.py": "from . import _native\n",
        "csrc/extension.cpp": EXTENSION.replace('"_C"', '"_native"').replace("PyInit__C", "PyInit__native"),
    }
    build = toolchain.build(submission(tmp_path / "submission", changes), operator(), PlainRunner(), str(tmp_path / "out"))
    assert build.outcome is None
    import_package(toolchain, build)


def test_own_sources_that_do_not_compile_make_the_target_unavailable(tmp_path: Path) -> None:
    shutil.copytree(INCLUDE, tmp_path / "include")
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "broken.cpp").write_text("int main( {")
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "sound.cpp").write_text("int sound;")
    (tmp_path / "include" / "host" / "piton_torch.h").write_text("#pragma once\n")
    with pytest.raises(TargetUnavailableError, match="the virtual NPU could not be built"):
        VnpuToolchain(hardware(), tmp_path / "cache", source_root=tmp_path).prepare(PlainRunner())


def test_a_machine_without_compiler_is_told_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiler.shutil, "which", lambda _name: None)
    lacks = VnpuToolchain(hardware(), tmp_path).missing()
    assert any("apt-get install g++ python3-dev" in item for item in lacks), json.dumps(lacks)
