"""What `piton deliver` writes, refuses and notices; whether deliveries compute right is asked in tests/e2e/test_deliver_command.py."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from piton.catalog import read_submission
from piton.core.errors import PitonError, UsageError
from piton.deliver import DeliveryRequest, deliver
from piton.deliver.check_files import check_files
from piton.deliver.checks import Status
from piton.deliver.dry_run import dry_run
from piton.deliver.plan import Plan, plan_delivery

needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake on this machine")
LAUNCH = "csrc/ops/exp/op_kernel/exp_launch.h"
PROJECT = {
    "csrc/ops/exp/op_kernel/exp_kernel.cpp": '#include "exp_launch.h"\n#include "../../../common/tiling.h"\n',
    LAUNCH: "void LaunchExp();\n",
    "csrc/ops/exp/op_plugin/exp_plugin.cpp": '#include "../op_kernel/exp_launch.h"\n',
    "csrc/ops/exp/README.md": "How exp works.\n",
    "csrc/ops/mish/op_kernel/mish_kernel.cpp": '#include "../../exp/op_kernel/exp_launch.h"\n',
    "csrc/ops/mish/op_kernel/mish_math.h": "",
    "csrc/common/tiling.h": "#pragma once\n",
    "cann_bench/__init__.py": "from . import _C\n",
    "CMakeLists.txt": "project(other)\n",
    "piton.yaml": "auto_sync: false\n",
}
SINGLE = {"exp.asc": '#include "exp_math.h"\nTORCH_LIBRARY_FRAGMENT(own_ops, m) {}\n', "exp_math.h": ""}
BY_ARCH = {"csrc/exp/dav-2201/exp.asc": '#include "../exp_math.h"\n', "csrc/exp/exp_math.h": ""}


def written(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def delivered(tmp_path: Path, files: dict[str, str], *operators: str) -> tuple[Path, dict[str, object]]:
    """The delivery's folder and record, without the checks that build."""
    source = written(tmp_path / "in", files)
    made = deliver(DeliveryRequest(str(source), str(tmp_path / "out"), str(tmp_path / "cache"), operators, evaluates=False, builds=False))
    return made.folder, json.loads((made.folder / "delivery.json").read_text())


def planned(tmp_path: Path, files: dict[str, str]) -> tuple[Plan, Path]:
    folder, _ = delivered(tmp_path, files)
    return plan_delivery(read_submission(tmp_path / "in", tmp_path / "store"), ()), folder


def test_one_operator_takes_its_own_and_the_common_files_along(tmp_path: Path) -> None:
    folder, record = delivered(tmp_path, PROJECT, "exp")
    sources = sorted(str(path.relative_to(folder)) for path in (folder / "csrc").rglob("*") if path.is_file())
    assert sources == sorted([*(path for path in PROJECT if path.startswith(("csrc/ops/exp", "csrc/common"))), "csrc/extension.cpp"])
    assert all((folder / path).read_text() == PROJECT[path] for path in sources if path in PROJECT)
    assert record["left_out"] == ["CMakeLists.txt", "csrc/ops/mish/op_kernel/mish_kernel.cpp", "csrc/ops/mish/op_kernel/mish_math.h", "piton.yaml"]


def test_a_header_of_an_operator_that_stays_behind_comes_along_when_it_is_included(tmp_path: Path) -> None:
    folder, record = delivered(tmp_path, PROJECT, "mish")
    assert (folder / LAUNCH).is_file()
    assert record["checks"] == [{"name": "files", "status": "passed", "detail": "1 sources of 1 operators and all that they include"}]


@pytest.mark.parametrize(("files", "place"), [(SINGLE, "csrc/ops/exp/exp.asc"), (BY_ARCH, "csrc/ops/exp/csrc/exp/dav-2201/exp.asc")])
def test_single_source_files_move_to_the_operators_folder_with_what_they_include(tmp_path: Path, files: dict[str, str], place: str) -> None:
    folder, record = delivered(tmp_path, files)
    assert (folder / place).is_file()
    assert f"KERNELS {place}" in (folder / "CMakeLists.txt").read_text()
    assert record["checks"][0]["status"] == "passed"  # type: ignore[index]


def test_package_module_and_compile_options_are_those_of_the_submission(tmp_path: Path) -> None:
    folder, record = delivered(tmp_path, PROJECT)
    assert "--cce-auto-sync=off" in (folder / "CMakeLists.txt").read_text()
    assert (folder / "cann_bench/__init__.py").read_text() == PROJECT["cann_bench/__init__.py"]
    assert record["auto_sync"] is False
    folder, record = delivered(tmp_path / "single", SINGLE)
    assert "--cce-auto-sync" not in (folder / "CMakeLists.txt").read_text()
    assert record["package"] == "own_ops"
    assert "from . import _C" in (folder / "own_ops/__init__.py").read_text()


def test_a_delivery_is_a_submission_with_the_same_operators(tmp_path: Path) -> None:
    folder, _ = delivered(tmp_path, PROJECT)
    again = read_submission(folder, tmp_path / "again")
    assert [item.operator for item in again.operators] == ["exp", "mish"]
    assert (again.manifest.package, again.manifest.auto_sync) == ("cann_bench", False)


@pytest.mark.parametrize(
    ("files", "operators", "what"),
    [
        (PROJECT, ("gelu",), "no operator 'gelu'"),
        ({**PROJECT, "csrc/ops/exp/op_kernel/a b.h": ""}, (), "a name that build tools would misread"),
        ({**PROJECT, "csrc/ops/exp/op_kernel/$(touch x).h": ""}, (), "a name that build tools would misread"),
        ({**PROJECT, "csrc/ops/exp/libexp.so": "x"}, (), "compiled files"),
        ({"exp.cpp": '#include "piton/cpu.h"\n'}, (), "only Ascend C"),
        ({"op_host/exp.cpp": "", "op_kernel/exp.cpp": ""}, (), "operator project"),
        ({"cann_bench/__init__.py": ""}, (), "nothing to deliver"),
    ],
)
def test_what_cannot_be_delivered_gets_one_error_and_leaves_nothing(tmp_path: Path, files: dict[str, str], operators: tuple[str, ...], what: str) -> None:
    source = written(tmp_path / "in", files)
    with pytest.raises(UsageError, match=what.replace("(", r"\(")):
        deliver(DeliveryRequest(str(source), str(tmp_path / "out"), str(tmp_path / "cache"), operators, evaluates=False, builds=False))
    assert sorted(item.name for item in tmp_path.iterdir()) == ["in"]


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    source, out = written(tmp_path / "in", PROJECT), written(tmp_path / "out", {"mine.txt": "mine"})
    with pytest.raises(PitonError, match="exists"):
        deliver(DeliveryRequest(str(source), str(out), str(tmp_path / "cache"), evaluates=False, builds=False))
    assert [item.name for item in out.iterdir()] == ["mine.txt"]


def test_a_missing_file_is_named_with_the_line_that_wants_it(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, PROJECT)
    assert check_files(plan, folder).status is Status.PASSED
    (folder / "csrc/common/tiling.h").unlink()
    check = check_files(plan, folder)
    assert check.status is Status.FAILED
    assert 'exp_kernel.cpp includes "../../../common/tiling.h"' in check.detail


@needs_cmake
def test_the_dry_run_makes_a_wheel_and_counts_what_each_compiler_got(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, PROJECT)
    check = dry_run(plan, folder, tmp_path)
    assert (check.status, check.detail.partition(": ")[2]) == (
        Status.PASSED,
        "2 kernels to bisheng, 1 bindings to the host's compiler, one wheel with the library",
    )


@needs_cmake
@pytest.mark.parametrize(
    ("file", "old", "new", "what"),
    [
        ("CMakeLists.txt", "-xasc ", "", "bisheng was not asked for"),
        ("CMakeLists.txt", "PLUGINS csrc/ops/exp/op_plugin/exp_plugin.cpp", "", "exp_plugin.cpp went 0 times"),
        ("CMakeLists.txt", "LIBRARY_OUTPUT_DIRECTORY", "LIBRARY_OUTPUT_NOWHERE", "build.sh ended with 1"),
        ("build.sh", "rm -rf build dist", 'fail "out of luck"', "out of luck"),
    ],
)
def test_the_dry_run_notices_a_build_that_does_not_do_its_work(tmp_path: Path, file: str, old: str, new: str, what: str) -> None:
    plan, folder = planned(tmp_path, PROJECT)
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    check = dry_run(plan, folder, tmp_path)
    assert check.status is Status.FAILED
    assert what in check.detail


def test_a_machine_without_cmake_makes_no_dry_run_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, folder = planned(tmp_path, PROJECT)
    monkeypatch.setenv("PATH", "")
    assert dry_run(replace(plan), folder, tmp_path).detail.startswith("this machine has no cmake")


@needs_cmake
def test_all_reference_kernels_are_packaged_and_their_build_runs_dry(tmp_path: Path) -> None:
    source = Path(__file__).resolve().parents[2] / "kernels/reference"
    made = deliver(DeliveryRequest(str(source), str(tmp_path / "out"), str(tmp_path / "cache"), evaluates=False))
    assert [(check.name, check.status) for check in made.checks] == [("files", Status.PASSED), ("build.sh, dry run", Status.PASSED)], made.checks
    assert len(made.plan.operators) == len(list((source / "csrc/ops").iterdir()))
