"""Are suites of other benchmarks recognised by their files, and named as documented, without running anything?"""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_tasks import EXP, GROUPS, write_kernelbench, write_multikernelbench, write_npukernelbench

from piton.catalog.adapters import find_suite
from piton.core.errors import FormatError, UsageError
from piton.core.foreign import SuiteFormat, TaskForm
from piton.evaluate.foreign import SuiteRequest, open_suite


@pytest.mark.parametrize(
    ("write", "form", "names"),
    [
        (write_kernelbench, SuiteFormat.KERNELBENCH, ["level1_1_exp"]),
        (write_multikernelbench, SuiteFormat.MULTIKERNELBENCH, ["activation_exp", "npukernelbench_level0_3_shift"]),
        (write_npukernelbench, SuiteFormat.NPUKERNELBENCH, ["level2_math_scale_add_v2"]),
    ],
)
def test_a_checkout_is_recognised_and_its_tasks_are_named(tmp_path: Path, write, form, names) -> None:  # type: ignore[no-untyped-def]
    found = find_suite(write(tmp_path / "bench"))
    assert found is not None
    assert (found.name, found.format, [task.name for task in found.tasks]) == ("bench", form, names)


def test_tasks_are_in_the_order_of_level_and_number(tmp_path: Path) -> None:
    found = find_suite(write_kernelbench(tmp_path, **{"10_B": EXP, "2_A": EXP}))
    assert found is not None
    assert [task.name for task in found.tasks] == ["level1_2_a", "level1_10_b"]


def test_one_level_and_one_file_are_suites_too(tmp_path: Path) -> None:
    write_kernelbench(tmp_path)
    for place in (tmp_path / "KernelBench", tmp_path / "KernelBench/level1", tmp_path / "KernelBench/level1/1_Exp.py"):
        found = find_suite(place)
        assert found is not None
        assert [(task.name, task.level) for task in found.tasks] == [("level1_1_exp", 1)]


def test_a_file_that_is_no_task_is_passed_over(tmp_path: Path) -> None:
    write_kernelbench(tmp_path, **{"1_Exp": EXP, "_helper": EXP, "notes": "print('never run')\n", "only_model": "class Model(object):\n    pass\n"})
    found = find_suite(tmp_path)
    assert found is not None
    assert len(found.tasks) == 1


def test_nothing_of_a_task_runs_when_it_is_found(tmp_path: Path) -> None:
    text = f"raise SystemExit('ran')\n{EXP}"
    assert find_suite(write_kernelbench(tmp_path, **{"1_Exp": text})) is not None


def test_the_form_says_how_inputs_are_given(tmp_path: Path) -> None:
    found = find_suite(write_multikernelbench(tmp_path))
    assert found is not None
    assert [(task.form, task.files) for task in found.tasks] == [(TaskForm.MODULE, ("exp.py",)), (TaskForm.GROUPS, ("3_shift.py", "3_shift.json"))]
    assert "get_input_groups" in GROUPS


def test_the_version_of_a_suite_follows_its_content(tmp_path: Path) -> None:
    first, again, other = (
        find_suite(write_kernelbench(tmp_path / name, **{"1_Exp": text})) for name, text in (("a", EXP), ("b", EXP), ("c", EXP.replace("4", "8")))
    )
    assert first is not None
    assert again is not None
    assert other is not None
    assert first.version == again.version != other.version


def test_four_artifacts_are_left_to_their_own_reader(tmp_path: Path) -> None:
    folder = tmp_path / "level1" / "exp"
    folder.mkdir(parents=True)
    (folder / "proto.yaml").write_text("operator: {}\n")
    (folder.parent / "1_Exp.py").write_text(EXP)
    assert find_suite(tmp_path) is None


def test_a_format_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing in the format npukernelbench"):
        find_suite(write_kernelbench(tmp_path), "npukernelbench")
    with pytest.raises(UsageError, match="no suite format 'other'"):
        find_suite(tmp_path, "other")


def test_two_tasks_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="two tasks become the operator 'level1_1_exp'"):
        find_suite(write_kernelbench(tmp_path, **{"1_Exp": EXP, "1_exp_": EXP}))


@pytest.mark.parametrize(
    ("place", "text", "message"),
    [
        ("nowhere", None, "no suite '.*nowhere'"),
        ("empty", "", "no operators in the suite"),
        ("broken", "format = 1\n[suite", "not valid TOML"),
        ("hollow", "format = 1\n[suite]\nname = 'a'\nversion = '1'\n", "operator is wrong"),
    ],
)
def test_a_folder_that_is_no_suite_is_one_clear_error(tmp_path: Path, place: str, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / place).mkdir()
    if text:
        (tmp_path / place / "suite.toml").write_text(text)
    with pytest.raises((UsageError, FormatError), match=message):
        open_suite(SuiteRequest(suite=str(tmp_path / place), cache_dir=str(tmp_path / "cache"), is_trusted=True))
