"""Which files of a submission one operator is built from: a change of anything else must not build it again, and nothing it includes may be missing."""

from pathlib import Path

import pytest

from piton.catalog import read_submission
from piton.targets.vnpu.sources import copy_sources

EXP, MISH = "csrc/ops/exp/op_kernel", "csrc/ops/mish/op_kernel"
FILES = {
    f"{EXP}/exp.cpp": '#include "exp_launch.h"\n#include "../../../common/tiling.h"\n',
    f"{EXP}/exp_launch.h": "",
    f"{MISH}/mish.cpp": '#include "mish_math.h"\n',
    f"{MISH}/mish_math.h": '#include "mish_table.h"\n',
    f"{MISH}/mish_table.h": "",
    f"{MISH}/mish_launch.h": "",
    "csrc/common/tiling.h": "",
    "csrc/common/unused.h": "",
}
OWN = {f"{EXP}/exp.cpp", f"{EXP}/exp_launch.h", "csrc/common/tiling.h", "csrc/common/unused.h"}


def copied(folder: Path, text: str) -> set[str]:
    """Paths that the build of exp copies when its unit has this text besides."""
    for path, content in {**FILES, f"{EXP}/exp.cpp": FILES[f"{EXP}/exp.cpp"] + text}.items():
        (folder / "in" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / path).write_text(content)
    submission = read_submission(folder / "in", folder / "store")
    sources = next(item for item in submission.operators if item.operator == "exp")
    return {item.path for item in copy_sources(submission, sources, folder / "copy").files}


def test_headers_of_another_operator_stay_out(tmp_path: Path) -> None:
    assert copied(tmp_path, "") == OWN


@pytest.mark.parametrize("line", ['#include "../../mish/op_kernel/mish_math.h"', '/* theirs */ %:include "mish/op_kernel/mish_math.h"'])
def test_a_header_of_another_operator_comes_along_with_what_it_includes(tmp_path: Path, line: str) -> None:
    assert copied(tmp_path, f"{line}\n") == OWN | {f"{MISH}/mish_math.h", f"{MISH}/mish_table.h"}


def test_all_headers_come_along_when_names_do_not_show_what_is_included(tmp_path: Path) -> None:
    assert copied(tmp_path, '#define MATH "../../mish/op_kernel/mish_math.h"\n#include MATH\n') == set(FILES) - {f"{MISH}/mish.cpp"}
