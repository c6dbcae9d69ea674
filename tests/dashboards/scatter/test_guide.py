"""The numbers that the guide to a first campaign names are those of the demo."""

from pathlib import Path

from django.conf import settings

from annotation.models import Campaign
from dashboards.scatter.document import ScatterChoice, compute
from tests.world import make_scored_demo


def test_the_guide_has_the_numbers_of_the_demo(db: None) -> None:
    make_scored_demo("chrf")
    campaign = Campaign.objects.get(slug="demo-en-zh-80")
    found = compute(campaign, ScatterChoice(metric="chrf")).statistics
    assert found is not None
    assert found.r is not None
    assert found.r_within is not None
    guide = Path(settings.BASE_DIR, "docs", "first-campaign.md").read_text(encoding="utf-8")
    sentence = " ".join(guide.split()).partition("r between chrF")[2].partition(":")[0]
    for value in (found.r, found.r_within):
        assert f"{value:.2f}".removeprefix("0") in sentence
