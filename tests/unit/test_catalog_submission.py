"""Is a submission copied as it is, named by all of it, and refused when it is not a plain tree of sources?"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from piton.catalog import list_binaries, read_submission
from piton.catalog import submission as submission_module
from piton.core.errors import EvaluatorError, FormatError, UsageError
from piton.core.submission import OperatorSources


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "csrc/extension.cpp": "// module\n",
        "csrc/ops/exp/op_kernel/exp_kernel.cpp": "// kernel\n",
        "csrc/ops/exp/op_kernel/exp_launch.h": "// header\n",
        "csrc/ops/exp/op_kernel/more.asc": "// kernel too\n",
        "csrc/ops/exp/op_plugin/exp_plugin.cpp": "// binding\n",
        "csrc/ops/gelu/op_kernel/gelu_kernel.cpp": "// kernel\n",
        "csrc/ops/CMakeLists.txt": "",
        "cann_bench/__init__.py": "import torch\n",
    }
    for name, text in files.items():
        write(tmp_path / "mine", name, text)
    return tmp_path / "mine"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def write(root: Path, name: str, text: str | bytes) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def names(root: Path, store: Path) -> set[str]:
    return {item.path for item in read_submission(root, store).files}


def test_the_layout_is_found(root: Path, store: Path) -> None:
    submission = read_submission(root, store)
    assert submission.operators == (
        OperatorSources(
            operator="exp",
            kernels=("csrc/ops/exp/op_kernel/exp_kernel.cpp", "csrc/ops/exp/op_kernel/more.asc"),
            plugins=("csrc/ops/exp/op_plugin/exp_plugin.cpp",),
        ),
        OperatorSources(operator="gelu", kernels=("csrc/ops/gelu/op_kernel/gelu_kernel.cpp",), plugins=()),
    )
    assert (submission.manifest.package, submission.manifest.track, submission.manifest.auto_sync) == ("cann_bench", "ascendc", True)
    assert len(submission.files) == 8


def test_the_copy_is_named_by_its_digest_and_read_only(root: Path, store: Path) -> None:
    submission = read_submission(root, store)
    copy = Path(submission.root)
    assert copy == (store / submission.digest()).resolve()
    assert [path.name for path in store.iterdir()] == [submission.digest()]
    for item in submission.files:
        path = copy / item.path
        assert path.read_bytes() == (root / item.path).read_bytes()
        assert stat.S_IMODE(path.stat().st_mode) == 0o444
        assert path.stat().st_size == item.size_bytes


def test_a_later_change_does_not_reach_the_copy(root: Path, store: Path) -> None:
    first = read_submission(root, store)
    write(root, "cann_bench/__init__.py", "import os\n")
    second = read_submission(root, store)
    assert first.digest() != second.digest()
    assert (Path(first.root) / "cann_bench/__init__.py").read_text() == "import torch\n"


def test_the_same_files_elsewhere_have_the_same_name(root: Path, store: Path, tmp_path: Path) -> None:
    first = read_submission(root, store)
    shutil.copytree(root, tmp_path / "twin")
    second = read_submission(tmp_path / "twin", store)
    assert first == second


def test_a_renamed_file_has_another_name(root: Path, store: Path) -> None:
    first = read_submission(root, store)
    (root / "csrc/ops/exp/op_kernel/more.asc").rename(root / "csrc/ops/exp/op_kernel/less.asc")
    assert read_submission(root, store).digest() != first.digest()


def test_a_changed_store_is_noticed(root: Path, store: Path) -> None:
    submission = read_submission(root, store)
    path = Path(submission.root) / "cann_bench/__init__.py"
    path.chmod(0o644)
    path.write_text("import os\n")
    with pytest.raises(EvaluatorError, match="stored copy of a submission was changed"):
        read_submission(root, store)
    path.write_text("import torch\n")
    read_submission(root, store)
    write(Path(submission.root), "extra.py", "")
    with pytest.raises(EvaluatorError, match="stored copy"):
        read_submission(root, store)


def test_what_is_not_source_is_left_out(root: Path, store: Path) -> None:
    before = names(root, store)
    for name in (".git/config", "build/x.o", "dist/a.whl", "cann_bench/__pycache__/a.pyc", ".pytest_cache/v", "x.egg-info/PKG-INFO", ".venv/lib/a.py", "b.pyc"):
        write(root, name, "x")
    assert names(root, store) == before


def test_a_link_inside_the_tree_counts_as_its_file(root: Path, store: Path) -> None:
    (root / "csrc/ops/gelu/op_kernel/shared.h").symlink_to("../../exp/op_kernel/exp_launch.h")
    submission = read_submission(root, store)
    copy = Path(submission.root) / "csrc/ops/gelu/op_kernel/shared.h"
    assert not copy.is_symlink()
    assert copy.read_text() == "// header\n"


@pytest.mark.parametrize("target", ["/etc/hostname", "../../outside.txt", "/proc/self/environ"])
def test_a_link_that_leaves_the_tree_is_refused(root: Path, store: Path, tmp_path: Path, target: str) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    (root / "csrc/leak.h").symlink_to(target)
    with pytest.raises(UsageError, match="a link that leaves the submission"):
        read_submission(root, store)
    assert list(store.iterdir()) == []


def test_a_link_in_a_chain_that_leaves_the_tree_is_refused(root: Path, store: Path) -> None:
    (root / "a.h").symlink_to("b.h")
    (root / "b.h").symlink_to("/etc/hostname")
    with pytest.raises(UsageError, match="a link that leaves the submission"):
        read_submission(root, store)


def test_links_to_folders_to_nothing_and_to_themselves_are_refused(root: Path, store: Path) -> None:
    for target in ("csrc", "missing", "loop"):
        (root / "loop").symlink_to(target)
        with pytest.raises(UsageError):
            read_submission(root, store)
        (root / "loop").unlink()


def test_a_pipe_is_refused_without_waiting_for_it(root: Path, store: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(UsageError, match="not a plain file"):
        read_submission(root, store)


def test_too_many_files_and_too_many_bytes_are_refused(root: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    total = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    monkeypatch.setattr(submission_module, "MAX_FILES", 8)
    monkeypatch.setattr(submission_module, "MAX_TOTAL_BYTES", total)
    read_submission(root, store)
    monkeypatch.setattr(submission_module, "MAX_FILES", 7)
    with pytest.raises(UsageError, match="too many files"):
        read_submission(root, store)
    monkeypatch.setattr(submission_module, "MAX_FILES", 8)
    monkeypatch.setattr(submission_module, "MAX_TOTAL_BYTES", total - 1)
    with pytest.raises(UsageError, match="submission too large"):
        read_submission(root, store)


def test_the_manifest_is_read(root: Path, store: Path) -> None:
    plain = read_submission(root, store)
    write(root, "piton.yaml", "name: first try\ntrack: ascendc\npackage: mine\nauto_sync: false\n")
    submission = read_submission(root, store)
    assert (submission.manifest.name, submission.manifest.package, submission.manifest.auto_sync) == ("first try", "mine", False)
    assert submission.digest() != plain.digest()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nam: x", "piton.yaml:1: unknown key 'nam'"),
        ("name: x\nauto_sync: maybe", "piton.yaml:2: auto_sync is wrong"),
        ("package: ../x", "piton.yaml:1: package is wrong"),
        ("- 1", "the document has the wrong form"),
        ("name: [", "not valid YAML"),
    ],
)
def test_a_wrong_manifest_is_refused(root: Path, store: Path, text: str, message: str) -> None:
    write(root, "piton.yaml", text)
    with pytest.raises(FormatError) as caught:
        read_submission(root, store)
    assert message in str(caught.value)
    assert str(root) in caught.value.where


def test_a_folder_that_is_no_submission_is_refused(tmp_path: Path, store: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path, message in ((tmp_path / "empty", "no submission in this folder"), (tmp_path / "missing", "no submission")):
        with pytest.raises(UsageError, match=message):
            read_submission(path, store)


def test_binaries_are_listed_by_name_and_by_content(root: Path, store: Path) -> None:
    assert list_binaries(read_submission(root, store)) == ()
    write(root, "cann_bench/_C.abi3.so", "text")
    write(root, "data.txt", b"\x7fELF rest")
    write(root, "kernel.h", b"int a;\0")
    write(root, "weights.BIN", "1")
    assert list_binaries(read_submission(root, store)) == ("cann_bench/_C.abi3.so", "data.txt", "kernel.h", "weights.BIN")


@pytest.mark.parametrize("name", [b"\xff.h", b"a\nb.h", b'a"b.h', b"\x1b[2J.h", b"x" * 220 + b".h"], ids=ascii)
def test_a_name_that_could_act_on_its_reader_is_refused(root: Path, store: Path, name: bytes) -> None:
    (Path(os.fsdecode(os.fsencode(root) + b"/csrc/" + name))).write_text("")
    with pytest.raises(UsageError, match="name"):
        read_submission(root, store)


def test_endlessly_nested_folders_are_refused(root: Path, store: Path) -> None:
    (root / "/".join("d" * 40)).mkdir(parents=True)
    with pytest.raises(UsageError, match="too deep"):
        read_submission(root, store)


@pytest.mark.parametrize(
    "path",
    ["csrc/ops/twice/twice.asc", "csrc/ops/twice/twice.cpp", "csrc/twice/dav-2201/twice.asc", "twice.asc", "twice.cpp"],
    ids=lambda path: path.replace("/", "-"),
)
def test_a_single_source_operator_is_found_in_every_layout(tmp_path: Path, store: Path, path: str) -> None:
    write(tmp_path / "mine", path, "// kernel\n")
    write(tmp_path / "mine", "tiling.h", "// header\n")
    assert read_submission(tmp_path / "mine", store).operators == (OperatorSources(operator="twice", kernels=(path,), plugins=()),)


def test_the_first_layout_that_has_an_operator_counts(root: Path, store: Path) -> None:
    write(root, "csrc/exp/dav-2201/exp.asc", "// again\n")
    write(root, "csrc/sqrt/dav-2201/sqrt.asc", "// another\n")
    found = {item.operator: item.kernels for item in read_submission(root, store).operators}
    assert found["exp"] == ("csrc/ops/exp/op_kernel/exp_kernel.cpp", "csrc/ops/exp/op_kernel/more.asc")
    assert found["sqrt"] == ("csrc/sqrt/dav-2201/sqrt.asc",)


def test_sources_for_another_architecture_are_ignored_and_noted(tmp_path: Path, store: Path) -> None:
    write(tmp_path / "mine", "csrc/twice/dav-2201/twice.asc", "// kernel\n")
    write(tmp_path / "mine", "csrc/twice/dav-3510/twice.asc", "// kernel\n")
    submission = read_submission(tmp_path / "mine", store)
    assert [item.kernels for item in submission.operators] == [("csrc/twice/dav-2201/twice.asc",)]
    (note,) = submission.notes
    assert "csrc/twice/dav-3510/twice.asc" in note


def test_a_file_is_a_submission_with_what_it_includes_in_quotes(tmp_path: Path, store: Path) -> None:
    write(tmp_path / "mine", "twice.asc", '#include "tiling.h"\n#include <vector>\n#include "../outside.h"\n#include "gone.h"\n')
    write(tmp_path / "mine", "tiling.h", '#include "common/more.h"\n')
    write(tmp_path / "mine", "common/more.h", '#include "../tiling.h"\n')
    write(tmp_path / "mine", "other.asc", "// not asked for\n")
    write(tmp_path, "outside.h", "// not part of it\n")
    submission = read_submission(tmp_path / "mine" / "twice.asc", store)
    assert [item.path for item in submission.files] == ["common/more.h", "tiling.h", "twice.asc"]
    assert [item.operator for item in submission.operators] == ["twice"]


@pytest.mark.parametrize(
    ("files", "package"),
    [
        ({"twice.asc": "TORCH_LIBRARY_FRAGMENT(EXTENSION_MODULE_NAME, m) {}\n"}, "cann_bench"),
        ({"twice.asc": "TORCH_LIBRARY_FRAGMENT(mine, m) {}\nTORCH_LIBRARY_IMPL(mine, Meta, m) {}\n"}, "mine"),
        ({"twice.asc": "TORCH_LIBRARY(mine, m) {}\n", "thrice.asc": "TORCH_LIBRARY(yours, m) {}\n"}, "cann_bench"),
        ({"twice.asc": "TORCH_LIBRARY(mine, m) {}\n", "my_ops/__init__.py": ""}, "my_ops"),
        ({"twice.asc": "", "my_ops/__init__.py": "", "tests/__init__.py": ""}, "cann_bench"),
        ({"twice.asc": "", "my_ops/__init__.py": "", "piton.yaml": "package: chosen\n"}, "chosen"),
    ],
    ids=["Piton's name", "registered", "two registered", "a folder", "two folders", "the manifest"],
)
def test_the_package_is_the_manifests_else_the_only_one_that_can_be_meant(tmp_path: Path, store: Path, files: dict[str, str], package: str) -> None:
    for name, text in files.items():
        write(tmp_path / "mine", name, text)
    assert read_submission(tmp_path / "mine", store).manifest.package == package
