"""Work a run off: claim it, score what is missing in chunks, store, report; stop when told to.

Scores are keyed by content and inserted once, so a chunk that is done twice (a worker killed
between storing and reporting, a run taken over) changes nothing.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from django.db import InterfaceError, OperationalError, connection, transaction

from metrics import claims, registry
from metrics.base import Metric, MetricError, Scores
from metrics.claims import Claim
from metrics.contents import Chunk, Missing, describe, find_missing, load_chunk
from metrics.models import MetricRun, MetricSignature
from metrics.periodic import Periodic
from metrics.scores import store_scores

logger = logging.getLogger(__name__)
T = TypeVar("T")

BEAT_SECONDS = 2.0
CHUNK_SECONDS = 1.0
FIRST_CHUNK, LARGEST_CHUNK = 16, 8192
# A database that restarts is back within a minute; the scores of a chunk are worth the wait.
DATABASE_RETRIES = (0.5, 1, 2, 4, 8, 16, 30)
RETRY_SECONDS = 15.0


class LostClaimError(Exception):
    """The run was cancelled, or another worker has taken it over."""


class StoppedError(Exception):
    """This process is about to end."""


@dataclass
class Progress:
    """Where a run stands: contents done and in all, and contents a second lately."""

    done: int
    total: int
    rate: float = 0.0


Report = Callable[[Progress], None]


def work_off(
    run_id: int,
    *,
    worker: str,
    should_stop: Callable[[], bool] = lambda: False,
    report: Report = lambda progress: None,
) -> None:
    """Claim a run and score what it lacks; does nothing where somebody else has it.

    How it ended is in the run. Raises only where the database stays away: then the run goes
    stale and the next worker goes on with it.
    """
    claim = _patiently(partial(claims.claim, run_id, worker=worker))
    if claim is None:
        return
    with Periodic("heartbeat", BEAT_SECONDS, partial(claims.beat, claim)):
        try:
            _score_run(claim, should_stop, report)
        except LostClaimError:
            logger.info("Run %s was cancelled or taken over", run_id)
        except StoppedError:
            claims.release(claim, message="", is_attempt=False)
        except MetricError as error:
            _give_up(claim, error)
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            logger.exception("Run %s failed", run_id)
            claims.fail(claim, f"{type(error).__name__}: {error}")
        except BaseException:
            claims.release(claim, message="The worker was stopped.", is_attempt=False)
            raise


def _give_up(claim: Claim, error: MetricError) -> None:
    """Fail for good, or hand the run back where another try may help."""
    if error.permanent:
        claims.fail(claim, error.message)
        return
    logger.warning("Run %s is tried again: %s", claim.run_id, error.message)
    attempts = MetricRun.objects.values_list("attempts", flat=True).get(pk=claim.run_id)
    delay = RETRY_SECONDS * 2 ** (attempts - 1)
    claims.release(claim, message=f"Is tried again. {error.message}", delay=delay)


def _score_run(claim: Claim, should_stop: Callable[[], bool], report: Report) -> None:
    run = MetricRun.objects.select_related("test_set").get(pk=claim.run_id)
    metric = registry.load(
        run.metric,
        source_language=run.test_set.source_language,
        target_language=run.test_set.target_language,
    )
    signature = _signature(metric)
    missing = _patiently(partial(find_missing, run, signature))
    scored = missing.total - len(missing.output_ids)
    if not claims.begin(claim, signature=signature, total=missing.total, scored=scored):
        raise LostClaimError
    progress = Progress(scored, missing.total)
    report(progress)
    _score_chunks(claim, metric, signature, missing, progress, should_stop, report)
    claims.finish(claim)


def _score_chunks(
    claim: Claim,
    metric: Metric,
    signature: MetricSignature,
    missing: Missing,
    progress: Progress,
    should_stop: Callable[[], bool],
    report: Report,
) -> None:
    size, start = FIRST_CHUNK, 0
    while start < len(missing.output_ids):
        if should_stop():
            raise StoppedError
        began = time.monotonic()
        output_ids = missing.output_ids[start : start + size]
        chunk = _patiently(partial(load_chunk, signature, output_ids))
        rows = _score(metric, chunk)
        start += len(output_ids)
        progress.done += len(output_ids)
        rate = len(output_ids) / max(time.monotonic() - began, 1e-3)
        progress.rate = 0.7 * progress.rate + 0.3 * rate if progress.rate else rate
        reused = len(output_ids) - len(chunk.keys)
        _patiently(partial(_store, claim, signature, chunk, rows, progress, reused))
        report(progress)
        size = _next_size(len(output_ids), time.monotonic() - began)


def _next_size(size: int, seconds: float) -> int:
    """Aim at CHUNK_SECONDS a chunk, growing at most fourfold at a time."""
    wanted = int(size * CHUNK_SECONDS / max(seconds, 1e-3))
    return max(1, min(wanted, 4 * size, LARGEST_CHUNK))


def _signature(metric: Metric) -> MetricSignature:
    signature, _ = MetricSignature.objects.get_or_create(
        signature=metric.signature(),
        defaults={
            "metric": metric.info.name,
            "measures": list(metric.info.measures),
            "statistics": list(metric.info.statistics),
        },
    )
    return signature


def _score(metric: Metric, chunk: Chunk) -> Scores:
    """Score a chunk; a MetricError names the segment at fault as people know it."""
    if not chunk.inputs:
        return np.empty((0, metric.info.width))
    try:
        rows = metric.score(chunk.inputs)
        _check(metric, chunk, rows)
    except MetricError as error:
        if error.index is None:
            raise
        place = describe(chunk.output_ids[error.index])
        message = f"{error.message} ({place})"
        raise MetricError(message, permanent=error.permanent, index=error.index) from error
    return rows


def _check(metric: Metric, chunk: Chunk, rows: Scores) -> None:
    expected = (len(chunk.inputs), metric.info.width)
    if rows.shape != expected:
        raise ValueError(f"{metric.info.label} returned {rows.shape} scores, not {expected}")
    broken = ~np.isfinite(rows).all(axis=1)
    if broken.any():
        message = f"{metric.info.label} gave no finite score"
        raise MetricError(message, permanent=True, index=int(broken.argmax()))


def _store(
    claim: Claim,
    signature: MetricSignature,
    chunk: Chunk,
    rows: Scores,
    progress: Progress,
    reused: int,
) -> None:
    """Store scores and progress together; the scores stay even where the claim is lost."""
    with transaction.atomic():
        store_scores(signature, chunk.keys, rows)
        is_held = claims.advance(claim, done=progress.done, reused=reused, rate=progress.rate)
    if not is_held:
        raise LostClaimError


def _patiently(action: Callable[[], T]) -> T:
    """Do something with the database, waiting where it is away for a while."""
    for seconds in DATABASE_RETRIES:
        try:
            return action()
        except (OperationalError, InterfaceError) as error:
            logger.warning("Database: %s Trying again in %s s.", error, seconds)
            connection.close()
            time.sleep(seconds)
    return action()
