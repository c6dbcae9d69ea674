"""WMT26's check of annotators on the quality page: the figure of `metaeval`, by their names."""

import uuid

import numpy as np
import pytest

from annotation.models import Annotator, Assignment, Campaign, Judgment
from annotation.quality.report import quality_report
from metaeval.judgments.agreement import screen_agreement
from tests.planting import plant


def answered() -> Campaign:
    """Twelve segments by two systems, rated by two people, one of them nearly at random."""
    texts = [tuple(f"{name} {n}." for n in range(12)) for name in ("good", "bad")]
    sources = [f"Source {n}." for n in range(12)]
    campaign = plant("contrastive-esa", sources=sources, outputs=texts)
    Annotator.objects.create(campaign=campaign, label="careless")
    rng = np.random.default_rng(4)
    rows = list(campaign.items.order_by("pk").values_list("pk", "output__system__name"))
    for person in campaign.annotators.order_by("pk"):
        for place, (item, system) in enumerate(rows):
            row, _ = Assignment.objects.get_or_create(
                annotator=person, item_id=item, defaults={"position": place}
            )
            noise = 40 if person.label == "careless" else 3
            base = 70 if system == "system 0" else 30
            score = int(np.clip(base + noise * rng.normal(), 0, 100))
            Judgment.objects.create(assignment=row, score=score, submit_key=uuid.uuid4())
    return campaign


def test_it_is_the_figure_of_metaeval(db: None) -> None:
    campaign = answered()
    rows = Judgment.objects.values_list(
        "score",
        "assignment__annotator__label",
        "assignment__item__screen",
        "assignment__item__segment",
        "assignment__item__output__system__name",
    )
    told = screen_agreement(*map(list, zip(*rows, strict=True)))
    assert told.n
    report = quality_report(campaign)
    assert report.has_screens
    for person in report.annotators:
        place = told.annotators.index(person.label)
        assert person.likely is not None
        assert person.likely.agreement == pytest.approx(told.agreement[place])
        assert person.likely.is_unlikely == told.flagged[place]
    careful, careless = (person.likely.agreement for person in report.annotators if person.likely)
    assert careful > careless


def test_other_layouts_have_none(db: None) -> None:
    report = quality_report(plant("esa", outputs=[("One.", "Two.")]))
    assert not report.has_screens
