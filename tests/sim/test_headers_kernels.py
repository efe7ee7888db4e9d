"""Does a launch register the kernel with the kind of core it is declared for?"""

from __future__ import annotations

import subprocess
from pathlib import Path

CPP = Path(__file__).parent / "cpp"
INCLUDE = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp" / "include"


def test_a_cube_kernel_is_registered_for_cube_cores_and_runs_like_any_other(tmp_path: Path) -> None:
    program = tmp_path / "program"
    command = ["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-DPITON_DEVICE_PASS", f"-I{INCLUDE}", str(CPP / "headers_kernels.cpp")]
    subprocess.run([*command, "-o", str(program)], check=True, timeout=120)
    printed = subprocess.run([str(program)], check=True, timeout=60, capture_output=True, text=True).stdout.splitlines()
    assert sorted(printed) == ["0 vector_kernel", "1 cube_kernel<3>", "1 plain_cube_kernel", "3 x 7"]
