"""Is a tensor of L0A, L0B or L0C that was declared too small a finding where nothing lies behind it, and a violation where something does?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from cube_steps import FRACTAL, L0A, L0C, load_data, local, mmad
from engine_rig import AIC, F16, MTE1, MTE2, M, Record, Rig, barrier, flag, gm, l1, load


@pytest.fixture
def rig() -> Iterator[Rig]:
    with Rig(cores=2) as made:
        yield made


def fractals(rig: Rig, count: int) -> list[Record]:
    """That many fractals of halves in L1."""
    source = rig.upload(np.ones(count * FRACTAL // 2, np.float16))
    return [load(l1(0, F16), gm(source, F16), count * FRACTAL), *flag(MTE2, MTE1)]


def test_fractals_past_a_tensor_are_a_finding_where_nothing_lies(rig: Rig) -> None:
    step = load_data(local(L0A, 0, F16, FRACTAL), l1(0, F16), 2, 1, line=8)
    again = [*fractals(rig, 2), step, barrier(MTE1), step]
    report = rig.launch(again, core_kind=AIC)
    assert (report.causes(), report.findings()) == ([], ["other"])
    found = report.diagnostics[0]
    assert (found["line"], found["numbers"]["tensor_bytes"], found["numbers"]["bytes"]) == (8, FRACTAL, 2 * FRACTAL)
    assert "needed: a tensor of 1024 bytes" in found["message"]


def test_fractals_past_a_tensor_over_what_another_holds_are_a_violation(rig: Rig) -> None:
    other = load_data(local(L0A, FRACTAL, F16, FRACTAL), l1(0, F16), 1, 1)
    report = rig.launch([*fractals(rig, 2), other, barrier(MTE1), load_data(local(L0A, 0, F16, FRACTAL), l1(0, F16), 2, 1)], core_kind=AIC)
    assert report.causes() == ["out_of_bounds"]


def test_what_is_put_behind_a_tensor_later_is_not_its_own_any_more(rig: Rig) -> None:
    past = load_data(local(L0A, 0, F16, FRACTAL), l1(0, F16), 2, 1)
    other = load_data(local(L0A, FRACTAL, F16, FRACTAL), l1(0, F16), 1, 1)
    report = rig.launch([*fractals(rig, 2), past, barrier(MTE1), other, barrier(MTE1), past], core_kind=AIC)
    assert report.causes() == ["out_of_bounds"]


def test_a_run_for_the_time_alone_does_not_refuse_what_it_can_not_tell(rig: Rig) -> None:
    rig.configure(timing_only=True)
    report = rig.launch([*fractals(rig, 2), load_data(local(L0A, 0, F16, FRACTAL), l1(0, F16), 2, 1)], core_kind=AIC)
    assert report.causes() == []


def test_results_past_a_tensor_are_a_finding_where_nothing_lies(rig: Rig) -> None:
    sides = [load_data(local(space, 0, F16), l1(0, F16), 4, 1) for space in (L0A, L0A + 1)]
    product = mmad((16, 32, 32), F16)
    product.dst.limit = 1024
    report = rig.launch([*fractals(rig, 4), *sides, *flag(MTE1, M), product], core_kind=AIC)
    assert (report.causes(), report.findings()) == ([], ["other"])
    assert product.dst.space == L0C
    assert "L0C" in report.diagnostics[0]["message"]
