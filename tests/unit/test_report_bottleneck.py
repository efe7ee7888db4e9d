"""Does the sentence about where the time goes name the right limit, with the right figures?"""

from __future__ import annotations

import pytest

from piton.core.case import Case, SizeClass
from piton.core.execution import LaunchRecord
from piton.core.measurement import Anchor, AnchorKind, Provenance
from piton.core.report import CaseResult
from piton.core.verdict import PASSED
from piton.report.bottleneck import bottleneck, bottleneck_of, rate_text


def kernel(cycles: int = 1000, *, cores: int = 2, **shares: dict[str, float]) -> LaunchRecord:
    """A launch whose pipes divide its core time as `shares` says; `busy` is the pipe's own work, `lost_...` a part of that."""
    whole = cores * cycles
    waits = {p: {k: round(v * whole) for k, v in s.items() if k != "busy" and not k.startswith("lost_")} for p, s in shares.items()}
    lost = {p: {k[5:]: round(v * whole) for k, v in s.items() if k.startswith("lost_")} for p, s in shares.items()}
    return LaunchRecord(
        kernel="k",
        blocks=cores,
        cycles=cycles,
        time_us=cycles / 1000,
        instructions=1,
        busy_cycles={p: round(s["busy"] * whole) for p, s in shares.items()},
        stall_cycles={},
        gm_read_bytes=900_000,
        gm_written_bytes=500_000,
        cores=cores,
        wait_cycles=waits,
        lost_cycles=lost,
        hbm_bytes=0,
    )


def copy(cycles: int) -> LaunchRecord:
    return LaunchRecord(
        kernel="copy",
        kind="copy",
        blocks=0,
        cycles=cycles,
        time_us=cycles / 1000,
        instructions=0,
        busy_cycles={},
        stall_cycles={},
        gm_read_bytes=0,
        gm_written_bytes=0,
    )


MTE2_BOUND = kernel(mte2={"busy": 0.83, "flag_v": 0.12, "idle": 0.05, "lost_latency": 0.06}, v={"busy": 0.3, "flag_mte2": 0.61, "launch": 0.05, "tail": 0.04})


def case(*launches: LaunchRecord, t_hw_us: float | None = 0.8) -> CaseResult:
    anchor = Anchor(kind=AnchorKind.T_HW, value_us=t_hw_us, provenance=Provenance.MODELLED, method="m") if t_hw_us else None
    made = Case(id="1", operator="exp", inputs=(), seed=0)
    return CaseResult(operator="exp", case=made, size=SizeClass.SMALL, outcome=PASSED, launches=launches, t_hw=anchor)


def test_the_sentence_names_limit_share_rate_distance_and_what_the_limit_waits_for() -> None:
    found = bottleneck(case(MTE2_BOUND))
    assert found is not None
    assert found.sentence == "MTE2 bound: busy 83 % of 1.00 us, GM 1.40 TB/s, 1.2 x T_HW; waits 12 % for V, 5 % for work to be issued; loses 6 % to latency"


def test_without_t_hw_the_sentence_says_nothing_about_it() -> None:
    found = bottleneck(case(MTE2_BOUND, t_hw_us=None))
    assert found is not None
    assert "T_HW" not in found.sentence


def test_launching_is_the_limit_when_it_takes_more_than_the_busiest_pipe() -> None:
    found = bottleneck_of([kernel(v={"busy": 0.4, "launch": 0.3, "tail": 0.2, "flag_mte2": 0.1})])
    assert found is not None
    assert found.sentence == "launch bound: blocks start and end during 50 % of 1.00 us, GM 1.40 TB/s; V is busy 40 %; waits 10 % for MTE2"


def test_device_copies_are_the_limit_when_they_take_most_of_the_time() -> None:
    found = bottleneck_of([MTE2_BOUND, copy(3000)])
    assert found is not None
    assert (found.limit, found.share) == ("copy", 0.75)
    assert found.sentence.startswith("copy bound: device copies take 75 % of 4.00 us")


def test_launches_count_by_their_cycles_and_shares_add_up_to_one() -> None:
    found = bottleneck_of([kernel(3000, cores=1, v={"busy": 0.9, "launch": 0.1}), kernel(1000, cores=4, v={"busy": 0.1, "tail": 0.9})])
    assert found is not None
    (v,) = found.pipes
    assert v.busy == pytest.approx(0.7)
    assert v.waits == pytest.approx({"tail": 0.225, "launch": 0.075})
    assert list(v.waits) == ["tail", "launch"]
    assert v.busy + sum(v.waits.values()) == pytest.approx(1)


@pytest.mark.parametrize("launches", [(), (MTE2_BOUND.model_copy(update={"cores": 0}),)])
def test_nothing_is_said_without_launches_or_reasons(launches: tuple[LaunchRecord, ...]) -> None:
    assert bottleneck_of(launches) is None


@pytest.mark.parametrize(("value", "text"), [(1.4e12, "1.40 TB/s"), (999.4e9, "999 GB/s"), (3e9, "3 GB/s")])
def test_rates_are_written_in_the_fitting_unit(value: float, text: str) -> None:
    assert rate_text(value) == text
