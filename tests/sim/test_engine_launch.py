"""Launches: device memory, SyncAll, budget, faults of the framework classes, exceptions, questions, refusals."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest
from engine_rig import (
    ABS,
    ALL,
    BUFFER_INIT,
    DUPLICATE,
    FAULT,
    GET_BLOCK_IDX,
    GET_BLOCK_NUM,
    GET_CAPACITY,
    GET_SYSTEM_CYCLE,
    MTE2,
    MTE3,
    T_SYNC_ALL,
    THROW,
    UB,
    UNBOUNDED,
    Operand,
    Record,
    Rig,
    S,
    V,
    barrier,
    count,
    flag,
    gm,
    load,
    record,
    store,
    sync_all,
    ub,
)


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig() as made:
        yield made


# ---- device memory ----
def test_addresses_are_the_same_on_every_run(rig: Rig) -> None:
    sizes = [4, 0, 512, 5000, 1 << 20]
    first = [rig.allocate(size) for size in sizes]
    rig.reset()
    assert [rig.allocate(size) for size in sizes] == first
    assert len(set(first)) == len(first)
    assert all(address % 512 == 0 for address in first)


def test_the_lowest_free_address_is_used_again_and_holds_zeros(rig: Rig) -> None:
    keep = [rig.allocate(4096) for _ in range(3)]
    again = rig.upload(np.full(100, 9, np.uint8))
    assert rig.release(keep[1])
    assert not rig.release(keep[1])
    assert rig.allocate(4096) == keep[1]
    assert rig.release(again)
    assert rig.allocate(100) == again
    assert (rig.download(again, 100, np.uint8) == 0).all()


def test_allocations_are_apart_and_a_full_arena_gives_none(rig: Rig) -> None:
    first, second = rig.allocate(512), rig.allocate(512)
    assert second - (first + 512) >= 4096
    assert rig.allocate(1 << 37) == 0
    assert rig.allocate(1 << 36) == 0


# ---- SyncAll ----
def test_data_crosses_cores_at_sync_all(rig: Rig) -> None:
    shared, out = rig.upload(np.zeros(32, np.float32), is_mutable=True), rig.allocate(256)

    def program(core: int) -> list[Record]:
        own = [count(DUPLICATE, (ub(0),), 8, scalar=int(np.float32(core + 1).view(np.uint32))), *flag(V, MTE3), store(gm(shared + 32 * core), ub(0), 32)]
        other = [load(ub(512), gm(shared + 32 * (1 - core)), 32), *flag(MTE2, MTE3), store(gm(out + 32 * core), ub(512), 32)]
        return [*own, sync_all(), *other]

    report = rig.launch(program(0), program(1))
    assert report.diagnostics == []
    np.testing.assert_array_equal(rig.download(out, 16, np.float32), [2] * 8 + [1] * 8)
    assert [entry[0] for entry in report.trace[1]].count(T_SYNC_ALL) == 1


def test_sync_all_in_part_of_the_cores_is_a_deadlock(rig: Rig) -> None:
    for programs in ([[sync_all(line=4)], []], [[], [sync_all(line=4)]], [[sync_all(), sync_all(line=4)], [sync_all()]]):
        report = rig.launch(*programs)
        assert report.causes() == ["deadlock"]
        assert report.is_cut
        assert report.first("deadlock")["line"] == 4
        assert report.first("deadlock")["numbers"] == {"waiting": 1, "blocks": 2}


def test_sync_all_with_more_blocks_than_cores_is_a_deadlock() -> None:
    with Rig(cores=2) as rig:
        assert rig.launch([sync_all()], [sync_all()]).causes() == []
        report = rig.launch([sync_all()], [sync_all()], [sync_all()])
        assert report.first("deadlock")["numbers"] == {"blocks": 3, "cores": 2}


def test_surplus_blocks_without_sync_are_a_finding_only() -> None:
    with Rig(cores=2) as rig:
        assert rig.launch([], []).diagnostics == []
        report = rig.launch([], [], [])
        assert (report.causes(), report.findings()) == ([], ["surplus_blocks"])


# ---- budget ----
def test_a_scalar_loop_without_end_is_cut_by_the_budget(rig: Rig) -> None:
    rig.configure(budget=100_000)
    report = rig.launch([], spins=True)
    assert report.causes() == ["device_budget"]
    assert report.is_cut
    assert report.first("device_budget")["numbers"]["budget_cycles"] == 100_000


@pytest.mark.parametrize(("spare", "is_cut"), [(0, False), (-1, True)])
def test_the_budget_is_exact_in_cycles(rig: Rig, spare: int, is_cut: bool) -> None:
    steps = [count(DUPLICATE, (ub(0),), 64, line=line) for line in range(10)]
    cost = 10 * (20 + 1 + 1) + 9 * 1  # work and issue of each, and the auto-sync barrier between neighbours
    rig.configure(budget=cost + spare)
    report = rig.launch(steps)
    assert report.is_cut == is_cut
    assert report.causes() == (["device_budget"] if is_cut else [])


def test_the_next_launch_after_a_cut_runs(rig: Rig) -> None:
    rig.configure(budget=1000)
    assert rig.launch([], spins=True).is_cut
    rig.configure()
    assert rig.launch([count(DUPLICATE, (ub(0),), 8)]).diagnostics == []


# ---- what the framework classes report ----
@pytest.mark.parametrize(
    ("fault", "figures", "scalar", "cause", "numbers"),
    [
        (1, (196608,), 300000, "ub_overflow", {"used_bytes": 300000, "available_bytes": 196608}),
        (1, (524288, 3), 600000, "l1_overflow", {"used_bytes": 600000, "available_bytes": 524288}),
        (1, (65536, 4), 80000, "l0_overflow", {"used_bytes": 80000, "available_bytes": 65536}),
        (2, (65, 64), 0, "buffer_limit", {"buffers": 65, "limit": 64}),
        (11, (), 0, "queue_misuse", {}),
        (8, (1, 5), 0, "flag_misuse", {"from": 1, "to": 5}),
        (9, (3,), 256, "bad_parameter", {"argument": 3, "value": 256}),
    ],
)
def test_faults_become_causes_with_their_figures(rig: Rig, fault: int, figures: tuple[int, ...], scalar: int, cause: str, numbers: dict[str, int]) -> None:
    report = rig.launch([record(FAULT, S, line=12, p=(fault, *figures), scalar=scalar)])
    found = report.first(cause)
    assert report.is_cut
    assert (found["line"], found["numbers"]) == (12, numbers)


GIVEN = Operand(1024, 512, 1, 8, UB, 3)
OTHER_FILE = ctypes.c_char_p(b"other.h")
GIVEN_TEXT = "was given the tensor at UB bytes 1024 to 1535, "


@pytest.mark.parametrize(
    ("fault", "figure", "tensor", "cause", "said"),
    [
        (3, 2, None, "deadlock", "DoIt waits for ever: every buffer is in use (FreeTensor missing?)"),
        (4, 1, GIVEN, "queue_misuse", f"DoIt {GIVEN_TEXT}but as many tensors are queued as its depth of 1 allows"),
        (5, 0, None, "deadlock", "DoIt waits for ever: nothing was enqueued (EnQue missing?)"),
        (6, 0, GIVEN, "queue_misuse", f"DoIt {GIVEN_TEXT}which is free already"),
        (7, 0, GIVEN, "queue_misuse", f"DoIt {GIVEN_TEXT}which belongs to no queue: it is of a TBuf, or made from an address"),
        (7, 1, GIVEN, "queue_misuse", f"DoIt {GIVEN_TEXT}which belongs to another queue (InitBuffer at other.h:41)"),
        (7, 2, GIVEN, "queue_misuse", f"DoIt {GIVEN_TEXT}which has been freed: AllocTensor has to hand it out first"),
        (7, 3, GIVEN, "queue_misuse", f"DoIt {GIVEN_TEXT}which is in the queue already (EnQue twice?)"),
        (7, 0, Operand(0, 0, 1, 8, UB, 3), "queue_misuse", "DoIt was given a tensor without memory, which belongs to no queue"),
    ],
)
def test_a_misused_queue_says_which_tensor_and_which_buffers(rig: Rig, fault: int, figure: int, tensor: Operand | None, cause: str, said: str) -> None:
    made = record(FAULT, S, line=12, p=(fault, figure, 2, 40), scalar=41)
    made.src0.addr = ctypes.cast(ctypes.c_char_p(b"DoIt"), ctypes.c_void_p).value
    made.src1 = Operand(2048, 256, 1, 8, UB, 0)
    made.mask[0] = ctypes.cast(ctypes.c_char_p(b"kernel.cpp"), ctypes.c_void_p).value
    made.mask[1] = ctypes.cast(OTHER_FILE, ctypes.c_void_p).value
    if tensor:
        made.dst = tensor
    found = rig.launch([made]).first(cause)
    assert found["message"].startswith(said)
    assert found["message"].endswith("; the queue has 2 buffers, UB bytes 2048 to 2303 (InitBuffer at kernel.cpp:40)")
    assert found["instruction"] == "DoIt"
    assert {"queue_buffers": 2, "queue_from_byte": 2048, "queue_to_byte": 2303}.items() <= found["numbers"].items()
    assert (found["numbers"].get("tensor_from_byte"), found["numbers"].get("tensor_to_byte")) == ((1024, 1535) if tensor is GIVEN else (None, None))


def test_a_queue_without_buffers_is_no_deadlock(rig: Rig) -> None:
    found = rig.launch([record(FAULT, S, line=12, p=(3, 0, 0, 0))]).first("queue_misuse")
    assert found["message"].endswith("; the queue has no buffers (InitBuffer missing?)")


@pytest.mark.parametrize(("end", "causes"), [(196608, []), (196640, ["ub_overflow"])])
def test_buffers_may_fill_the_unified_buffer_and_no_more(rig: Rig, end: int, causes: list[str]) -> None:
    note = record(BUFFER_INIT, S, line=3)
    note.dst = Operand(end - 1024, 1024, 1, 8, UB, 3)
    assert rig.launch([note]).causes() == causes


# ---- questions, exceptions, refusals ----
def test_cores_know_who_they_are(rig: Rig) -> None:
    questions = [record(GET_BLOCK_IDX, S), record(GET_BLOCK_NUM, S), record(GET_CAPACITY, S, p=(UB,))]
    assert rig.launch(questions, questions, questions).answers == [0, 3, 196608, 1, 3, 196608, 2, 3, 196608]


TICK = record(GET_SYSTEM_CYCLE, S)
CYCLES_PER_TICK = 1800 // 50


def ticks(rig: Rig, *between: Record) -> int:
    """Ticks of the system counter that `between` takes (the stand-in charges a vector instruction 21 cycles and every issue 1)."""
    report = rig.launch([TICK, *between, TICK])
    return report.answers[-1] - report.answers[0]


DUPLICATES = [count(DUPLICATE, (ub(64 * 4 * i),), 64) for i in range(180)]


def test_the_system_counter_ticks_at_50_mhz(rig: Rig) -> None:
    assert ticks(rig, *DUPLICATES, barrier(ALL)) == (1 + 180 * 21 + 1) // CYCLES_PER_TICK


def test_the_scalar_unit_is_ahead_of_a_pipe_by_a_full_queue_at_most(rig: Rig) -> None:
    assert ticks(rig, *DUPLICATES[:32]) == 32 // CYCLES_PER_TICK
    assert ticks(rig, *DUPLICATES) == (1 + (179 - 32) * 21 + 1) // CYCLES_PER_TICK


def test_the_system_counter_knows_what_the_scalar_unit_waits_for(rig: Rig) -> None:
    work = DUPLICATES[:100]
    assert ticks(rig, *work, *flag(V, S)) == ticks(rig, *work, barrier(ALL)) == (1 + 100 * 21) // CYCLES_PER_TICK
    assert ticks(rig, *work, *flag(V, MTE3)) < 100 * 21 // CYCLES_PER_TICK


def test_pipes_run_side_by_side_on_the_system_counter(rig: Rig) -> None:
    source = rig.upload(np.zeros(16384, np.float32))
    load_alone = ticks(rig, load(ub(65536), gm(source), 65536), barrier(ALL))
    assert load_alone > 65536 // 64 // CYCLES_PER_TICK
    assert ticks(rig, load(ub(65536), gm(source), 65536), *DUPLICATES[:40], barrier(ALL)) == load_alone


def test_an_exception_of_the_kernel_is_its_failure(rig: Rig) -> None:
    report = rig.launch([record(THROW, S)])
    assert report.causes() == ["device_exception"]
    assert "thrown by the kernel" in report.diagnostics[0]["message"]


def test_empty_launches_are_refused(rig: Rig) -> None:
    assert rig.launch().causes() == ["bad_parameter"]


def test_a_record_for_a_pipe_that_does_not_exist_is_refused(rig: Rig) -> None:
    wrong = count(ABS, (ub(0), ub(4096)), 8)
    wrong.pipe = 200
    assert rig.launch([wrong]).causes() == ["protocol_violation"]


def test_addresses_at_the_end_of_the_range_do_not_wrap(rig: Rig) -> None:
    huge = (1 << 64) - 32
    assert rig.launch([count(ABS, (ub(huge), ub(0)), 64)]).causes() == ["out_of_bounds"]
    assert rig.launch([load(ub(0), gm(huge), 64)]).causes() == ["out_of_bounds"]
    assert rig.launch([count(ABS, (ub(0, limit=UNBOUNDED), ub(4096)), 0xFFFFFFFF)]).causes() == ["out_of_bounds"]


def test_timing_only_runs_leave_memory_alone(rig: Rig) -> None:
    out = rig.upload(np.full(8, 3, np.float32), is_mutable=True)
    rig.configure(timing_only=True)
    report = rig.launch([count(DUPLICATE, (ub(0),), 8), *flag(V, MTE3), store(gm(out), ub(0), 32)])
    assert report.diagnostics == []
    assert report.cycles > 0
    assert (rig.download(out, 8, np.float32) == 3).all()


def test_equal_launches_give_equal_reports(rig: Rig) -> None:
    source, out = rig.upload(np.ones(1024, np.float32)), rig.allocate(4096)
    programs = [[load(ub(0), gm(source + 1024 * core), 1024), *flag(MTE2, MTE3), store(gm(out + 1024 * core), ub(0), 1024)] for core in range(4)]
    assert rig.launch(*programs) == rig.launch(*programs)
