"""What the API answers: records and health in the forms that clients know."""

from __future__ import annotations

import time

import piton
from piton.server.answers_form import HealthAnswer, JobAnswer
from piton.server.records import JobRecord, JobState
from piton.server.service import EvaluationService


def job_answer(record: JobRecord, position: int) -> JobAnswer:
    """The record as a client sees it."""
    kept = record.model_dump(include=set(JobAnswer.model_fields), exclude={"options"})
    return JobAnswer(**kept, options=record.options, is_ended=record.has_ended, position=position)


def health_of(service: EvaluationService) -> HealthAnswer:
    """The health of a service."""
    counts = service.board.counts()
    return HealthAnswer(
        status="ok" if service.board.is_open else "stopping",
        piton=piton.__version__,
        targets=service.settings.targets,
        suites=tuple(service.settings.suites_by_name),
        isolation=service.core.isolation,
        queued=counts[JobState.QUEUED],
        running=counts[JobState.RUNNING],
        uptime_s=round(time.time() - service.started, 1),
    )
