"""The MT systems of a study: lengths as table 10 of Cheng et al. 2023 has them."""

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Output, TestSet
from dashboards.systems.document import SystemsChoice, compute
from extensions.studies.system_page import study_tables
from extensions.studies.systems import study_table
from tests.dashboards.systems.test_judged import study, study_rows
from tests.refusals import tells

__all__ = ["study", "study_rows"]


def test_the_caption_of_table_10_is_of_its_numbers(study: TestSet) -> None:
    """Mean deviations are absolute; half-even rounding of the wanted length is named."""
    campaigns = list(study.campaigns.order_by("-length_ratio"))
    for rounding, words in (("none", "not rounded"), ("half-even", "rounded half to even")):
        documents = [compute(each, SystemsChoice(rounding=rounding)) for each in campaigns]
        table = study_tables(study_table(campaigns, documents, []))[-1]
        assert "|length − target| / target" in table.heading
        assert words in table.heading
        for place, campaign in enumerate(campaigns):
            sizes = []
            for output in Output.objects.filter(
                system__test_set=study,
                system__name="LE",
                system__length_ratio=campaign.length_ratio,
            ).select_related("segment"):
                full = len("".join(output.segment.references.get().text.split()))
                wanted = float(campaign.length_ratio) * full
                wanted = max(1, round(wanted)) if rounding == "half-even" else wanted
                sizes.append(abs(len("".join(output.text.split())) - wanted) / wanted)
            line = next(each for each in documents[place].lengths.rows if each.system == "LE")
            assert line.statistic == pytest.approx(np.mean(sizes))


def test_the_page_of_a_study_rounds_as_that_of_a_campaign(
    study: TestSet, as_researcher: Client
) -> None:
    page = reverse("study-systems", args=["lengths"])
    shown = as_researcher.get(page, {"rounding": "half-even"}).text
    assert '<select id="rounding" name="rounding">' in shown
    assert '<option value="half-even" selected>' in shown
    assert tells(shown, "lengths.rounded")
