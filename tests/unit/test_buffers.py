from __future__ import annotations

from piton.evaluate.buffers import Buffers

MIB = 1 << 20


def test_a_copy_has_the_bytes_and_its_own_memory() -> None:
    data = bytearray(b"abc" * 1000)
    with Buffers().copied(memoryview(data)) as own:
        data[:] = bytes(len(data))
        assert bytes(own) == b"abc" * 1000
    with Buffers().copied(memoryview(b"")) as own:
        assert own.nbytes == 0


def test_two_copies_at_a_time_share_nothing_and_the_next_takes_the_memory_of_the_smallest_that_fits() -> None:
    buffers = Buffers()
    with buffers.copied(memoryview(b"a" * 3 * MIB)) as large, buffers.copied(memoryview(b"b" * MIB)) as small:
        assert bytes(large[:1]) + bytes(small[:1]) == b"ab"
    assert buffers.idle_bytes == 4 * MIB
    with buffers.copied(memoryview(b"c" * 7)) as own:
        assert buffers.idle_bytes == 3 * MIB
        assert bytes(own) == b"c" * 7
    assert buffers.idle_bytes == 4 * MIB


def test_no_more_than_the_bound_lies_idle() -> None:
    buffers = Buffers(idle_bytes=3 * MIB)
    with buffers.copied(memoryview(bytes(4 * MIB))):
        pass
    assert buffers.idle_bytes == 0
    with buffers.copied(memoryview(bytes(2 * MIB))), buffers.copied(memoryview(bytes(MIB + 1))), buffers.copied(memoryview(bytes(5))):
        pass
    assert 0 < buffers.idle_bytes <= 3 * MIB
