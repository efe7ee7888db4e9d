"""What code inside a sandboxed process may try to get out of it: refused at the highest levels, working where nothing refuses it, and nothing left of it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from cage_attacks import Attack
from cage_code import by_device_code, gets_through_without_a_cage
from cage_list import ATTACKS
from cage_native import FORMS
from cage_rig import NOTHING, World, cage, level_here, mechanisms_at, world
from cage_table import Through, table_text, try_all, try_with_the_engine_apart, try_without_a_cage, written_as_open, written_table
from cage_traces import TRACES, clear_traces
from processes_rig import Programs

from piton.evaluate.sandbox.levels import HIGHEST_IN_PROCESS


@pytest.fixture(scope="module")
def surroundings() -> Iterator[World]:
    with world() as made:
        yield made


@pytest.fixture(scope="module")
def in_process(surroundings: World) -> Through:
    """What gets through at the highest level that this machine reaches with the engine beside device code."""
    return try_all(level_here(), surroundings)


@pytest.fixture(scope="module")
def apart(request: pytest.FixtureRequest, surroundings: World, in_process: Through) -> Through:
    """What gets through at the highest level of all."""
    if level_here() < HIGHEST_IN_PROCESS:
        pytest.skip("this machine does not reach the level")
    return try_with_the_engine_apart(request.getfixturevalue("programs"), surroundings, in_process)


@pytest.fixture(scope="module")
def free(surroundings: World) -> Through:
    """What gets through where nothing is refused."""
    return try_without_a_cage(surroundings)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda item: item.name.replace(" ", "_"))
def test_an_attack_is_refused_as_the_page_says(attack: Attack, in_process: Through) -> None:
    assert in_process[attack.name] <= written_as_open(attack, level_here())
    assert written_as_open(attack, HIGHEST_IN_PROCESS) == set()


@pytest.mark.parametrize("attack", by_device_code(), ids=lambda item: item.name.replace(" ", "_"))
def test_an_attack_by_device_code_is_refused_where_the_engine_is_apart(attack: Attack, apart: Through) -> None:
    assert apart[attack.name] == set()


@pytest.mark.parametrize("trace", TRACES)
def test_nothing_is_left_of_jobs_that_tried_everything(trace: str, surroundings: World, in_process: Through) -> None:
    assert in_process  # they have run, and their runner is closed
    if level_here() < 2 and trace not in ("a process", "a control group", "a mount"):
        pytest.skip("files and memory of the machine are not kept from a job below level 2")
    assert TRACES[trace](surroundings) == []


def test_every_attack_by_device_code_has_a_native_form() -> None:
    assert {attack.name for attack in by_device_code()} == set(FORMS)
    assert len(ATTACKS) >= 30


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may do little even where nothing refuses it")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda item: item.name.replace(" ", "_"))
def test_an_attack_works_where_nothing_refuses_it(attack: Attack, free: Through) -> None:
    assert free[attack.name] == (set() if attack.fails_everywhere else set(attack.roles))


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may do little even where nothing refuses it")
def test_the_native_forms_work_where_nothing_refuses_them(surroundings: World, programs: Programs) -> None:
    clear_traces()
    with cage(mechanisms_at(0), surroundings, NOTHING) as held:
        assert [attack.name for attack in by_device_code() if not gets_through_without_a_cage(attack, held, programs)] == []


@pytest.mark.slow
def test_the_page_says_what_each_level_refuses_and_no_level_less_than_the_one_below(surroundings: World, in_process: Through, apart: Through) -> None:
    levels = [*(try_all(level, surroundings) for level in range(HIGHEST_IN_PROCESS)), in_process, apart]
    counts = [sum(len(roles) for roles in through.values()) for through in levels]
    assert counts == sorted(counts, reverse=True)
    assert sum(bool(roles) for roles in levels[0].values()) >= 30
    assert written_table() == table_text(levels), "write it again: python tests/adversarial/cage_table.py"
