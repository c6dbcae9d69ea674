"""The pages of the power analysis: a campaign as the pilot, or stated variances."""

import csv
import io

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from scipy import stats

from annotation.campaigns import add_annotators, open_campaign
from annotation.demo import load_demo
from annotation.models import Annotator, Campaign, Judgment
from annotation.quality.columns import pilot_components
from tests.annotation.quality.test_monitor import of, rate
from tests.refusals import has
from tests.world import World


def t_power(difference: float, sd: float, n: int, alpha: float = 0.05) -> float:
    critical = stats.t.ppf(1 - alpha / 2, n - 1)
    shift = difference / sd * np.sqrt(n)
    return float(1 - stats.nct.cdf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift))


def test_stated_variances_give_the_power_of_a_t_test(as_researcher: Client) -> None:
    asked = {
        "difference": "4", "annotators_per_item": "2", "n_segments": "60, 30",
        "segment": "9", "output": "5", "annotator": "6", "residual": "10",
    }  # fmt: skip
    data = as_researcher.get(reverse("power-data", args=["json"]), asked).json()
    sd = np.sqrt(2 * 25 + 2 * (36 + 100) / 2)
    assert data["table"]["n_segments"] == [30, 60]
    assert data["table"]["exact"][0] == pytest.approx([t_power(4, sd, n) for n in (30, 60)])
    smallest = data["plans"][0]["answers"][0]
    n = smallest["segments"]
    assert t_power(4, sd, n - 1) < 0.8 <= t_power(4, sd, n)
    assert smallest["judgments"] == n * 2 * 2


def test_more_systems_divide_alpha_and_need_more_judgments(as_researcher: Client) -> None:
    asked = {"difference": "6", "n_systems": "4", "annotators_per_item": "1", "n_segments": "100"}
    data = as_researcher.get(reverse("power-data", args=["json"]), asked).json()
    sd = data["table"]["sds"][0]
    assert data["table"]["n_pairs"] == 6
    assert data["table"]["exact"][0][0] == pytest.approx(t_power(6, sd, 100, 0.05 / 6))
    answer = data["plans"][0]["answers"][0]
    assert answer["judgments"] == answer["segments"] * 4


def test_columns_around_the_answer_hold_the_answer(as_researcher: Client) -> None:
    response = as_researcher.get(reverse("power-data", args=["csv"]), {"difference": "5"})
    text = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(text)))
    data = as_researcher.get(reverse("power-data", args=["json"]), {"difference": "5"}).json()
    for plan in data["plans"]:
        smallest = plan["answers"][0]["segments"]
        cell = next(
            row
            for row in rows
            if row["annotators_per_item"] == str(plan["annotators_per_item"])
            and row["n_segments"] == str(smallest)
        )
        assert 0.8 <= float(cell["exact"]) < 0.81


def test_the_page_says_it_in_words(as_researcher: Client) -> None:
    page = as_researcher.get(reverse("power"), {"difference": "5", "annotators_per_item": "3"})
    best = page.context["best"].answers[0]
    assert f"at least {best.judgments:,} judgments" in page.text
    assert page.text.count("★ </span>") == 1


def test_a_campaign_is_its_own_pilot(db: None, client: Client) -> None:
    load_demo()
    client.force_login(User.objects.get(username="researcher"))
    campaign = Campaign.objects.get(slug="demo-en-zh-80")
    assert pilot_components(campaign, "raw").n_documents == 11
    campaign.test_set.segments.update(document="")
    found = pilot_components(campaign, "raw")
    # Three annotators rate all 44 segments of all 3 systems: the analysis of variance, by hand.
    rows = Judgment.objects.filter(
        assignment__item__campaign=campaign, assignment__item__kind="target", is_current=True
    ).order_by(
        "assignment__item__output__system", "assignment__item__segment", "assignment__annotator"
    )
    y = np.array(rows.values_list("score", flat=True), dtype=float).reshape(3, 44, 3)
    cells, people = y.mean(2), y.mean((0, 1))
    rest = y - cells[:, :, None] - people + y.mean()
    residual = (rest**2).sum() / ((3 * 44 - 1) * 2)
    assert found.residual == pytest.approx(residual)
    between = 3 * 44 * ((people - y.mean()) ** 2).sum() / 2
    assert found.annotator == pytest.approx((between - residual) / (3 * 44))
    page = client.get(reverse("campaign-power", args=[campaign.slug]), {"scores": "z"})
    assert page.status_code == 200
    assert page.context["document"].components.annotator == pytest.approx(0.0, abs=0.02)


def test_excluded_annotators_are_no_pilot(world: World) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    campaign = open_campaign(campaign=world.campaign)
    for label in ("A1", "A2"):
        for number, assignment in enumerate(of(campaign, label)):
            rate(assignment, 10 * number)
    before = pilot_components(campaign, "raw")
    assert before.n == len(of(campaign, "A1", "target")) + len(of(campaign, "A2", "target"))
    Annotator.objects.filter(label="A2").update(excluded_at=timezone.now())
    assert pilot_components(campaign, "raw").n == len(of(campaign, "A1", "target"))


def test_texts_that_are_no_outputs_are_no_system_of_the_pilot(world: World) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    campaign = open_campaign(campaign=world.campaign)
    own = of(campaign, "A1", "target")
    for number, assignment in enumerate(own):
        rate(assignment, 10 * number)
    campaign.items.filter(pk=own[0].item_id).update(output=None)
    found = pilot_components(campaign, "raw")
    assert (found.n, found.n_systems) == (len(own) - 1, 2)


def test_a_campaign_without_judgments_says_so(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("campaign-power", args=[world.campaign.slug]))
    assert page.status_code == 200
    assert "pilot.few-judgments" in [each.code for each in page.context["document"].warnings]
    data = as_researcher.get(reverse("campaign-power-data", args=[world.campaign.slug, "json"]))
    assert data.json()["table"]["power"][0][0] is None


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("difference", "x", "Enter a number"),
        ("difference", "0", "greater than or equal"),
        ("difference", "nan", "Enter a number"),
        ("n_segments", "10, many", "power.not-a-number"),
        ("n_segments", "1", "numbers from 2 to 5,000"),
        ("n_segments", "9" * 40, "at most 9 digits"),
        ("n_segments", " ".join(map(str, range(2, 40))), "at most 12 numbers"),
        ("annotators_per_item", "", "power.no-number"),
        ("annotators_per_item", "²", "power.not-a-number"),
        ("design", "best", "valid choice"),
        ("alpha", "2", "less than or equal"),
        ("residual", "-1", "greater than or equal"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_field(
    as_researcher: Client, name: str, value: str, sentence: str
) -> None:
    page = as_researcher.get(reverse("power"), {name: value})
    assert page.status_code == 422
    assert has(" ".join(page.context["form"].errors[name]), sentence)
    data = as_researcher.get(reverse("power-data", args=["json"]), {name: value})
    assert data.status_code == 422
    assert list(data.json()["errors"]) == [name]


def test_other_formats_and_strangers(as_researcher: Client, world: World) -> None:
    assert as_researcher.get(reverse("power-data", args=["xml"])).status_code == 404
    as_researcher.force_login(world.annotators[0])
    assert as_researcher.get(reverse("power")).status_code == 403
    address = reverse("campaign-power", args=[world.campaign.slug])
    assert as_researcher.get(address).status_code == 403
