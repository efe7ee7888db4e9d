"""Deliveries of odd submissions to odd places: one clear error or a failed check, never a traceback or a file from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.cli.delivering import DeliverOptions, deliver_and_show
from piton.core.errors import UsageError
from piton.deliver import Delivery, DeliveryRequest, deliver
from piton.deliver.checks import Status
from piton.deliver.dry_run import plain_place

KERNEL = "csrc/ops/exp/op_kernel/exp_kernel.cpp"
HEADER = "csrc/ops/exp/op_kernel/exp_math.h"


def submission(folder: Path, kernel: str, header: str = "") -> Path:
    for path, text in {KERNEL: kernel, HEADER: header}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def delivered(source: Path, out: Path) -> Delivery:
    return deliver(DeliveryRequest(str(source), str(out), str(out.parent / "cache"), evaluates=False, builds=False))


@pytest.mark.parametrize("out", ["delivery", "csrc/delivery", "."])
def test_a_delivery_into_the_submission_is_refused_before_anything_is_written(tmp_path: Path, out: str) -> None:
    source = submission(tmp_path / "in", "int a;\n")
    with pytest.raises(UsageError, match=r"inside the submission|exists"):
        delivered(source, source / out)
    assert sorted(str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()) == [KERNEL, HEADER]


def test_an_include_of_a_file_elsewhere_on_this_machine_fails_the_check(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text('#include "nowhere/exp_math.h"\n')
    source = submission(tmp_path / "in", f'#include "{tmp_path}/mine.h"\n')
    check = delivered(source, tmp_path / "out").checks[0]
    assert check.status is Status.FAILED
    assert "which lies outside the delivery" in check.detail


def test_what_a_header_lacks_is_named_behind_a_link_as_well(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    source = submission(tmp_path / "in", '#include "exp_math.h"\n', '#include "nowhere/exp_kernel.cpp"\n')
    assert delivered(source, tmp_path / "link" / "out").checks[0].detail.startswith(f'{HEADER} includes "nowhere/exp_kernel.cpp"')


def test_a_name_that_no_file_system_takes_is_no_file(tmp_path: Path) -> None:
    source = submission(tmp_path / "in", f'#include "{"a" * 5000}.h"\n')
    assert delivered(source, tmp_path / "out").checks[0].status is Status.PASSED


def test_names_with_signs_of_markup_are_printed_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    source = submission(tmp_path / "in", '#include "[/b]/exp_math.h"\n')
    options = DeliverOptions(str(source), str(tmp_path / "out"), (), "piton", is_trusted=False, evaluates=False, builds=False, prints_json=False)
    assert deliver_and_show(options) == 1
    assert "[/b]/exp_math.h" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["a;b", "a:b", "a b", "a{b}", "$a"])
def test_the_dry_run_is_made_where_no_build_tool_misreads_the_path(tmp_path: Path, name: str) -> None:
    with plain_place(tmp_path / name) as place:
        assert place.is_dir()
        assert not set(str(place)) & set(name) - set("ab")
    assert not place.exists()
    with plain_place(tmp_path / "ab") as place:
        assert place == tmp_path / "ab"
