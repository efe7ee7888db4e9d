"""Is everything that the compiler sees something that admission has looked into?"""

from __future__ import annotations

from pathlib import Path

from piton.catalog import read_submission
from piton.evaluate.admit import CPP_SUFFIXES, find_refusals
from piton.targets.vnpu import sources as vnpu_sources
from piton.targets.vnpu.sources import copy_sources


def test_what_one_operator_leaves_out_is_copied_for_no_other(tmp_path: Path) -> None:
    """op_plugin lies beside op_host/a, so it belongs to the project of a, which the virtual NPU binds itself; b has no op_host and would see it."""
    files = {"op_host/a/a.cpp": "int a;\n", "op_kernel/a/a.cpp": "int ka;\n", "b.cpp": '#include "op_plugin/evil.h"\n', "b.h": "int hb;\n"}
    for name, text in {**files, "op_plugin/evil.h": "void f() { aclnnExp(1); }\n", "cann_bench/__init__.py": ""}.items():
        path = tmp_path / "submission" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    submission = read_submission(tmp_path / "submission", tmp_path / "store")
    assert "op_plugin/evil.h" in [item.path for item in submission.files]
    assert find_refusals(submission) == {}
    assert {sources.operator for sources in submission.operators} == {"a", "b"}
    for sources in submission.operators:
        copied = [item.path for item in copy_sources(submission, sources, tmp_path / sources.operator).files]
        assert "op_plugin/evil.h" not in copied
        assert {*sources.kernels, "b.h"} <= set(copied)


def test_admission_knows_every_suffix_that_is_copied() -> None:
    assert {*vnpu_sources._UNITS, *vnpu_sources._HEADERS} <= CPP_SUFFIXES
