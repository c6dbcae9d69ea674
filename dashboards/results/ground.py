"""Compute the parts of the first page that no other analysis has: systems and agreement."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.filters import IN, Filters
from annotation.models import Campaign
from annotation.quality import Verdict
from dashboards.documents.head import CampaignDocument, Ends, head
from dashboards.panel.choice import general
from dashboards.panel.human import Floats, HumanScores, human_scores
from dashboards.trust.judging import Evidence
from dashboards.trust.verdict import evidence_of
from metaeval import ScoreMatrix
from metaeval.messages import Message
from metaeval.systems import rank_systems

VERSION = 7


@dataclass(frozen=True)
class Standing:
    """An MT system by its human scores: mean over segments, interval, cluster, range of ranks."""

    system: str
    n: int
    value: float | None
    low: float | None
    high: float | None
    cluster: int | None = None
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, kw_only=True)
class Ground(CampaignDocument):
    """Systems by their human scores, agreement (`alpha`), and results of control items.

    Of `n_tested` annotators with control items, `n_passed` pass. `alpha` and its interval are None
    where they are undefined. `humans` are human translations, apart from `systems`. `gaps` are
    reasons why human scores are missing. `n_judged` counts outputs, `n_scored_whole` systems whose
    human scores came without scores of outputs.
    """

    n_judged: int
    n_scored_whole: int = 0
    gaps: Sequence[Message] = ()
    systems: Sequence[Standing] = ()
    humans: Sequence[Standing] = ()
    alpha: float | None = None
    alpha_ends: Ends | None = None
    n_tested: int = 0
    n_passed: int = 0


DOCUMENT = Ground


def compute(campaign: Campaign, filters: Filters) -> Ground:
    """Return the systems' standings and the agreement between annotators."""
    human = human_scores(campaign, filters)
    evidence = evidence_of(campaign, filters)
    known: dict[str, Any] = _checked(evidence) if evidence else {}
    matrix = human.matrix() if human.n else None
    return Ground(
        **head(campaign, human),
        n_judged=human.n,
        n_scored_whole=0 if human.n else _n_known(human.published_systems),
        systems=_standings(matrix) if matrix is not None else (),
        humans=_humans(campaign, filters, human),
        **known,
        gaps=human.gaps,
        warnings=human.warnings,
    )


def _n_known(scores: Floats | None) -> int:
    return 0 if scores is None else int(np.isfinite(scores).sum())


def _standings(matrix: ScoreMatrix) -> list[Standing]:
    ranking = rank_systems(matrix)
    counts = dict(zip(matrix.systems, matrix.mask.sum(axis=1).tolist(), strict=True))
    columns = ("scores", "lows", "highs", "clusters", "first", "last")
    numbers = zip(*(getattr(ranking, name).tolist() for name in columns), strict=True)
    return [
        Standing(name, counts[name], *found)
        for name, found in zip(ranking.systems, numbers, strict=True)
    ]


def _humans(campaign: Campaign, filters: Filters, human: HumanScores) -> list[Standing]:
    """Return the human translations that are excluded, without clusters, the best first."""
    if not human.humans:
        return []
    every = human_scores(campaign, replace(general(filters), humans=IN, outliers=IN))
    matrix = every.matrix().subset(systems=human.humans)
    known = [
        name for name, has_any in zip(human.humans, matrix.mask.any(axis=1), strict=True) if has_any
    ]
    standings = _standings(matrix.subset(systems=known)) if known else []
    return [replace(each, cluster=None, first=None, last=None) for each in standings]


def _checked(evidence: Evidence) -> dict[str, Any]:
    """Return agreement, and how many annotators pass their control items."""
    tested = [one for one in evidence.people if one.checks.parts]
    found: dict[str, Any] = {
        "n_tested": len(tested),
        "n_passed": sum(one.checks.verdict == Verdict.PASSES for one in tested),
    }
    if evidence.agreement:
        line = evidence.agreement
        value, ends = line.alpha_raw if evidence.is_raw else line.alpha_z
        found |= {"alpha": value, "alpha_ends": ends}
    return found
