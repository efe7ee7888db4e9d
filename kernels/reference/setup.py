"""Packages cann_bench with its compiled library (not verified on hardware); build.sh calls it. The virtual NPU does not use this file."""

import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


class BuildWithCMake(build_ext):
    """Lets CMake build the one extension, `cann_bench/_C.abi3.so`, into the source tree, from where the package data picks it up."""

    def run(self) -> None:
        import torch
        import torch_npu

        build = ROOT / "build"
        paths = {
            "CMAKE_PREFIX_PATH": torch.utils.cmake_prefix_path,
            "TORCH_NPU_PATH": str(Path(torch_npu.__file__).parent),
            "Python3_EXECUTABLE": sys.executable,
        }
        subprocess.check_call(["cmake", "-S", str(ROOT), "-B", str(build), *(f"-D{name}={value}" for name, value in paths.items())])
        subprocess.check_call(["cmake", "--build", str(build), "--parallel"])
        if self.inplace:
            return
        target = Path(self.build_lib) / "cann_bench"
        target.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(ROOT / "cann_bench" / "_C.abi3.so"), str(target / "_C.abi3.so"))


setup(
    name="cann_bench",
    version="0.1.0",
    description="Reference kernels of levels 1 and 2 of the benchmark, for the Ascend 910B",
    packages=["cann_bench"],
    ext_modules=[Extension("cann_bench._C", sources=[], py_limited_api=True)],
    cmdclass={"build_ext": BuildWithCMake},
    python_requires=">=3.10",
    install_requires=["torch", "torch_npu"],
)
