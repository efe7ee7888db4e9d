"""Blocks of a cube core and its vector cores: who is who, which flags reach whom, what they order, what never comes."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import (
    AIC,
    AIV,
    CROSS_SET,
    CROSS_WAIT,
    GET_BLOCK_IDX,
    GET_BLOCK_NUM,
    GET_CORE_KIND,
    MTE2,
    MTE3,
    SYNC_ALL,
    TASK_TYPE,
    Record,
    Rig,
    S,
    V,
    flag,
    gm,
    l1,
    load,
    record,
    set_value,
    store,
    ub,
)

MIX_1_1, MIX_1_2 = 2, 3
SUB_BLOCK_IDX, TASK_RATIO = 354, 355
ALL_OF_KIND, VECTORS_OF_BLOCK, WITHIN_BLOCK = range(3)


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig(cores=4) as made:
        yield made


def cross_set(pipe: int = MTE3, event: int = 0, *, mode: int = WITHIN_BLOCK, line: int = 0) -> Record:
    return record(CROSS_SET, pipe, line=line, p=(mode, pipe, event))


def cross_wait(event: int = 0, *, line: int = 0) -> Record:
    return record(CROSS_WAIT, S, line=line, p=(0, 0, event))


def sync(*, of_all: bool, line: int = 0) -> Record:
    return record(SYNC_ALL, S, line=line, p=(int(of_all),))


def put(address: int, value: int) -> list[Record]:
    """A vector core stores 32 bytes of `value`."""
    return [*(set_value(ub(4 * at), value) for at in range(8)), *flag(S, MTE3), store(gm(address), ub(0), 32)]


def relay(source: int, to: int, nbytes: int) -> list[Record]:
    """A cube core copies through L1."""
    return [load(l1(0), gm(source), nbytes), *flag(MTE2, MTE3), store(gm(to), l1(0), nbytes)]


def fetch(source: int, to: int, nbytes: int = 32) -> list[Record]:
    """A vector core copies through the unified buffer."""
    return [load(ub(4096), gm(source), nbytes), *flag(MTE2, MTE3), store(gm(to), ub(4096), nbytes)]


@pytest.mark.parametrize(
    ("kind", "numbers", "subs", "ratios"),
    [
        (MIX_1_2, [0, 0, 1, 1, 2, 3], [0, 0, 1, 0, 0, 1], [1, 2, 2, 1, 2, 2]),
        (MIX_1_1, [0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]),
    ],
)
def test_each_kind_of_core_counts_itself_and_blocks_are_groups(rig: Rig, kind: int, numbers: list[int], subs: list[int], ratios: list[int]) -> None:
    asked = [record(code, S) for code in (GET_BLOCK_IDX, GET_BLOCK_NUM, SUB_BLOCK_IDX, TASK_RATIO, GET_CORE_KIND)]
    answers = rig.launch(*[asked] * len(numbers), core_kind=kind).answers
    assert answers[0::5] == numbers
    assert answers[1::5] == [2] * len(numbers)
    assert answers[2::5] == subs
    assert answers[3::5] == ratios
    assert answers[4::5] == [1 if at % (len(numbers) // 2) == 0 else 0 for at in range(len(numbers))]


def test_a_cube_core_gets_a_flag_of_mode_2_when_both_of_its_vector_cores_have_set_it(rig: Rig) -> None:
    inner, out = rig.allocate(128), rig.allocate(128)
    cubes = [[cross_wait(), *relay(inner + 64 * block, out + 64 * block, 64)] for block in range(2)]
    vectors = [[*put(inner + 32 * core, 10 + core), cross_set()] for core in range(4)]
    report = rig.launch(cubes[0], *vectors[:2], cubes[1], *vectors[2:], core_kind=MIX_1_2)
    assert report.diagnostics == []
    assert rig.download(out, 32, np.int32)[::8].tolist() == [10, 11, 12, 13]


def test_a_flag_of_the_cube_core_releases_both_vector_cores(rig: Rig) -> None:
    source, inner, out = rig.upload(np.arange(16, dtype=np.int32)), rig.allocate(64), rig.allocate(64)
    vectors = [[cross_wait(), *fetch(inner + 32 * core, out + 32 * core)] for core in range(2)]
    report = rig.launch([*relay(source, inner, 64), cross_set()], *vectors, core_kind=MIX_1_2)
    assert report.diagnostics == []
    assert rig.download(out, 16, np.int32).tolist() == list(range(16))


@pytest.mark.parametrize(("sets", "causes"), [([cross_set()], []), ([cross_set(MTE2)], ["missing_sync"]), ([], ["missing_sync"])])
def test_a_flag_orders_the_work_of_its_pipe_and_of_no_other(rig: Rig, sets: list[Record], causes: list[str]) -> None:
    source, inner, out = rig.upload(np.arange(8, dtype=np.int32)), rig.allocate(32), rig.allocate(32)
    cube = [*relay(source, inner, 32), *sets]
    report = rig.launch(cube, [*([cross_wait()] if sets else []), *fetch(inner, out)], core_kind=MIX_1_1)
    assert report.causes() == causes
    if causes:
        assert "on AIV of block 0 reads" in report.first("missing_sync")["message"]
        assert "on AIC of block 0, and nothing orders the two" in report.first("missing_sync")["message"]


def test_one_vector_core_that_never_sets_is_a_deadlock_that_names_who_waits_on_what(rig: Rig) -> None:
    report = rig.launch([cross_wait(5, line=9)], [cross_set(event=5, line=3)], [record(GET_CORE_KIND, S)], core_kind=MIX_1_2)
    message = report.first("deadlock")["message"]
    assert (report.causes(), report.first("deadlock")["line"]) == (["deadlock"], 9)
    assert "AIC of block 0 here" in message
    assert "1 of 2 cores have set id 5 this often (mode 2, the newest by AIV 0 of block 0 in CrossCoreSetFlag at kernel.cpp:3)" in message


def test_a_flag_in_the_wrong_mode_reaches_nobody_on_the_other_side(rig: Rig) -> None:
    wrong = [cross_set(mode=VECTORS_OF_BLOCK)]
    report = rig.launch([cross_wait(line=9)], wrong, wrong, core_kind=MIX_1_2)
    assert report.causes() == ["deadlock"]
    assert "nobody has set id 0 for AIC of block 0" in report.first("deadlock")["message"]
    assert rig.launch([cross_set(mode=VECTORS_OF_BLOCK)], [], [], core_kind=MIX_1_2).causes() == ["flag_misuse"]
    assert rig.launch([cross_set(mode=3)], [], [], core_kind=MIX_1_2).causes() == ["bad_parameter"]
    assert rig.launch([cross_set()]).causes() == ["flag_misuse"]


def test_mode_1_joins_the_vector_cores_of_one_block(rig: Rig) -> None:
    inner, out = rig.allocate(128), rig.allocate(128)
    turn = [cross_set(mode=VECTORS_OF_BLOCK), cross_wait()]
    partner = [1, 0, 3, 2]
    vectors = [[*put(inner + 32 * core, core), *turn, *fetch(inner + 32 * partner[core], out + 32 * core)] for core in range(4)]
    report = rig.launch([], *vectors[:2], [], *vectors[2:], core_kind=MIX_1_2)
    assert report.diagnostics == []
    assert rig.download(out, 32, np.int32)[::8].tolist() == partner
    across = [[*put(inner + 32 * core, core), *turn, *fetch(inner + 32 * (core ^ 2), out + 32 * core)] for core in range(4)]
    assert "missing_sync" in rig.launch([], *across[:2], [], *across[2:], core_kind=MIX_1_2).causes()


def test_mode_0_joins_the_cores_of_one_kind_and_leaves_the_others_alone(rig: Rig) -> None:
    inner, out = rig.allocate(128), rig.allocate(128)
    turn = [cross_set(mode=ALL_OF_KIND), cross_wait()]
    vectors = [[*put(inner + 32 * core, core), *turn, *fetch(inner + 32 * (3 - core), out + 32 * core)] for core in range(4)]
    report = rig.launch([], *vectors[:2], [], *vectors[2:], core_kind=MIX_1_2)
    assert report.diagnostics == []
    assert rig.download(out, 32, np.int32)[::8].tolist() == [3, 2, 1, 0]
    cubes = [[cross_set(MTE2, mode=ALL_OF_KIND), cross_wait()]] * 2
    assert rig.launch(cubes[0], [], [], cubes[1], [], [], core_kind=MIX_1_2).diagnostics == []


def test_sync_all_of_both_kinds_joins_every_core_and_that_of_vector_cores_only_these(rig: Rig) -> None:
    inner, out = rig.allocate(128), rig.allocate(128)
    for of_all, causes in ((True, []), (False, ["missing_sync"])):
        vectors = [[*put(inner + 32 * core, core), sync(of_all=of_all)] for core in range(4)]
        cubes = [[*([sync(of_all=True)] if of_all else []), *relay(inner + 64 * (1 - block), out + 64 * block, 64)] for block in range(2)]
        report = rig.launch(cubes[0], *vectors[:2], cubes[1], *vectors[2:], core_kind=MIX_1_2)
        assert report.causes() == causes
    swap = [[*put(inner + 32 * core, core), sync(of_all=False), *fetch(inner + 32 * (3 - core), out + 32 * core)] for core in range(4)]
    assert rig.launch([], *swap[:2], [], *swap[2:], core_kind=MIX_1_2).diagnostics == []


def test_sync_all_in_part_of_the_cores_of_a_mixed_launch_is_a_deadlock(rig: Rig) -> None:
    for cube, vector in (([], [sync(of_all=True, line=4)]), ([sync(of_all=True)], [sync(of_all=False, line=4)])):
        report = rig.launch(cube, vector, vector, core_kind=MIX_1_2)
        assert report.causes() == ["deadlock"]
    assert rig.launch([], [sync(of_all=False, line=4)], [], core_kind=MIX_1_2).first("deadlock")["line"] == 4
    assert "cores wait for ever" in report.first("deadlock")["message"]
    assert rig.launch([sync(of_all=True)]).causes() == ["deadlock"]


def test_a_flag_that_is_set_more_often_than_waited_for_is_a_leak_at_the_core_that_kept_it(rig: Rig) -> None:
    report = rig.launch([cross_set(MTE2), cross_set(MTE2, line=7)], [cross_wait()], [cross_wait(), cross_wait()], core_kind=MIX_1_2)
    assert report.causes() == ["flag_leak"]
    found = report.first("flag_leak")
    assert (found["line"], found["numbers"]) == (7, {"flag_id": 0, "sets": 2, "waits": 1})
    assert "AIV 0 of block 0 ends" in found["message"]


def test_a_flag_that_only_one_of_two_vector_cores_sets_is_left_half_done(rig: Rig) -> None:
    report = rig.launch([], [cross_set(line=6)], [], core_kind=MIX_1_2)
    assert report.causes() == ["flag_leak"]
    assert report.first("flag_leak")["line"] == 6
    assert "set by 1 of the 2 cores that have to" in report.first("flag_leak")["message"]


def test_sixteen_sets_that_nothing_holds_back_may_run_over_the_counter(rig: Rig) -> None:
    waits = [cross_wait() for _ in range(16)]
    report = rig.launch([cross_set(MTE2, line=2) for _ in range(16)], waits, waits, core_kind=MIX_1_2)
    assert (report.causes(), report.findings()) == ([], ["other"])
    assert "a flag back, at least every 15 sets" in report.first("other")["message"]
    waits = waits[:15]
    assert rig.launch([cross_set(MTE2) for _ in range(15)], waits, waits, core_kind=MIX_1_2).diagnostics == []


def test_a_counter_that_its_own_program_overruns_is_a_misuse(rig: Rig) -> None:
    program = [*(cross_set(mode=VECTORS_OF_BLOCK) for _ in range(16)), *(cross_wait() for _ in range(16))]
    assert set(rig.launch([], program, program, core_kind=MIX_1_2).causes()) == {"flag_misuse"}


def test_flags_go_back_and_forth_tile_by_tile(rig: Rig) -> None:
    """A vector core overwrites its buffer in global memory only when the cube core has read it."""
    inner, out = rig.allocate(64), rig.allocate(256)
    cube: list[Record] = []
    vectors: list[list[Record]] = [[], []]
    for tile in range(4):
        cube += [cross_wait(1), *relay(inner, out + 64 * tile, 64), cross_set(MTE2, 2), *flag(MTE3, MTE2)]
        for core in range(2):
            vectors[core] += [*([cross_wait(2)] if tile else []), *flag(MTE3, S), *put(inner + 32 * core, 10 * tile + core), cross_set(MTE3, 1)]
    ends = [[*vector, cross_wait(2)] for vector in vectors]
    report = rig.launch(cube, *ends, core_kind=MIX_1_2)
    assert report.diagnostics == []
    assert rig.download(out, 64, np.int32)[::8].tolist() == [0, 1, 10, 11, 20, 21, 30, 31]
    racing = [[one for one in vector if not (one.opcode == CROSS_WAIT and one.p[2] == 2)] for vector in vectors]
    assert {"missing_sync", "flag_leak"} <= set(rig.launch(cube, *racing, core_kind=MIX_1_2).causes())


def test_a_kernel_may_name_both_kinds_of_core_when_it_starts(rig: Rig) -> None:
    program = [record(TASK_TYPE, S, p=(MIX_1_1,)), record(GET_CORE_KIND, S), record(GET_BLOCK_NUM, S)]
    report = rig.launch(program, program)
    assert report.diagnostics == []
    assert report.answers[2] == 2
    assert len(report.trace) == 4
    twice = [record(TASK_TYPE, S, p=(MIX_1_1,)), record(TASK_TYPE, S, p=(MIX_1_2,))]
    assert "one cube and two vector cores per block in a kernel that was declared" in rig.launch(twice).first("bad_parameter")["message"]
    assert rig.launch([record(TASK_TYPE, S, p=(0,))], [], [], core_kind=MIX_1_2).causes() == ["bad_parameter"]


def test_a_mixed_launch_of_many_blocks_holds_the_memory_of_few() -> None:
    """A block keeps several MiB of on-chip memory with its shadows: they must go with it, also where its cores have waited for one another."""
    blocks = 240
    with Rig(cores=4) as many:
        source, out = many.upload(np.arange(8, dtype=np.int32)), many.allocate(32 * blocks)
        programs = []
        for block in range(blocks):
            cube = [*relay(source, out + 32 * block, 32), cross_set(event=1), cross_wait(2)]
            programs += [cube, *([[cross_wait(1), *fetch(out + 32 * block, out + 32 * block)[:1], cross_set(MTE2, 2)]] * 2)]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert many.launch(*programs, core_kind=MIX_1_2).causes() == []
        grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert many.download(out, 8 * blocks, np.int32)[::8].tolist() == [0] * blocks
    assert grown_kib < 100 << 10


DEFAULT, GUESSED, OF_KEY, SELECTED = range(4)


def task(kind: int, rank: int) -> Record:
    """Somebody who says on which cores the kernel runs."""
    return record(TASK_TYPE, S, p=(kind, rank))


@pytest.mark.parametrize(
    ("words", "cores", "last"),
    [
        ([(AIV, DEFAULT), (MIX_1_1, OF_KEY)], 4, AIV),
        ([(MIX_1_1, DEFAULT), (AIC, OF_KEY)], 2, AIC),
        ([(MIX_1_1, SELECTED), (AIV, DEFAULT), (AIC, OF_KEY)], 4, AIV),
        ([(MIX_1_1, GUESSED), (AIC, DEFAULT)], 2, AIC),
        ([(AIV, DEFAULT), (MIX_1_1, GUESSED)], 2, AIV),
        ([(AIC, GUESSED), (MIX_1_1, GUESSED)], 2, AIC),
    ],
)
def test_the_word_that_ranks_higher_says_on_which_cores_a_kernel_runs(rig: Rig, words: list[tuple[int, int]], cores: int, last: int) -> None:
    """Whichever comes first: KERNEL_TASK_TYPE before KERNEL_TASK_TYPE_DEFAULT, a template selection before both, by the page of the kernel type."""
    program = [*(task(*word) for word in words), record(GET_CORE_KIND, S)]
    report = rig.launch(program, program)
    assert report.diagnostics == []
    assert (len(report.trace), report.answers[len(words)]) == (cores, last)


def test_two_words_of_one_rank_must_not_differ(rig: Rig) -> None:
    report = rig.launch([task(AIC, OF_KEY), task(MIX_1_1, OF_KEY)])
    assert "KERNEL_TASK_TYPE names one cube and one vector core per block" in report.first("bad_parameter")["message"]
    assert rig.launch([task(AIV, DEFAULT), task(AIC, DEFAULT)]).causes() == ["bad_parameter"]
    assert rig.launch([task(MIX_1_1, 7)]).causes() == ["bad_parameter"]


def test_surplus_blocks_are_counted_in_groups(rig: Rig) -> None:
    report = rig.launch(*[[]] * 9, core_kind=MIX_1_2)
    assert report.first("surplus_blocks")["numbers"] == {"blocks": 3, "cores": 2}
    assert rig.launch(*[[record(GET_CORE_KIND, V)]] * 6, core_kind=MIX_1_2).findings() == []
    meet = [[sync(of_all=True)]] * 9
    assert rig.launch(*meet, core_kind=MIX_1_2).causes() == ["deadlock"]
