import threading

import pytest

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.evaluate.memory import MemoryGuard, available_bytes, call_bytes, golden_bytes

CASE = Case(operator="exp", id="1", inputs=(CaseInput(argument="x", shape=(1000,), dtype=DType.FLOAT16),))


def test_a_float64_golden_is_counted_with_its_inputs_and_outputs() -> None:
    assert golden_bytes(CASE) >= 2 * 1000 * 8 + 2 * 1000 * 2
    assert call_bytes(CASE) >= 2 * 1000 * 2


def test_what_never_fits_is_refused_with_both_figures() -> None:
    with pytest.raises(EvaluatorError, match=r"(?s)exp/1: skipped.*about 2 MiB.*1 MiB to use"), MemoryGuard(1 << 20).reserve(2 << 20, "exp/1"):
        raise AssertionError("it must not run")


def test_work_waits_until_it_fits_beside_what_runs() -> None:
    guard = MemoryGuard(100)
    order: list[str] = []
    started = threading.Event()

    def second() -> None:
        started.set()
        with guard.reserve(60, "second"):
            order.append("second")

    thread = threading.Thread(target=second)
    with guard.reserve(60, "first"):
        thread.start()
        started.wait(10)
        thread.join(0.05)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_memory_is_given_back_after_a_failure() -> None:
    guard = MemoryGuard(100)
    with pytest.raises(ValueError, match="broken"), guard.reserve(100, "first"):
        raise ValueError("broken")
    with guard.reserve(100, "second"):
        pass


def test_this_machine_has_some_memory() -> None:
    assert available_bytes() > 1 << 20
