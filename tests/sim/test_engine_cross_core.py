"""Flags between cores: who waits for whom, what they order, what never comes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import AIC, CROSS_SET, CROSS_WAIT, MTE2, MTE3, SOFT_SET, SOFT_WAIT, Record, Rig, S, V, flag, gm, load, record, set_value, store, sync_all, ub

ALL = 7
STORE, ADD, RESET = range(3)
AT_LEAST, TAKE, FROM_RESET = range(3)


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig(cores=4) as made:
        yield made


def cross_set(pipe: int = MTE3, event: int = 0, *, mode: int = 0, line: int = 0) -> Record:
    return record(CROSS_SET, pipe, line=line, p=(mode, pipe, event))


def cross_wait(event: int = 0, *, line: int = 0) -> Record:
    return record(CROSS_WAIT, S, line=line, p=(0, 0, event))


def soft_set(address: int, value: int = 1, *, how: int = STORE) -> Record:
    made = record(SOFT_SET, MTE3, p=(how,), scalar=value)
    made.dst = gm(address, 8)
    return made


def soft_wait(address: int, value: int = 1, *, how: int = TAKE, line: int = 0) -> Record:
    made = record(SOFT_WAIT, MTE2, line=line, p=(how,), scalar=value)
    made.src0 = gm(address, 8)
    return made


def put(rig_address: int, value: int) -> list[Record]:
    """32 bytes of `value` to global memory: written by S, ordered before the copy."""
    return [*(set_value(ub(4 * at), value) for at in range(8)), *flag(S, MTE3), store(gm(rig_address), ub(0), 32)]


def exchange(middle: list[Record], rig: Rig) -> tuple[list[np.ndarray], list[str]]:
    """Each of two cores stores its number, then `middle`, then copies what the other stored."""
    inner, out = rig.allocate(64), rig.allocate(64)
    programs = [
        [
            *put(inner + 32 * core, 10 + core),
            *middle,
            load(ub(1024), gm(inner + 32 * (1 - core)), 32),
            *flag(MTE2, MTE3),
            store(gm(out + 32 * core), ub(1024), 32),
        ]
        for core in range(2)
    ]
    report = rig.launch(*programs)
    return [rig.download(out + 32 * core, 8, np.int32) for core in range(2)], report.causes()


def test_a_flag_of_all_cores_lets_each_read_what_the_others_stored(rig: Rig) -> None:
    got, causes = exchange([cross_set(), cross_wait()], rig)
    assert causes == []
    assert [int(values[0]) for values in got] == [11, 10]


def test_a_flag_of_another_pipe_does_not_vouch_for_the_store(rig: Rig) -> None:
    _, causes = exchange([cross_set(V), cross_wait()], rig)
    assert causes == ["missing_sync"]


def test_without_a_wait_the_read_races(rig: Rig) -> None:
    _, causes = exchange([cross_set()], rig)
    assert "missing_sync" in causes


def test_several_rounds_of_one_flag_pair_up_in_order(rig: Rig) -> None:
    inner = rig.allocate(32)
    turn = [cross_set(), cross_wait()]
    first = [*put(inner, 1), *turn, *turn, *put(inner, 3)]
    second = [*turn, load(ub(2048), gm(inner), 32), *flag(MTE2, MTE3), *turn]
    assert rig.launch(first, second).causes() == []


def test_the_reader_s_own_flag_orders_a_later_overwrite(rig: Rig) -> None:
    inner = rig.allocate(32)
    early = [*put(inner, 1), cross_set(), cross_wait(), *put(inner, 2)]
    report = rig.launch(early, [cross_set(), cross_wait(), load(ub(2048), gm(inner), 32)])
    assert report.causes() == ["missing_sync"]


def test_bytes_that_many_cores_read_may_be_overwritten_after_a_round_of_all(rig: Rig) -> None:
    inner = rig.allocate(32)
    turn = [cross_set(MTE2), cross_wait()]
    read = [load(ub(2048), gm(inner), 32)]
    writer = [*put(inner, 1), cross_set(), cross_wait(), *read, *turn, *put(inner, 2)]
    reader = [cross_set(), cross_wait(), *read, *turn]
    assert rig.launch(writer, reader, reader).causes() == []


def test_a_flag_that_one_core_never_sets_is_a_deadlock_with_the_place_of_the_wait(rig: Rig) -> None:
    report = rig.launch([cross_set(), cross_wait(line=9)], [set_value(ub(0), 1)])
    assert report.first("deadlock")["line"] == 9
    message = report.first("deadlock")["message"]
    assert "1 of 2 blocks wait for ever, core 0 here" in message
    assert "1 of 2 cores have set id 0" in message
    assert message.endswith("core 1 ended, its last call: SetValue")


def test_more_blocks_than_cores_can_not_meet(rig: Rig) -> None:
    assert rig.launch(*[[cross_set(), cross_wait()]] * 5).causes()[0] == "deadlock"


def test_cube_blocks_beyond_the_cube_cores_can_not_meet(rig: Rig) -> None:
    meet = [cross_set(MTE2), cross_wait()]
    assert rig.launch(meet, meet, core_kind=AIC).causes() == []
    assert rig.launch(meet, meet, meet, core_kind=AIC).first("deadlock")["numbers"] == {"blocks": 3, "cores": 2}


def test_a_counter_holds_15(rig: Rig) -> None:
    waits = [cross_wait() for _ in range(15)]
    assert rig.launch([cross_set() for _ in range(15)] + waits).causes() == []
    assert set(rig.launch([cross_set() for _ in range(16)] + [*waits, cross_wait()]).causes()) == {"flag_misuse"}


def test_a_flag_of_all_cores_that_one_does_not_wait_for_is_a_leak_at_its_set(rig: Rig) -> None:
    report = rig.launch([cross_set(), cross_wait(), cross_set(line=8)], [cross_set(), cross_wait(), cross_set(), cross_wait()])
    assert report.causes() == ["flag_leak"]
    assert (report.first("flag_leak")["line"], report.first("flag_leak")["numbers"]) == (8, {"flag_id": 0, "sets": 2, "waits": 1})


def test_an_id_keeps_four_bits_and_those_of_sync_all_are_named(rig: Rig) -> None:
    assert rig.launch([cross_set(event=16), cross_wait(0)]).causes() == []
    assert rig.launch([cross_set(event=12), cross_wait(12)]).findings() == ["reserved_event_id"]


@pytest.mark.parametrize(("step", "cause"), [(cross_set(mode=2), "flag_misuse"), (cross_set(S), "bad_parameter"), (cross_set(ALL), "protocol_violation")])
def test_modes_with_cube_cores_and_wrong_pipes_are_refused(rig: Rig, step: Record, cause: str) -> None:
    assert rig.launch([step]).causes() == [cause]


def cleared(rig: Rig, nbytes: int) -> int:
    return rig.upload(np.zeros(nbytes, np.uint8), is_mutable=True)


def test_a_flag_in_memory_makes_one_core_wait_for_another(rig: Rig) -> None:
    flags, inner, out = cleared(rig, 64), rig.allocate(32), rig.allocate(32)
    late = [*put(inner, 7), soft_set(flags)]
    early = [soft_wait(flags), load(ub(1024), gm(inner), 32), *flag(MTE2, MTE3), store(gm(out), ub(1024), 32)]
    report = rig.launch(early, late)
    assert report.causes() == []
    assert int(rig.download(out, 8, np.int32)[0]) == 7
    assert int(rig.download(flags, 8, np.int32)[0]) == 0  # taken


def test_a_flag_in_memory_orders_nothing_for_a_third_core(rig: Rig) -> None:
    flags, inner = cleared(rig, 64), rig.allocate(32)
    programs = [[*put(inner, 7), soft_set(flags)], [soft_wait(flags)], [load(ub(1024), gm(inner), 32)]]
    assert rig.launch(*programs).causes() == ["missing_sync"]


def test_order_passes_on_through_a_chain_of_flags(rig: Rig) -> None:
    flags, inner = cleared(rig, 64), rig.allocate(32)
    programs = [[*put(inner, 7), soft_set(flags)], [soft_wait(flags), soft_set(flags + 32)], [soft_wait(flags + 32), load(ub(1024), gm(inner), 32)]]
    assert rig.launch(*programs).causes() == []


def test_counting_flags_hold_back_until_all_have_come(rig: Rig) -> None:
    flags, inner = cleared(rig, 96), rig.allocate(96)

    def meet(core: int) -> list[Record]:
        return [soft_set(flags + 32 * core, how=ADD), *(soft_wait(flags + 32 * other, 1, how=AT_LEAST) for other in range(3))]

    programs = [[*put(inner + 32 * core, core), *meet(core), load(ub(1024), gm(inner), 96)] for core in range(3)]
    assert rig.launch(*programs).causes() == []


def test_a_workspace_that_nobody_cleared_is_reported_but_for_flags_that_are_reset(rig: Rig) -> None:
    flags = rig.allocate(64)
    assert rig.launch([soft_set(flags)]).causes() == ["undefined_data"]
    rig.reset()
    flags = rig.allocate(64)
    first = [soft_set(flags, 0, how=RESET), soft_set(flags, how=ADD), soft_wait(flags + 32, 1, how=FROM_RESET)]
    second = [soft_set(flags + 32, 0, how=RESET), soft_wait(flags, 1, how=FROM_RESET), soft_set(flags + 32, how=ADD)]
    assert rig.launch(first, second).causes() == []


def test_a_flag_outside_memory_and_one_that_never_comes(rig: Rig) -> None:
    assert rig.launch([soft_set(0x10)]).causes() == ["out_of_bounds"]
    assert rig.launch([soft_wait(cleared(rig, 32), line=4)]).first("deadlock")["line"] == 4


def test_sync_all_and_a_flag_wait_at_the_same_time_are_a_deadlock(rig: Rig) -> None:
    report = rig.launch([sync_all(line=3)], [cross_set(), cross_wait(line=7)])
    assert report.causes() == ["deadlock"]
    assert report.first("deadlock")["line"] == 7
    assert report.first("deadlock")["message"].endswith("core 0 waits in SyncAll at kernel.cpp:3")
