"""Campaigns of published scores: real sets whose metric scores were computed elsewhere."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.conf import settings

from annotation.imports import CampaignDraft, store_campaign
from annotation.models import Campaign, Output, Segment, System, TestSet

Rows = Sequence[Mapping[str, str]]


def rows_of(*path: str) -> list[dict[str, str]]:
    """The rows of one of the shared tables."""
    with Path(settings.DATA_DIR, *path).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def make_set(slug: str, direction: str, systems: Sequence[str], keys: Sequence[str]) -> TestSet:
    """A test set without texts, every system with an output of every segment."""
    source, target = direction.split("-")
    test_set = TestSet.objects.create(
        slug=slug, name=slug, source_language=source, target_language=target
    )
    segments = Segment.objects.bulk_create(
        [Segment(test_set=test_set, position=n, key=key, source="") for n, key in enumerate(keys)]
    )
    rows = System.objects.bulk_create([System(test_set=test_set, name=name) for name in systems])
    Output.objects.bulk_create(
        [
            Output(system=system, segment=segment, text="", content_key="0" * 32)
            for system in rows
            for segment in segments
        ]
    )
    return test_set


def meta_campaign(*, human: str = "mqm", without: Sequence[str] = ("refA",)) -> Campaign:
    """WMT23 en-de with human scores of one kind, of the MT systems alone."""
    rows = rows_of("wmt23-meta", "en-de", "segment-scores.tsv")
    systems = list(dict.fromkeys(row["system"] for row in rows))
    keys = list(dict.fromkeys(row["seg"] for row in rows))
    test_set = make_set("wmt23-en-de", "en-de", systems, keys)
    draft = CampaignDraft(
        slug=f"wmt23-{human}",
        name=f"WMT23 {human}",
        question="How good?",
        output_scores={
            (row["system"], row["seg"]): float(row[human])
            for row in rows
            if row[human] and row["system"] not in without
        },
    )
    campaign = store_campaign(draft, test_set).campaign
    campaign.systems.set(test_set.systems.exclude(name__in=without))
    return campaign


def wmt15_campaign(direction: str) -> Campaign:
    """WMT15 of one direction: human scores of systems, no segments at all."""
    rows = [row for row in rows_of("wmt15", "scores.tsv") if row["lp"] == direction]
    human = {row["system"]: float(row["human"]) for row in rows}
    test_set = make_set(f"wmt15-{direction}", direction, list(human), [])
    draft = CampaignDraft(
        slug=f"wmt15-{direction}",
        name=f"WMT15 {direction}",
        question="How good?",
        system_scores=human,
    )
    return store_campaign(draft, test_set).campaign
