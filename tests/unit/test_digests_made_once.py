"""Digests of frozen records are made once per object: never those of another one, and not kept beyond its life."""

from __future__ import annotations

import gc

from piton.core.canonical import digest, once
from piton.core.operator import Frozen


class Counted(Frozen):
    """Counts how often its digest is made."""

    text: str

    @once
    def digest(self) -> str:
        MADE.append(self.text)
        return digest(self.text)


MADE: list[str] = []


def test_the_second_look_makes_nothing() -> None:
    MADE.clear()
    record = Counted(text="a")
    assert record.digest() == record.digest() == digest("a")
    assert MADE == ["a"]


def test_a_changed_copy_has_a_digest_of_its_own() -> None:
    record = Counted(text="a")
    assert record.digest() != record.model_copy(update={"text": "b"}).digest()


def test_an_equal_record_at_the_place_of_one_that_is_gone_is_looked_at_anew() -> None:
    for number in range(200):  # memory of small objects is used again at once
        record = Counted(text=f"text {number}")
        assert record.digest() == digest(f"text {number}")
        del record
    gc.collect()
