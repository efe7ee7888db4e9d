"""Reading profiles of the vendor's tools: columns by name, whatever order, unit, encoding and separator they come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog.profile_csv import read_profile
from piton.core.errors import FormatError, UsageError

SUMMARY = (
    "Device_id,Model ID,Op Name,OP Type,Task Duration(us),Block Dim,Input Shapes\n"
    '0,1,add_custom,Add,12.5,40,"""8,2048"""\n'
    "0,1,hcom_allReduce,Communication,N/A,0,\n"
    "0,1,add_custom,Add,12.7,40,\n"
)


def written(tmp_path: Path, data: str | bytes) -> Path:
    path = tmp_path / "profile.csv"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_op_summary_gives_name_duration_and_blocks(tmp_path: Path) -> None:
    profile = read_profile(written(tmp_path, SUMMARY))
    assert [(row.name, row.duration_us, row.blocks, row.line) for row in profile.rows] == [("add_custom", 12.5, 40, 2), ("add_custom", 12.7, 40, 4)]
    assert profile.skipped == 1
    assert profile.rows[0].fields["op type"] == "Add"


def test_kernel_details_with_its_other_names_is_read_too(tmp_path: Path) -> None:
    text = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n1,aclnnMul,Mul,AI_VECTOR_CORE,1.0,3.25,0.1,8\n"
    (row,) = read_profile(written(tmp_path, text)).rows
    assert (row.name, row.duration_us, row.blocks) == ("aclnnMul", 3.25, 8)


@pytest.mark.parametrize(("unit", "value", "us"), [("ns", "2500", 2.5), ("us", "2.5", 2.5), ("μs", "2.5", 2.5), ("ms", "0.0025", 2.5), ("s", "0.0000025", 2.5)])
def test_durations_are_taken_in_the_unit_of_their_column(tmp_path: Path, unit: str, value: str, us: float) -> None:
    (row,) = read_profile(written(tmp_path, f"Duration ({unit}),Name\n{value},k\n")).rows
    assert row.duration_us == pytest.approx(us)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_any_usual_encoding_and_separator_is_read(tmp_path: Path, encoding: str, separator: str) -> None:
    text = separator.join(("Op Name", "Task Duration(us)")) + "\r\n" + separator.join(("加法", "1.5")) + "\r\n"
    (row,) = read_profile(written(tmp_path, text.encode(encoding))).rows
    assert (row.name, row.duration_us, row.blocks) == ("加法", 1.5, None)


@pytest.mark.parametrize("column", ["aicore_time(us)", "Task_Duration(us)", "median_us", "aicore_time_us"])
def test_names_with_underscores_are_those_with_blanks(tmp_path: Path, column: str) -> None:
    (row,) = read_profile(written(tmp_path, f"op_name,{column},block_dim\nk,2.5,8\n")).rows
    assert (row.name, row.duration_us, row.blocks) == ("k", 2.5, 8)


def test_thousands_with_commas_and_blank_lines_are_read(tmp_path: Path) -> None:
    (row,) = read_profile(written(tmp_path, '\nName,Duration(us)\n\nk,"1,234.5"\n')).rows
    assert row.duration_us == 1234.5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Op Type,Task Duration(us)\nAdd,1\n", "the name of a kernel"),
        ("Name,Start Time(us)\nk,1\n", "a duration"),
        ("Name,Duration(us)\nk,fast\n", "a duration can't be read"),
        ("Name,Duration(us)\nk,-1\n", "a duration can't be read"),
        ("Name;Duration(us)\nk;12,5\n", "a point for decimals"),
        ("Name;Duration(us)\nk;1,2345\n", "a point for decimals"),
        ("Name,Duration(us),Duration(ms)\nk,1,2\n", "two columns of one meaning"),
        ("Op Name,op_name,Duration(us)\nk,j,2\n", "two columns of one meaning"),
        ("Name,Duration(us)\nk\n", "too short"),
        ("Name,Duration(us)\n", "without rows"),
        ("Name,Duration(us)\nk,N/A\n", "no row has a duration"),
    ],
)
def test_what_is_no_profile_is_refused_with_what_is_missing(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(FormatError, match=expected) as refused:
        read_profile(written(tmp_path, text))
    assert "profile.csv" in str(refused.value)


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't read the profile"):
        read_profile(tmp_path / "none.csv")
