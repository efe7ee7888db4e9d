"""The service behind `piton serve`, without its network: jobs from submission to reward, cancelled, refused, stopped and taken up again."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from null_world import make_submission, make_suite
from serve_world import CLIENT, WAITS, ended, packed, runs, settings, submit, until

from piton.core.errors import UsageError
from piton.evaluate.pipeline import evaluate
from piton.evaluate.policy import EvaluationRequest
from piton.report.json_file import read_report
from piton.server.archive import pack_submission
from piton.server.records import JobRecord, JobState
from piton.server.refusal import RefusedError
from piton.server.reward import reward_of
from piton.server.service import EvaluationService
from piton.server.settings import JobOptions


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("serve")
    make_suite(place / "suite")
    return place


@pytest.fixture(scope="module")
def service(root: Path) -> Iterator[EvaluationService]:
    running = EvaluationService(settings(root, root / "suite", workers=2, paths=(str(root / "allowed"),)))
    yield running
    running.stop(0.0)


def _reward(service: EvaluationService, data: bytes, rule: str = "score", **options: object) -> float | None:
    record = ended(service, submit(service, data, **options))
    assert record.state is JobState.DONE, record.problem
    return service.reward(record.id, CLIENT, rule).reward  # type: ignore[arg-type]


def test_a_job_ends_with_the_report_of_an_evaluation_and_leaves_no_other_file(service: EvaluationService, root: Path, tmp_path: Path) -> None:
    record = ended(service, submit(service, packed(tmp_path / "s")))
    assert (record.state, record.cases, record.finished_cases) == (JobState.DONE, 8, 8)
    report = read_report(root / "state" / "results" / f"{record.id}.json")
    assert report.submission_digest == record.submission_digest
    assert service.report_bytes(record.id, CLIENT) == (root / "state" / "results" / f"{record.id}.json").read_bytes()
    until(lambda: not (root / "state" / "jobs" / record.id).exists())


def test_the_report_is_that_of_the_command_line_but_for_the_name(service: EvaluationService, root: Path, tmp_path: Path) -> None:
    folder = make_submission(tmp_path / "s", {"twice": {"cases": {"2": {"compute": "zeros"}}}})
    record = ended(service, submit(service, pack_submission(folder)))
    request = EvaluationRequest(
        submission=str(folder), run_dir=str(tmp_path / "run"), cache_dir=str(root / "cache"), suite=str(root / "suite"), target="null", is_trusted=True
    )
    own, served = evaluate(request), read_report(root / "state" / "results" / f"{record.id}.json")
    assert served.submission == record.submission_digest
    assert served.model_copy(update={"submission": own.submission}).canonical_digest() == own.result_digest


def test_the_reward_counts_what_was_asked_for(service: EvaluationService, tmp_path: Path) -> None:
    data = packed(tmp_path / "s", {"twice": {"default": {"compute": "zeros"}}})
    assert _reward(service, data, "correct") == 0.5
    assert _reward(service, data, "compiled") == 1.0
    assert _reward(service, data, "correct", operators=["grow"], cases=["1", "2"]) == 1.0
    assert _reward(service, data, "correct", operators=["twice"], cases=["3"]) == 0.0


def test_hap_and_score_follow_their_formulas(service: EvaluationService, tmp_path: Path) -> None:
    data = packed(tmp_path / "s", {"grow": {"cases": {"2": {"compute": "zeros"}}, "default": {"compute": "exp", "time_us": 10.0}}})
    hap = (20 - 5) / ((10 - 5) + (20 - 5))  # quoted anchors of the suite
    assert _reward(service, data, "hap", operators=["grow"]) == pytest.approx(hap * 3 / 4)
    assert _reward(service, data, "score", operators=["grow"]) == pytest.approx(0.2 + (0.3 + 0.5 * hap) * 3 / 4)


def test_a_tampered_submission_gets_nothing_by_any_rule(service: EvaluationService, tmp_path: Path) -> None:
    data = packed(tmp_path / "s", {"twice": {"cases": {"1": {"causes": ["illegal_reply"]}}}})
    assert [_reward(service, data, rule) for rule in ("score", "hap", "correct", "compiled")] == [0.0] * 4


def test_what_could_not_be_evaluated_has_no_reward_and_says_why(service: EvaluationService, tmp_path: Path) -> None:
    record = ended(service, submit(service, packed(tmp_path / "s", {"twice": {"cases": {"1": {"evaluator_error": "the device is away"}}}})))
    found = service.reward(record.id, CLIENT, "score")
    assert (found.reward, found.voids, "twice/1" in found.reason) == (None, 1, True)


def test_a_time_below_the_roof_is_counted(service: EvaluationService, root: Path, tmp_path: Path) -> None:
    record = ended(service, submit(service, packed(tmp_path / "s", {"grow": {"default": {"compute": "exp", "time_us": 1.0}}})))
    assert reward_of(read_report(root / "state" / "results" / f"{record.id}.json")).below_t_hw == 4


def test_the_same_submission_again_is_answered_at_once(service: EvaluationService, tmp_path: Path) -> None:
    data = packed(tmp_path / "s", {"grow": {"default": {"compute": "exp", "time_us": 7.0}}})
    first = ended(service, submit(service, data))
    again, is_new = service.submit(io.BytesIO(data), JobOptions(), CLIENT)
    other, is_new_for_other = service.submit(io.BytesIO(data), JobOptions(), "somebody else")
    assert (again, is_new, is_new_for_other) == (first, False, True)
    assert other.id != first.id
    ended(service, other)


@pytest.mark.parametrize(
    ("change", "problem"), [({"operators": ("grow", "shrink")}, "has that operator"), ({"suites": ("nowhere",)}, "suite"), ({"is_trusted": False}, "trust")]
)
def test_what_the_server_offers_is_looked_at_before_it_listens(
    service: EvaluationService, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], problem: str
) -> None:
    service.core.prepare()
    monkeypatch.setattr(service.core, "_settings", service.settings.model_copy(update=change))
    with pytest.raises(UsageError, match=problem):
        service.core.prepare()


def test_another_seed_of_the_server_is_another_job(service: EvaluationService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed(tmp_path / "s", {"grow": {"default": {"compute": "exp", "time_us": 7.0}}})
    first = ended(service, submit(service, data))
    monkeypatch.setattr(service.core, "_settings", service.settings.model_copy(update={"seed": 1}))
    other = ended(service, submit(service, data))
    assert (first.state, other.state) == (JobState.DONE, JobState.DONE)
    assert first.id != other.id
    assert submit(service, data).id == other.id


def test_an_operator_that_the_suite_lacks_is_refused(service: EvaluationService, root: Path, tmp_path: Path) -> None:
    record = ended(service, submit(service, packed(tmp_path / "s"), operators=["shrink"]))
    assert (record.state, "shrink" in record.problem, str(root) in record.problem) == (JobState.REFUSED, True, False)
    with pytest.raises(RefusedError, match="no report"):
        service.report_bytes(record.id, CLIENT)


def test_what_is_no_submission_is_refused_at_once_without_a_word_of_our_folders(service: EvaluationService, root: Path, tmp_path: Path) -> None:
    folder = make_submission(tmp_path / "s")
    (folder / "piton.yaml").write_text("colour: red\n")
    with pytest.raises(UsageError) as caught:
        service.submit_path(str(folder), JobOptions(), CLIENT)
    assert "not allowed" in str(caught.value)
    good = make_submission(root / "allowed" / "bad")
    (good / "piton.yaml").write_text("colour: red\n")
    with pytest.raises(UsageError) as caught:
        service.submit_path(str(good), JobOptions(), CLIENT)
    assert ("piton.yaml" in str(caught.value), str(root) in str(caught.value)) == (True, False)
    assert not list((root / "state" / "jobs").glob("incoming-*"))


def test_a_path_on_the_server_gives_the_job_of_its_upload(service: EvaluationService, root: Path) -> None:
    folder = make_submission(root / "allowed" / "good", {"grow": {"default": {"compute": "exp", "time_us": 8.0}}})
    by_path, _ = service.submit_path(str(folder), JobOptions(), CLIENT)
    sent, is_new = service.submit(io.BytesIO(pack_submission(folder)), JobOptions(), CLIENT)
    assert (sent.id, is_new) == (by_path.id, False)
    ended(service, by_path)


def test_a_link_out_of_an_allowed_folder_is_not_allowed(service: EvaluationService, root: Path, tmp_path: Path) -> None:
    make_submission(tmp_path / "s")
    (root / "allowed").mkdir(exist_ok=True)
    (root / "allowed" / "link").symlink_to(tmp_path / "s")
    for path in (root / "allowed" / "link", f"{root}/allowed\0"):
        with pytest.raises(RefusedError, match="not allowed"):
            service.submit_path(str(path), JobOptions(), CLIENT)


def test_a_running_job_is_cancelled_in_the_middle_of_a_call_and_can_come_again(service: EvaluationService, root: Path, tmp_path: Path) -> None:
    data = packed(tmp_path / "s", WAITS)
    record = submit(service, data, operators=["grow"])
    runs(service, record)
    service.cancel(record.id, CLIENT)
    assert ended(service, record, 30.0).state is JobState.CANCELLED
    assert not (root / "state" / "jobs" / record.id).exists()
    again = submit(service, data, operators=["grow"])
    assert not again.has_ended
    service.cancel(again.id, CLIENT)
    assert ended(service, again, 30.0).state is JobState.CANCELLED


def test_a_full_disk_neither_ends_what_runs_jobs_nor_holds_up_the_stop(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("piton.server.service._FULL_DISK_S", 0.01)
    told: list[str] = []
    full = EvaluationService(settings(tmp_path, root / "suite", cache_dir=str(root / "cache")), told.append)
    write, refused = full.board._log.write, {JobState.RUNNING}

    def no_room(record: JobRecord, *, is_durable: bool) -> None:
        if record.state in refused:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(record, is_durable=is_durable)

    monkeypatch.setattr(full.board._log, "write", no_room)
    record = submit(full, packed(tmp_path / "s"))
    until(lambda: len(told) > 2)
    refused.clear()
    assert ended(full, record).state is JobState.DONE
    running = submit(full, packed(tmp_path / "waits", WAITS), operators=["grow"])
    runs(full, running)
    refused.add(JobState.QUEUED)
    full.stop(0.0)
    assert "can't be written" in told[-1]


def test_a_report_that_was_forgotten_meanwhile_is_a_404_without_a_word_of_our_folders(service: EvaluationService, root: Path, tmp_path: Path) -> None:
    record = ended(service, submit(service, packed(tmp_path / "s", {"grow": {"default": {"compute": "exp", "time_us": 9.0}}})))
    (root / "state" / "results" / f"{record.id}.json").unlink()
    for ask in (lambda: service.report_bytes(record.id, CLIENT), lambda: service.reward(record.id, CLIENT, "score")):
        with pytest.raises(RefusedError, match="not kept") as caught:
            ask()
        assert (caught.value.status, str(root) in str(caught.value)) == (404, False)


def test_a_job_that_takes_too_long_fails(root: Path, tmp_path: Path) -> None:
    short = EvaluationService(settings(tmp_path, root / "suite", limits={"job_deadline_s": 0.5}, cache_dir=str(root / "cache")))
    record = ended(short, submit(short, packed(tmp_path / "s", WAITS), operators=["grow"]), 60.0)
    short.stop(0.0)
    assert (record.state, "more than" in record.problem) == (JobState.FAILED, True)


def test_a_stopped_server_goes_on_where_it_was(root: Path, tmp_path: Path) -> None:
    """The first case is finished and in the journal; the second one waits when the server stops. The script is part of the key, so it waits again."""
    script = {"grow": {"default": {"compute": "exp"}, "cases": {"2": {"compute": "exp", "wait_s": 4.0}}}}
    chosen = settings(tmp_path, root / "suite", cache_dir=str(root / "cache"))
    first = EvaluationService(chosen)
    record = submit(first, packed(tmp_path / "s", script), operators=["grow"])
    waiting = submit(first, packed(tmp_path / "t"), operators=["twice"])
    runs(first, record)
    until(lambda: first.board.find(record.id, CLIENT).finished_cases > 0)
    first.stop(0.0)
    assert (tmp_path / "state" / "jobs" / record.id / "run" / "journal.jsonl").read_text().count("\n") == 2
    second = EvaluationService(chosen)
    done = ended(second, record)
    assert (done.state, done.cases, done.starts) == (JobState.DONE, 4, 1)
    assert ended(second, waiting).state is JobState.DONE
    second.stop(0.0)
    assert read_report(tmp_path / "state" / "results" / f"{record.id}.json").is_complete is False  # one operator of two was asked for


def test_what_a_killed_server_left_is_removed(root: Path, tmp_path: Path) -> None:
    for name in ("jobs/incoming-x/upload", "jobs/unknown/run", "results"):
        (tmp_path / "state" / name).mkdir(parents=True)
    (tmp_path / "state" / "results" / "unknown.json").write_text("{}")
    EvaluationService(settings(tmp_path, root / "suite")).stop(0.0)
    assert not [*(tmp_path / "state" / "jobs").iterdir(), *(tmp_path / "state" / "results").iterdir()]
