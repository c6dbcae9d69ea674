"""Run jobs as a worker does, in the process of the test, and read refusals."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from core.commands import RefusedCommandError
from core.messages import messages_of
from core.work import working
from metaeval.messages import Message, MessageError
from training.contract import JobError
from training.jobs.work import trainings
from training.models import TrainingJob


def run_job(job: TrainingJob) -> TrainingJob:
    """Claim a queued job and run it; return its new state."""
    working.do_one(trainings, TrainingJob.objects.filter(pk=job.pk))
    return TrainingJob.objects.get(pk=job.pk)


@contextmanager
def refused(code: str, kind: type[Exception] = JobError, **parameters: Any) -> Iterator[None]:
    """Expect an error with a message of this code and with these parameters."""
    with pytest.raises(kind) as caught:
        yield
    found = {each.code: each for each in _messages(caught.value)}
    assert code in found, list(found.values())
    assert parameters.items() <= found[code].parameters.items()


def _messages(error: Exception) -> list[Message]:
    if isinstance(error, RefusedCommandError):
        return [part for each in error.messages for part in parts_of(each)]
    if isinstance(error, ValidationError):
        return messages_of(error)
    assert isinstance(error, MessageError)
    return parts_of(error.message)


def parts_of(value: Message) -> list[Message]:
    """Return a message, or the messages that an error of a job joins."""
    if value.code != "job.errors":
        return [value]
    return [each for part in value.parameters.values() for each in parts_of(part)]
