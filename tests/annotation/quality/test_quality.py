"""The quality of a campaign against published data and independent programs."""

from collections.abc import Iterator

import krippendorff
import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.models import Campaign, Judgment
from annotation.quality import quality_report
from tests.refusals import tells
from tests.shared import SharedRows
from tests.world import World, make_demo


@pytest.fixture(scope="module")
def demo_rows(shared_rows: SharedRows[None]) -> Iterator[None]:
    with shared_rows(make_demo):
        yield


@pytest.fixture
def demo(demo_rows: None, db: None) -> None:
    """The demo's rows, in a transaction of the test."""


def ratings(campaign: Campaign, *kinds: str) -> np.ndarray:
    """Annotators × items, row by row from the database, without any code under test."""
    rows = Judgment.objects.filter(
        is_current=True, assignment__item__campaign=campaign, assignment__item__kind__in=kinds
    ).values_list("assignment__annotator", "assignment__item", "score")
    annotators = sorted({row[0] for row in rows})
    items = sorted({row[1] for row in rows})
    table = np.full((len(annotators), len(items)), np.nan)
    for annotator, item, score in rows:
        table[annotators.index(annotator), items.index(item)] = score
    return table


def z(table: np.ndarray) -> np.ndarray:
    return stats.zscore(table, axis=1, ddof=1, nan_policy="omit")


@pytest.mark.parametrize("slug", ["demo-en-zh-80", "demo-zh-en-50"])
def test_agreement_of_the_demo_by_other_programs(demo: None, slug: str) -> None:
    campaign = Campaign.objects.get(slug=slug)
    report = quality_report(campaign)
    for agreement, kinds in [
        (report.with_traps, ("target", "trap")),
        (report.without_traps, ("target",)),
    ]:
        assert agreement is not None
        raw = ratings(campaign, *kinds)
        assert agreement.alpha_raw.statistic == pytest.approx(
            krippendorff.alpha(raw, level_of_measurement="interval"), abs=1e-9
        )
        assert agreement.alpha_z.statistic == pytest.approx(
            krippendorff.alpha(z(raw), level_of_measurement="interval"), abs=1e-9
        )
        rows = z(raw)
        by_hand = [
            stats.pearsonr(rows[a], np.delete(rows, a, axis=0).mean(axis=0)).statistic
            for a in range(3)
        ]
        assert agreement.one_vs_rest.statistic == pytest.approx(np.mean(by_hand), abs=1e-9)


def test_traps_times_and_labels_of_the_demo(demo: None) -> None:
    campaign = Campaign.objects.get(slug="demo-en-zh-80")
    report = quality_report(campaign)
    rows = Judgment.objects.filter(assignment__item__campaign=campaign)
    traps = np.array(rows.filter(assignment__item__kind="trap").values_list("score", flat=True))
    assert report.traps is not None
    assert (report.traps.zero, report.traps.low, report.traps.high) == (
        int((traps == 0).sum()),
        int(((traps > 0) & (traps <= 20)).sum()),
        int((traps > 20).sum()),
    )
    seconds = np.array(
        [(b - a).total_seconds() for a, b in rows.values_list("started_at", "submitted_at")]
    )
    assert report.times is not None
    assert report.times.mean == pytest.approx(seconds.mean())
    assert report.times.mean_cut == pytest.approx(seconds[seconds <= 600].mean())
    assert all(person.is_simulated for person in report.annotators)


def test_an_empty_campaign_says_so(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("quality", args=[world.campaign.slug]))
    assert tells(page.text, "quality.no-annotators")


def test_page_csv_and_json_agree(demo: None, client: Client) -> None:
    from tests.world import make_user

    client.force_login(make_user("reader", "researcher"))
    slug = "demo-en-zh-80"
    data = client.get(reverse("quality-data", args=[slug, "json"])).json()
    page = client.get(reverse("quality", args=[slug])).text
    assert f"{data['with_traps']['alpha_z']['statistic']:.3f}" in page
    # In the table of scales, and in that of times.
    assert page.count("Simulated</span>") == 2 * 3
    lines = client.get(reverse("quality-data", args=[slug, "csv"])).getvalue().decode().splitlines()
    assert len(lines) == 4
    assert lines[1].split(",")[1] == "S1"
    assert client.get(reverse("quality-data", args=[slug, "xml"])).status_code == 404


def test_raw_judgments_with_every_revision(demo: None, client: Client) -> None:
    from tests.world import make_user

    client.force_login(make_user("reader", "researcher"))
    slug = "demo-en-zh-80"
    row = Judgment.objects.filter(assignment__item__campaign__slug=slug).first()
    row.is_current = False
    row.save()
    Judgment.objects.create(
        assignment=row.assignment, revision=2, score=1,
        submit_key="11111111-1111-4111-8111-111111111111",
    )  # fmt: skip
    address = reverse("judgments-data", args=[slug, "csv"])
    text = client.get(address).getvalue().decode()
    assert len(text.splitlines()) == 1 + 456 + 1
    document = b"".join(client.get(address.replace("csv", "json")).streaming_content)
    import json

    rows = json.loads(document)
    old, new = [r for r in rows if not r["is_current"] or r["revision"] == 2]
    assert (old["z_targets"], old["score"]) == (None, row.score)
    assert new["score"] == 1
    client.force_login(make_user("someone", "annotator"))
    assert client.get(address).status_code == 403
