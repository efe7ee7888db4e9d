"""Work in threads that a stop does not wait for.

A pool of concurrent.futures is joined when it is left and again when the process ends: with a model that takes minutes to answer, Ctrl-C would take them too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def side_by_side(work: Callable[[Item], Made], items: Sequence[Item]) -> list[Future[Made]]:
    """`work` of every item at the same time, all of them ended; a KeyboardInterrupt passes at once, and what is under way ends with the process."""
    futures: list[Future[Made]] = [Future() for _ in items]
    for item, future in zip(items, futures, strict=True):
        threading.Thread(target=_work, args=(work, item, future), daemon=True).start()
    for future in futures:
        future.exception()
    return futures


def _work(work: Callable[[Item], Made], item: Item, future: Future[Made]) -> None:
    try:
        future.set_result(work(item))
    except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
        future.set_exception(error)
