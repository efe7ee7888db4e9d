"""Does `piton run` run a whole program on the virtual NPU, and does it say what is wrong with one that is not right?"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).resolve().parents[1] / "submissions" / "programs"
NUMBERS = [float(number) for number in range(256)]


def line_of(text: str) -> int:
    """Number of the line of the program that begins with or holds `text`."""
    lines = (PROGRAMS / "triple.asc").read_text().split("\n")
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program's folder with its data and an empty folder for its output."""
    made = tmp_path / "triple"
    (made / "input").mkdir(parents=True)
    (made / "output").mkdir()
    shutil.copy(PROGRAMS / "triple.asc", made)
    (made / "input" / "x.bin").write_bytes(struct.pack("256f", *NUMBERS))
    return made


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "piton.cli.main", "run", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, env={**os.environ, "COLUMNS": "200"})


def report_of(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    done = run("--json", *arguments)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_program_runs_with_its_data_and_its_files_are_brought(folder: Path, tmp_path: Path) -> None:
    status, report = report_of(folder / "triple.asc", "--out", tmp_path / "out")
    assert (status, report["outcome"]["verdict"], report["exit_code"]) == (0, "passed", 0), report["outcomes"]
    assert report["stdout"] == "made on load\n48 cores, host, time passed, last 765\n"
    assert report["printed"] == "block 0 tripled 256 numbers\n"  # and nothing of the host's constructors, which the device does not have
    assert report["files"] == ["output/z.bin"]
    assert list(struct.unpack("256f", (tmp_path / "out" / "output" / "z.bin").read_bytes())) == [3 * number for number in NUMBERS]
    assert list((folder / "output").iterdir()) == []
    (launch,) = report["launches"]
    assert (launch["kernel"], launch["blocks"]) == ("triple<float, 256>", 1)
    assert 0 < launch["time_us"] == report["total_us"]


def test_a_program_writes_over_the_files_of_its_last_run(folder: Path) -> None:
    (folder / "output" / "z.bin").write_bytes(b"of the last run")
    status, report = report_of(folder / "triple.asc", "--out", folder)
    assert (status, report["files"]) == (0, ["output/z.bin"]), report["outcomes"]
    assert len((folder / "output" / "z.bin").read_bytes()) == 1024


@pytest.mark.parametrize(
    ("how", "cause", "place", "text"),
    [
        ("three", "host_exit", "", "the program returned 3"),
        ("hazard", "missing_sync", "AscendC::Muls(tile", ""),
        ("small", "bad_parameter", 'how == "small"', "aclrtMemcpy: 1024 bytes into a destination of 4"),
        ("twice", "bad_parameter", "    aclrtFree(x);", "aclrtFree: the pointer is not one of aclrtMalloc, or was freed before"),
        ("touch", "host_device_access", 'how == "touch"', "device pointers are for kernels only"),
        ("crash", "host_signal", 'how == "crash"', "SIGABRT"),
    ],
)
def test_what_is_wrong_has_a_cause_a_place_and_a_status(folder: Path, how: str, cause: str, place: str, text: str) -> None:
    status, report = report_of(folder / "triple.asc", "--", how)
    found = report["outcome"]
    assert (status, found["cause"]) == (1, cause), report["outcomes"]
    assert text in found["message"]
    if place:
        assert (found["place"]["file"], found["place"]["line"]) == ("triple.asc", line_of(place))


WAITING = """#include <cstdlib>
#include <string>
#include <unistd.h>
#include "acl/acl.h"
static void Wait(const std::string &how)
{
    volatile bool isWaiting = true;
    while (how == "spin" && isWaiting) {
    }
    if (how == "leave") std::exit(5);
    if (how == "sleep") sleep(100);
}
int main(int, char **words)
{
    Wait(words[1]);
    return 3;
}
"""


@pytest.mark.parametrize(
    ("how", "cause", "lines", "numbers"),
    [
        ("spin", "host_deadline", (8, 9), {"deadline_s": 1.0}),
        ("sleep", "host_deadline", (11,), {"deadline_s": 1.0}),
        ("leave", "host_exit", (10,), {"exit_code": 5}),
    ],
)
def test_a_program_that_does_not_come_to_its_end_says_where_it_was(
    tmp_path: Path, how: str, cause: str, lines: tuple[int, ...], numbers: dict[str, float]
) -> None:
    (tmp_path / "waiting").mkdir()
    (tmp_path / "waiting" / "main.cpp").write_text(WAITING)
    status, report = report_of(tmp_path / "waiting" / "main.cpp", "--timeout", "1", "--", how)
    found = report["outcome"]
    assert (status, found["cause"], found["place"]["file"], found["numbers"]) == (1, cause, "main.cpp", numbers), found
    assert found["place"]["line"] in lines, found


def test_text_goes_to_the_right_streams(folder: Path) -> None:
    done = run(folder / "triple.asc", "--", "hazard")
    assert done.stdout == "made on load\n48 cores, host, time passed, last 765\n"
    for text in (
        "block 0 tripled 256 numbers",
        "triple<float, 256>",
        f"hazard: missing_sync at triple.asc:{line_of('AscendC::Muls(tile')}",
        "output/z.bin (dropped; give --out FOLDER",
    ):
        assert text in done.stderr, done.stderr


def test_a_kernel_in_another_file_is_launched_by_its_generated_function() -> None:
    status, report = report_of(PROGRAMS / "launched" / "main.cpp", "--source", "ramp.cpp")
    assert (status, report["stdout"]) == (0, "2\n"), report["outcomes"]


@pytest.mark.parametrize(
    ("text", "cause", "line", "message"),
    [
        ('#include "kernel_operator.h"\n__global__ __aicore__ void k() {}\n', "link_error", 0, "there is no main()"),
        ('#include "acl/acl.h"\nint main()\n{\n    return undeclared;\n}\n', "compile_error", 4, "undeclared"),
        ('#include "acl/acl.h"\nint main()\n{\n    return aclmdlLoadFromFile("m", nullptr);\n}\n', "unsupported_api", 4, "aclmdlLoadFromFile is not part of"),
        ('#include "acl/acl.h"\n#include "aclrtlaunch_gone.h"\nint main() { return 0; }\n', "compile_error", 0, "no kernel gone among the sources"),
        ("#include <torch/all.h>\nint main() { return 0; }\n", "compile_error", 0, "torch"),
    ],
    ids=["no main", "compile error", "unknown acl call", "no such kernel", "torch"],
)
def test_what_does_not_build_says_why_and_where(tmp_path: Path, text: str, cause: str, line: int, message: str) -> None:
    (tmp_path / "prog").mkdir()
    (tmp_path / "prog" / "main.asc").write_text(text)
    status, report = report_of(tmp_path / "prog" / "main.asc")
    assert (status, report["outcome"]["verdict"], report["outcome"]["cause"]) == (1, "build_failed", cause), report["outcome"]
    assert message in report["outcome"]["message"]
    assert not line or report["outcome"]["place"] == {"file": "main.asc", "line": line, "core": None, "instruction": report["outcome"]["place"]["instruction"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gone.asc",), "no program"),
        (("README.md",), "not a source file"),
        (("main.asc", "-D", "1=2"), "not a macro"),
        (("main.asc", "--target", "null"), "runs no whole programs"),
        (("main.asc", "--accuracy", "fast"), "there is no accuracy mode 'fast'"),
        (("main.asc", "--accuracy", "pessimistic", "--timing-only"), "--timing-only computes nothing"),
        (("main.asc", "--source", "gone.cpp"), "no such source"),
        (("main.asc", "--folder", "sub"), "outside the program's folder"),
    ],
)
def test_wrong_use_is_one_message(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "main.asc").write_text("int main() { return 0; }\n")
    (tmp_path / "README.md").write_text("text")
    (tmp_path / "sub").mkdir()
    command = [sys.executable, "-m", "piton.cli.main", "run", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
