"""The tables and figures of the study on length control, one click from a study's first page."""

import re
from html import unescape
from itertools import pairwise

import pytest
from django.test import Client

from annotation.models import Campaign
from extensions.studies.views import MOST, most_of
from tests.dashboards.documents.working import compute_waiting
from tests.dashboards.tex import problems
from tests.refusals import tells

# By number: what the page it opens has besides being there.
WANTED = {
    "Table 6": "Table 6: system level",
    "Table 7": "Table 7: segment level",
    "Table 9": "MT systems over the campaigns",
    "Table 10": 'id="length"',
    "Tables 11 to 14": "BERTScore",
    "Tables 2 to 5": "One-vs-rest r",
    "Figures 1 and 4": "Zou",
    "Figures 2 and 5": "PERM-BOTH",
}


@pytest.fixture
def study(rated: Campaign) -> str:
    Campaign.objects.filter(pk=rated.pk).update(study="port")
    return "/studies/port/"


def test_every_table_and_figure_is_one_click_away(study: str, as_researcher: Client) -> None:
    home = as_researcher.get(study).text
    links = re.findall(r'<a href="([^"]+)">((?:Tables?|Figures?) [\d to&and]*\d)', home)
    opened = {name: as_researcher.get(unescape(address)) for address, name in links}
    assert opened.keys() == WANTED.keys()
    for name, page in opened.items():
        assert page.status_code == 200, name
        assert WANTED[name] in page.text, name
    # Whoever follows the link of table 10 comes to its rows.
    anchor = next(address for address, name in links if name == "Table 10").partition("#")[2]
    block = opened["Table 10"].text.partition(f'id="{anchor}"')[2].partition("</tbody>")[0]
    assert tells(block, "lengths.deviation")
    assert block.count("<tr>") == 3  # systems


def test_heat_maps_hold_every_pair_of_every_campaign_once(
    study: str, as_researcher: Client
) -> None:
    page = as_researcher.get(f"{study}significance/?statistic=systems").text
    data = as_researcher.get("/campaigns/rated/significance.json?statistic=systems").json()
    upper = [letter for n, line in enumerate(data["steps"]) for letter in line[n + 1 :]]
    assert re.findall("<td class=p([-0-4a-e])>", page) == upper != []
    files = as_researcher.get(f"{study}significance.json?statistic=systems").json()
    assert files["rows"] == data["rows"]
    assert problems(as_researcher.get(f"{study}significance.tex?statistic=systems").text) == []
    drawn = as_researcher.get(f"{study}significance/figures/heatmaps.json?statistic=systems").json()
    assert [each["title"] for each in drawn["concat"]] == [data["name"]]


def test_the_more_campaigns_the_fewer_metrics() -> None:
    sizes = [most_of(n) for n in range(1, 40)]
    assert sizes[0] == MOST
    assert all(one >= other >= 2 for one, other in pairwise(sizes))
    assert all(n * size * (size - 1) / 2 <= 2_000 for n, size in enumerate(sizes, 1))


def test_floor_and_ceiling_in_every_table_of_a_study(study: str, as_researcher: Client) -> None:
    for address, name in ((study, "correlations"), (f"{study}printed/", "printed")):
        as_researcher.get(address)
        compute_waiting()
        assert "Baseline: random" not in as_researcher.get(address).text
        page = as_researcher.get(f"{address}?bounds=shown").text
        assert "Baseline: random" in page
        assert "Human ceiling" in page
        csv = as_researcher.get(f"{study}{name}.csv?bounds=shown").getvalue().decode()
        assert "floor-random" in csv
        assert "Baseline: random" in as_researcher.get(f"{study}{name}.tex?bounds=shown").text
    found = as_researcher.get(f"{study}correlations.json?bounds=shown").json()
    kinds = {row["key"]: row["kind"] for row in found["matrix"]["rows"]}
    assert kinds["floor-random"] == "floor"
    assert kinds["ceiling"] == "ceiling"
    # A floor or a person is no answer, and in no group.
    named = set(found["answer"]["keys"].values())
    assert named <= {key for key, kind in kinds.items() if kind == "metric"}
    own = as_researcher.get(f"{study}correlations.json").json()
    assert found["answer"] == own["answer"]
    drawn = as_researcher.get(f"{study}correlations/figures/matrix.json?bounds=shown").text
    assert "Baseline: random" in drawn

    address = f"{study}significance/?bounds=shown"
    as_researcher.get(address)
    compute_waiting()
    assert "Baseline: random" in as_researcher.get(address).text
    csv = as_researcher.get(f"{study}significance.csv?bounds=shown").getvalue().decode()
    assert "Best baseline" in csv
