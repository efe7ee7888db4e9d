"""Can kernels take API functions by the types that the documentation gives them, and copy 4-bit elements, and do direct calls stay what they were?"""

from __future__ import annotations

import pytest
from recorded import CPP, Scenarios, scenarios_of

SUB, DIV, SQRT, COPY, COPY_PAD, CROSS_SET, INIT, FAULT = 2, 4, 66, 192, 193, 260, 320, 325
COUNT, I4 = 1, 13
MEMORY = 0x100000000000


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Scenarios:
    return scenarios_of("headers_by_address.cpp", tmp_path_factory.mktemp("by_address"))


def line_of(text: str) -> int:
    lines = (CPP / "headers_by_address.cpp").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_function_passed_by_its_documented_type_gives_the_record_of_a_direct_call_without_a_line(scenarios: Scenarios) -> None:
    masked, counted, one = scenarios["through_pointers"]
    lanes = [2**64 - 1, 2**36 - 1]  # of 100 elements
    assert (masked["op"], masked["p"][0], masked["mask"], masked["dst"][1]) == (SUB, 2, lanes, 32)
    assert [masked[name][4:] for name in ("dst", "src0", "src1")] == [[1, 4], [2, 5], [3, 6]]
    assert (counted["op"], counted["flags"], counted["p"][0], counted["dst"][1]) == (DIV, COUNT, 40, 1056)
    assert (one["op"], one["flags"], one["p"][0]) == (SQRT, COUNT, 50)
    assert {(record["file"], record["line"]) for record in scenarios["through_pointers"]} == {("(call through a pointer)", 0)}
    assert len(scenarios["composed"]) > 5


def test_a_direct_call_keeps_its_line_whatever_the_type_of_its_repeats(scenarios: Scenarios) -> None:
    first = line_of("Sub(h, h, h, uint64_t(100), repeats")
    assert [(record["op"], record["line"], record["p"][0]) for record in scenarios["direct"]] == [
        (SUB, first, 2),
        (SUB, first + 1, 3),
        (SUB, first + 2, 50),
        (SQRT, first + 3, 50),
    ]


def test_a_queue_takes_its_buffers_from_init_buffer_whatever_its_configuration_says(scenarios: Scenarios) -> None:
    assert sum(record["op"] == INIT for record in scenarios["configured_queue"]) == 2


def test_repeats_of_a_wide_type_are_looked_at_before_they_are_cut(scenarios: Scenarios) -> None:
    (fault,) = scenarios["too_often"]
    assert (fault["op"], fault["api"], fault["line"]) == (FAULT, "Sub", line_of("static_cast<int>(repeats)"))


def test_four_bit_elements_are_copied_by_half_bytes(scenarios: Scenarios) -> None:
    out, back, pad = scenarios["four_bits"]
    assert (out["op"], out["p"][:2], out["dst"][1], out["dst"][3]) == (COPY, [1, 64], MEMORY + 128, I4)
    assert (back["op"], back["p"][:2], back["dst"][1], back["src0"][1]) == (COPY, [1, 32], 96, MEMORY)
    assert (pad["op"], pad["p"][:2], pad["dst"][1]) == (COPY_PAD, [1, 5], MEMORY + 1)


def test_names_without_effect_submit_nothing_and_notify_event_is_a_flag_of_mode_two(scenarios: Scenarios) -> None:
    assert "nothing_to_do" not in scenarios
    (flag,) = scenarios["flags"]
    assert (flag["op"], flag["p"][0], flag["p"][2]) == (CROSS_SET, 2, 5)
