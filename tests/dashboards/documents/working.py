"""What workers do with the documents that pages asked for, in the process of a test."""

from datetime import timedelta

from annotation.filters import Filters
from annotation.models import Campaign
from core.work.models import Now
from core.work.working import drain, due
from dashboards.documents.computing import QUICK, documents
from dashboards.documents.results import Result, latest
from dashboards.models import Analysis
from metrics.runs import scoring, starting
from tests.world import World

ALL = Filters()


def compute_waiting(*, only_quick: bool = False, ends_rests: bool = True) -> int:
    """Compute what is asked for; then all may be asked for anew. Return how many that were."""
    done = drain(documents, due(documents, {QUICK} if only_quick else None))
    if ends_rests:
        end_rests()
    return done


def end_rests() -> None:
    """As if the time had passed for which a document is not computed anew."""
    ended = Analysis.objects.exclude(status__in=Analysis.ACTIVE)
    ended.update(not_before=Now() - timedelta(seconds=1))


def ask(campaign: Campaign, filters: Filters = ALL) -> Result:
    """What a page of correlations asks."""
    return latest("correlations", campaign, filters)


def score(world: World, metric: str) -> None:
    """Change what documents rest on."""
    (run,) = starting.start(test_set=world.test_set, metrics=[metric], enqueue=False).runs
    scoring.drain(run.pk, worker="test")
