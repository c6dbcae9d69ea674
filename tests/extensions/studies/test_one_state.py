"""A study's page says what is older, and its files wait until all campaigns are of one state."""

from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from annotation.filters import Filters
from annotation.models import Campaign
from extensions.studies.metrics import STUDY
from tests.dashboards.documents.working import compute_waiting
from tests.dashboards.results.test_one_state import NEW, add_best, campaign, rows

__all__ = ["campaign", "rows"]


def test_a_file_of_a_study_waits_until_its_campaigns_are_of_one_state(
    campaign: Campaign, as_researcher: Client
) -> None:
    data = [reverse("study-data", args=["states", fmt]) for fmt in ("json", "csv", "tex")]
    page = reverse("study", args=["states"])
    as_researcher.get(page)
    compute_waiting()
    assert [as_researcher.get(each).status_code for each in data] == [200] * 3
    assert "as of 20" in as_researcher.get(data[2]).text
    add_best(campaign)
    as_researcher.get(page)
    compute_waiting(only_quick=True)
    answers = [as_researcher.get(each) for each in data]
    assert [(each.status_code, each["Retry-After"]) for each in answers] == [(202, "2")] * 3
    # The page shows what there is, and says what is older.
    answer = STUDY.latest(QueryDict(), campaign, Filters())
    assert answer.document.comparison is not None
    text = as_researcher.get(page).text
    assert f"before {NEW}" in text
    assert NEW not in text.partition("</h2>")[0].rpartition("<h2")[2]
    compute_waiting()
    assert [as_researcher.get(each).status_code for each in data] == [200] * 3
