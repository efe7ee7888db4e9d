from pathlib import Path

import pytest

from piton.catalog import read_submission
from piton.targets.vnpu.package import assemble_package


@pytest.mark.parametrize("name", ["__init__.py/x.py", "_C.abi3.so/x.txt"])
def test_a_folder_named_like_a_file_of_the_package_gives_way(tmp_path: Path, name: str) -> None:
    for path in ("csrc/ops/exp/op_kernel/exp.cpp", f"cann_bench/{name}", "cann_bench/more.py"):
        (tmp_path / "mine" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / path).write_text("")
    library = tmp_path / "made.so"
    library.write_text("")
    folder = assemble_package(read_submission(tmp_path / "mine", tmp_path / "store"), library, "_C", tmp_path / "package")
    assert sorted(path.name for path in (folder / "cann_bench").iterdir() if path.is_file()) == ["_C.abi3.so", "__init__.py", "more.py"]
