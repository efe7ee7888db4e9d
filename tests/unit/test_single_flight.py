"""What several evaluations want at the same time is made by one of them; who is told to stop does not wait."""

from __future__ import annotations

import threading

from piton.evaluate.single_flight import SingleFlight


def run_all(*works: threading.Thread) -> None:
    for work in works:
        work.start()
    for work in works:
        work.join(20)
        assert not work.is_alive()


def test_the_second_finds_what_the_first_has_made() -> None:
    flight, made = SingleFlight(), list[str]()
    is_inside, second_is_in = threading.Event(), threading.Event()

    def first() -> None:
        with flight.turn("a", lambda: False) as has_turn:
            is_inside.set()
            assert has_turn
            assert not second_is_in.wait(0.05)
            made.append("a")

    def second() -> None:
        assert is_inside.wait(20)
        with flight.turn("a", lambda: False) as has_turn:
            second_is_in.set()
            assert has_turn
            assert made == ["a"]

    run_all(threading.Thread(target=first), threading.Thread(target=second))
    assert made == ["a"]
    assert flight.names == 0


def test_different_things_do_not_wait_for_each_other() -> None:
    flight = SingleFlight()
    with flight.turn("a", lambda: False) as first, flight.turn("b", lambda: False) as second:
        assert (first, second) == (True, True)


def test_who_is_told_to_stop_does_not_wait() -> None:
    flight, is_stopped, answers = SingleFlight(), threading.Event(), list[bool]()

    def other() -> None:
        with flight.turn("a", is_stopped.is_set) as has_turn:
            answers.append(has_turn)

    with flight.turn("a", lambda: False):
        waiting = threading.Thread(target=other)
        waiting.start()
        is_stopped.set()
        waiting.join(20)
        assert answers == [False]
    assert flight.names == 0


def test_a_maker_that_fails_leaves_the_turn_to_the_next() -> None:
    flight = SingleFlight()
    try:
        with flight.turn("a", lambda: False):
            raise ArithmeticError
    except ArithmeticError:
        pass
    with flight.turn("a", lambda: False) as has_turn:
        assert has_turn
