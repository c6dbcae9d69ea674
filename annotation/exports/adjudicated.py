"""Decisions of reviewers, as a table and in the layout of mt-metrics-eval.

They are in separate files; files of judgments do not contain them.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from annotation.adjudication.decisions import decisions
from annotation.exports.mtme import (
    Files,
    frame,
    placed,
    rating_line,
    safe,
    segment_scores,
    system_scores,
    text_files,
)
from annotation.judging.answers import rated_text
from annotation.models import Adjudication, Campaign
from annotation.protocols import Span

RATER = "adjudicated"
COLUMNS = (
    "segment", "system", "source", "text", "score", "penalty", "ratings", "choices", "post_edit",
    "spans", "comment", "reviewer", "revision", "decided_at", "n_answers", "gap", "overlap",
)  # fmt: skip


def rows(campaign: Campaign) -> Iterator[Sequence[Any]]:
    """Yield the rows of the table under `COLUMNS`; spans and ratings are JSON."""
    for each in decisions(campaign).iterator(2_000):
        item, differed = each.item, getattr(each.item, "disagreement", None)
        yield (
            item.segment.key,
            item.output.system.name if item.output else "",
            item.segment.source,
            rated_text(item),
            each.score,
            each.penalty,
            json.dumps(each.ratings, ensure_ascii=False) if each.ratings else "",
            json.dumps(each.choices, ensure_ascii=False) if each.choices else "",
            each.post_edit,
            json.dumps(each.spans, ensure_ascii=False),
            each.comment,
            each.reviewer.get_username() if each.reviewer else "",
            each.revision,
            each.decided_at.isoformat(),
            differed and differed.n_answers,
            differed and differed.gap,
            differed and differed.overlap,
        )


def json_list(campaign: Campaign) -> Iterator[str]:
    """Yield the same as a JSON list of objects."""
    before = "["
    for row in rows(campaign):
        yield before + json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False)
        before = ",\n"
    yield "]\n" if before != "[" else "[]\n"


def bundle(campaign: Campaign) -> Files:
    """Yield the test set with the decisions as human scores and, for errors, as ratings."""
    segments, systems = frame(campaign)
    yield from text_files(campaign, segments, systems)
    found = {
        (each.item.output.system_id, each.item.segment_id): each
        for each in decisions(campaign)
        if each.item.output
    }
    means = {place: each.value for place, each in found.items()}
    top, pair = safe(campaign.test_set.slug), campaign.test_set.direction
    path = f"{top}/human-scores/{pair}.{campaign.protocol}-{RATER}"
    yield f"{path}.seg.score", segment_scores(segments, systems, means)
    yield f"{path}.sys.score", system_scores(segments, systems, means)
    if campaign.judging.spans is not None:
        yield (
            f"{path}.seg.rating",
            (
                rating_line(campaign, name, _rating(found.get((system.pk, segment.pk))))
                for system, name in systems.items()
                for segment in segments
            ),
        )


def _rating(each: Adjudication | None) -> tuple[Sequence[Span], str] | None:
    if each is None:
        return None
    lengths = len(rated_text(each.item)), len(each.item.segment.source)
    return placed([Span(*span) for span in each.spans], *lengths), RATER
