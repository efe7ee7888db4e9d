"""The board of jobs: order, limits of the queue and of each client, restarts, and what is kept."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from piton.core.errors import FormatError, UsageError
from piton.server import board
from piton.server.board import JobBoard
from piton.server.records import LOG, JobLog, JobRecord, JobState
from piton.server.refusal import RefusedError
from piton.server.settings import QueueLimits


class _Bench:
    """A board on a log in a folder, and what it forgot."""

    def __init__(self, folder: Path, **limits: int) -> None:
        folder.mkdir(exist_ok=True)
        self.forgotten: list[str] = []
        self.placed: list[str] = []
        self.log = JobLog(folder)
        self.board = JobBoard(self.log, QueueLimits(**limits), 1, self.forgotten.append)

    def add(self, name: str, client: str = "a") -> tuple[JobRecord, bool]:
        return self.board.add(JobRecord(id=name, client=client, submission_digest="d"), lambda: self.placed.append(name))

    def take(self) -> str:
        taken = self.board.take()
        assert taken is not None
        return taken.id

    def close(self) -> None:
        self.log.close()


def test_jobs_run_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    bench = _Bench(tmp_path)
    for name in ("one", "two", "three"):
        bench.add(name)
    assert [bench.take() for _ in range(3)] == ["one", "two", "three"]


def test_a_client_that_floods_the_queue_does_not_hold_up_another(tmp_path: Path) -> None:
    bench = _Bench(tmp_path)
    for number in range(4):
        bench.add(f"flood-{number}")
    bench.add("single", "b")
    assert [bench.take(), bench.take()] == ["flood-0", "single"]


def test_a_client_has_no_more_running_than_it_may(tmp_path: Path) -> None:
    bench = _Bench(tmp_path, running_per_client=1)
    bench.add("one")
    bench.add("two")
    bench.take()
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(bench.take()))
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    bench.board.end("one", JobState.DONE)
    thread.join(30)
    assert seen == ["two"]


def test_a_full_queue_says_when_to_come_back(tmp_path: Path) -> None:
    bench = _Bench(tmp_path, queued=2)
    bench.add("one")
    bench.add("two", "b")
    with pytest.raises(RefusedError, match="queue is full") as caught:
        bench.add("three", "c")
    assert (caught.value.status, caught.value.retry_after_s >= 1) == (429, True)
    assert bench.placed == ["one", "two"]


def test_a_client_has_a_limit_of_its_own_in_the_queue(tmp_path: Path) -> None:
    bench = _Bench(tmp_path, queued_per_client=1)
    bench.add("one")
    with pytest.raises(RefusedError, match="this client"):
        bench.add("two")
    assert bench.add("three", "b")[1]


def test_the_same_job_again_is_the_same_job_even_when_the_queue_is_full(tmp_path: Path) -> None:
    bench = _Bench(tmp_path, queued=1)
    first, is_new = bench.add("one")
    again, is_new_again = bench.add("one")
    assert (is_new, is_new_again, again) == (True, False, first)


@pytest.mark.parametrize(("state", "is_new"), [(JobState.DONE, False), (JobState.REFUSED, False), (JobState.FAILED, True), (JobState.CANCELLED, True)])
def test_only_what_ended_in_vain_is_evaluated_anew(tmp_path: Path, state: JobState, is_new: bool) -> None:
    bench = _Bench(tmp_path)
    bench.add("one")
    bench.take()
    bench.board.end("one", state)
    assert bench.add("one")[1] is is_new


def test_jobs_survive_a_server_that_was_killed(tmp_path: Path) -> None:
    bench = _Bench(tmp_path)
    for name in ("done", "running", "waiting"):
        bench.add(name)
    bench.take()
    bench.board.end("done", JobState.DONE, report_bytes=5)
    bench.take()
    bench.close()
    with open(tmp_path / LOG, "ab") as log:
        log.write(b'{"id":"torn')
    later = _Bench(tmp_path)
    assert later.board.done() == {"done"}
    assert [later.take(), later.take()] == ["running", "waiting"]


def test_a_job_that_ends_the_server_again_and_again_is_given_up(tmp_path: Path) -> None:
    for _ in range(2):
        bench = _Bench(tmp_path, starts=2)
        bench.add("poison")
        bench.take()
        bench.close()
    last = _Bench(tmp_path, starts=2)
    record = last.board.find("poison", "a")
    assert (record.state, "2 times" in record.problem) == (JobState.FAILED, True)


def test_an_orderly_stop_does_not_count_against_a_job(tmp_path: Path) -> None:
    for _ in range(3):
        bench = _Bench(tmp_path, starts=2)
        bench.add("long")
        bench.take()
        bench.board.put_back("long")
        bench.close()
    killed = _Bench(tmp_path, starts=2)
    assert killed.take() == "long"
    killed.close()
    assert _Bench(tmp_path, starts=2).board.find("long", "a").state is JobState.QUEUED


def test_the_oldest_results_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "now", lambda: "2026-01-01T00:00:00.000Z")  # so short that the clock did not move
    bench = _Bench(tmp_path, kept_jobs=2)
    for name in ("one", "two", "three"):
        bench.add(name)
        bench.take()
        bench.board.end(name, JobState.DONE, report_bytes=1)
    assert (bench.forgotten, bench.board.done()) == (["one"], {"two", "three"})
    with pytest.raises(RefusedError, match="no such job"):
        bench.board.find("one", "a")


def test_results_are_bounded_by_their_size_as_well(tmp_path: Path) -> None:
    bench = _Bench(tmp_path, kept_bytes=10)
    for name in ("one", "two"):
        bench.add(name)
        bench.take()
        bench.board.end(name, JobState.DONE, report_bytes=6)
    assert bench.forgotten == ["one"]


def test_the_log_stays_in_proportion_to_what_is_kept(tmp_path: Path) -> None:
    bench = _Bench(tmp_path, kept_jobs=2, queued=2)
    for number in range(100):
        bench.add(f"job-{number}")
        bench.take()
        bench.board.end(f"job-{number}", JobState.DONE)
    assert len((tmp_path / LOG).read_bytes().splitlines()) < 60


def test_one_client_does_not_see_the_jobs_of_another(tmp_path: Path) -> None:
    bench = _Bench(tmp_path)
    bench.add("one")
    with pytest.raises(RefusedError) as caught:
        bench.board.find("one", "b")
    assert (caught.value.status, bench.board.of_client("b")) == (404, [])


def test_a_closed_board_takes_nothing_in_and_gives_nothing_out(tmp_path: Path) -> None:
    bench = _Bench(tmp_path)
    bench.add("one")
    bench.board.close()
    assert bench.board.take() is None
    with pytest.raises(RefusedError, match="stopping"):
        bench.add("two")


def test_a_second_server_on_one_folder_is_refused(tmp_path: Path) -> None:
    _bench = _Bench(tmp_path)
    with pytest.raises(UsageError, match="using this folder"):
        JobLog(tmp_path)


@pytest.mark.parametrize("text", ["not a log\n", '{"piton_jobs": 99}\n', '{"piton_jobs": 1}\n{"id": 5}\n'])
def test_a_log_that_is_none_is_one_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / LOG).write_text(text)
    with pytest.raises(FormatError, match="log of jobs"):
        JobLog(tmp_path)


def test_a_job_is_not_seen_to_run_before_what_runs_it_is_known(tmp_path: Path) -> None:
    bench = _Bench(tmp_path)
    record, _ = bench.add("one")
    seen: list[str] = []

    looks = threading.Thread(target=lambda: seen.append(f"withdrawn {bench.board.withdraw(record.id)}"))

    def begin(taken: JobRecord) -> None:
        looks.start()
        looks.join(0.2)
        seen.append(f"begun {taken.id}")

    bench.board.take(begin)
    looks.join(30)
    assert seen == ["begun one", "withdrawn False"]


def test_a_job_that_is_forgotten_while_it_is_cancelled_is_none(tmp_path: Path) -> None:
    assert not _Bench(tmp_path).board.withdraw("forgotten")
