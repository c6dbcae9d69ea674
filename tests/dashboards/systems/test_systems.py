"""The page of MT systems: lengths counted here, the study's shape, and addresses."""

import re
from collections.abc import Iterator
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.filters import Filters
from annotation.models import Campaign, Item, Judgment, Output, Reference, System
from core.caching import clear_caches
from dashboards.bundle import build
from dashboards.panel import measures
from dashboards.panel.human import human_scores
from dashboards.systems.document import SystemsChoice, compute
from dashboards.systems.figures import ranking
from dashboards.systems.page import marked
from dashboards.systems.tables import tables
from extensions.shortness.page import compute as shortness
from metrics.base import MetricError
from metrics.scores import system_scores
from tests.refusals import tells
from tests.shared import SharedRows
from tests.world import World, make_scored_demo, make_user


def scored() -> int:
    make_scored_demo("chrf")
    return Campaign.objects.get(slug="demo-en-zh-80").pk


@pytest.fixture(scope="module")
def demo_rows(shared_rows: SharedRows[int]) -> Iterator[int]:
    with shared_rows(scored) as pk:
        yield pk


@pytest.fixture
def demo(demo_rows: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=demo_rows)


def test_length_deviation_from_the_texts(demo: Campaign) -> None:
    document = compute(demo, SystemsChoice())
    assert document.lengths.unit == "characters"
    for row in document.lengths.rows:
        found = []
        outputs = Output.objects.filter(system__campaigns=demo, system__name=row.system)
        for output in outputs.select_related("segment"):
            texts = [reference.text for reference in output.segment.references.all()]
            wanted = 0.8 * sum(len("".join(text.split())) for text in texts) / len(texts)
            found.append((len("".join(output.text.split())) - wanted) / wanted)
        assert row.n == len(found) == 44
        assert row.statistic == pytest.approx(sum(map(abs, found)) / 44)
        assert row.bias == pytest.approx(sum(found) / 44)


def test_wanted_lengths_are_rounded_where_a_reader_says_so(demo: Campaign) -> None:
    document = compute(demo, SystemsChoice(rounding="half-even"))
    assert document.lengths.is_rounded
    assert "half to even" in tables(document)[-1].caption
    for row in document.lengths.rows:
        found = []
        outputs = Output.objects.filter(system__campaigns=demo, system__name=row.system)
        for output in outputs.select_related("segment"):
            texts = [reference.text for reference in output.segment.references.all()]
            full = sum(len("".join(text.split())) for text in texts) / len(texts)
            wanted = max(1, round(0.8 * full))
            found.append(abs(len("".join(output.text.split())) - wanted) / wanted)
        assert row.statistic == pytest.approx(sum(found) / len(found))


def test_units_and_what_is_wanted(demo: Campaign) -> None:
    of_source = compute(demo, SystemsChoice(wanted="source", length_unit="words")).lengths
    assert (of_source.of, of_source.unit) == ("source", "words")
    missing = compute(demo, SystemsChoice(length_unit="nobody/nothing"))
    assert not missing.lengths.rows
    assert missing.warnings[-1].code == "lengths.unavailable"
    assert measures.lengths(["a b  c", ""], "words") == [3, 0]
    assert measures.lengths(["海港 很安静", "a b"], "characters") == [5, 2]
    assert measures.unit_of("zh-Hant") == "characters"
    assert measures.unit_of("de") == "words"
    with pytest.raises(MetricError):
        measures.counter("nobody/nothing")


def test_words_of_a_source_without_blanks_are_no_target(demo: Campaign) -> None:
    campaign = Campaign.objects.get(slug="demo-zh-en-80")
    Reference.objects.filter(segment__test_set=campaign.test_set).delete()
    found = compute(campaign, SystemsChoice())
    assert (found.lengths.unit, found.lengths.of, found.lengths.rows) == ("words", "source", ())
    assert found.warnings[-1].code == "lengths.no-words"
    assert shortness(campaign, Filters()).warnings[-1].code == "lengths.no-words"
    with ZipFile(BytesIO(build(campaign, Filters()).zip)) as bundle:
        (name,) = (each for each in bundle.namelist() if each.endswith("/lengths.tsv"))
        rows = bundle.read(name).decode().splitlines()[1:]
    assert {row.split("\t")[-1] for row in rows} == {""}
    of_characters = compute(campaign, SystemsChoice(length_unit="characters")).lengths
    assert all(row.statistic is not None for row in of_characters.rows)


def test_the_page_and_its_figure(demo: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    document = compute(demo, SystemsChoice())
    page = client.get(reverse("systems", args=[demo.slug])).text
    best = document.columns[0].rows[0]
    assert f"{best.score:.3f}" in page
    assert best.mark
    lines = client.get(reverse("systems-data", args=[demo.slug, "csv"])).getvalue().decode()
    assert len(lines.splitlines()) == 1 + 2 * 3
    spec = ranking(document)
    assert spec is not None
    assert [row["value"] for row in spec["data"]["values"]] == sorted(
        (row.score for row in document.human), reverse=True
    )
    assert client.get(reverse("systems", args=[demo.slug]), {"versus": "worst"}).status_code == 400


@pytest.mark.needs("extensions.studies")
def test_a_study_in_the_shape_of_the_published_tables(demo: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    data = client.get(reverse("study-systems-data", args=["demo", "json"])).json()
    assert [head["percent"] for head in data["campaigns"]] == ["80%", "50%", "80%", "50%"]
    chrf = next(block for block in data["blocks"] if block["key"] == "chrf")
    column = compute(demo, SystemsChoice()).columns[0]
    scores = {row.system: row.score for row in column.rows}
    shown = {line["system"]: line["cells"][0]["score"] for line in chrf["lines"]}
    assert shown == scores
    page = client.get(reverse("study-systems", args=["demo"])).text
    assert tells(page, "lengths.deviation")
    assert f"{max(scores.values()):.4f}" in page


def test_without_judgments_and_scores_the_page_says_so(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("systems", args=[world.campaign.slug])).text
    assert tells(page, "systems.no-ranking")
    assert "strong" in page


def test_the_page_says_once_what_its_figures_rest_on(demo: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    address = reverse("systems", args=[demo.slug])
    assert tells(client.get(address).text, "basis.all-segments", n=44)
    first, second = demo.systems.order_by("name")[:2]
    _unjudged(demo, first, range(4))
    _without_outputs(second, range(40, 44))
    clear_caches()  # judgments are never deleted but with their persons, which is counted
    page = client.get(address).text
    basis = page.partition('id="basis"')[2].partition("</div>")[0]
    assert tells(basis, "basis.test-set", n=44)
    assert "40 to 44" in basis
    assert tells(basis, "basis.humans-shared", shared="36 to 40")
    assert basis.count("40 to 44") >= 2
    assert page.count("scores of different segments") == 1
    shown = page.partition("Pairs of systems with their shared segments")[2]
    assert re.search('<td[^>]*class="num">40</td>', shown)


def test_the_human_scores_that_agreement_is_computed_from(demo: Campaign) -> None:
    (group,) = compute(demo, SystemsChoice()).agreement
    assert group.is_shown
    first, second = demo.systems.order_by("name")[:2]
    _unjudged(demo, first, range(4))
    _without_outputs(second, range(40, 44))
    document = compute(demo, SystemsChoice())
    (group,) = document.agreement
    scored = document.columns[0]
    assert not group.is_shown
    human = human_scores(demo)
    chrf = system_scores(demo.test_set, human.systems).measures["chrf"]
    for line in group.lines:
        row = human.names.index(line.system)
        both = ~np.isnan(human.values[row] + chrf.values[row])
        assert line.n == both.sum() == (40 if row < 2 else 44)
        assert line.human == pytest.approx(human.values[row][both].mean())
        assert chrf.statistics is not None
        assert chrf.corpus is not None
        sums = chrf.statistics[row][both].sum(axis=0, keepdims=True)
        assert line.scores == [pytest.approx(chrf.corpus(sums)[0])]
    ours, theirs = zip(*((each.human, each.scores[0]) for each in group.lines), strict=True)
    assert scored.tau == pytest.approx(stats.kendalltau(ours, theirs).statistic)
    names = [table.caption for table in tables(marked(document))]
    assert any("same segments on both sides" in caption for caption in names)
    assert tells(str(names[0]), "basis.test-set", n=44)


def _unjudged(campaign: Campaign, system: System, places: range) -> None:
    """Let a system's outputs at these places have no judgment."""
    Judgment.objects.filter(
        assignment__item__output__system=system,
        assignment__item__segment__position__in=_positions(campaign, places),
    ).delete()


def _without_outputs(system: System, places: range) -> None:
    """Take judgments, items and outputs of a system away at these places."""
    segments = _positions(system.campaigns.get(), places)
    items = Item.objects.filter(output__system=system, segment__position__in=segments)
    Judgment.objects.filter(assignment__item__in=items).delete()
    items.delete()
    system.outputs.filter(segment__position__in=segments).delete()


def _positions(campaign: Campaign, places: range) -> list[int]:
    rows = campaign.test_set.segments.order_by("position").values_list("position", flat=True)
    return [list(rows)[place] for place in places]
